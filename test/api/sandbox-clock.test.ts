/** Time travel in the sandbox: what waits for a time acts when the clock is moved, and nothing else is disturbed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import {
  basic,
  eventually,
  startTestService,
  TEST_STORE,
  type TestService,
  temporaryDirectory,
} from "../support/service.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAYS = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];

async function send(service: TestService, message: object, to = "41790000001"): Promise<string> {
  const body = { messages: [{ from: "Shop", text: "Hello", destinations: [{ to }], ...message }] };
  const { status, json } = await service.call("POST", "/sms/1/text/advanced", { body });
  assert.equal(status, 200);
  return json.messages[0].messageId;
}

async function statusOf(service: TestService, messageId: string): Promise<string> {
  const { json } = await service.call(
    "GET",
    `/sms/1/logs?messageId=${messageId}&sentSince=2020-01-01T00:00:00.000%2B0000`,
  );
  return json.results[0].status.name;
}

const ends = (service: TestService, messageId: string, name: string) =>
  eventually(async () => (await statusOf(service, messageId)) === name);

/** Jumps, and gives what the answer says. */
async function jump(service: TestService, body: object, authorization?: string) {
  const answer = await service.call("PUT", "/sandbox/1/clock", { body, ...(authorization ? { authorization } : {}) });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

const hours = (nowMs: number, count: number) => formatDateTime(nowMs + count * HOUR_MS);

if (TEST_STORE === "postgres") {
  test("on PostgreSQL the clock cannot be moved, and the answer says why", async (t) => {
    const service = await startTestService(t);
    const answer = await service.call("PUT", "/sandbox/1/clock", { body: { by: "2h" } });
    assert.equal(answer.status, 409);
    assert.match(answer.json.requestError.serviceException.additionalDescription, /PostgreSQL/);
    assert.equal((await service.call("GET", "/console/1/sandbox")).json.clock, null);
  });
} else {
  describe("a jump", () => {
    test("releases scheduled messages, says how many, and leaves later ones", async (t) => {
      const service = await startTestService(t);
      const now = Date.now();
      const soon = await send(service, { sendAt: hours(now, 2) });
      const later = await send(service, { sendAt: hours(now, 5) });
      assert.equal(
        (await service.call("GET", "/console/1/sandbox")).json.clock.nextMessageAt,
        new Date(Math.floor(now) + 2 * HOUR_MS).toISOString(),
      );
      assert.deepEqual((await jump(service, { by: "30m" })).released, { messages: 0, reports: 0 });
      const { offsetMs, jumpedMs, released, now: sandboxNow } = await jump(service, { by: "2h" });
      assert.deepEqual(released, { messages: 1, reports: 0 });
      assert.deepEqual([offsetMs, jumpedMs], [150 * MINUTE_MS, 2 * HOUR_MS]);
      assert.ok(Math.abs(Date.parse(sandboxNow) - Date.now() - offsetMs) < MINUTE_MS);
      await ends(service, soon, "DELIVERED_TO_HANDSET");
      assert.match(await statusOf(service, later), /^PENDING/);
      const { json } = await service.call("GET", "/console/1/phone?number=41790000001");
      assert.equal(json.messages.length, 1);
      assert.ok(Date.parse(json.messages[0].at) - now >= 2 * HOUR_MS);
    });

    test("leaves the messages of a paused bulk alone, and does not count them", async (t) => {
      const service = await startTestService(t);
      const now = Date.now();
      const body = {
        bulkId: "paused",
        messages: [
          { from: "Shop", text: "Hello", destinations: [{ to: "41790000001" }], sendAt: hours(now, 2) },
          { from: "Shop", text: "Hello", destinations: [{ to: "41790000002" }], sendAt: hours(now, 2) },
        ],
      };
      assert.equal((await service.call("POST", "/sms/1/text/advanced", { body })).status, 200);
      const pausing = { body: { status: "PAUSED" } };
      assert.equal((await service.call("PUT", "/sms/1/bulks/status?bulkId=paused", pausing)).status, 200);
      await send(service, { sendAt: hours(now, 3) });
      const { clock } = (await service.call("GET", "/console/1/sandbox")).json;
      assert.equal(clock.nextMessageAt, new Date(now + 3 * HOUR_MS).toISOString());
      assert.deepEqual((await jump(service, { by: "4h" })).released, { messages: 1, reports: 0 });
    });

    test("opens a window", async (t) => {
      const service = await startTestService(t);
      const opens = new Date(Date.now() + 3 * HOUR_MS);
      const from = { hour: opens.getUTCHours(), minute: 0 };
      const deliveryTimeWindow = { days: DAYS, from, to: { hour: (from.hour + 2) % 24, minute: 0 } };
      const messageId = await send(service, { deliveryTimeWindow });
      assert.match(await statusOf(service, messageId), /^PENDING/);
      await jump(service, { to: formatDateTime(Math.floor(opens.getTime() / HOUR_MS) * HOUR_MS + MINUTE_MS) });
      await ends(service, messageId, "DELIVERED_TO_HANDSET");
    });

    test("ends the validity of a message that waits for its phone, and brings late answers", async (t) => {
      const service = await startTestService(t);
      await service.call("PUT", "/sandbox/1/phones/41790000002", { body: { state: "off" } });
      const held = await send(service, { validityPeriod: 60 }, "41790000002");
      const late = await send(service, {}, "41790999001");
      await eventually(async () => (await statusOf(service, late)) === "PENDING_WAITING_DELIVERY");
      await eventually(async () => (await statusOf(service, held)) === "PENDING_WAITING_DELIVERY");
      await jump(service, { by: "2m" });
      await ends(service, late, "DELIVERED_TO_HANDSET");
      assert.equal(await statusOf(service, held), "PENDING_WAITING_DELIVERY");
      await jump(service, { by: "1h" });
      await ends(service, held, "EXPIRED_EXPIRED");
    });

    test("has reports tried again at once, with the real time in their signature", async (t) => {
      const service = await startTestService(t);
      const receiver = await ReportReceiver.start();
      t.after(() => receiver.stop());
      receiver.answer(status(503));
      await send(service, { notifyUrl: receiver.url });
      await receiver.waitForRequests(1);
      await eventually(async () => {
        const { released } = await jump(service, { by: "1m" });
        return released.reports === 1;
      });
      await receiver.waitForRequests(2);
      receiver.answer(status(200));
      await jump(service, { by: "1d" });
      const { headers } = (await receiver.waitForRequests(3)).at(-1)!;
      assert.ok(Math.abs(Number(headers["webhook-timestamp"]) * 1000 - Date.now()) < MINUTE_MS);
    });

    test("does not end the sessions of people", async (t) => {
      const service = await startTestService(t);
      const login = { body: { username: "demo", password: "demo-password" }, authorization: null };
      const { json } = await service.call("POST", "/auth/1/session", login);
      const authorization = `IBSSO ${json.token}`;
      await jump(service, { by: "366d" }, authorization);
      assert.equal((await service.call("GET", "/account/1/balance", { authorization })).status, 200);
    });

    test("keeps ids ascending, and new messages behind the old ones", async (t) => {
      const service = await startTestService(t);
      const before = await send(service, {});
      await jump(service, { by: "100d" });
      const after = await send(service, {});
      assert.ok(BigInt(after) > BigInt(before));
    });

    test("is kept over a restart", async (t) => {
      const data = await temporaryDirectory(t);
      const first = await startTestService(t, { data });
      await jump(first, { offset: "2d" });
      const before = await send(first, {});
      await first.stop();
      const second = await startTestService(t, { data });
      assert.equal((await second.call("GET", "/sandbox/1/clock")).json.offsetMs, 2 * DAY_MS);
      assert.ok(BigInt(await send(second, {})) > BigInt(before));
    });
  });

  test("an account is told of its own messages only, the operator of all", async (t) => {
    const service = await startTestService(t);
    for (const hour of [1, 3]) await send(service, { sendAt: hours(Date.now(), hour) });
    const reseller = await jump(service, { by: "2h" }, basic("reseller", "reseller-password"));
    assert.equal(reseller.released.messages, 0);
    const operator = await jump(service, { by: "2h" }, basic("operator", "operator-password"));
    assert.equal(operator.released.messages, 1);
  });

  test("what cannot be is refused in words, and moves nothing", async (t) => {
    const service = await startTestService(t);
    await jump(service, { by: "2h" });
    const refused = async (body: object, says: RegExp) => {
      const { status, json } = await service.call("PUT", "/sandbox/1/clock", { body });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(json.requestError.serviceException.additionalDescription, says);
    };
    await refused({}, /one of by, to and offset/);
    await refused({ by: "1h", offset: "3h" }, /one of by, to and offset/);
    await refused({ by: "soon" }, /such as 2h/);
    await refused({ offset: "1h" }, /goes forwards only/);
    await refused({ by: "-2h" }, /goes forwards only/);
    await refused({ to: formatDateTime(Date.now()) }, /goes forwards only/);
    await refused({ to: "tomorrow" }, /is not a date/);
    await refused({ by: "367d" }, /at most 366 days/);
    assert.equal((await service.call("GET", "/sandbox/1/clock")).json.offsetMs, 2 * HOUR_MS);
  });

  test("jumps that are asked for at the same time happen one after the other", async (t) => {
    const service = await startTestService(t);
    await Promise.all(Array.from({ length: 5 }, () => jump(service, { by: "1h" })));
    assert.equal((await service.call("GET", "/sandbox/1/clock")).json.offsetMs, 5 * HOUR_MS);
  });
}
