/** Login, what a session token is good for and how long, and logout. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, type TestContext, test } from "node:test";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { addAccount, everythingIn, onRows, watchScrypt } from "../support/accounts.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import {
  type Answer,
  assertUnauthorized,
  basic,
  CHALLENGES,
  errorObject,
  startTestService,
  temporaryDirectory,
} from "../support/service.ts";

const LOGIN = "/1/customerProfile/login";
const LOGOUT = "/1/customerProfile/logout";
const FUNDS = "/1/customerProfile/payments/funds";
const BALANCE = "/account/1/balance";

const service = await startTestService({ after }, { strongPasswords: true });

/** The places of a username and a password, in the order in which they count. */
interface Place {
  readonly name: string;
  readonly put: (username: string, password: string) => Request;
}

interface Request {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly authorization?: string;
}

const form = (fields: Record<string, string>): Request => ({
  body: new URLSearchParams(fields).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded" },
});

const FORM: Place = { name: "a form body", put: (username, password) => form({ username, password }) };
const JSON_BODY: Place = { name: "a JSON body", put: (username, password) => ({ body: { username, password } }) };
const HEADERS: Place = {
  name: "headers of their names",
  put: (username, password) => ({ headers: { username, password } }),
};
const QUERY: Place = {
  name: "the query",
  put: (username, password) => ({ path: `${LOGIN}?${new URLSearchParams({ username, password })}` }),
};
const BASIC: Place = {
  name: "a Basic header",
  put: (username, password) => ({ authorization: basic(username, password) }),
};
const PLACES = [FORM, JSON_BODY, HEADERS, QUERY, BASIC];

/** Logs in with all of these in one request. */
function login(...requests: readonly Request[]): Promise<Answer> {
  const { path = LOGIN, body, authorization }: Request = Object.assign({}, ...requests);
  const headers = Object.assign({}, ...requests.map((request) => request.headers ?? {}));
  return service.call("POST", path, { body, headers, authorization: authorization ?? null });
}

function assertLoggedIn({ status, headers, json }: Answer): string {
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.deepEqual(json, { login: { verified: true, ibAuthCookie: json.login.ibAuthCookie } });
  assert.match(json.login.ibAuthCookie, /^[A-Za-z0-9_-]{43}$/, "32 bytes that nobody can guess");
  return json.login.ibAuthCookie;
}

const WRONG = "The username or the password is wrong.";
const MISSING = "Username and password are missing: give both in the body, in headers, in the query, or as Basic.";

function assertLoginError({ status, headers, json }: Answer, why: string): void {
  assert.deepEqual([status, json], [401, errorObject("LOGIN_ERROR", "Login error", null, why)]);
  assert.equal(headers.get("www-authenticate"), CHALLENGES);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
}

for (const { name, put } of PLACES) {
  test(`username and password may stand in ${name}`, async () => {
    assertLoggedIn(await login(put("reseller", "reseller-password")));
    assertLoginError(await login(put("reseller", "wrong")), WRONG);
  });
}

test("where several places have them, the first of body, headers, query and Basic counts", async () => {
  const right = ["reseller", "reseller-password"] as const;
  const wrong = ["reseller", "wrong"] as const;
  for (const [index, { name, put }] of PLACES.entries()) {
    for (const later of PLACES.slice(index + 1)) {
      if (put === FORM.put && later === JSON_BODY) continue; // a request has one body
      const both = `${name}, then ${later.name}`;
      assert.equal((await login(later.put(...wrong), put(...right))).status, 200, both);
      assert.equal((await login(later.put(...right), put(...wrong))).status, 401, both);
    }
  }
});

test("a place that has only one of the two does not count", async () => {
  const right = BASIC.put("reseller", "reseller-password");
  assertLoggedIn(await login(right, { body: { username: "reseller" } }));
  assertLoggedIn(await login(right, { body: { password: "wrong" }, headers: { username: "reseller" } }));
  assertLoggedIn(await login(right, { path: `${LOGIN}?password=wrong` }));
  assertLoggedIn(await login(right, { body: { username: "reseller", password: null } }));
  assertLoggedIn(await login(right, { body: { username: "reseller", password: 5 } }));
});

