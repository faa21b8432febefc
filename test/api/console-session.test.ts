/** Signing in to the console: the cookie counts for its own pages and for nobody else's. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { CERTIFICATE } from "../support/certificate.ts";
import { CONSOLE_HEADERS, consoleCall, cookieIn, SESSION, signIn } from "../support/console.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { Calendar, codeOf, enrol } from "../support/second-factor.ts";
import { DEMO, startTestService, temporaryDirectory } from "../support/service.ts";

const BALANCE = "/account/1/balance";
const DEMO_LOGIN = { username: "demo", password: "demo-password" };
const service = await startTestService({ after });
const real = await startTestService({ after }, { sandbox: false });
const host = new URL(real.url).host;

const balance = async (cookie: string | null, headers: Record<string, string> = {}) =>
  (await consoleCall(real, cookie, "GET", BALANCE, { headers })).status;

test("whoever signs in is told who it is, and gets a cookie that no script and no other site can use", async () => {
  const answer = await consoleCall(real, null, "POST", SESSION, { body: DEMO_LOGIN });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, { username: "demo", accountKey: "DEMO0001", kind: "client" });
  assert.match(
    answer.headers.get("set-cookie")!,
    /^heliograph_session=[A-Za-z0-9_-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=86400$/,
  );
  assert.equal(await balance(cookieIn(answer)), 200);
});

test("the cookie is taken wherever a session token is: by a reseller's operations, by a manager's, by a user's own", async () => {
  const reseller = await signIn(real, "reseller");
  const funds = { accountKey: "DEMO0001", ammount: 1, description: "x" };
  const call = (method: string, path: string, body?: unknown) =>
    consoleCall(real, reseller, method, path, body === undefined ? {} : { body });
  assert.equal((await call("POST", "/1/customerProfile/payments/funds", funds)).status, 200);
  assert.equal((await call("GET", "/operator/1/accounts")).status, 200);
  assert.equal((await call("GET", "/account/1/second-factor")).status, 200);
  assert.equal((await call("DELETE", "/auth/1/session")).status, 204, "the session of the cookie");
  assert.equal((await call("GET", BALANCE)).status, 401);
});

test("without the header that only its own pages can add the cookie counts for nothing", async () => {
  const cookie = await signIn(real);
  const call = (headers: Record<string, string>) =>
    real.call("GET", BALANCE, { authorization: null, headers: { cookie, ...headers } });
  assert.equal((await call({ "x-heliograph-console": "1" })).status, 200);
  for (const headers of [{}, { "x-heliograph-console": "" }, { "x-heliograph-console": "yes" }] as const) {
    assert.equal((await call(headers as Record<string, string>)).status, 401, JSON.stringify(headers));
  }
  const twice = rawRequestText("GET", BALANCE, { host, cookie }).replace(
    "\r\n\r\n",
    "\r\nx-heliograph-console: 1\r\nx-heliograph-console: 1\r\n\r\n",
  );
  assert.equal((await rawCall(real.url, twice)).status, 401);
});

test("a request that a page of another site sent does not count, whatever it says besides", async () => {
  const cookie = await signIn(real);
  assert.equal(await balance(cookie, { "sec-fetch-site": "same-origin", origin: `http://${host}` }), 200);
  for (const site of ["cross-site", "same-site", "none", "", "same-origin, same-origin"])
    assert.equal(await balance(cookie, { "sec-fetch-site": site }), 401, site);
  for (const origin of [
    "https://evil.example",
    "null",
    "",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    `http://${host}.evil.example`,
    `http://evil.example/${host}`,
    `http://evil@${host}`,
    `ftp://${host}`,
    `http://${host}, http://${host}`,
  ])
    assert.equal(await balance(cookie, { origin }), 401, origin);
});

test("nobody is granted a preflight", async () => {
  const preflight = await real.call("OPTIONS", BALANCE, {
    authorization: null,
    headers: {
      origin: "https://evil.example",
      "access-control-request-method": "GET",
      "access-control-request-headers": "x-heliograph-console",
    },
  });
  assert.ok(preflight.status >= 400);
  for (const name of preflight.headers.keys()) assert.ok(!name.startsWith("access-control-"), name);
});

test("a page of others signs nobody in or out, not even with a form", async () => {
  const cookie = await signIn(real);
  const form = new URLSearchParams(DEMO_LOGIN).toString();
  for (const headers of [
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "text/plain" },
    { "content-type": "application/json", origin: "https://evil.example" },
    { "content-type": "application/json", ...CONSOLE_HEADERS, origin: "https://evil.example" },
    { "content-type": "application/json", ...CONSOLE_HEADERS, "sec-fetch-site": "same-site" },
  ] as Record<string, string>[]) {
    const body = headers["content-type"] === "application/json" ? JSON.stringify(DEMO_LOGIN) : form;
    const answer = await real.call("POST", SESSION, { body, headers, authorization: null });
    assert.ok([403, 415].includes(answer.status), `${answer.status} ${JSON.stringify(headers)}`);
    assert.equal(answer.headers.get("set-cookie"), null);
    const out = await real.call("DELETE", SESSION, { authorization: null, headers: { cookie, origin: "null" } });
    assert.equal(out.status, 403);
  }
  assert.equal(await balance(cookie), 200, "it is still signed in");
});

test("where an Authorization header is there, that one counts, and the cookie does not", async () => {
  const cookie = await signIn(real);
  const wrong = await consoleCall(real, cookie, "GET", BALANCE, { authorization: "App nobody's" });
  assert.equal(wrong.status, 401);
  const key = await consoleCall(real, "heliograph_session=wrong", "GET", BALANCE, {
    authorization: "App demo-api-key",
  });
  assert.equal(key.status, 200);
});

test("a cookie that is garbage or huge is ignored; others beside it do not matter", async () => {
  const cookie = await signIn(real);
  assert.equal(await balance(`a=b; ${cookie}; theme=dark`), 200);
  assert.equal(await balance(`a=b;${cookie};`), 200);
  assert.equal(await balance(`${cookie}; ${cookie}`), 200);
  for (const broken of [
    `x${cookie}`,
    `${cookie}x`,
    cookie.toUpperCase(),
    "heliograph_session=",
    "heliograph_session",
    ";;;;===;;;",
    `heliograph_session="${cookie.split("=")[1]}"`,
    `heliograph_session=${"a".repeat(10_000)}`,
    `${";".repeat(7_000)}${"=;".repeat(2_000)}`,
  ])
    assert.equal(await balance(broken), 401, broken.slice(0, 80));
  assert.equal(await balance(`x=${"a".repeat(20_000)}; ${cookie}`), 431);
});

test("a console is never asked for Basic: a browser would open a dialog over the page", async () => {
  for (const [method, path, body] of [
    ["GET", BALANCE],
    ["GET", "/console/1/about/nothing"],
    ["POST", SESSION, { ...DEMO_LOGIN, password: "wrong" }],
  ] as const) {
    const { headers } = await consoleCall(real, null, method, path, body === undefined ? {} : { body });
    assert.doesNotMatch(headers.get("www-authenticate") ?? "", /basic/i, path);
  }
  const program = await real.call("GET", BALANCE, { authorization: null });
  assert.match(program.headers.get("www-authenticate")!, /^Basic /, "programs are, as ever");
});

test("signing out ends the session and the cookie, also where the session has ended before", async () => {
  const cookie = await signIn(real);
  for (const _ of [1, 2]) {
    const out = await consoleCall(real, cookie, "DELETE", SESSION);
    assert.equal(out.status, 204);
    assert.equal(out.headers.get("set-cookie"), "heliograph_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
  }
  assert.equal(await balance(cookie), 401);
});

test("an account that is suspended is out at once, and cannot sign in", async () => {
  await addAccount(real.store, { key: "SUSPENDED" });
  const cookie = await signIn(real, "SUSPENDED", "password");
  assert.equal(await balance(cookie), 200);
  const operator = await signIn(real, "operator");
  const change = { version: 1, suspended: true };
  const changed = await consoleCall(real, operator, "PATCH", "/operator/1/accounts/SUSPENDED", { body: change });
  assert.equal(changed.status, 200);
  assert.equal(await balance(cookie), 401, "its sessions have ended");
  const body = { username: "SUSPENDED", password: "password" };
  assert.equal((await consoleCall(real, null, "POST", SESSION, { body })).status, 403);
});

test("wrong passwords wait as those of the API do, and are counted together with them", async (t) => {
  const slow = await startTestService(t, { settings: { limits: { loginAttempts: 2 } } });
  const body = { ...DEMO_LOGIN, password: "wrong" };
  assert.equal((await consoleCall(slow, null, "POST", SESSION, { body })).status, 401);
  assert.equal((await slow.call("POST", "/auth/1/session", { body, authorization: null })).status, 401);
  const late = await consoleCall(slow, null, "POST", SESSION, { body: DEMO_LOGIN });
  assert.equal(late.status, 429);
  assert.ok(Number(late.headers.get("retry-after")) >= 1);
});

test("a second factor is asked for, and its code is good once", async (t) => {
  const clock = new Calendar();
  const strict = await startTestService(t, { clock });
  const { secret } = await enrol(strict, clock, "demo", "demo-password");
  const missing = await consoleCall(strict, null, "POST", SESSION, { body: DEMO_LOGIN });
  assert.equal(missing.status, 401);
  assert.match(missing.json.requestError.serviceException.additionalDescription, /code of the second factor is needed/);
  clock.pass(60_000);
  const body = { ...DEMO_LOGIN, code: codeOf(secret, clock) };
  const signed = await consoleCall(strict, null, "POST", SESSION, { body });
  assert.equal((await consoleCall(strict, cookieIn(signed), "GET", BALANCE)).status, 200);
  assert.equal((await consoleCall(strict, null, "POST", SESSION, { body })).status, 401, "the same code again");
});

test("the sandbox says what it is, and its accounts are one click; elsewhere there is no such thing", async () => {
  const about = await service.call("GET", "/console/1/about", { authorization: null });
  assert.equal(about.json.sandbox, true);
  assert.match(about.json.version, /^\d+\.\d+\.\d+/);
  assert.deepEqual(
    about.json.demoAccounts.map(({ username, kind }: { username: string; kind: string }) => [username, kind]),
    [
      ["demo", "client"],
      ["reseller", "reseller"],
      ["operator", "operator"],
    ],
  );
  for (const { username } of about.json.demoAccounts) {
    const signed = await consoleCall(service, null, "POST", `${SESSION}/demo`, { body: { account: username } });
    assert.equal(signed.json.username, username);
    assert.equal((await consoleCall(service, cookieIn(signed), "GET", BALANCE)).status, 200);
  }
  const unknown = await consoleCall(service, null, "POST", `${SESSION}/demo`, { body: { account: "root" } });
  assert.equal(unknown.status, 400);
  const foreign = await service.call("POST", `${SESSION}/demo`, { body: { account: "demo" }, authorization: null });
  assert.equal(foreign.status, 403, "only from its own page");

  const elsewhere = await real.call("GET", "/console/1/about", { authorization: null });
  assert.deepEqual([elsewhere.json.sandbox, elsewhere.json.demoAccounts], [false, []]);
  const none = await consoleCall(real, null, "POST", `${SESSION}/demo`, { body: { account: "demo" } });
  assert.equal(none.status, 404);
});

test("behind a proxy that is trusted the cookie is Secure as it says, and the page's own host is the one that it names", async (t) => {
  const proxied = await startTestService(t, { sandbox: false, settings: { server: { trustedProxies: "127.0.0.1" } } });
  const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "sms.example", "x-forwarded-for": "192.0.2.1" };
  const signed = await consoleCall(proxied, null, "POST", SESSION, {
    body: DEMO_LOGIN,
    headers: { ...headers, origin: "https://sms.example" },
  });
  assert.match(signed.headers.get("set-cookie")!, /^__Host-heliograph_session=\S{43};.*; Path=\/;.*; Secure$/);
  const cookie = cookieIn(signed);
  const from = async (origin: string) =>
    (await consoleCall(proxied, cookie, "GET", BALANCE, { headers: { ...headers, origin } })).status;
  assert.deepEqual(
    [await from("https://sms.example"), await from("http://sms.example"), await from("https://evil.example")],
    [200, 401, 401],
  );
  const plain = await consoleCall(real, null, "POST", SESSION, { body: DEMO_LOGIN, headers });
  assert.doesNotMatch(plain.headers.get("set-cookie")!, /Secure/, "nobody else is believed");
});

test("behind a proxy that nobody told of, the cookie is Secure as the page's own address says", async () => {
  const headers = { origin: `https://${host}` };
  const signed = await consoleCall(real, null, "POST", SESSION, { body: DEMO_LOGIN, headers });
  assert.match(signed.headers.get("set-cookie")!, /^__Host-heliograph_session=\S{43};.*; Secure$/);
  const cookie = cookieIn(signed);
  assert.equal(await balance(cookie), 200);
  const out = await consoleCall(real, cookie, "DELETE", SESSION, { headers });
  assert.match(out.headers.get("set-cookie")!, /^__Host-heliograph_session=;.*; Max-Age=0; Secure$/);
  assert.equal(await balance(cookie), 401);
});

test("whoever signs in ends the session that the browser had; a wrong password ends none", async () => {
  const first = await signIn(real, "operator");
  const wrong = { ...DEMO_LOGIN, password: "wrong" };
  assert.equal((await consoleCall(real, first, "POST", SESSION, { body: wrong })).status, 401);
  assert.equal(await balance(first), 200);
  const second = cookieIn(await consoleCall(real, first, "POST", SESSION, { body: DEMO_LOGIN }));
  assert.deepEqual([await balance(first), await balance(second)], [401, 200]);
});

test("a cookie that another site has planted neither overrules one's own nor keeps one out", async () => {
  const planted = (token: string) => `heliograph_session=${token}`;
  const garbage = planted("x".repeat(43));
  const own = await signIn(real);
  for (const cookies of [`${garbage}; ${own}`, `${own}; ${garbage}`, `${planted("short")}; ${own}`])
    assert.equal(await balance(cookies), 200, cookies);
  const foreign = await signIn(real, "reseller");
  const both = `${foreign}; ${own}`;
  assert.equal(await balance(both), 401, "nobody knows whose page it is");
  const again = cookieIn(await consoleCall(real, both, "POST", SESSION, { body: DEMO_LOGIN }));
  assert.equal(await balance(`${foreign}; ${again}`), 200, "the planted one has ended");

  const headers = { origin: `https://${host}` };
  const secure = cookieIn(await consoleCall(real, null, "POST", SESSION, { body: DEMO_LOGIN, headers }));
  const other = await signIn(real, "reseller");
  const me = await consoleCall(real, `${other}; ${secure}`, "GET", ME);
  assert.equal(me.json.username, "demo", "what others can set does not count beside what they cannot");
  const many = Array.from({ length: 9 }, (_, index) => planted(String(index).repeat(43))).join("; ");
  assert.equal(await balance(many), 401);
});

test("over TLS of its own the cookie is Secure", async (t) => {
  const directory = await temporaryDirectory(t);
  const [cert, key] = [join(directory, "server.crt"), join(directory, "server.key")];
  await writeFile(cert, CERTIFICATE.cert);
  await writeFile(key, CERTIFICATE.key);
  const secure = await startTestService(t, { settings: { server: { tlsCertificate: cert, tlsKey: key } } });
  const cookie = await new Promise<string | undefined>((resolve, reject) => {
    const headers = { ...CONSOLE_HEADERS, "content-type": "application/json", origin: secure.url };
    const options = { method: "POST", headers, rejectUnauthorized: false, agent: false };
    const request = httpsRequest(`${secure.url}${SESSION}`, options, (response) => {
      response.resume();
      resolve(response.headers["set-cookie"]?.[0]);
    });
    request.on("error", reject);
    request.end(JSON.stringify(DEMO_LOGIN));
  });
  assert.match(
    cookie ?? "",
    /^__Host-heliograph_session=\S{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=86400; Secure$/,
  );
});

test("a console that is switched off takes no cookie's owner in", async (t) => {
  const without = await startTestService(t, { settings: { console: { enabled: false } } });
  assert.equal((await consoleCall(without, null, "POST", SESSION, { body: DEMO_LOGIN })).status, 404);
  assert.equal((await without.call("GET", BALANCE, { authorization: DEMO })).status, 200);
});

const ME = "/console/1/me";

test("me says who is signed in, with its money, and follows it", async () => {
  const cookie = await signIn(service);
  const { json } = await consoleCall(service, cookie, "GET", ME);
  assert.deepEqual(
    { ...json, version: "" },
    {
      accountKey: "DEMO0001",
      kind: "client",
      username: "demo",
      currency: "EUR",
      balance: "100",
      creditLimit: "0",
      scopes: ["send", "track", "balance", "manage", "pins", "credentials"],
      sandbox: true,
      version: "",
      secondFactor: { enabled: false, required: false },
      passwordOfReseller: false,
      clockOffsetMs: 0,
    },
  );
  const body = { from: "a1", to: "41793026727", text: "x" };
  assert.equal((await consoleCall(service, cookie, "POST", "/sms/1/text/single", { body })).status, 200);
  assert.equal((await consoleCall(service, cookie, "GET", ME)).json.balance, "99.99");
  const key = await service.call("GET", ME, { authorization: "App demo-api-key" });
  assert.equal(key.status, 403, "a key is no user");
});

test("whoever lacks the second factor that is required sees so, and can do nothing but enrol one", async (t) => {
  const strict = await startTestService(t, { settings: { access: { secondFactor: "operators" } } });
  const cookie = await signIn(strict, "operator");
  const { json } = await consoleCall(strict, cookie, "GET", ME);
  assert.deepEqual(json.secondFactor, { enabled: false, required: true });
  assert.equal((await consoleCall(strict, cookie, "GET", BALANCE)).status, 403);
  const begun = await consoleCall(strict, cookie, "POST", "/account/1/second-factor", {
    body: { password: "operator-password" },
  });
  assert.equal(begun.status, 200);
});
