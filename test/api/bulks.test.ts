/** Scheduled bulks: looked at, moved, paused, resumed and called off, and what their messages make of it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { DAYS } from "../../src/schedule/window.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ADVANCED, balanceOf, passUntil, submittedCount } from "../support/sending.ts";
import {
  type Answer,
  basic,
  errorObject,
  eventually,
  startTestService,
  type TestService,
  temporaryDirectory,
} from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Far enough away that nothing goes by accident, and no more virtual time than that. */
const AHEAD_MS = 5 * MINUTE_MS;
/** Monday noon. */
const START = Date.UTC(2026, 0, 5, 12);
const clock = new VirtualClock(START);
const service = await startTestService({ after }, { clock });
const receiver = await ReportReceiver.start();
after(() => receiver.stop());

let named = 0;

interface Plan {
  readonly sendAtMs?: number;
  readonly count?: number;
  readonly fields?: Record<string, unknown>;
  readonly through?: TestService;
}

/** Sends a bulk and returns its id. */
async function plan({ sendAtMs, count = 2, fields = {}, through = service }: Plan): Promise<string> {
  const bulkId = `bulk ${++named}`;
  const message = {
    from: "InfoSMS",
    destinations: Array.from({ length: count }, (_, index) => ({ to: String(41_793_000_000 + index) })),
    text: "Hello",
    notifyUrl: receiver.url,
    ...(sendAtMs === undefined ? {} : { sendAt: formatDateTime(sendAtMs) }),
    ...fields,
  };
  const { status, text } = await through.call("POST", ADVANCED, { body: { bulkId, messages: [message] } });
  assert.equal(status, 200, text);
  return bulkId;
}

const query = (bulkId: string) => new URLSearchParams({ bulkId }).toString();
const move = (bulkId: string, sendAtMs: number, through = service): Promise<Answer> =>
  through.call("PUT", `/sms/1/bulks?${query(bulkId)}`, { body: { sendAt: formatDateTime(sendAtMs) } });
const set = (bulkId: string, status: string, through = service): Promise<Answer> =>
  through.call("PUT", `/sms/1/bulks/status?${query(bulkId)}`, { body: { status } });

async function statusOf(bulkId: string, through = service): Promise<string> {
  const { status, json } = await through.call("GET", `/sms/1/bulks/status?${query(bulkId)}`);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ["bulkId", "status"]);
  return json.status;
}

async function sendAtOf(bulkId: string): Promise<unknown> {
  const { status, json } = await service.call("GET", `/sms/1/bulks?${query(bulkId)}`);
  assert.equal(status, 200);
  return json;
}

const reportsOf = (bulkId: string) => receiver.items.filter((item) => item.bulkId === bulkId);
const reported = (bulkId: string, count: number, of = clock, stepMs = 100) =>
  passUntil(of, () => reportsOf(bulkId).length >= count && reportsOf(bulkId), stepMs);

function assertConflict(answer: Answer, says: string): void {
  assert.deepEqual([answer.status, answer.json], [409, errorObject("CONFLICT", "Conflict", null, says)]);
}

test("a scheduled bulk tells its time and its status, from PENDING to FINISHED", async () => {
  const sendAtMs = clock.now() + AHEAD_MS;
  const bulkId = await plan({ sendAtMs });
  assert.deepEqual(await sendAtOf(bulkId), { bulkId, sendAt: formatDateTime(sendAtMs) });
  assert.equal(await statusOf(bulkId), "PENDING");

  await clock.advance(AHEAD_MS);
  assert.equal(await statusOf(bulkId), "PROCESSING");
  await reported(bulkId, 2);
  assert.equal(await statusOf(bulkId), "FINISHED");
});

