/** A second factor on several nodes: in force everywhere within a moment, and each code is taken by one of them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { addAccount } from "../support/accounts.ts";
import { startCluster } from "../support/cluster.ts";
import { codeOf, enrol, logIn, tokenOf } from "../support/second-factor.ts";
import { basic, eventually, type TestService } from "../support/service.ts";

const { nodes } = await startCluster({ after }, 2);
const [here, there] = nodes as [TestService, TestService];
const BALANCE = "/account/1/balance";

test("put in force on one node, it holds on the other, which knew the password; a code is good on one of the two", async () => {
  await addAccount(here.store, { key: "ACME" });
  const authorization = basic("ACME", "password");
  const statusOn = async (node: TestService, as = authorization) =>
    (await node.call("GET", BALANCE, { authorization: as })).status;
  await eventually(async () => (await statusOn(there)) === 200);
  const user = { username: "ACME", password: "password" };
  const early = tokenOf(await logIn(there, user));

  const { secret, recoveryCodes } = await enrol(here, systemClock, "ACME");
  assert.equal(await statusOn(here), 401, "at once where it was done");
  assert.equal(await statusOn(there, early), 401, "a session that was opened with the password alone, at once");
  await eventually(async () => (await statusOn(there)) === 401);

  // The code of the next step: the one of now was used to confirm.
  for (const code of [codeOf(secret, systemClock, 1), ...recoveryCodes]) {
    const answers = await Promise.all([here, there, here, there].map((node) => logIn(node, { ...user, code })));
    const opened = answers.filter(({ status }) => status === 200);
    assert.equal(opened.length, 1, code);
    assert.equal(await statusOn(there, tokenOf(opened[0]!)), 200);
  }
});
