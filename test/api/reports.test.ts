/** Delivery reports from end to end: a message is sent over the API, and what becomes of it arrives at the client's URL. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { formatDateTime, parseDateTime } from "../../src/schedule/date-time.ts";
import { type ReceivedItem, ReportReceiver, status } from "../support/report-receiver.ts";
import { ADVANCED, balanceOf, MULTI, passUntil, SINGLE } from "../support/sending.ts";
import { eventually, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const START = Date.UTC(2026, 0, 5, 12);
const SETTINGS = { dispatch: { receiptWaitMs: 5 * SECOND_MS, sweepEveryMs: SECOND_MS } };

const clock = new VirtualClock(START);
const service = await startTestService({ after }, { clock, settings: SETTINGS });

interface Fields {
  [name: string]: unknown;
}

const HELLO = { from: "InfoSMS", text: "Hello" };
const DELIVERED = {
  groupId: 3,
  groupName: "DELIVERED",
  id: 5,
  name: "DELIVERED_TO_HANDSET",
  description: "Message delivered to handset",
};
const NO_ERROR = {
  groupId: 0,
  groupName: "OK",
  id: 0,
  name: "NO_ERROR",
  description: "No Error",
  permanent: false,
};

async function startReceiver(t: { after(clean: () => Promise<void>): void }): Promise<ReportReceiver> {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  return receiver;
}

async function send(fields: Fields, through: TestService = service) {
  const answer = await through.call("POST", SINGLE, { body: { ...HELLO, to: "41793026727", ...fields } });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Lets time pass until the receiver has so many items. */
function items(receiver: ReportReceiver, count: number, stepMs = 10): Promise<readonly ReceivedItem[]> {
  return passUntil(clock, () => receiver.items.length >= count && receiver.items, stepMs);
}

/** Lets a while pass in which more could come, were it to come: longer than until the first retry. */
async function aWhile(): Promise<void> {
  const endMs = clock.now() + 2 * MINUTE_MS;
  await passUntil(clock, () => clock.now() >= endMs, 10 * SECOND_MS);
}

test("a report in JSON has every field, to the letter", async (t) => {
  const receiver = await startReceiver(t);
  const sentAt = formatDateTime(clock.now());
  const body = {
    bulkId: "my-bulk",
    messages: [
      {
        from: "InfoSMS",
        destinations: [{ to: "41793026727", messageId: "my-message" }],
        text: "x".repeat(161),
        notifyUrl: `${receiver.url}/of?client=7`,
        notifyContentType: "application/json",
        callbackData: "DLR callback data",
        campaignReferenceId: "spring",
      },
    ],
  };
  await service.call("POST", ADVANCED, { body });

  const [item] = await items(receiver, 1);
  const [{ path, headers, body: received }] = receiver.requests as [(typeof receiver.requests)[0]];
  assert.equal(path, "/reports/of?client=7");
  assert.equal(headers["content-type"], "application/json");
  assert.match(String(headers["webhook-id"]), /^[0-9]{19}$/);
  const { doneAt } = item!;
  assert.deepEqual(JSON.parse(received), {
    results: [
      {
        bulkId: "my-bulk",
        messageId: "my-message",
        to: "41793026727",
        from: "InfoSMS",
        sentAt,
        doneAt,
        smsCount: 2,
        mccMnc: "00101",
        callbackData: "DLR callback data",
        campaignReferenceId: "spring",
        price: { pricePerMessage: 0.01, currency: "EUR" },
        status: DELIVERED,
        error: NO_ERROR,
      },
    ],
  });
  assert.match(doneAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/);
  assert.ok(doneAt > sentAt);
});

