/** The balance: two fields, and a number that is exact. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount, type TestAccount } from "../support/accounts.ts";
import { basic, errorObject, startTestService } from "../support/service.ts";

const BALANCE = "/account/1/balance";
const service = await startTestService({ after });

let accounts = 0;
/** How the balance of a new account is written. */
async function written(account: Omit<TestAccount, "key">): Promise<string> {
  const key = `BALANCE${++accounts}`;
  await addAccount(service.store, { key, ...account });
  const { status, text } = await service.call("GET", BALANCE, { authorization: basic(key, "password") });
  assert.equal(status, 200);
  return text;
}

test("the balance is a number and its currency, and nothing else", async () => {
  const { status, headers, json, text } = await service.call("GET", BALANCE);
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.deepEqual(json, { balance: 100, currency: "EUR" });
  assert.equal(text, '{"balance":100,"currency":"EUR"}');
});

test("what clients of the family ask for beside it is there: the whole balance, and what is free", async () => {
  const total = await service.call("GET", "/account/1/total-balance");
  assert.deepEqual([total.status, total.json], [200, { balance: 100, currency: { code: "EUR" }, freeMessages: {} }]);
  const free = await service.call("GET", "/account/1/free-messages");
  assert.deepEqual([free.status, free.json], [200, { remainingCount: 0 }]);
});

const EXACT: readonly (readonly [micros: bigint, number: string])[] = [
  [0n, "0"],
  [1n, "0.000001"],
  [100_000n, "0.1"],
  [300_000n, "0.3"],
  [47_791_340n, "47.79134"],
  [1_000_000n, "1"],
  [123_456_789_123_456n, "123456789.123456"],
  [999_999_999_999_999n, "999999999.999999"],
  [1_000_000_000_000_000n, "1000000000"],
];

test("it is written to the last of its six places, never rounded and never with an exponent", async () => {
  for (const [balanceMicros, number] of EXACT) {
    assert.equal(await written({ balanceMicros }), `{"balance":${number},"currency":"EUR"}`);
  }
});

test("it is in the account's own currency", async () => {
  assert.equal(await written({ balanceMicros: 5n, currency: "JPY" }), '{"balance":0.000005,"currency":"JPY"}');
});

test("every kind of account has one", async () => {
  for (const name of ["reseller", "operator"]) {
    const { text } = await service.call("GET", BALANCE, { authorization: basic(name, `${name}-password`) });
    assert.equal(text, '{"balance":0,"currency":"EUR"}', name);
  }
});

test("it goes down by what is sent, part by part, and below zero as far as there is credit", async () => {
  await addAccount(service.store, { key: "CREDIT", balanceMicros: 15_000n, creditLimitMicros: 20_000n });
  const authorization = basic("CREDIT", "password");
  const send = async (text: string) => {
    const body = { from: "InfoSMS", to: "41793026727", text };
    const { json } = await service.call("POST", "/sms/1/text/single", { authorization, body });
    return json.messages[0].status.name;
  };
  const balance = async () => (await service.call("GET", BALANCE, { authorization })).text;
  assert.equal(await send("x".repeat(161)), "PENDING_ENROUTE"); // two parts
  assert.equal(await balance(), '{"balance":-0.005,"currency":"EUR"}');
  assert.equal(await send("x".repeat(161)), "REJECTED_NOT_ENOUGH_CREDITS");
  assert.equal(await send("x"), "PENDING_ENROUTE");
  assert.equal(await balance(), '{"balance":-0.015,"currency":"EUR"}');
  assert.equal(await send("x"), "REJECTED_NOT_ENOUGH_CREDITS");
  assert.equal(await balance(), '{"balance":-0.015,"currency":"EUR"}');
  assert.deepEqual(await service.store.verifyLedger(), []);
});

test("a GET without a body may carry any Content-Type", async () => {
  for (const type of ["application/xml", "text/plain", "application/json", "nonsense", ""]) {
    assert.equal((await service.call("GET", BALANCE, { headers: { "content-type": type } })).status, 200, type);
  }
});

test("only GET and HEAD are there", async () => {
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const { status, headers, json } = await service.call(method, BALANCE);
    const says = `This path does not take ${method}, but GET, HEAD.`;
    assert.deepEqual(
      [status, json],
      [405, errorObject("METHOD_NOT_ALLOWED", "Method not allowed", null, says)],
      method,
    );
    assert.equal(headers.get("allow"), "GET, HEAD");
  }
  const head = await service.call("HEAD", BALANCE);
  assert.deepEqual([head.status, head.text, head.headers.get("content-length")], [200, "", "32"]);
});