const REFUSED: readonly (readonly [name: string, request: Request, why: string])[] = [
  ["nothing at all", {}, MISSING],
  ["an unknown user", FORM.put("nobody", "reseller-password"), WRONG],
  ["a wrong password", FORM.put("reseller", "Reseller-password"), WRONG],
  ["an empty password", FORM.put("reseller", ""), WRONG],
  ["an empty form", form({}), MISSING],
  ["an empty object", { body: {} }, MISSING],
  ["only a username", { body: { username: "reseller" } }, MISSING],
  ["numbers for words", { body: { username: 1, password: 2 } }, MISSING],
  ["a list of usernames", { path: `${LOGIN}?username=reseller&username=x&password=reseller-password` }, MISSING],
  ["a Basic header that is not base64", { authorization: "Basic %%%" }, MISSING],
  ["a token in place of a password", { authorization: "IBSSO abc" }, MISSING],
];

test("a login error with a reason, the same for an unknown user and a wrong password, is", async (t) => {
  for (const [name, request, why] of REFUSED) {
    await t.test(name, async () => assertLoginError(await login(request), why));
  }
});

test("an unknown user cannot be told from a wrong password, by the answer or by the work that was done", async (t) => {
  const scrypts = watchScrypt(t);
  const unknown = await login(FORM.put("nobody", "some password"));
  const wrong = await login(FORM.put("reseller", "some password"));
  assert.equal(unknown.text, wrong.text);
  const named = ({ headers }: Answer) => [...headers].filter(([name]) => name !== "date");
  assert.deepEqual(named(unknown), named(wrong));
  assert.equal(scrypts.length, 2);
  assert.deepEqual(scrypts[0], scrypts[1]);
});

test("a body that cannot be read is a bad request, not a login error", async () => {
  const says = async (request: Request) => (await login(request)).json;
  const wrong = (variables: string[] | null, description: string) =>
    errorObject("BAD_REQUEST", "Bad request", variables, description);
  const where = "line 1, column 2 should have a name in double quotes, and the body ends there";
  assert.deepEqual(await says({ body: "{" }), wrong(null, `The body is not valid JSON: ${where}.`));
  assert.deepEqual(await says({ body: ["reseller", "x"] }), wrong(["body"], "body must be an object."));
  assert.deepEqual(await says(FORM.put("re\0seller", "x")), wrong(["username"], "username has a NUL character."));
  assert.deepEqual(await says(QUERY.put("reseller", "x\0")), wrong(["password"], "password has a NUL character."));
  const text = await login({ body: "x", headers: { "content-type": "text/plain" } });
  const media = "Content-Type must be application/json or application/x-www-form-urlencoded.";
  assert.deepEqual(text.json, errorObject("UNSUPPORTED_MEDIA_TYPE", "Unsupported media type", null, media));
});

test("letters of any script work in every place", async () => {
  const [username, password] = ["käufer", "пароль & 密码=+%"];
  await addAccount(service.store, { key: "LETTERS", username, password });
  for (const { name, put } of [FORM, JSON_BODY, QUERY, BASIC]) {
    assert.equal((await login(put(username, password))).status, 200, name);
  }
  // fetch refuses to write UTF-8 into a header; other clients do it.
  const inHeaders = rawRequestText("POST", LOGIN, { username, password });
  assert.equal((await rawCall(service.url, Buffer.from(inHeaders))).status, 200);
});

test("a header in Latin-1, as some clients write it, is understood too", async () => {
  await addAccount(service.store, { key: "LATIN", username: "latin", password: "pässwört" });
  const inHeaders = rawRequestText("POST", LOGIN, { username: "latin", password: "pässwört" });
  assert.equal((await rawCall(service.url, Buffer.from(inHeaders, "latin1"))).status, 200);
});

test("every account may log in, and each login gives another token", async () => {
  const tokens = [
    assertLoggedIn(await login(BASIC.put("demo", "demo-password"))),
    assertLoggedIn(await login(BASIC.put("operator", "operator-password"))),
    assertLoggedIn(await login(BASIC.put("reseller", "reseller-password"))),
    assertLoggedIn(await login(BASIC.put("reseller", "reseller-password"))),
  ];
  assert.equal(new Set(tokens).size, 4);
  const key = { accountKey: "DEMO0001", ammount: 1, description: "x" };
  const statuses = await Promise.all(
    tokens.map(async (token) => {
      const { status } = await service.call("POST", FUNDS, { authorization: `IBSSO ${token}`, body: key });
      return status;
    }),
  );
  assert.deepEqual(statuses, [403, 403, 200, 200]);
});

