/** Delivery reports that the client fetches: each once, and none lost, whatever becomes of the answer. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ReportItem } from "../../src/reports/rendering/report-item.ts";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Store } from "../../src/store/port/store.ts";
import { addAccount } from "../support/accounts.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ADVANCED, passUntil, REJECTED } from "../support/sending.ts";
import {
  assertUnauthorized,
  basic,
  DEMO,
  errorObject,
  eventually,
  startTestService,
  type TestService,
  type TestServiceOptions,
  temporaryDirectory,
} from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const REPORTS = "/sms/1/reports";
const START = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const PHONE = "41793026727";

interface Bench {
  readonly service: TestService;
  readonly clock: VirtualClock;
}

async function start(t: TestContext, options: TestServiceOptions = {}): Promise<Bench> {
  const clock = new VirtualClock(START);
  return { clock, service: await startTestService(t, { clock, ...options }) };
}

async function fetchReports(service: TestService, query = ""): Promise<ReportItem[]> {
  const answer = await service.call("GET", `${REPORTS}${query}`);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.json), ["results"]);
  return answer.json.results;
}

const idsOf = (items: readonly { messageId: string }[]): string[] => items.map(({ messageId }) => messageId);

/** Messages that are rejected at once, and so have a report at once. */
async function reject(service: TestService, names: readonly string[], fields: { bulkId?: string } = {}): Promise<void> {
  const destinations = names.map((messageId) => ({ to: "nobody", messageId }));
  const messages = [{ from: "InfoSMS", text: "Hello", destinations }];
  const answer = await service.call("POST", ADVANCED, { body: { ...fields, messages } });
  assert.equal(answer.status, 200, answer.text);
}

/** Only the wall clock moves: to run two days of a service's timers takes minutes. */
const jump = (clock: VirtualClock, ms: number): void => clock.stepBack(-ms);

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);

test("the report of a message without a notifyUrl is fetched, once; with one it is pushed, and not fetched", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const { service, clock } = await start(t);
  const message = {
    from: "InfoSMS",
    text: "Hello",
    callbackData: "mine",
    campaignReferenceId: "spring",
    intermediateReport: true,
  };
  const messages = [
    { ...message, destinations: [{ to: PHONE, messageId: "pulled" }] },
    { ...message, destinations: [{ to: PHONE, messageId: "pushed" }], notifyUrl: receiver.url },
  ];
  await service.call("POST", ADVANCED, { body: { bulkId: "b", messages } });
  assert.deepEqual(await fetchReports(service), []);
  const fetched: ReportItem[] = [];
  await passUntil(clock, async () => {
    fetched.push(...(await fetchReports(service)));
    return fetched.length > 0 && receiver.items.some((item) => "doneAt" in item && item.status.id === 5);
  });
  const [item, ...others] = fetched;
  assert.deepEqual(others, [], "no report on the way there: they are for a URL");
  const { doneAt, mccMnc } = item!;
  assert.deepEqual(item, {
    bulkId: "b",
    messageId: "pulled",
    to: PHONE,
    from: "InfoSMS",
    sentAt: formatDateTime(START),
    doneAt,
    smsCount: 1,
    mccMnc,
    callbackData: "mine",
    campaignReferenceId: "spring",
    price: { pricePerMessage: 0.01, currency: "EUR" },
    status: {
      groupId: 3,
      groupName: "DELIVERED",
      id: 5,
      name: "DELIVERED_TO_HANDSET",
      description: "Message delivered to handset",
    },
    error: { groupId: 0, groupName: "OK", id: 0, name: "NO_ERROR", description: "No Error", permanent: false },
  });
  jump(clock, HOUR);
  assert.deepEqual(await fetchReports(service), []);
});

test("what was rejected is reported at once, and costs nothing", async (t) => {
  const { service } = await start(t);
  await reject(service, ["one"]);
  const [item] = await fetchReports(service);
  assert.deepEqual(
    [item?.messageId, item?.status, item?.price.pricePerMessage, item?.error.name],
    ["one", REJECTED.destination, 0, "EC_INVALID_DESTINATION_ADDRESS"],
  );
});

test("an answer has 50 reports unless others are asked for, up to 1000, oldest first", async (t) => {
  const { service } = await start(t);
  const names = numbered(700);
  await reject(service, names);
  const read: string[] = [];
  for (const [query, count] of [
    ["", 50],
    ["?limit=1", 1],
    ["?limit=450", 450],
    ["?limit=1000", 199],
    ["?limit=1000", 0],
  ] as const) {
    const items = await fetchReports(service, query);
    assert.equal(items.length, count, query);
    read.push(...idsOf(items));
  }
  assert.deepEqual(read, names);
});

test("callers at the same moment get different reports, and together all of them", async (t) => {
  const { service } = await start(t);
  const names = numbered(500);
  await reject(service, names);
  const fetches = await Promise.all(Array.from({ length: 8 }, () => fetchReports(service, "?limit=60")));
  assert.ok(
    fetches.every((items) => items.length > 0),
    "each gets some",
  );
  assert.deepEqual(idsOf(fetches.flat()).sort(), names.slice(0, 480).sort());
  assert.deepEqual(idsOf(await fetchReports(service)).sort(), names.slice(480).sort());
});

