/** The door for carriers' callbacks: who may come in, and that nobody else learns anything. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { callbackUrls } from "../../../src/carriers/http/callbacks.ts";
import { PROVIDERS } from "../../../src/provider/apis.ts";
import type { OutCall } from "../../../src/provider/port.ts";
import { startRig } from "./rig.ts";

const SECRET = "provider-secret";
const PROFILE = { id: "upstream", kind: "http", callbackSecret: SECRET } as const;

async function knock({ url, headers, body }: OutCall): Promise<readonly [status: number, text: string]> {
  const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual" });
  return [answer.status, await answer.text()];
}

const written = (url: string, secret: string): OutCall =>
  PROVIDERS.twilio!.incoming(
    url,
    { id: "1", from: "41793026727", to: "12345678", text: "Hi" },
    { username: "AC1", password: secret, secret },
  );

test("without the token there is nothing there, and with it nothing that is not signed is taken", async (t) => {
  const { publicUrl, service } = await startRig(t, "twilio");
  const url = callbackUrls(PROFILE, publicUrl).incomingUrl as string;
  const nothing = [404, "There is nothing here.\n"] as const;
  for (const wrong of [
    url.replace(/\/[^/]+\/incoming$/, `/${"x".repeat(32)}/incoming`),
    url.replace("/upstream/", "/another/"),
    url.replace("/upstream/", "/simulator/"),
    url.replace(/incoming$/, "others"),
  ])
    assert.deepEqual(await knock(written(wrong, SECRET)), nothing, wrong);
  const good = written(url, SECRET);
  assert.equal((await knock(written(url, "another")))[0], 403);
  assert.equal((await knock({ ...good, headers: { "content-type": good.headers["content-type"]! } }))[0], 403);
  assert.equal((await knock({ ...good, body: good.body.replace("Hi", "Ho") }))[0], 403);
  const inbox = async () => (await service.call("GET", "/sms/1/inbox/reports")).json.results;
  assert.deepEqual(await inbox(), []);
  assert.deepEqual(await knock(good), [200, "<Response/>"]);
  assert.deepEqual(
    (await inbox()).map(({ text }: { text: string }) => text),
    ["Hi"],
    "it was safe before it was answered",
  );
  assert.equal((await knock({ ...good, body: "x".repeat(1_048_577) }))[0], 413);
});

test("from a network that is not the carrier's nothing is taken, whatever it has", async (t) => {
  const { publicUrl, service } = await startRig(t, "twilio", { profile: 'callbackNetworks = ["192.0.2.0/24"]' });
  const url = callbackUrls(PROFILE, publicUrl).incomingUrl as string;
  assert.deepEqual(await knock(written(url, SECRET)), [403, "Not from there.\n"]);
  assert.deepEqual((await service.call("GET", "/sms/1/inbox/reports")).json.results, []);
});

test("a callback that says nothing is answered, and changes nothing", async (t) => {
  const { publicUrl, service } = await startRig(t, "webhook");
  const url = callbackUrls(PROFILE, publicUrl).eventsUrl as string;
  for (const body of [
    "",
    "{]",
    "null",
    "[]",
    "7",
    '{"receipts": 5}',
    '{"receipts": [{"id": {}}]}',
    '{"messages": [{}]}',
  ])
    assert.deepEqual(await knock({ url, headers: { "content-type": "application/json" }, body }), [200, "{}"], body);
  assert.deepEqual((await service.call("GET", "/sms/1/inbox/reports")).json.results, []);
});

test("a message from a phone that the provider tells twice comes in once", async (t) => {
  const { publicUrl, service } = await startRig(t, "twilio");
  const url = callbackUrls(PROFILE, publicUrl).incomingUrl as string;
  const texts = async () =>
    (await service.call("GET", "/sms/1/inbox/logs")).json.results.map(({ text }: { text: string }) => text);
  for (const told of [written(url, SECRET), written(url, SECRET)])
    assert.deepEqual(await knock(told), [200, "<Response/>"]);
  await Promise.all(Array.from({ length: 5 }, () => knock(written(url, SECRET))));
  assert.deepEqual(await texts(), ["Hi"]);
});

test("what would hold up everybody else is refused before it is taken apart, to whoever has only the address", async (t) => {
  const { publicUrl } = await startRig(t, "twilio");
  const url = callbackUrls(PROFILE, publicUrl).incomingUrl as string;
  const pairs = "a&".repeat(500_000);
  assert.equal(
    (await knock({ url, headers: { "content-type": "application/x-www-form-urlencoded" }, body: pairs }))[0],
    400,
  );
  for (const body of [
    "[".repeat(1_000_000),
    `{${Array.from({ length: 50_000 }, (_, index) => `"${index}":1`).join()}}`,
  ])
    assert.equal((await knock({ url, headers: { "content-type": "application/json" }, body }))[0], 400);
});
