/** What is changed about an account takes effect on a running service within a second. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { hashPassword } from "../../src/auth/passwords.ts";
import { addAccount, changeAccounts } from "../support/accounts.ts";
import { basic, errorObject, eventually, startTestService, temporaryDirectory } from "../support/service.ts";

const BALANCE = "/account/1/balance";
const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const ask = (authorization: string, path = BALANCE) => service.call("GET", path, { authorization });

/** Waits until the service has seen it: a bound of seconds, where a second is promised and other tests run beside it. */
const soon = <Result>(check: () => Promise<Result | false>) => eventually(check);

test("an account that is made while the service runs can be used", async () => {
  assert.equal((await ask(basic("LATER", "password"))).status, 401);
  await addAccount(service.store, { key: "LATER" });
  assert.equal((await ask(basic("LATER", "password"))).status, 200);
});

test("a changed password drops what was remembered: the new one works and the old one does not", async () => {
  await addAccount(service.store, { key: "CHANGES", password: "old" });
  assert.equal((await ask(basic("CHANGES", "old"))).status, 200);
  const hash = await hashPassword("new");
  await changeAccounts(data, "UPDATE login SET password_hash = ? WHERE username = 'CHANGES'", hash);
  await soon(async () => (await ask(basic("CHANGES", "old"))).status === 401);
  assert.equal((await ask(basic("CHANGES", "new"))).status, 200);
});

test("a suspended account is told so, by password, by token and at login, and works again when it is let go", async () => {
  await addAccount(service.store, { key: "SUSPENDED", kind: "reseller" });
  const authorization = basic("SUSPENDED", "password");
  const login = () => service.call("POST", "/1/customerProfile/login", { authorization });
  const token = `IBSSO ${(await login()).json.login.ibAuthCookie}`;
  assert.equal((await ask(authorization)).status, 200);

  await changeAccounts(data, "UPDATE account SET suspended = 1 WHERE key = 'SUSPENDED'");
  await soon(async () => (await ask(authorization)).status === 403);
  const refusals = [
    await ask(authorization),
    await ask(token),
    await login(),
    await service.call("POST", "/sms/1/text/single", { authorization, body: { from: "a1", to: "4179", text: "x" } }),
    await service.call("POST", "/1/customerProfile/payments/funds", { authorization: token, body: {} }),
    await service.call("POST", "/1/customerProfile/logout", { authorization: token }),
  ];
  const object = errorObject("FORBIDDEN", "Forbidden", null, "The account is suspended.");
  for (const { status, json, headers } of refusals) {
    assert.deepEqual([status, json, headers.get("www-authenticate")], [403, object, null]);
  }
  const wrong = await ask(basic("SUSPENDED", "wrong"));
  assert.equal(wrong.status, 401, "whoever does not know the password is not told");

  await changeAccounts(data, "UPDATE account SET suspended = 0 WHERE key = 'SUSPENDED'");
  await soon(async () => (await ask(authorization)).status === 200);
  assert.equal((await ask(token)).status, 200);
});
