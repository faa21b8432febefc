/** Time travel on a whole service, with its threads: each of them has to hear of a jump. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { startChild } from "../support/child.ts";
import { callService, eventually, temporaryDirectory } from "../support/service.ts";

const HOUR_MS = 3_600_000;

test("a jump reaches all threads, and the next start goes on from there", async (t) => {
  const data = await temporaryDirectory(t);
  const args = ["sandbox", "--port", "0", "--data", data];
  const first = await startChild(t, args);
  const call = (url: string, method: string, path: string, body?: object) =>
    callService(url, method, path, body === undefined ? {} : { body });
  const send = async (url: string, options: object): Promise<string> => {
    const messages = [{ from: "Shop", text: "Hello", destinations: [{ to: "41793026727" }], ...options }];
    return (await call(url, "POST", "/sms/1/text/advanced", { messages })).json.messages[0].messageId;
  };
  const isDelivered = async (url: string, messageId: string) => {
    const { json } = await call(url, "GET", `/sms/1/logs?messageId=${messageId}`);
    return json.results[0]?.status.name === "DELIVERED_TO_HANDSET";
  };

  const scheduled = await send(first.url, { sendAt: formatDateTime(Date.now() + 2 * HOUR_MS) });
  const late = await send(first.url, { destinations: [{ to: "41793999001" }] });
  const jumped = await call(first.url, "PUT", "/sandbox/1/clock", { by: "3h" });
  assert.equal(jumped.status, 200, jumped.text);
  assert.equal(jumped.json.released.messages, 1);
  await eventually(() => isDelivered(first.url, scheduled));
  await eventually(() => isDelivered(first.url, late));
  const { json: phone } = await call(first.url, "GET", "/console/1/phone?number=41793026727");
  assert.deepEqual([phone.state, phone.messages.length], ["on", 1]);
  assert.equal(await first.end("SIGTERM"), 0);

  const second = await startChild(t, args);
  assert.equal((await call(second.url, "GET", "/sandbox/1/clock")).json.offsetMs, 3 * HOUR_MS);
  const after = await send(second.url, {});
  assert.ok(BigInt(after) > BigInt(scheduled));
  await eventually(() => isDelivered(second.url, after));
  // What the phones showed was in memory.
  assert.equal((await call(second.url, "GET", "/console/1/phone?number=41793026727")).json.messages.length, 1);
  assert.equal(await second.end("SIGTERM"), 0);
});
