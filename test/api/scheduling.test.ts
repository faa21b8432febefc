/** sendAt, deliveryTimeWindow and validityPeriod: nothing is sent before its time or after it, also across a restart. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { DAYS } from "../../src/schedule/window.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { balanceOf, passUntil, SINGLE, submittedCount } from "../support/sending.ts";
import { CATALOGUE, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** For what is minutes away. */
const STEP_MS = 10 * SECOND_MS;

/** Monday noon. */
const START = Date.UTC(2026, 0, 5, 12);
const clock = new VirtualClock(START);
const service = await startTestService({ after }, { clock });
const receiver = await ReportReceiver.start();
after(() => receiver.stop());

let named = 0;

/** Sends one message with these fields and returns its messageId and what was answered. */
async function send(fields: Record<string, unknown>, to = "41793026727", through = service) {
  const messageId = `message ${++named}`;
  const body = { from: "InfoSMS", to, text: "Hello", notifyUrl: receiver.url, messageId, ...fields };
  const { status, text, json } = await through.call("POST", SINGLE, { body });
  assert.equal(status, 200, text);
  return { messageId, statusId: json.messages[0].status.id };
}

function reportsOf(messageId: string) {
  return receiver.items.filter((item) => item.messageId === messageId);
}

/** Lets time pass until the message has its report. */
async function reported(messageId: string, stepMs = 100, of = clock) {
  const [item] = await passUntil(of, () => reportsOf(messageId).length > 0 && reportsOf(messageId), stepMs);
  return item!;
}

/** Lets time pass to the next whole minute, and returns it. */
async function wholeMinute(): Promise<number> {
  await clock.advance(MINUTE_MS - (clock.now() % MINUTE_MS));
  return clock.now();
}

function timeOfDay(atMs: number) {
  const date = new Date(atMs);
  return { hour: date.getUTCHours(), minute: date.getUTCMinutes() };
}

test("a message with sendAt goes at its time and not a millisecond earlier", async () => {
  const sendAtMs = clock.now() + 5 * MINUTE_MS;
  const { messageId, statusId } = await send({ sendAt: formatDateTime(sendAtMs) });
  const submitted = await submittedCount(service);

  await clock.advance(5 * MINUTE_MS - 1);
  assert.equal(statusId, 26);
  assert.equal(await submittedCount(service), submitted);
  assert.deepEqual(reportsOf(messageId), []);

  await clock.advance(1);
  const { sentAt, status } = await reported(messageId);
  assert.equal(sentAt, formatDateTime(sendAtMs));
  assert.equal(status.name, "DELIVERED_TO_HANDSET");
});

test("messages go by their time, whatever the order of their requests", async () => {
  const inMinutes = (minutes: number) => formatDateTime(clock.now() + minutes * MINUTE_MS);
  const before = service.handedOn.length;
  await send({ sendAt: inMinutes(3) }, "41790000003");
  await send({ sendAt: inMinutes(1) }, "41790000001");
  await send({ sendAt: inMinutes(2) }, "41790000002");

  await passUntil(clock, () => service.handedOn.length === before + 3, STEP_MS);
  assert.deepEqual(
    service.handedOn.slice(before).map(({ to }) => to),
    ["41790000001", "41790000002", "41790000003"],
  );
});

test("a message outside of its window waits for the window to open", async () => {
  const opensMs = (await wholeMinute()) + 10 * MINUTE_MS;
  const window = { days: [...DAYS], from: timeOfDay(opensMs), to: timeOfDay(opensMs + 10 * MINUTE_MS) };
  const { messageId, statusId } = await send({ deliveryTimeWindow: window });

  await clock.advance(10 * MINUTE_MS - 1);
  assert.equal(statusId, 26);
  assert.equal(
    service.handedOn.some(({ window: of }) => of !== null),
    false,
  );

  const { sentAt } = await reported(messageId);
  assert.equal(sentAt, formatDateTime(opensMs));
});

test("a sendAt before the window opens waits for the window too; one within it goes at its time", async () => {
  const opensMs = (await wholeMinute()) + 10 * MINUTE_MS;
  const deliveryTimeWindow = { days: [...DAYS], from: timeOfDay(opensMs), to: timeOfDay(opensMs + 10 * MINUTE_MS) };
  const early = await send({ deliveryTimeWindow, sendAt: formatDateTime(opensMs - 5 * MINUTE_MS) });
  const within = await send({ deliveryTimeWindow, sendAt: formatDateTime(opensMs + 5 * MINUTE_MS) });

  assert.equal((await reported(within.messageId, STEP_MS)).sentAt, formatDateTime(opensMs + 5 * MINUTE_MS));
  assert.equal((await reported(early.messageId)).sentAt, formatDateTime(opensMs));
});

test("validity counts from when the message may first be sent", async () => {
  const opensMs = (await wholeMinute()) + 10 * MINUTE_MS;
  const deliveryTimeWindow = { days: [...DAYS], from: timeOfDay(opensMs), to: timeOfDay(opensMs + 20 * MINUTE_MS) };
  const before = service.handedOn.length;
  await send({ deliveryTimeWindow, validityPeriod: 1 });
  await send({ sendAt: formatDateTime(opensMs + MINUTE_MS), validityPeriod: 2 });
  await send({ deliveryTimeWindow, sendAt: formatDateTime(opensMs + 2 * MINUTE_MS), validityPeriod: 3 });

  await passUntil(clock, () => service.handedOn.length === before + 3, STEP_MS);
  assert.deepEqual(
    service.handedOn.slice(before).map(({ expiresAtMs }) => (expiresAtMs - opensMs) / MINUTE_MS),
    [1, 1 + 2, 2 + 3],
  );
});

