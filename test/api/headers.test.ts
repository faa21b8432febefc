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
  for (const host of ["host.docker.internal:8080", "Laptop.local", "sms.test", "sms.localhost:8080"]) {
    assert.equal(await status(sandbox.url, { host }), 200, host);
  }
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example"]) {
    assert.equal(await status(sandbox.url, { host }), 403, host);
  }
  for (const host of [
    "internal.evil.example",
    "evil-internal.example",
    "notlocal.eviltest",
    "evil.example.",
    "x.test.evil.example",
  ]) {
    assert.equal(await status(sandbox.url, { host }), 403, host);
  }
});

test("the sandbox does not answer the pages of other sites, and answers its own", async () => {
  const host = `localhost:${port}`;
  assert.equal(await status(sandbox.url, { host, origin: `http://${host}` }), 200);
  for (const origin of [
    "http://localhost:3000",
    "https://localhost",
    "http://127.0.0.1:5173",
    "http://[::1]:1",
    "http://app.localhost",
  ]) {
    assert.equal(await status(sandbox.url, { host, origin }), 200, origin);
  }
  for (const origin of [
    "https://evil.example",
    "null",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
  ]) {
    assert.equal(await status(sandbox.url, { host, origin }), 403, origin);
  }
  for (const origin of [
    "http://evil.local",
    "http://evil.test",
    "http://heliograph",
    "http://10.0.0.1",
    "file://localhost",
    "http://a@localhost",
  ]) {
    assert.equal(await status(sandbox.url, { host, origin }), 403, origin);
  }
});

test("a name that the sandbox does not answer under is added as the refusal says", async (t) => {
  const host = "Sandbox.Team.Example:8080";
  const refused = await rawCall(sandbox.url, rawRequestText("GET", BALANCE, { authorization: DEMO, host }));
  assert.equal(refused.status, 403);
  assert.match(refused.body, /start it with --allow-host sandbox\.team\.example\./);
  const told = await startTestService(t, {
    settings: { server: { allowHosts: "other.example, sandbox.team.example" } },
  });
  assert.equal(await status(told.url, { host }), 200);
  assert.equal(
    await status(told.url, { host: "localhost", origin: "https://sandbox.team.example" }),
    200,
    "its pages too",
  );
  assert.equal(await status(told.url, { host: "evil.sandbox.team.example" }), 403);
  assert.equal(await status(told.url, { host, origin: "https://evil.example" }), 403);
});

test("a real installation is called by whatever name its proxy gives it", async (t) => {
  const real = await startTestService(t, { sandbox: false });
  assert.equal(await status(real.url, { host: "sms.example", origin: "https://shop.example" }), 200);
});
