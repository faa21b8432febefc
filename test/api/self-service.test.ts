/** Clients change their own credentials: API keys, the password, and the secret that signs reports. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount, everythingIn } from "../support/accounts.ts";
import { good, operating, RESELLER, refusal } from "../support/operator.ts";
import { eventually } from "../support/patience.ts";
import { basic, startTestService, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const operator = operating(service);

/** Calls below /account/1, by whoever shows this. */
const by = (authorization: string) => (method: string, path: string, body?: unknown) =>
  service.call(method, `/account/1${path}`, { authorization, body });

async function logIn(username: string, password: string): Promise<string> {
  const { token } = good(await service.call("POST", "/auth/1/session", { authorization: basic(username, password) }));
  return `IBSSO ${token}`;
}

const auditOf = async (subject: string) => good(await operator("GET", `/audit?subject=${subject}`)).results;

test("an account makes, lists and revokes its own keys, by password or session, and nobody else's", async () => {
  await addAccount(service.store, { key: "MINE" });
  await addAccount(service.store, { key: "YOURS" });
  const theirs = good(await by(basic("YOURS", "password"))("POST", "/api-keys", {}));
  for (const ask of [by(basic("MINE", "password")), by(await logIn("MINE", "password"))]) {
    const { key, ...shown } = good(await ask("POST", "/api-keys", { name: "mine", scopes: ["balance"] }));
    assert.deepEqual(good(await ask("GET", "/api-keys")).results, [shown]);
    assert.equal((await by(`App ${key}`)("GET", "/balance")).status, 200);
    assert.equal((await ask("DELETE", `/api-keys/${theirs.id}`)).status, 404);
    good(await ask("DELETE", `/api-keys/${shown.id}`), 204);
    await eventually(async () => (await by(`App ${key}`)("GET", "/balance")).status === 401);
    const [revoked, made] = await auditOf(shown.id);
    for (const [entry, action] of [
      [revoked, "delete"],
      [made, "create"],
    ])
      assert.deepEqual([entry.action, entry.actor, entry.address], [action, "MINE", "127.0.0.1"]);
    assert.ok(!(await everythingIn(data)).includes(key.slice(`hgk_${shown.id}_`.length)));
  }
  assert.equal((await by(`App ${theirs.key}`)("GET", "/balance")).status, 200);
});

test("a password is changed by whoever knows it; the old one and the sessions are good for nothing then", async () => {
  await addAccount(service.store, { key: "SELF" });
  const session = await logIn("SELF", "password");
  const change = { currentPassword: "password", password: "another password" };
  assert.deepEqual(good(await by(session)("PUT", "/password", change)), { username: "SELF" });
  assert.equal((await by(session)("GET", "/balance")).status, 401);
  assert.equal((await by(basic("SELF", "password"))("GET", "/balance")).status, 401);
  const again = by(basic("SELF", "another password"));
  const { password } = good(await again("PUT", "/password", { currentPassword: "another password", username: "SELF" }));
  assert.match(password, /^[A-Za-z0-9_-]{24}$/);
  assert.equal((await by(basic("SELF", password))("GET", "/balance")).status, 200);
  const [entry] = await auditOf("SELF");
  const { action, kind, actor, address } = entry;
  assert.deepEqual([action, kind, actor, address], ["change", "password", "SELF", "127.0.0.1"]);
  assert.ok(!(await everythingIn(data)).includes(password));
});

test("a password is not changed with a wrong one, to the same, to a short one, or for another's user", async () => {
  await addAccount(service.store, { key: "STAYS" });
  const ask = by(basic("STAYS", "password"));
  for (const [body, status, field] of [
    [{ currentPassword: "wrong", password: "long enough" }, 403, "currentPassword"],
    [{ currentPassword: "password", password: "password" }, 400, "password"],
    [{ currentPassword: "password", password: "short" }, 400, "password"],
    [{ currentPassword: "demo-password", password: "long enough", username: "demo" }, 400, "username"],
    [{ currentPassword: "x", password: "long enough", username: "nobody" }, 400, "username"],
    [{ password: "long enough" }, 400, "currentPassword"],
    [{ currentPassword: { toString: 1 } }, 400, "currentPassword"],
  ] as const) {
    const [was, variables] = refusal(await ask("PUT", "/password", body));
    assert.deepEqual([was, variables], [status, [field]], JSON.stringify(body));
  }
  assert.equal((await ask("GET", "/balance")).status, 200);
});

test("an API key changes neither password nor secret", async () => {
  const { key } = good(await operator("POST", "/accounts/DEMO0001/api-keys", {}));
  const ask = by(`App ${key}`);
  const says = [403, null, "An API key is not enough for this: it needs a password or a session."];
  const body = { currentPassword: "demo-password", password: "long enough" };
  assert.deepEqual(refusal(await ask("PUT", "/password", body)), says);
  assert.deepEqual(refusal(await ask("POST", "/callback-secret")), says);
  assert.deepEqual(refusal(await ask("DELETE", "/callback-secret/old")), says);
});

test("a new secret is shown once, and the old one stays good until it is dropped", async () => {
  const { id } = await addAccount(service.store, { key: "SIGNED" });
  const secrets = async () => (await service.store.callbackPolicy({ accountId: id })).secrets;
  const [first] = await secrets();
  const ask = by(basic("SIGNED", "password"));
  const { callbackSecret } = good(await ask("POST", "/callback-secret"));
  assert.match(callbackSecret, /^whsec_/);
  assert.deepEqual((await secrets()).toSorted(), [callbackSecret, first].toSorted());
  good(await ask("DELETE", "/callback-secret/old"), 204);
  assert.deepEqual(await secrets(), [callbackSecret]);
  const entries = await auditOf("SIGNED");
  assert.deepEqual(
    entries.map(({ kind, actor, address }: Record<string, string>) => [kind, actor, address]),
    Array.from({ length: 2 }, () => ["callbackSecret", "SIGNED", "127.0.0.1"]),
  );
  assert.ok(!JSON.stringify(entries).includes("whsec"));
});

test("a reseller reads in the audit that its client has changed something, and not from where", async () => {
  await addAccount(service.store, { key: "WATCHED", parentKey: "RESELLER1" });
  good(await by(basic("WATCHED", "password"))("PUT", "/password", { currentPassword: "password" }));
  const read = await operator("GET", "/audit?subject=WATCHED&kind=password", undefined, { authorization: RESELLER });
  const [entry] = good(read).results;
  assert.deepEqual([entry.actor, entry.address], ["WATCHED", null]);
});

test("wrong passwords in a change count as wrong logins", async (t) => {
  const clock = new VirtualClock();
  const counting = await startTestService(t, { clock, settings: { limits: { loginAttempts: 3 } } });
  const login = await counting.call("POST", "/auth/1/session");
  const authorization = `IBSSO ${good(login).token}`;
  const change = async (currentPassword: string) =>
    (await counting.call("PUT", "/account/1/password", { authorization, body: { currentPassword } })).status;
  const statuses = [];
  for (let time = 0; time < 8; time++) statuses.push(await change(`guess-${time}`));
  assert.deepEqual([...new Set(statuses)], [403, 429]);
  assert.equal(statuses.filter((status) => status === 403).length, 3);
});
