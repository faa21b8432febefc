/** Kannel's delivery reports from end to end: a message comes by sendsms, and what becomes of it is told by a GET of its dlr-url. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { passUntil } from "../support/sending.ts";
import { type Cleanup, startTestService, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SECOND_MS = 1_000;
const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
const SETTINGS = {
  kannel: { enabled: true },
  dispatch: { receiptWaitMs: 5 * SECOND_MS, sweepEveryMs: 10 * SECOND_MS },
};
const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { clock, settings: SETTINGS, data });
const DELIVERED = "41793026727";
const ABSENT_FIRST = "41793999002";
const UNKNOWN = "41793999003";
const REJECTED_LATER = "41793999005";
const REFUSED = "41793999006";
const SILENT = "41793999008";

async function startReceiver(t: Cleanup): Promise<ReportReceiver> {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  return receiver;
}

async function send(receiver: ReportReceiver, to: string, mask: number, template = "?d=%d"): Promise<void> {
  const query = new URLSearchParams({
    username: "demo",
    password: "demo-password",
    from: "Kannel",
    to,
    text: "Hello",
    account: "sales",
    validity: "2",
    "dlr-mask": String(mask),
    "dlr-url": receiver.url + template,
  });
  const answer = await service.call("GET", `/cgi-bin/sendsms?${query}`, { authorization: null });
  assert.equal(answer.text, "0: Accepted for delivery");
}

/** The numbers of the events that were told, in order, once there are so many. */
async function told(receiver: ReportReceiver, count: number): Promise<string[]> {
  await passUntil(clock, () => receiver.requests.length >= count, 500);
  return receiver.requests.map(({ path }) => new URL(path, receiver.url).searchParams.get("d")!);
}

/** Longer than until the first retry, and than a receipt is waited for. */
async function aWhile(): Promise<void> {
  const endMs = clock.now() + 70 * SECOND_MS;
  await passUntil(clock, () => clock.now() >= endMs, 5 * SECOND_MS);
}

const CASES: readonly (readonly [what: string, to: string, mask: number, told: readonly string[]])[] = [
  ["delivered", DELIVERED, 1, ["1"]],
  ["delivered, with all that is on the way", DELIVERED, 31, ["8", "1"]],
  ["absent for a while, and then delivered", ABSENT_FIRST, 31, ["8", "4", "1"]],
  ["only what is buffered", ABSENT_FIRST, 4, ["4"]],
  ["only that a carrier took it", DELIVERED, 8, ["8"]],
  ["unknown to its network", UNKNOWN, 3, ["2"]],
  ["rejected by a receipt", REJECTED_LATER, 27, ["8", "2"]],
  ["refused by the carrier", REFUSED, 16, ["16"]],
  ["refused by the carrier, with all", REFUSED, 31, ["16"]],
  ["without a receipt", SILENT, 3, ["2"]],
];

test("the mask says which events are told, each once and in order", async (t) => {
  const receivers: ReportReceiver[] = [];
  for (const [, to, mask] of CASES) {
    const receiver = await startReceiver(t);
    receivers.push(receiver);
    await send(receiver, to, mask);
  }
  for (const [index, receiver] of receivers.entries()) await told(receiver, CASES[index]![3].length);
  await aWhile();
  for (const [index, [what, , mask, numbers]] of CASES.entries()) {
    assert.deepEqual(await told(receivers[index]!, numbers.length), numbers, `${what}, with the mask ${mask}`);
    for (const { method, body } of receivers[index]!.requests) assert.deepEqual([method, body], ["GET", ""]);
  }
});

test("what nobody asked for is neither told nor kept to be fetched", async (t) => {
  const receiver = await startReceiver(t);
  await send(receiver, DELIVERED, 2 + 16);
  await send(receiver, UNKNOWN, 1);
  await send(receiver, DELIVERED, 0);
  await service.call(
    "GET",
    `/cgi-bin/sendsms?username=demo&password=demo-password&from=a1&to=${DELIVERED}&text=x&dlr-mask=31`,
    { authorization: null },
  );
  await aWhile();
  assert.deepEqual(receiver.requests, []);
  assert.deepEqual((await service.call("GET", "/sms/1/reports")).json.results, []);
  const { json } = await service.call("GET", "/sms/1/logs?limit=4");
  const statuses = json.results.map((item: { status: { groupName: string } }) => item.status.groupName);
  assert.deepEqual(statuses.sort(), ["DELIVERED", "DELIVERED", "DELIVERED", "UNDELIVERABLE"]);
});

test("the escapes of the URL are filled, and the rest of it is as it was given", async (t) => {
  const receiver = await startReceiver(t);
  await send(receiver, DELIVERED, 1, "/%P/x?id=7%%26&status=%d&phone=%q&time=%T&smsc=%i&mid=%I&answer=%A&acc=%o");
  await told(receiver, 1);
  const { json } = await service.call("GET", "/sms/1/logs?limit=1");
  const [{ messageId, doneAt }] = json.results;
  const url = new URL(receiver.requests[0]!.path, receiver.url);
  assert.equal(url.pathname, "/reports/Kannel/x");
  const { answer, ...rest } = Object.fromEntries(url.searchParams);
  const seconds = Math.floor(Date.parse(doneAt.replace("+0000", "Z")) / 1_000);
  assert.deepEqual(rest, {
    id: "7&",
    status: "1",
    phone: `+${DELIVERED}`,
    time: String(seconds),
    smsc: "heliograph",
    mid: messageId,
    acc: "sales",
  });
  assert.match(answer!, new RegExp(`^id:${messageId} sub:001 dlvrd:001 .* stat:DELIVRD err:000 text:$`));
});

test("a receiver that fails is asked again, with the same id, and later events wait for it", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(status(500));
  await send(receiver, DELIVERED, 9);
  await told(receiver, 1);
  receiver.answer(status(202));
  assert.deepEqual(await told(receiver, 3), ["8", "8", "1"]);
  const [first, second, third] = receiver.requests.map(({ headers }) => headers["webhook-id"]);
  assert.equal(first, second);
  assert.notEqual(second, third);
  await aWhile();
  assert.equal(receiver.requests.length, 3);
});

test("many messages with one dlr-url have a report each", async (t) => {
  const receiver = await startReceiver(t);
  const numbers = Array.from({ length: 20 }, (_, index) => `417930267${10 + index}`);
  await send(receiver, numbers.join(" "), 1, "?d=%d&to=%p");
  await told(receiver, numbers.length);
  const paths = receiver.requests.map(({ path }) => path).sort();
  assert.deepEqual(
    paths,
    numbers.map((to) => `/reports?d=1&to=${to}`),
  );
});

test("a rejected message among others is told as refused, where that is asked for", async (t) => {
  const receiver = await startReceiver(t);
  const query = new URLSearchParams({ from: "Kannel", to: `${DELIVERED} 12`, text: "x", "dlr-mask": "17" });
  query.set("dlr-url", `${receiver.url}?d=%d&to=%p`);
  const { text } = await service.call("GET", `/cgi-bin/sendsms?${query}`);
  assert.equal(text, "0: Accepted for delivery Denied receivers are: 12");
  await told(receiver, 2);
  assert.deepEqual(receiver.requests.map(({ path }) => path).sort(), [
    `/reports?d=1&to=${DELIVERED}`,
    "/reports?d=16&to=12",
  ]);
});