test("logout ends this token and no other", async () => {
  const [mine, other] = [
    assertLoggedIn(await login(BASIC.put("reseller", "reseller-password"))),
    assertLoggedIn(await login(BASIC.put("reseller", "reseller-password"))),
  ];
  const use = async (token: string) => (await service.call("GET", BALANCE, { authorization: `IBSSO ${token}` })).status;
  assert.deepEqual([await use(mine), await use(other)], [200, 200]);
  const out = await service.call("POST", LOGOUT, { authorization: `IBSSO ${mine}` });
  assert.deepEqual([out.status, out.text, out.headers.get("content-type")], [204, "", null]);
  assert.deepEqual([await use(mine), await use(other)], [401, 200]);
});

test("logout takes a token and nothing else, and says which scheme it wants", async () => {
  const token = assertLoggedIn(await login(BASIC.put("reseller", "reseller-password")));
  await service.call("POST", LOGOUT, { authorization: `IBSSO ${token}` });
  for (const authorization of [null, basic("reseller", "reseller-password"), `IBSSO ${token}`]) {
    const { status, headers, json } = await service.call("POST", LOGOUT, { authorization });
    assertUnauthorized({ status, json });
    assert.equal(headers.get("www-authenticate"), CHALLENGES);
  }
});

// --- How long a token lives ----------------------------------------------------------------------------------------------------

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A service whose calendar stands still until the test moves it. Its timers are the system's. */
async function startDated(t: TestContext) {
  let nowMs = Date.UTC(2026, 0, 5, 12);
  const clock: Clock = { ...systemClock, now: () => nowMs };
  const data = await temporaryDirectory(t);
  const dated = await startTestService(t, { clock, data, strongPasswords: true });
  const { json } = await dated.call("POST", LOGIN, { authorization: basic("reseller", "reseller-password") });
  const authorization = `IBSSO ${json.login.ibAuthCookie}`;
  return {
    data,
    service: dated,
    token: json.login.ibAuthCookie as string,
    pass: (ms: number) => {
      nowMs += ms;
    },
    use: async () => (await dated.call("GET", BALANCE, { authorization })).status,
  };
}

test("a token ends after 60 minutes without use, and each use begins them anew", async (t) => {
  const { pass, use } = await startDated(t);
  pass(HOUR_MS - 1);
  assert.equal(await use(), 200);
  pass(HOUR_MS - 1);
  assert.equal(await use(), 200);
  pass(HOUR_MS);
  assert.equal(await use(), 401);
  assert.equal(await use(), 401, "being refused is no use of it");
});

test("a token ends 24 hours after login, however much it is used", async (t) => {
  const { pass, use } = await startDated(t);
  for (let hour = 0; hour < 24; hour++) {
    pass(HOUR_MS - MINUTE_MS);
    assert.equal(await use(), 200);
  }
  pass(24 * MINUTE_MS - 1);
  assert.equal(await use(), 200);
  pass(1);
  assert.equal(await use(), 401);
});

test("a token is good after a restart, and its hour goes on", async (t) => {
  const before = await startDated(t);
  await before.service.stop();
  const clock: Clock = { ...systemClock, now: () => Date.UTC(2026, 0, 5, 12, 59, 59, 999) };
  const restarted = await startTestService(t, { clock, data: before.data, strongPasswords: true });
  const authorization = `IBSSO ${before.token}`;
  assert.equal((await restarted.call("GET", BALANCE, { authorization })).status, 200);
});

test("the store has the hash of a token, and no password", async (t) => {
  const { data, token } = await startDated(t);
  const sessions = await onRows(data, "SELECT token_hash FROM session");
  assert.deepEqual(sessions, [{ token_hash: createHash("sha256").update(token).digest("base64url") }]);
  const hashes = await onRows(data, "SELECT password_hash FROM login");
  assert.equal(hashes.length, 3);
  const salts = hashes.map(({ password_hash }) => {
    const hash = password_hash as string;
    const parts = /^scrypt\$32768\$8\$1\$([\w-]{22})\$[\w-]{43}$/.exec(hash);
    assert.ok(parts, hash);
    return parts[1];
  });
  assert.equal(new Set(salts).size, 3, "each has a salt of its own");
  const everything = await everythingIn(data);
  assert.ok(!everything.includes(token));
  assert.ok(!everything.includes("reseller-password"));
});