test("only what is asked for is taken, by bulk and by message, repeated or with commas", async (t) => {
  const { service } = await start(t);
  for (const bulkId of ["a", "b", "c"])
    await reject(
      service,
      [1, 2, 3].map((n) => `${bulkId}${n}`),
      { bulkId },
    );
  for (const [query, ids] of [
    ["?bulkId=none", []],
    ["?messageId=b2", ["b2"]],
    ["?messageId=c1,a3&messageId=b3", ["a3", "b3", "c1"]],
    ["?bulkId=a&messageId=a1,b1", ["a1"]],
    ["?bulkId=a,b&limit=2", ["a2", "b1"]],
    ["", ["c2", "c3"]],
  ] as const) {
    assert.deepEqual(idsOf(await fetchReports(service, query)), ids, query);
  }
});

test("a report waits for 48 hours", async (t) => {
  const { service, clock } = await start(t);
  await reject(service, ["one", "two"]);
  jump(clock, 48 * HOUR - 1);
  assert.deepEqual(idsOf(await fetchReports(service, "?limit=1")), ["one"]);
  jump(clock, 1);
  assert.deepEqual(await fetchReports(service), []);
});

test("a wrong parameter is named, and takes no report away", async (t) => {
  const { service } = await start(t);
  await addAccount(service.store, { key: "OTHER", username: "other", password: "other-password" });
  await reject(service, ["one"]);
  const limit = "must be a whole number from 1 to 1000";
  for (const [query, field, says] of [
    ["limit=0", "limit", limit],
    ["limit=1001", "limit", limit],
    ["limit=1&limit=2", "limit", limit],
    ["bulkId=", "bulkId", "must not be empty"],
    ["messageId=one,", "messageId", "must not be empty"],
    [`messageId=one${",x".repeat(500)}`, "messageId", "must have at most 500 items"],
    ["messageId=one%00", "messageId", "has a NUL character"],
  ] as const) {
    const answer = await service.call("GET", `${REPORTS}?${query}`);
    const error = errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`);
    assert.deepEqual([answer.status, answer.json], [400, error], query);
  }
  const nobody = await service.call("GET", REPORTS, { authorization: null });
  assertUnauthorized(nobody, "missing");
  const head = await service.call("HEAD", REPORTS);
  assert.deepEqual([head.status, head.headers.get("allow")], [405, "GET"]);
  const other = await service.call("GET", REPORTS, { authorization: basic("other", "other-password") });
  assert.deepEqual([other.status, other.json], [200, { results: [] }]);
  assert.deepEqual(idsOf(await fetchReports(service)), ["one"]);
});

/** A service whose hand-outs can be held up between the store and the answer, and whose confirmations are counted. */
async function startWatched(t: TestContext, options: TestServiceOptions = {}) {
  let onHandOut: () => Promise<void> = async () => undefined;
  let confirmed = 0;
  const edgeStore = (store: Store): Store => ({
    ...store,
    async fetchReports(fetch) {
      const found = await store.fetchReports(fetch);
      await onHandOut();
      return found;
    },
    async confirmReports(input) {
      await store.confirmReports(input);
      confirmed += input.keys.length;
    },
  });
  const bench = await start(t, { ...options, edgeStore });
  return {
    ...bench,
    confirmed: () => confirmed,
    /** Holds up the next hand-out: resolves, when it is made, with what lets it go on. */
    holdUp(): Promise<() => void> {
      return new Promise((handedOut) => {
        onHandOut = () => {
          onHandOut = async () => undefined;
          return new Promise((goOn) => handedOut(goOn));
        };
      });
    },
  };
}

test("reports for a client that is gone before the answer come again a minute later", async (t) => {
  const { service, clock, holdUp, confirmed } = await startWatched(t);
  await reject(service, ["one", "two"]);
  const handedOut = holdUp();
  const client = await RawClient.connect(service.url);
  await client.write(rawRequestText("GET", `${REPORTS}?limit=1`, { authorization: DEMO }));
  const goOn = await handedOut;
  client.vanish();
  // The reset was there before these requests, so it has been seen when they are answered.
  for (let call = 0; call < 2; call++) await service.call("GET", "/healthz");
  goOn();

  assert.deepEqual(idsOf(await fetchReports(service)), ["two"]);
  await eventually(async () => confirmed() === 1);
  jump(clock, MINUTE - 1);
  assert.deepEqual(await fetchReports(service), []);
  jump(clock, 1);
  assert.deepEqual(idsOf(await fetchReports(service)), ["one"]);
  await eventually(async () => confirmed() === 2);
  jump(clock, HOUR);
  assert.deepEqual(await fetchReports(service), []);
});

test("a report whose answer was not seen to be written when the service ended comes again from the next one", async (t) => {
  const data = await temporaryDirectory(t);
  const lost = new StoreUnavailable("gone");
  const first = await start(t, {
    data,
    edgeStore: (store) => ({ ...store, confirmReports: () => Promise.reject(lost) }),
  });
  await reject(first.service, ["one"]);
  assert.deepEqual(idsOf(await fetchReports(first.service)), ["one"]);
  await first.service.stop();

  const { service, clock } = await startWatched(t, { data });
  assert.deepEqual(await fetchReports(service), []);
  jump(clock, MINUTE);
  assert.deepEqual(idsOf(await fetchReports(service)), ["one"]);
});

test("a service that stops does not forget what it has just handed out", async (t) => {
  const data = await temporaryDirectory(t);
  const first = await start(t, { data });
  await reject(first.service, numbered(300));
  assert.equal((await fetchReports(first.service, "?limit=1000")).length, 300);
  await first.service.stop();

  const { service, clock } = await start(t, { data });
  jump(clock, HOUR);
  assert.deepEqual(await fetchReports(service), []);
});
