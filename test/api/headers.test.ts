/** What answers say to browsers, and which web pages the sandbox answers. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { DEMO, startTestService } from "../support/service.ts";

const BALANCE = "/account/1/balance";
const sandbox = await startTestService({ after });
const { port } = new URL(sandbox.url);
const status = async (url: string, headers: Record<string, string>) =>
  (await rawCall(url, rawRequestText("GET", BALANCE, { authorization: DEMO, ...headers }))).status;

test("no answer is sniffed at, shown in a frame, or kept; good ones and errors alike", async () => {
  for (const [path, expected] of [
    [BALANCE, 200],
    ["/healthz", 200],
    ["/nothing", 404],
    ["/operator/1/accounts", 403],
  ] as const) {
    const { status, headers } = await sandbox.call("GET", path);
    assert.equal(status, expected);
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    assert.equal(headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'", path);
    assert.equal(headers.get("cache-control"), "no-store", path);
    assert.equal(headers.get("strict-transport-security"), null, "plain HTTP");
  }
});

test("the pages of the documentation run their own scripts and nobody else's", async () => {
  const page = await sandbox.call("GET", "/docs/", { authorization: null });
  assert.equal(page.status, 200);
  const policy = page.headers.get("content-security-policy")!;
  assert.match(policy, /script-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
  assert.doesNotMatch(page.text, /<script(?![^>]*src=)/, "no script stands in the page");
});

test("the sandbox answers under names that are nobody's site", async () => {
  for (const host of ["localhost", `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "heliograph:8080"]) {
    assert.equal(await status(sandbox.url, { host }), 200, host);
  }
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example"]) {
    assert.equal(await status(sandbox.url, { host }), 403, host);
  }
});

test("the sandbox does not answer the pages of other sites, and answers its own", async () => {
  const host = `localhost:${port}`;
  assert.equal(await status(sandbox.url, { host, origin: `http://${host}` }), 200);
  for (const origin of ["https://evil.example", "null", "http://localhost:1", "http://localhost"]) {
    assert.equal(await status(sandbox.url, { host, origin }), 403, origin);
  }
});

test("a real installation is called by whatever name its proxy gives it", async (t) => {
  const real = await startTestService(t, { sandbox: false });
  assert.equal(await status(real.url, { host: "sms.example", origin: "https://shop.example" }), 200);
});