test("a bulk that was sent at once tells when it was received, and how far it is", async () => {
  const receivedAtMs = clock.now();
  const bulkId = await plan({});
  assert.equal(await statusOf(bulkId), "PROCESSING");
  assertConflict(await set(bulkId, "CANCELED"), "The bulk was sent at once: only a scheduled one can be changed.");
  assertConflict(
    await move(bulkId, clock.now() + AHEAD_MS),
    "The bulk was sent at once: only a scheduled one can be changed.",
  );
  await reported(bulkId, 2);
  assert.deepEqual(await sendAtOf(bulkId), { bulkId, sendAt: formatDateTime(receivedAtMs) });
  assert.equal(await statusOf(bulkId), "FINISHED");

  const hopeless = await plan({ fields: { destinations: [{ to: "nobody" }] } });
  assert.equal(await statusOf(hopeless), "FAILED");
});

test("a bulk is moved to a later time and to an earlier one", async () => {
  const bulkId = await plan({ sendAtMs: clock.now() + AHEAD_MS });
  const laterMs = clock.now() + 3 * AHEAD_MS;
  const moved = await move(bulkId, laterMs);
  assert.deepEqual([moved.status, moved.json], [200, { bulkId, sendAt: formatDateTime(laterMs) }]);
  assert.deepEqual(await sendAtOf(bulkId), { bulkId, sendAt: formatDateTime(laterMs) });
  await clock.advance(2 * AHEAD_MS);
  assert.deepEqual([await statusOf(bulkId), reportsOf(bulkId)], ["PENDING", []]);

  const earlierMs = clock.now() + 2 * MINUTE_MS;
  assert.equal((await move(bulkId, earlierMs)).status, 200);
  await clock.advance(2 * MINUTE_MS - 1);
  assert.equal(await statusOf(bulkId), "PENDING");
  const items = await reported(bulkId, 2);
  assert.deepEqual(
    items.map(({ sentAt }) => sentAt),
    [formatDateTime(earlierMs), formatDateTime(earlierMs)],
  );
});

test("a bulk that is moved into the past goes now, and says so", async () => {
  const bulkId = await plan({ sendAtMs: clock.now() + AHEAD_MS });
  const nowMs = clock.now();
  const { json } = await move(bulkId, nowMs - AHEAD_MS);
  assert.deepEqual(json, { bulkId, sendAt: formatDateTime(nowMs) });
  const [item] = await reported(bulkId, 2);
  assert.equal(item!.sentAt, formatDateTime(nowMs));
});

test("a moved bulk keeps its delivery window, and its validity counts from the new moment", async () => {
  await clock.leap(HOUR_MS - (clock.now() % HOUR_MS));
  const opensMs = clock.now() + HOUR_MS;
  const hour = (atMs: number) => ({ hour: new Date(atMs).getUTCHours(), minute: 0 });
  const deliveryTimeWindow = { days: [...DAYS], from: hour(opensMs), to: hour(opensMs + HOUR_MS) };
  const bulkId = await plan({
    sendAtMs: opensMs + 30 * MINUTE_MS,
    count: 1,
    fields: { deliveryTimeWindow, validityPeriod: 5 },
  });
  const before = service.handedOn.length;
  const submitted = await submittedCount(service);
  await move(bulkId, opensMs - HOUR_MS);
  // Time stands still where the window opens until the carrier has it, however busy the machine is.
  await clock.leap(opensMs - MINUTE_MS - clock.now());
  assert.equal(await submittedCount(service), submitted);
  await clock.advance(opensMs - clock.now());
  await eventually(async () => (await submittedCount(service)) > submitted);
  const [item] = await reported(bulkId, 1, clock, MINUTE_MS);
  assert.equal(item!.sentAt, formatDateTime(opensMs));
  assert.equal(service.handedOn[before]!.expiresAtMs, opensMs + 5 * MINUTE_MS);
});