test("a report in XML has the same fields in the same order", async (t) => {
  const receiver = await startReceiver(t);
  const sentAt = formatDateTime(clock.now());
  const { messages } = await send({
    notifyUrl: receiver.url,
    notifyContentType: "application/xml",
    callbackData: `<tag> & "quotes" 'n' 😀`,
    bulkId: "xml-bulk",
  });

  const [item] = await items(receiver, 1);
  assert.equal(receiver.requests[0]!.headers["content-type"], "application/xml");
  assert.equal(item!.callbackData, `<tag> & "quotes" 'n' 😀`);
  const expected =
    '<?xml version="1.0" encoding="UTF-8"?><reportResponse><results><result>' +
    `<bulkId>xml-bulk</bulkId><messageId>${messages[0].messageId}</messageId><to>41793026727</to><from>InfoSMS</from>` +
    `<sentAt>${sentAt}</sentAt><doneAt>${item!.doneAt}</doneAt><smsCount>1</smsCount><mccMnc>00101</mccMnc>` +
    "<callbackData>&lt;tag&gt; &amp; &quot;quotes&quot; &apos;n&apos; 😀</callbackData>" +
    "<price><pricePerMessage>0.01</pricePerMessage><currency>EUR</currency></price>" +
    "<status><groupId>3</groupId><groupName>DELIVERED</groupName><id>5</id><name>DELIVERED_TO_HANDSET</name>" +
    "<description>Message delivered to handset</description></status>" +
    "<error><groupId>0</groupId><groupName>OK</groupName><id>0</id><name>NO_ERROR</name>" +
    "<description>No Error</description><permanent>false</permanent></error>" +
    "</result></results></reportResponse>";
  assert.equal(receiver.requests[0]!.body, expected);
});

test("a report is JSON unless asked otherwise, and names the ids that the answer gave", async (t) => {
  const receiver = await startReceiver(t);
  const body = { messages: [{ ...HELLO, to: "41793026727", notifyUrl: receiver.url }] };
  const { json } = await service.call("POST", MULTI, { body });

  const [item] = await items(receiver, 1);
  assert.equal(receiver.requests[0]!.headers["content-type"], "application/json");
  assert.deepEqual([item!.bulkId, item!.messageId], [json.bulkId, json.messages[0].messageId]);
  assert.equal("callbackData" in item!, false);
});

test("200 characters of callbackData come back to the letter", async (t) => {
  const receiver = await startReceiver(t);
  const start = `"\\\u0001\r\n<é中>`;
  const callbackData = start + "😀".repeat(200 - start.length);
  await send({ notifyUrl: receiver.url, callbackData });

  assert.equal((await items(receiver, 1))[0]!.callbackData, callbackData);
});

test("a message without notifyUrl is sent, and nobody is told", async (t) => {
  const receiver = await startReceiver(t);
  await send({ callbackData: "silent" });
  await send({ notifyUrl: receiver.url, callbackData: "told" });

  await items(receiver, 1);
  await aWhile();
  assert.deepEqual(
    receiver.items.map(({ callbackData }) => callbackData),
    ["told"],
  );
});

/** The numbers with a meaning of docs/sandbox.md, and what the final report of each says. */
const PHONES: readonly {
  readonly suffix: string;
  readonly statusId: number;
  readonly status: string;
  readonly error: string;
  /** From the submit to the last word, in seconds, to within one. */
  readonly seconds: number;
  readonly refunded?: true;
}[] = [
  { suffix: "026727", statusId: 5, status: "DELIVERED_TO_HANDSET", error: "NO_ERROR", seconds: 0 },
  { suffix: "999001", statusId: 5, status: "DELIVERED_TO_HANDSET", error: "NO_ERROR", seconds: 90 },
  { suffix: "999002", statusId: 5, status: "DELIVERED_TO_HANDSET", error: "NO_ERROR", seconds: 10 },
  { suffix: "999003", statusId: 9, status: "UNDELIVERABLE_NOT_DELIVERED", error: "EC_UNKNOWN_SUBSCRIBER", seconds: 0 },
  {
    suffix: "999004",
    statusId: 9,
    status: "UNDELIVERABLE_NOT_DELIVERED",
    error: "EC_SM_DF_MEMORYCAPACITYEXCEEDED",
    seconds: 0,
  },
  {
    suffix: "999005",
    statusId: 4,
    status: "UNDELIVERABLE_REJECTED_OPERATOR",
    error: "EC_SMS_REJECTED_BY_MOBILE_OPERATOR",
    seconds: 0,
  },
  {
    suffix: "999006",
    statusId: 4,
    status: "UNDELIVERABLE_REJECTED_OPERATOR",
    error: "EC_DESTINATION_BLOCKED_BY_OPERATOR",
    seconds: 0,
    refunded: true,
  },
  { suffix: "999007", statusId: 15, status: "EXPIRED_EXPIRED", error: "EC_MESSAGE_EXPIRED", seconds: 0 },
  // Two minutes of validity, and the wait for a receipt that may still come.
  { suffix: "999008", statusId: 29, status: "EXPIRED_DLR_UNKNOWN", error: "EC_NO_RESPONSE", seconds: 125 },
  { suffix: "999009", statusId: 5, status: "DELIVERED_TO_HANDSET", error: "NO_ERROR", seconds: 0 },
  { suffix: "999010", statusId: 5, status: "DELIVERED_TO_HANDSET", error: "NO_ERROR", seconds: 0 },
];

