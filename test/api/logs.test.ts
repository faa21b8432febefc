/** The logs over a real socket: what was sent and what became of it, by every filter. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { logItem } from "../../src/reports/rendering/report-item.ts";
import { formatDateTime, parseDateTime } from "../../src/schedule/date-time.ts";
import type { Store } from "../../src/store/port/store.ts";
import { addAccount } from "../support/accounts.ts";
import fc, { cases } from "../support/chance.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { ACCEPTED, ADVANCED, passUntil, REJECTED, SINGLE } from "../support/sending.ts";
import {
  assertUnauthorized,
  basic,
  DEMO,
  errorObject,
  eventually,
  startTestService,
  type TestService,
} from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

type LogItem = ReturnType<typeof logItem>;

const LOGS = "/sms/1/logs";
const START = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;
const PHONE = "41793026727";
const UNKNOWN_PHONE = "41793999003";
const ABSENT_PHONE = "41793999002";
const WITH_THE_CARRIER = "PENDING_WAITING_DELIVERY";

interface Bench {
  readonly service: TestService;
  readonly clock: VirtualClock;
}

async function start(t: TestContext, edgeStore?: (store: Store) => Store): Promise<Bench> {
  const clock = new VirtualClock(START);
  return { clock, service: await startTestService(t, { clock, ...(edgeStore === undefined ? {} : { edgeStore }) }) };
}

type Query = Readonly<Record<string, string>>;

async function readLogs(service: TestService, query: Query = {}): Promise<LogItem[]> {
  const answer = await service.call("GET", `${LOGS}?${new URLSearchParams(query)}`);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.json), ["results"]);
  return answer.json.results;
}

interface Sent {
  readonly to?: string;
  readonly messageId?: string;
  readonly bulkId?: string;
  readonly from?: string;
  readonly text?: string;
  readonly sendAt?: string;
}

async function send(service: TestService, { to = PHONE, messageId, bulkId, ...fields }: Sent = {}): Promise<void> {
  const messages = [{ from: "InfoSMS", text: "Hello", ...fields, destinations: [{ to, messageId }] }];
  const answer = await service.call("POST", ADVANCED, { body: { bulkId, messages } });
  assert.equal(answer.status, 200, answer.text);
}

/** Lets time pass until nothing is on its way any more. */
function settle({ service, clock }: Bench): Promise<boolean> {
  return passUntil(clock, async () => (await readLogs(service, { generalStatus: "PENDING" })).length === 0);
}

/** Only the wall clock moves: to run two days of a service's timers takes minutes. */
const jump = (clock: VirtualClock, ms: number): void => clock.stepBack(-ms);

const idsOf = (items: readonly LogItem[]): string[] => items.map(({ messageId }) => messageId);

test("a message is in the logs from the moment it was accepted, and with its last word when that has come", async (t) => {
  const bench = await start(t);
  const { service, clock } = bench;
  const sendAt = START + 60_000;
  await service.call("POST", SINGLE, {
    body: {
      from: "InfoSMS",
      to: PHONE,
      text: "Grüezi 😀",
      bulkId: "b",
      messageId: "m",
      callbackData: "mine",
      campaignReferenceId: "spring",
      sendAt: formatDateTime(sendAt),
    },
  });
  const expected = {
    bulkId: "b",
    messageId: "m",
    to: PHONE,
    from: "InfoSMS",
    sentAt: formatDateTime(START),
    // On its way: what an intermediate report would say.
    doneAt: formatDateTime(START),
    smsCount: 1,
    callbackData: "mine",
    campaignReferenceId: "spring",
    price: { pricePerMessage: 0.01, currency: "EUR" },
    status: ACCEPTED,
    error: { groupId: 0, groupName: "OK", id: 0, name: "NO_ERROR", description: "No Error", permanent: false },
    text: "Grüezi 😀",
  };
  assert.deepEqual(await readLogs(service), [expected]);

  await clock.advance(60_000);
  await settle(bench);
  const [done, ...others] = await readLogs(service);
  assert.deepEqual(others, []);
  const { doneAt, mccMnc } = done!;
  assert.deepEqual(done, {
    ...expected,
    sentAt: formatDateTime(sendAt),
    doneAt,
    mccMnc,
    status: {
      groupId: 3,
      groupName: "DELIVERED",
      id: 5,
      name: "DELIVERED_TO_HANDSET",
      description: "Message delivered to handset",
    },
  });
  assert.ok(parseDateTime(doneAt!)! > sendAt);
  assert.match(mccMnc!, /^\d{5,6}$/);
});

