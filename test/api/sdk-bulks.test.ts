/** Scheduled bulks with the published npm client of the API family, unmodified: only its baseUrl is changed. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AuthType, Infobip } from "@infobip-api/sdk";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { balanceOf, passUntil, submittedCount } from "../support/sending.ts";
import { errorObject, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const AHEAD_MS = 5 * 60_000;
const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
const service = await startTestService({ after }, { clock });
const { sms } = new Infobip({
  baseUrl: service.url,
  authType: AuthType.Basic,
  username: "demo",
  password: "demo-password",
}).channels;

/** The client resolves with an error instead of rejecting with it. */
interface Failure {
  readonly response: { readonly status: number; readonly data: unknown };
}

/** Sends a bulk of two messages for an hour from now. */
async function plan(bulkId: string): Promise<void> {
  const { status } = await sms.send({
    bulkId,
    messages: [
      {
        from: "InfoSMS",
        destinations: [{ to: "41793026727" }, { to: "41793026834" }],
        text: "Later",
        sendAt: formatDateTime(clock.now() + AHEAD_MS),
      },
    ],
  });
  assert.equal(status, 200);
}

test("it reads when a bulk is to be sent, and moves it", async () => {
  await plan("to move & to keep");
  const before = await submittedCount(service);
  const read = await sms.scheduled.get("to move & to keep");
  assert.equal(read.status, 200);
  assert.deepEqual(read.data, { bulkId: "to move & to keep", sendAt: formatDateTime(clock.now() + AHEAD_MS) });

  const sendAt = formatDateTime(clock.now() + 2 * AHEAD_MS);
  const moved = await sms.scheduled.reschedule("to move & to keep", sendAt);
  assert.equal(moved.status, 200);
  assert.deepEqual(moved.data, { bulkId: "to move & to keep", sendAt });
  await clock.advance(2 * AHEAD_MS - 1);
  assert.equal(await submittedCount(service), before);
  await passUntil(clock, async () => (await submittedCount(service)) === before + 2);
});

test("it pauses a bulk and resumes it", async () => {
  await plan("to pause");
  const before = await submittedCount(service);
  const paused = await sms.status.update("to pause", "PAUSED");
  assert.deepEqual([paused.status, paused.data], [200, { bulkId: "to pause", status: "PAUSED" }]);
  await clock.advance(2 * AHEAD_MS);
  const { data } = await sms.status.get("to pause");
  assert.deepEqual(data, { bulkId: "to pause", status: "PAUSED" });
  assert.equal(await submittedCount(service), before);

  const resumed = await sms.status.update("to pause", "PENDING");
  assert.deepEqual([resumed.status, resumed.data], [200, { bulkId: "to pause", status: "PENDING" }]);
  await passUntil(clock, async () => (await submittedCount(service)) === before + 2);
});

test("it cancels a bulk, which cannot be resumed then", async () => {
  const balance = await balanceOf(service);
  await plan("to cancel");
  const canceled = await sms.status.update("to cancel", "CANCELED");
  assert.deepEqual([canceled.status, canceled.data], [200, { bulkId: "to cancel", status: "CANCELED" }]);
  await passUntil(clock, async () => (await balanceOf(service)) === balance);

  const { response }: Failure = await sms.status.update("to cancel", "PENDING");
  const says = "The bulk is CANCELED: only one that is PENDING or PAUSED can be changed.";
  assert.deepEqual([response.status, response.data], [409, errorObject("CONFLICT", "Conflict", null, says)]);
});

test("it learns that there is no such bulk", async () => {
  const { response }: Failure = await sms.scheduled.get("nothing");
  assert.deepEqual([response.status, response.data], [404, errorObject("NOT_FOUND", "Bulk not found")]);
});
