/** Who a callback is from, as the edge counts it: whoever knows the secret in the address is no stranger. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { callbackUrls } from "../../../src/carriers/http/callbacks.ts";
import { startTestService } from "../../support/service.ts";

test("a provider calls as often as it has something to say; whoever guesses at its address is counted as a stranger", async (t) => {
  const profile = { id: "mine", kind: "http", preset: "webhook", apiKey: "secret" } as const;
  const service = await startTestService(t, {
    settings: { limits: { strangerRequestsPerSecond: 1 } },
    catalogue: `
[[carrier]]
id = "mine"
kind = "http"
preset = "webhook"
url = "http://127.0.0.1:9"
apiKey = "secret"
`,
  });
  const path = (callbackUrls(profile, "http://host").receiptsUrl as string).slice("http://host".length);
  const body = { receipts: [{ id: "1", to: "41790000001", status: "delivered" }] };
  const calls = (to: string) =>
    Promise.all(Array.from({ length: 50 }, async () => (await service.call("POST", to, { body })).status));
  assert.deepEqual(new Set(await calls(path)), new Set([200]));
  const guessed = await calls(path.replace(/\w\/receipts$/, "-/receipts"));
  assert.deepEqual(new Set(guessed), new Set([404, 429]));
});