for (const { suffix, refunded, seconds, ...expected } of PHONES) {
  test(`a phone ending in ${suffix} is reported as ${expected.status}, ${expected.error}`, async (t) => {
    const receiver = await startReceiver(t);
    const balance = await balanceOf(service);
    await send({ to: `41793${suffix}`, notifyUrl: receiver.url, intermediateReport: true, validityPeriod: 2 });

    const isFinal = ({ status }: ReceivedItem) => status.groupId !== 1;
    await passUntil(clock, () => receiver.items.some(isFinal), SECOND_MS / 2);
    const final = receiver.items.at(-1)!;
    const { status, error, sentAt, doneAt } = final;
    assert.deepEqual({ statusId: status.id, status: status.name, error: error.name }, expected);
    const tookMs = parseDateTime(doneAt)! - parseDateTime(sentAt)!;
    assert.ok(Math.abs(tookMs - seconds * SECOND_MS) < SECOND_MS, `${tookMs} ms`);
    assert.equal(Math.round((balance - (await balanceOf(service))) * 100), refunded ? 0 : 1);

    await aWhile();
    assert.equal(receiver.items.at(-1), final, "nothing comes after the final report");
    assert.deepEqual(receiver.items.slice(0, -1).filter(isFinal), []);
  });
}

test("with intermediateReport each change on the way is told, in its order; without it only the last", async (t) => {
  const asked = await startReceiver(t);
  const unasked = await startReceiver(t);
  await send({ to: "41793999002", notifyUrl: asked.url, intermediateReport: true, callbackData: "asked" });
  await send({ to: "41794999002", notifyUrl: unasked.url, intermediateReport: false });

  await items(asked, 3, SECOND_MS / 2);
  await items(unasked, 1, SECOND_MS / 2);
  assert.deepEqual(
    asked.items.map(({ status, error, callbackData }) => [status.name, error.name, callbackData]),
    [
      ["PENDING_WAITING_DELIVERY", "NO_ERROR", "asked"],
      ["PENDING_WAITING_DELIVERY", "EC_ABSENT_SUBSCRIBER", "asked"],
      ["DELIVERED_TO_HANDSET", "NO_ERROR", "asked"],
    ],
  );
  assert.deepEqual(
    unasked.items.map(({ status }) => status.name),
    ["DELIVERED_TO_HANDSET"],
  );
});

test("a message of several parts has one report, when the last part has its word", async (t) => {
  const receiver = await startReceiver(t);
  await send({ text: "x".repeat(3 * 153), notifyUrl: receiver.url });

  const [item] = await items(receiver, 1);
  await aWhile();
  assert.equal(receiver.items.length, 1);
  assert.deepEqual([item!.smsCount, item!.price], [3, { pricePerMessage: 0.01, currency: "EUR" }]);
});

test("250 messages to one URL are reported once each, at most 100 in a request", async (t) => {
  const receiver = await startReceiver(t);
  const to = Array.from({ length: 250 }, (_, index) => String(41_790_000_000 + index));
  await send({ to, notifyUrl: receiver.url });

  const all = await items(receiver, 250);
  assert.deepEqual(all.map((item) => item.to).toSorted(), to);
  for (const { items: together } of receiver.requests) assert.ok(together.length >= 1 && together.length <= 100);
});

test("a receiver that fails is tried again after 1 minute, then after 2, with the same id and the same body", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(status(500));
  await send({ notifyUrl: receiver.url });
  await passUntilRequests(receiver, 2);
  receiver.answer(status(204));
  await passUntilRequests(receiver, 3);
  await aWhile();

  const [first, second, third, ...more] = receiver.requests;
  const id = (request = first) => request!.headers["webhook-id"];
  const seconds = (request = first) => Number(request!.headers["webhook-timestamp"]);
  assert.deepEqual(more, []);
  assert.deepEqual([id(second), id(third)], [id(first), id(first)]);
  assert.deepEqual([second!.body, third!.body], [first!.body, first!.body]);
  // A tenth may be added by chance; the store is asked once a second; the time in the header is in whole seconds.
  const waits = [seconds(second) - seconds(first), seconds(third) - seconds(second)] as const;
  assert.ok(waits[0] >= 60 && waits[0] <= 68, `${waits[0]} s`);
  assert.ok(waits[1] >= 120 && waits[1] <= 134, `${waits[1]} s`);
});