test("a canceled bulk is refunded, reported, and never sent", async () => {
  const balance = await balanceOf(service);
  const submitted = await submittedCount(service);
  const bulkId = await plan({ sendAtMs: clock.now() + AHEAD_MS, count: 3, fields: { callbackData: "mine" } });
  assert.equal(Math.round((balance - (await balanceOf(service))) * 100), 3);
  const canceled = await set(bulkId, "CANCELED");
  assert.deepEqual([canceled.status, canceled.json], [200, { bulkId, status: "CANCELED" }]);
  assert.equal(await statusOf(bulkId), "CANCELED");

  const items = await reported(bulkId, 3);
  for (const { status, error, price, callbackData } of items) {
    assert.deepEqual(
      [status.name, error.id, error.name, price.pricePerMessage, callbackData],
      ["UNDELIVERABLE_NOT_SENT", 4100, "EC_MESSAGE_CANCELED", 0, "mine"],
    );
  }
  assert.equal(await balanceOf(service), balance);
  await clock.advance(2 * AHEAD_MS);
  assert.equal(reportsOf(bulkId).length, 3);
  assert.equal(await submittedCount(service), submitted);
  assert.deepEqual(await service.store.verifyLedger(), []);
});

test("a paused bulk waits past its time, and goes when it is resumed", async () => {
  const bulkId = await plan({ sendAtMs: clock.now() + AHEAD_MS });
  assert.deepEqual((await set(bulkId, "PAUSED")).json, { bulkId, status: "PAUSED" });
  await clock.advance(2 * AHEAD_MS);
  assert.deepEqual([await statusOf(bulkId), reportsOf(bulkId)], ["PAUSED", []]);

  const resumedAtMs = clock.now();
  assert.deepEqual((await set(bulkId, "PENDING")).json, { bulkId, status: "PENDING" });
  const [item] = await reported(bulkId, 2);
  assert.deepEqual([item!.sentAt, item!.status.name], [formatDateTime(resumedAtMs), "DELIVERED_TO_HANDSET"]);
});

test("validity runs while a bulk is paused", async () => {
  const balance = await balanceOf(service);
  const bulkId = await plan({ sendAtMs: clock.now() + MINUTE_MS, fields: { validityPeriod: 5 } });
  const expiresAtMs = clock.now() + 6 * MINUTE_MS;
  await set(bulkId, "PAUSED");
  const [item] = await reported(bulkId, 2, clock, 10_000);
  assert.deepEqual([item!.status.name, item!.doneAt], ["EXPIRED_EXPIRED", formatDateTime(expiresAtMs)]);
  assert.equal(await balanceOf(service), balance);
  assert.equal(await statusOf(bulkId), "FAILED");
});

test("409: changes that are not a client's to make, each with its reason", async () => {
  const bulkId = await plan({ sendAtMs: clock.now() + AHEAD_MS });
  const only = "only to PENDING, PAUSED or CANCELED.";
  assertConflict(await set(bulkId, "PENDING"), "The bulk is PENDING already.");
  for (const status of ["PROCESSING", "FINISHED", "FAILED"]) {
    assertConflict(await set(bulkId, status), `A bulk cannot be set to ${status}: ${only}`);
  }
  await set(bulkId, "CANCELED");
  const ended = "The bulk is CANCELED: only one that is PENDING or PAUSED can be changed.";
  assertConflict(await set(bulkId, "PENDING"), ended);
  assertConflict(await set(bulkId, "CANCELED"), "The bulk is CANCELED already.");
  assertConflict(await move(bulkId, clock.now() + AHEAD_MS), ended);

  const sent = await plan({ sendAtMs: clock.now() + MINUTE_MS });
  await clock.advance(MINUTE_MS);
  assertConflict(
    await set(sent, "CANCELED"),
    "The bulk is PROCESSING: only one that is PENDING or PAUSED can be changed.",
  );
  await reported(sent, 2);
  assertConflict(
    await set(sent, "CANCELED"),
    "The bulk is FINISHED: only one that is PENDING or PAUSED can be changed.",
  );
});

const CALLS = [
  ["GET", "/sms/1/bulks", undefined],
  ["PUT", "/sms/1/bulks", { sendAt: formatDateTime(START + DAY_MS) }],
  ["GET", "/sms/1/bulks/status", undefined],
  ["PUT", "/sms/1/bulks/status", { status: "CANCELED" }],
] as const;