test("what was rejected is in the logs, at no price, and whatever the client called it", async (t) => {
  const { service } = await start(t);
  await send(service, { to: "nobody", messageId: "mine" });
  await send(service, { messageId: "mine" });
  await send(service, { messageId: "mine" });
  const items = await readLogs(service, { messageId: "mine" });
  assert.deepEqual(
    items.map(({ status, price, to }) => [status.groupName, price.pricePerMessage, to]),
    [
      ["PENDING", 0.01, PHONE],
      ["REJECTED", 0, "nobody"],
    ],
  );
  // The name is the first message's, so the duplicate has one of its own.
  const [duplicate] = await readLogs(service);
  assert.deepEqual([items[1]?.status, duplicate?.status], [REJECTED.destination, REJECTED.duplicate]);
});

test("50 come unless others are asked for, up to 1000, newest first; sentUntil leads on to the older ones", async (t) => {
  const { service, clock } = await start(t);
  const names = Array.from({ length: 60 }, (_, index) => `m${index}`);
  for (const messageId of names) {
    await send(service, { messageId, to: "nobody" });
    await clock.advance(1);
  }
  const newest = [...names].reverse();
  assert.deepEqual(idsOf(await readLogs(service)), newest.slice(0, 50));
  assert.deepEqual(idsOf(await readLogs(service, { limit: "7" })), newest.slice(0, 7));
  assert.deepEqual(idsOf(await readLogs(service, { limit: "1000" })), newest);
  const read: string[] = [];
  for (let sentUntil = formatDateTime(clock.now()); ; ) {
    const page = await readLogs(service, { limit: "25", sentUntil });
    const fresh = idsOf(page).filter((id) => !read.includes(id));
    if (fresh.length === 0) break;
    read.push(...fresh);
    sentUntil = page.at(-1)!.sentAt;
  }
  assert.deepEqual(read, newest);
});

test("48 hours are looked back, further when sentSince says so, and no account sees another's", async (t) => {
  const { service, clock } = await start(t);
  await addAccount(service.store, { key: "OTHER", username: "other", password: "other-password" });
  await send(service, { messageId: "old", bulkId: "b", to: "nobody" });
  jump(clock, 48 * HOUR);
  assert.deepEqual(idsOf(await readLogs(service)), ["old"]);
  jump(clock, 1);
  for (const query of [{}, { messageId: "old" }, { bulkId: "b" }]) assert.deepEqual(await readLogs(service, query), []);
  const sentSince = formatDateTime(START);
  assert.deepEqual(idsOf(await readLogs(service, { sentSince })), ["old"]);
  for (const query of [
    `sentSince=${sentSince}`,
    `sentSince=${sentSince}&messageId=old`,
    `sentSince=${sentSince}&bulkId=b`,
  ]) {
    const own = await service.call("GET", `${LOGS}?${query}`);
    assert.deepEqual(idsOf(own.json.results), ["old"], "a plus sign need not be escaped");
    const other = await service.call("GET", `${LOGS}?${query}`, { authorization: basic("other", "other-password") });
    assert.deepEqual([other.status, other.json], [200, { results: [] }]);
  }
});

