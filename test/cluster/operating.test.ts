/** What an operator changes on one node is in force on every other within a moment. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { startCluster } from "../support/cluster.ts";
import { REJECTED, SINGLE } from "../support/sending.ts";
import { basic, eventually, type TestService } from "../support/service.ts";

const { nodes } = await startCluster({ after }, 2);
const [here, there] = nodes as [TestService, TestService];
const OPERATOR = basic("operator", "operator-password");
const BALANCE = "/account/1/balance";

const operate = async (method: string, path: string, body?: unknown) => {
  const answer = await here.call(method, `/operator/1${path}`, {
    authorization: OPERATOR,
    ...(body === undefined ? {} : { body }),
  });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
};

/** The status that the other node gives to this caller, which it knew before. */
const statusThere = async (authorization: string): Promise<number> =>
  (await there.call("GET", BALANCE, { authorization })).status;

test("a price and a route that are changed on one node count on the other", async () => {
  await addAccount(here.store, { key: "PRICED", balanceMicros: 10_000_000n });
  const authorization = basic("PRICED", "password");
  const balance = async () => (await there.call("GET", BALANCE, { authorization })).json.balance;
  const send = async (to: string) => {
    const before = await balance();
    const { json } = await there.call("POST", SINGLE, { body: { from: "Sender", to, text: "Hi" }, authorization });
    return { cents: Math.round((before - (await balance())) * 100), status: json.messages[0].status };
  };
  assert.equal((await send("41793026727")).cents, 1);
  const plan = await operate("GET", "/rate-plans/standard");
  const rate = [{ prefix: "", price: "0.05" }];
  await operate("PUT", "/rate-plans/standard", { id: "standard", currency: "EUR", rate, version: plan.version });
  await eventually(async () => (await send("41793026727")).cents === 5);
  const route = await operate("GET", "/routes/default");
  await operate("PUT", "/routes/41", { prefix: "41", carrier: "simulator" });
  await operate("DELETE", `/routes/default?version=${route.version}`);
  await eventually(async () => (await send("43660000000")).status.name === REJECTED.route.name);
  assert.equal((await send("41793026727")).cents, 5);
});

test("a password, a suspension, a revoked key and an ended session are known everywhere", async () => {
  await addAccount(here.store, { key: "CHANGED", balanceMicros: 10_000_000n });
  const old = basic("CHANGED", "password");
  const { key: apiKey, id } = await operate("POST", "/accounts/CHANGED/api-keys", { name: "shop" });
  const session = await there.call("POST", "/auth/1/session", {
    body: { username: "CHANGED", password: "password" },
    authorization: null,
  });
  const token = `IBSSO ${session.json.token}`;
  for (const authorization of [old, `App ${apiKey}`, token]) {
    await eventually(async () => (await statusThere(authorization)) === 200);
  }

  await operate("DELETE", "/accounts/CHANGED/sessions");
  await eventually(async () => (await statusThere(token)) === 401);
  await operate("DELETE", `/accounts/CHANGED/api-keys/${id}`);
  await eventually(async () => (await statusThere(`App ${apiKey}`)) === 401);
  await operate("PUT", "/accounts/CHANGED/users/CHANGED/password", { password: "another-password" });
  await eventually(async () => (await statusThere(old)) === 401);
  const fresh = basic("CHANGED", "another-password");
  assert.equal(await statusThere(fresh), 200);
  const { version } = await operate("GET", "/accounts/CHANGED");
  await operate("PATCH", "/accounts/CHANGED", { suspended: true, version });
  await eventually(async () => (await statusThere(fresh)) === 403);
});