test("404: a bulk that does not exist, or is another account's", async () => {
  const bulkId = await plan({ sendAtMs: clock.now() + AHEAD_MS });
  const stranger = basic("reseller", "reseller-password");
  const missing = errorObject("NOT_FOUND", "Bulk not found");
  for (const [method, path, body] of CALLS) {
    const unknown = await service.call(method, `${path}?bulkId=nothing`, { body });
    const others = await service.call(method, `${path}?${query(bulkId)}`, { body, authorization: stranger });
    assert.deepEqual([unknown.status, unknown.json], [404, missing], `${method} ${path}`);
    assert.deepEqual([others.status, others.json], [404, missing], `${method} ${path}`);
  }
  assert.equal(await statusOf(bulkId), "PENDING");
});

test("400: no bulkId, a status that is none, a sendAt that cannot be read or is too far away", async () => {
  const bulkId = await plan({ sendAtMs: clock.now() + AHEAD_MS });
  const wrong = async (method: string, target: string, body: unknown, field: string, says: string) => {
    const { status, json } = await service.call(method, target, { body });
    const object = errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`);
    assert.deepEqual([status, json], [400, object], target);
  };
  for (const [method, path, body] of CALLS) {
    await wrong(method, path, body, "bulkId", "is required");
    await wrong(method, `${path}?bulkId=`, body, "bulkId", "must not be empty");
    await wrong(method, `${path}?bulkId=a&bulkId=b`, body, "bulkId", "must be a string");
    await wrong(method, `${path}?bulkId=${"x".repeat(101)}`, body, "bulkId", "must be at most 100 characters long");
  }
  const schedule = `/sms/1/bulks?${query(bulkId)}`;
  const tooFar = formatDateTime(clock.now() + 180 * DAY_MS + MINUTE_MS);
  await wrong("PUT", schedule, {}, "sendAt", "is required");
  await wrong("PUT", schedule, { sendAt: 5 }, "sendAt", "must be a string");
  const form = "is not a date and time like 2026-02-12T09:58:20.323+0000";
  await wrong("PUT", schedule, { sendAt: "tomorrow" }, "sendAt", form);
  await wrong("PUT", schedule, { sendAt: tooFar }, "sendAt", "is more than 180 days ahead");
  const statuses = "must be one of PENDING, PAUSED, PROCESSING, CANCELED, FINISHED, FAILED";
  await wrong("PUT", `/sms/1/bulks/status?${query(bulkId)}`, { status: "STOPPED" }, "status", statuses);
  assert.equal(await statusOf(bulkId), "PENDING");
});

test("a service that stops in the middle of calling off a bulk goes on when it is started again", async (t) => {
  const nightClock = new VirtualClock(START);
  const settings = { dispatch: { claimMessages: 10 } };
  const data = await temporaryDirectory(t);
  const evening = await startTestService(t, { clock: nightClock, data, settings });
  const balance = await balanceOf(evening);
  const bulkId = await plan({ sendAtMs: START + AHEAD_MS, count: 95, through: evening });
  assert.equal((await set(bulkId, "CANCELED", evening)).status, 200);
  const charged = async (through: TestService) => Math.round((balance - (await balanceOf(through))) * 100);
  await evening.store.claimDue({ nowMs: START, limit: 10 });
  assert.equal(await charged(evening), 85);
  await evening.stop();

  const morning = await startTestService(t, { clock: nightClock, data, settings });
  assert.equal(await statusOf(bulkId, morning), "CANCELED");
  await reported(bulkId, 95, nightClock);
  assert.equal(new Set(reportsOf(bulkId).map(({ messageId }) => messageId)).size, 95);
  assert.equal(await charged(morning), 0);
  assert.equal(await submittedCount(morning), 0);
  assert.deepEqual(await morning.store.verifyLedger(), []);
});
