/** Who is calling: Basic and session tokens on the messaging and balance operations, and what everybody else is told. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { assertUnauthorized, basic, CHALLENGES, DEMO, startTestService, WHY_UNAUTHORIZED } from "../support/service.ts";

const service = await startTestService({ after });
const { store } = service;

const BALANCE = "/account/1/balance";
const TO = "41793026727";
/** Every operation that takes Basic, with a request that is right. */
const OPERATIONS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", BALANCE],
  ["POST", "/sms/1/text/advanced", { messages: [{ from: "a1", destinations: [{ to: TO }], text: "x" }] }],
  ["POST", "/sms/2/text/advanced", { messages: [{ from: "a1", destinations: [{ to: TO }], text: "x" }] }],
  ["POST", "/sms/1/text/multi", { messages: [{ from: "a1", to: TO, text: "x" }] }],
  ["POST", "/sms/1/text/single", { from: "a1", to: TO, text: "x" }],
  ["POST", "/sms/1/preview", { text: "x" }],
];

const base64 = (text: string): string => Buffer.from(text).toString("base64");

async function tokenOf(username: string, password: string): Promise<string> {
  const { json } = await service.call("POST", "/1/customerProfile/login", { authorization: basic(username, password) });
  return json.login.ibAuthCookie;
}

for (const [method, path, body] of OPERATIONS) {
  test(`${method} ${path} answers whoever has the right password, or a token, and nobody else`, async () => {
    assert.equal((await service.call(method, path, { body })).status, 200);
    const token = await tokenOf("demo", "demo-password");
    assert.equal((await service.call(method, path, { body, authorization: `IBSSO ${token}` })).status, 200);

    for (const authorization of [null, basic("demo", "wrong"), `IBSSO ${token}x`]) {
      const refused = await service.call(method, path, { body, authorization });
      assertUnauthorized(refused);
      assert.equal(refused.headers.get("www-authenticate"), CHALLENGES);
      assert.equal(refused.headers.get("content-type"), "application/json; charset=utf-8");
    }
  });
}

const NOBODY: readonly (readonly [name: string, authorization: string | null, why: keyof typeof WHY_UNAUTHORIZED])[] = [
  ["no header at all", null, "missing"],
  ["an empty header", "", "missing"],
  ["a wrong password", basic("demo", "demo-Password"), "password"],
  ["the beginning of the password", basic("demo", "demo-passwor"), "password"],
  ["the password and more", basic("demo", "demo-password "), "password"],
  ["an empty password", basic("demo", ""), "password"],
  ["another account's password", basic("demo", "operator-password"), "password"],
  ["an unknown user", basic("nobody", "demo-password"), "password"],
  ["a user in other letters", basic("DEMO", "demo-password"), "password"],
  ["an empty user", basic("", "demo-password"), "password"],
  ["a colon in the wrong place", basic("demo:demo", "password"), "password"],
  ["a NUL behind the user", basic("demo\0", "demo-password"), "password"],
  ["an account key in place of the user", basic("DEMO0001", "demo-password"), "password"],
  ["Basic without anything", "Basic", "notBasic"],
  ["Basic with what is not base64", "Basic %%%%", "notBasic"],
  ["Basic with the pair as it is", "Basic demo:demo-password", "notBasic"],
  ["base64 without a colon", `Basic ${base64("demo")}`, "notBasic"],
  ["base64 of bytes that are no text", `Basic ${Buffer.from([0xff, 0xfe, 0x3a, 0xff]).toString("base64")}`, "password"],
  ["two values", `${DEMO} ${base64("x")}`, "notBasic"],
  ["the pair under another scheme", DEMO.replace("Basic", "Bearer"), "token"],
  ["the pair under the scheme of tokens", DEMO.replace("Basic", "IBSSO"), "token"],
  ["a token that nobody was given", `IBSSO ${"A".repeat(43)}`, "token"],
  ["IBSSO without anything", "IBSSO", "unreadable"],
  ["a user that is a statement of SQL", basic("' OR 1=1 --", "x"), "password"],
  ["a scheme that is not known", `Digest ${base64("demo:demo-password")}`, "unreadable"],
  ["a key without its scheme", "demo-api-key", "unreadable"],
  ["a key that nobody was given", "App demo-api-keys", "key"],
];

test("not authorized, with the whole error object, is", async (t) => {
  for (const [name, authorization, why] of NOBODY) {
    await t.test(`${name}: ${WHY_UNAUTHORIZED[why]}`, async () => {
      const { status, headers, json } = await service.call("GET", BALANCE, { authorization });
      assertUnauthorized({ status, json }, why);
      assert.match(headers.get("www-authenticate") ?? "", /^Basic realm=/);
    });
  }
});

test("a password may have colons, spaces and letters of any script", async () => {
  const passwords = ["with:several::colons:", " spaces at the ends ", "пароль-κωδικός-密码-🔑", ":", "ﬁ≠fi"];
  for (const [index, password] of passwords.entries()) {
    const username = `user-ü-${index}`;
    await addAccount(store, { key: `PASSWORD${index}`, username, password });
    const { status, json } = await service.call("GET", BALANCE, { authorization: basic(username, password) });
    assert.deepEqual([status, json], [200, { balance: 0, currency: "EUR" }], password);
    const wrong = await service.call("GET", BALANCE, { authorization: basic(username, `${password}:`) });
    assert.equal(wrong.status, 401, password);
  }
});

test("an accent written in one character or in two is the same password", async () => {
  await addAccount(store, { key: "ACCENTS", password: "cafe\u0301" });
  for (const password of ["caf\u00e9", "cafe\u0301"]) {
    assert.equal((await service.call("GET", BALANCE, { authorization: basic("ACCENTS", password) })).status, 200);
  }
  assert.equal((await service.call("GET", BALANCE, { authorization: basic("ACCENTS", "cafe") })).status, 401);
});

test("the scheme may be written in any letters and with several spaces", async () => {
  const pair = base64("demo:demo-password");
  const token = await tokenOf("demo", "demo-password");
  for (const authorization of [`basic ${pair}`, `BASIC   ${pair}`, `ibsso ${token}`, `IbSso  ${token}`]) {
    assert.equal((await service.call("GET", BALANCE, { authorization })).status, 200, authorization);
  }
});

test("of two Authorization headers the first counts", async () => {
  const twice = (first: string, second: string): string =>
    rawRequestText("GET", BALANCE, { authorization: `${first}\r\nauthorization: ${second}` });
  const wrong = basic("demo", "wrong");
  assert.equal((await rawCall(service.url, twice(DEMO, wrong))).status, 200);
  assert.equal((await rawCall(service.url, twice(wrong, DEMO))).status, 401);
});

test("who is calling is settled before the request is looked at", async () => {
  const answer = await service.call("POST", "/sms/1/text/advanced", {
    authorization: null,
    body: "{{{",
    headers: { "content-type": "text/plain", accept: "image/png" },
  });
  assertUnauthorized(answer, "missing");
});

test("each caller sees its own account", async () => {
  await addAccount(store, { key: "OWN1", balanceMicros: 1_000_000n });
  await addAccount(store, { key: "OWN2", balanceMicros: 2_000_000n });
  const balances = await Promise.all(
    ["OWN1", "OWN2", "OWN1", "OWN2"].map((name) =>
      service.call("GET", BALANCE, { authorization: basic(name, "password") }),
    ),
  );
  assert.deepEqual(
    balances.map(({ json }) => json.balance),
    [1, 2, 1, 2],
  );
});