test("a message that no carrier took in time expires, is refunded and reported", async (t) => {
  // One part at a time, and the phone whose number ends in 999001 keeps it busy for a minute and a half.
  const catalogue = CATALOGUE.replace("answerAfterMs = 10", "answerAfterMs = 10\ncapacity = 1");
  const narrowClock = new VirtualClock(START);
  const narrow = await startTestService(t, { clock: narrowClock, catalogue });
  await send({}, "41793999001", narrow);
  const { messageId, statusId } = await send({ validityPeriod: 1, text: "x".repeat(200) }, "41793026727", narrow);
  const charged = await balanceOf(narrow);
  await narrowClock.advance(MINUTE_MS - 1);
  const stillCharged = await balanceOf(narrow);

  const { status, error, doneAt } = await reported(messageId, STEP_MS, narrowClock);
  assert.equal(statusId, 7);
  assert.deepEqual([charged, stillCharged], [99.97, 99.97]);
  assert.deepEqual([status.id, status.name], [15, "EXPIRED_EXPIRED"]);
  assert.equal(error.name, "EC_VALIDITY_EXPIRED");
  assert.ok(doneAt >= formatDateTime(START + MINUTE_MS), doneAt);
  assert.equal(await balanceOf(narrow), 99.99);
  assert.equal(await submittedCount(narrow), 1);
  assert.deepEqual(await narrow.store.verifyLedger(), []);
});

/** Stops the service, lets time pass, and starts it again on the same data. */
async function restart(
  t: Parameters<typeof temporaryDirectory>[0],
  running: TestService,
  of: VirtualClock,
  passMs: number,
): Promise<TestService> {
  await running.stop();
  await of.advance(passMs);
  return startTestService(t, { clock: of, data: running.settings.store.data });
}

test("a scheduled message waits across a restart, and goes at its time", async (t) => {
  const nightClock = new VirtualClock(START);
  const evening = await startTestService(t, { clock: nightClock, data: await temporaryDirectory(t) });
  const { messageId } = await send({ sendAt: formatDateTime(START + 12 * HOUR_MS) }, "41793026727", evening);
  const morning = await restart(t, evening, nightClock, 12 * HOUR_MS - MINUTE_MS);

  await nightClock.advance(MINUTE_MS - 1);
  assert.equal(await submittedCount(morning), 0);
  const { sentAt } = await reported(messageId, 100, nightClock);
  assert.equal(sentAt, formatDateTime(START + 12 * HOUR_MS));
  assert.equal(await balanceOf(morning), 99.99);
});

test("what came due while the service was down goes when it is up again, or expires if it is too late", async (t) => {
  const nightClock = new VirtualClock(START);
  const evening = await startTestService(t, { clock: nightClock, data: await temporaryDirectory(t) });
  const sendAt = formatDateTime(START + HOUR_MS);
  const patient = await send({ sendAt }, "41793026727", evening);
  const urgent = await send({ sendAt, validityPeriod: 60 }, "41793026834", evening);
  const morning = await restart(t, evening, nightClock, 2 * HOUR_MS);

  const delivered = await reported(patient.messageId, 100, nightClock);
  const expired = await reported(urgent.messageId, 100, nightClock);
  assert.deepEqual([delivered.status.id, delivered.sentAt], [5, formatDateTime(START + 2 * HOUR_MS)]);
  assert.deepEqual([expired.status.id, expired.error.name], [15, "EC_VALIDITY_EXPIRED"]);
  assert.equal(await submittedCount(morning), 1);
  assert.equal(await balanceOf(morning), 99.99);
  assert.deepEqual(await morning.store.verifyLedger(), []);
});

test("a message that is still waiting when its window closes goes at the next opening", async (t) => {
  const dayClock = new VirtualClock(START - 500);
  const monday = await startTestService(t, { clock: dayClock, data: await temporaryDirectory(t) });
  const deliveryTimeWindow = { days: [...DAYS], from: timeOfDay(START - MINUTE_MS), to: timeOfDay(START) };
  // The network of this number is busy for two seconds: the window closes in the first of them.
  const { messageId, statusId } = await send({ deliveryTimeWindow }, "41793999009", monday);
  await dayClock.advance(HOUR_MS);
  const submittedOnMonday = await submittedCount(monday);
  const tuesday = await restart(t, monday, dayClock, 22 * HOUR_MS + 58 * MINUTE_MS);

  const { sentAt, status } = await reported(messageId, STEP_MS, dayClock);
  assert.equal(statusId, 7);
  assert.equal(submittedOnMonday, 0);
  assert.equal(status.id, 5);
  const opensMs = START + 24 * HOUR_MS - MINUTE_MS;
  assert.ok(sentAt >= formatDateTime(opensMs) && sentAt < formatDateTime(opensMs + MINUTE_MS), sentAt);
  assert.equal(await balanceOf(tuesday), 99.99);
});

test("a message whose window does not open within its validity expires, and is refunded", async (t) => {
  const dayClock = new VirtualClock(START - 500);
  const monday = await startTestService(t, { clock: dayClock });
  const deliveryTimeWindow = { days: [...DAYS], from: timeOfDay(START - MINUTE_MS), to: timeOfDay(START) };
  const { messageId } = await send({ deliveryTimeWindow, validityPeriod: 5 }, "41793999009", monday);

  const { status, doneAt } = await reported(messageId, STEP_MS, dayClock);
  assert.equal(status.id, 15);
  assert.equal(doneAt, formatDateTime(START - 500 + 5 * MINUTE_MS));
  assert.equal(await balanceOf(monday), 100);
});