/** Lets time pass until the receiver has had so many requests. The clock stands still while one is under way. */
async function passUntilRequests(receiver: ReportReceiver, count: number): Promise<void> {
  const quiet = async () => {
    const { text } = await service.call("GET", "/metrics");
    return /^heliograph_reports_requests_in_flight 0$/m.test(text);
  };
  await passUntil(
    clock,
    async () => {
      await eventually(quiet);
      return receiver.requests.length >= count;
    },
    SECOND_MS,
  );
}

test("a receiver that answers 410 is not tried again; a redirect is not followed, and tried again", async (t) => {
  const [gone, moved, elsewhere] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  gone.answer(status(410));
  moved.answer(status(302, { location: elsewhere.url }));
  await send({ notifyUrl: gone.url });
  await send({ notifyUrl: moved.url });

  await passUntil(clock, () => moved.requests.length >= 2, 10 * SECOND_MS);
  await aWhile();
  assert.equal(gone.requests.length, 1);
  assert.equal(elsewhere.requests.length, 0);
});

test("the final report waits until the intermediate one before it was taken", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(status(503));
  await send({ notifyUrl: receiver.url, intermediateReport: true, to: "41793999002" });
  await passUntil(clock, () => receiver.requests.length === 1);
  await clock.advance(30 * SECOND_MS);
  receiver.answer(status(200));

  const namesOf = (all: readonly ReceivedItem[]) => all.map((item) => [item.status.id, item.error.id]);
  const sent = receiver.requests[0]!.items;
  const all = await items(receiver, 2 * sent.length + 1, SECOND_MS);
  assert.deepEqual(namesOf(sent), [
    [3, 0],
    [3, 27],
  ]);
  assert.deepEqual(namesOf(all), [...namesOf(sent), ...namesOf(sent), [5, 0]]);
});

test("a report that its receiver has not taken outlives a restart of the service", async (t) => {
  const receiver = await startReceiver(t);
  const nightClock = new VirtualClock(START);
  const data = await temporaryDirectory(t);
  const evening = await startTestService(t, { clock: nightClock, data });
  receiver.answer(status(500));
  await send({ notifyUrl: receiver.url, callbackData: "keep me" }, evening);
  await passUntil(nightClock, () => receiver.requests.length === 1);
  await evening.stop();
  receiver.answer(status(200));
  await nightClock.advance(60 * MINUTE_MS);
  await startTestService(t, { clock: nightClock, data });

  await passUntil(nightClock, () => receiver.requests.length === 2);
  const [first, second] = receiver.requests;
  assert.equal(second!.headers["webhook-id"], first!.headers["webhook-id"]);
  assert.equal(second!.body, first!.body);
  assert.equal(second!.items[0]!.callbackData, "keep me");
});

test("a message that is under way when the service stops gets its report after the next start", async (t) => {
  const receiver = await startReceiver(t);
  const nightClock = new VirtualClock(START);
  const data = await temporaryDirectory(t);
  const evening = await startTestService(t, { clock: nightClock, data });
  await send({ notifyUrl: receiver.url, to: "41793999001" }, evening);
  await nightClock.advance(10 * SECOND_MS);
  await evening.stop();
  const morning = await startTestService(t, { clock: nightClock, data });

  const [item] = await passUntil(nightClock, () => receiver.items.length > 0 && receiver.items, SECOND_MS);
  assert.deepEqual([item!.status, item!.sentAt], [DELIVERED, formatDateTime(START)]);
  assert.equal(await balanceOf(morning), 99.99);
});

test("a client verifies a report with its account's secret and the Standard Webhooks library", async (t) => {
  const receiver = await startReceiver(t);
  // The library compares the time with the machine's.
  const now = await startTestService(t);
  await send({ notifyUrl: receiver.url, callbackData: "signed" }, now);
  const [request] = await receiver.waitForRequests(1);

  const { account } = (await now.store.findLogin({ username: "demo" }))!;
  const [secret] = (await now.store.callbackPolicy({ accountId: account.id })).secrets;
  const headers = request!.headers as Record<string, string>;
  const verified = new Webhook(secret!).verify(request!.body, headers) as { results: ReceivedItem[] };
  assert.equal(verified.results[0]!.callbackData, "signed");
  assert.throws(() => new Webhook(secret!).verify(request!.body.replace("signed", "forged"), headers));
});