test("any combination of filters gives what a look at every item gives", async (t) => {
  const bench = await start(t);
  const { service, clock } = bench;
  const senders = ["InfoSMS", "Other"];
  const numbers = [PHONE, UNKNOWN_PHONE, "nobody", "41793026834"];
  for (let index = 0; index < 48; index++) {
    const named = index % 3 === 0 ? { messageId: `m${index % 12}` } : {};
    await send(service, {
      from: senders[index % 2]!,
      to: numbers[(index >> 1) % 4]!,
      bulkId: `b${index % 5}`,
      text: `Hello ${index}`, // the same request again would not be sent twice
      ...named,
      ...(index % 7 === 0 ? { sendAt: formatDateTime(clock.now() + 10_000) } : {}),
    });
    await clock.advance(250);
  }
  await settle(bench);
  await send(service, { messageId: "last", to: ABSENT_PHONE });
  // The clock stands still from then, so the phone stays away: nothing changes while the logs are read.
  await eventually(async () => {
    await clock.advance(1);
    return (await readLogs(service, { messageId: "last" }))[0]?.status.name === WITH_THE_CARRIER;
  });
  const all = await readLogs(service, { limit: "1000" });
  assert.equal(all.length, 49);
  assert.equal(new Set(all.map(({ status }) => status.groupName)).size, 4);
  const keys = idsOf(all).filter((id) => /^\d{19}$/.test(id));
  const times = [...new Set(all.map(({ sentAt }) => sentAt))];

  const sometimes = (...values: string[]) => fc.option(fc.constantFrom(...values), { freq: 1 });
  const lists = (...values: string[]) =>
    fc.option(fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }), { freq: 1 });
  const query = fc.record({
    from: sometimes(...senders, "nobody"),
    to: sometimes(...numbers),
    bulkId: lists("b0", "b1", "b2", "none"),
    messageId: lists("m0", "m3", "last", "none", ...keys.slice(0, 3)),
    generalStatus: sometimes("ACCEPTED", "PENDING", "UNDELIVERABLE", "DELIVERED", "REJECTED", "EXPIRED"),
    sentSince: sometimes(...times),
    sentUntil: sometimes(...times),
    mcc: sometimes("228", "999"),
    mnc: sometimes(all.find(({ mccMnc }) => mccMnc !== undefined)!.mccMnc!.slice(3), "999"),
    limit: fc.constantFrom("1", "5", "1000"),
    commas: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(query, async ({ commas, ...fields }) => {
      const { from, to, bulkId, messageId, generalStatus, sentSince, sentUntil, mcc, mnc, limit } = fields;
      const expected = all.filter(
        (item) =>
          (from === null || item.from === from) &&
          (to === null || item.to === to) &&
          (bulkId === null || bulkId.includes(item.bulkId!)) &&
          (messageId === null || messageId.includes(item.messageId)) &&
          (generalStatus === null || item.status.groupName === generalStatus) &&
          (sentSince === null || item.sentAt >= sentSince) &&
          (sentUntil === null || item.sentAt <= sentUntil) &&
          (mcc === null || item.mccMnc?.slice(0, 3) === mcc) &&
          (mnc === null || item.mccMnc?.slice(3) === mnc),
      );
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(fields)) {
        if (value === null) continue;
        const values = Array.isArray(value) ? (commas ? [value.join(",")] : value) : [value];
        for (const one of values) parameters.append(name, one);
      }
      const answer = await service.call("GET", `${LOGS}?${parameters}`);
      assert.deepEqual([answer.status, answer.json.results], [200, expected.slice(0, Number(limit))]);
    }),
    { numRuns: cases(200) },
  );
});

test("a wrong parameter is named, with what is wrong about it", async (t) => {
  const { service } = await start(t);
  const groups = "ACCEPTED, PENDING, UNDELIVERABLE, DELIVERED, REJECTED, EXPIRED";
  const noDate = "is not a date and time like 2026-02-12T09:58:20.323+0000";
  const cases: [query: string, field: string, says: string][] = [
    ["generalStatus=SENT", "generalStatus", `must be one of ${groups}`],
    ["generalStatus=delivered", "generalStatus", `must be one of ${groups}`],
    ["generalStatus=", "generalStatus", "must not be empty"],
    ["limit=0", "limit", "must be a whole number from 1 to 1000"],
    ["limit=1001", "limit", "must be a whole number from 1 to 1000"],
    ["limit=ten", "limit", "must be a whole number from 1 to 1000"],
    ["sentSince=yesterday", "sentSince", noDate],
    ["sentSince=2026-02-30T00:00:00.000Z", "sentSince", noDate],
    ["sentUntil=1770890300323", "sentUntil", noDate],
    ["from=a&from=b", "from", "must be given once"],
    ["to=", "to", "must not be empty"],
    ["mcc=22", "mcc", "must be 3 digits"],
    ["mnc=1", "mnc", "must be 2 or 3 digits"],
    ["mnc=one", "mnc", "must be 2 or 3 digits"],
    ["bulkId=", "bulkId", "must not be empty"],
    ["messageId=a,,b", "messageId", "must not be empty"],
    ["messageId=a&messageId=", "messageId", "must not be empty"],
    [`messageId=${"a,".repeat(500)}a`, "messageId", "must have at most 500 items"],
    ["to=%00", "to", "has a NUL character"],
  ];
  for (const [query, field, says] of cases) {
    const answer = await service.call("GET", `${LOGS}?${query}`);
    const error = errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`);
    assert.deepEqual([answer.status, answer.json], [400, error], query);
  }
  const nobody = await service.call("GET", LOGS, { authorization: null });
  assertUnauthorized(nobody, "missing");
});

test("a message that is sent while the logs are read is in the answer, once", async (t) => {
  const between: (() => Promise<void>)[] = [];
  const { service, clock } = await start(t, (store) => ({
    ...store,
    async logs(query) {
      const page = await store.logs(query);
      await between.shift()?.();
      return page;
    },
  }));
  const sendAt = formatDateTime(START + 24 * HOUR);
  const keys: string[] = [];
  for (let request = 0; request < 5; request++) {
    const destinations = Array.from({ length: 100 }, () => ({ to: PHONE }));
    const { json } = await service.call("POST", ADVANCED, {
      body: { messages: [{ from: "InfoSMS", text: "Hello", sendAt, destinations }] },
    });
    keys.push(...json.messages.map(({ messageId }: { messageId: string }) => messageId));
    clock.stepBack(-1_000);
  }
  const taken = [...keys.slice(0, 5), ...keys.slice(-5)];
  between.push(async () => {
    const atMs = clock.now();
    const parts = [{ carrierMessageId: "x", counts: true }];
    const messages = taken.map((key) => ({ key, carrierId: "simulator", parts, refusedErrorId: null, atMs }));
    await service.store.submitted({ messages });
  });
  const found = await readLogs(service, { limit: "1000" });
  assert.deepEqual(between, [], "there were several pages");
  assert.deepEqual(found.map(({ messageId }) => messageId).sort(), keys.toSorted());
  assert.deepEqual(
    found
      .slice(0, 10)
      .map(({ messageId }) => messageId)
      .sort(),
    taken.toSorted(),
    "newest first",
  );
});

test("many searches that find nothing have one page at a time in the store, and end when their client is gone", async (t) => {
  let inStore = 0;
  let mostInStore = 0;
  let pages = 0;
  const endless = (store: Store): Store => ({
    ...store,
    async logs(query) {
      mostInStore = Math.max(mostInStore, ++inStore);
      await store.logs(query);
      inStore--;
      pages++;
      return { messages: [], next: { atMs: 1, key: "1" } };
    },
  });
  const { service } = await start(t, endless);
  const clients = await Promise.all(Array.from({ length: 10 }, () => RawClient.connect(service.url)));
  for (const client of clients) {
    await client.write(rawRequestText("GET", `${LOGS}?to=1`, { authorization: DEMO }));
  }
  await eventually(async () => pages > 200);
  assert.equal((await service.call("GET", "/account/1/balance")).status, 200);
  assert.equal(mostInStore, 1);
  for (const client of clients) client.vanish();
  await eventually(async () => {
    const before = pages;
    for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    return pages === before;
  });
});
