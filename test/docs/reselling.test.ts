/**
 * docs/reselling.md, block by block, as pasted into terminals beside the sandbox, where only directories and ports are others; and what its
 * table says that a reseller can and cannot.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { commandsOn } from "../cli/in-process.ts";
import { startChild } from "../support/child.ts";
import { addOtherReseller, good, operating, RESELLER } from "../support/operator.ts";
import { closedPort } from "../support/ports.ts";
import { basic, eventually, startTestService, temporaryDirectory } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/reselling.md"), "utf8");
const BLOCKS = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

/** A command that goes on until it is stopped, and so has a terminal of its own. */
const GOES_ON = /^\.\/heliograph receive /;

test("the page works as pasted beside the sandbox: a reseller, its clients, their money, a statement, a suspension", {
  timeout: 180_000,
}, async (t) => {
  // The directory stands for the clone: its sandbox is in `data` there, and no command says so.
  const clone = await temporaryDirectory(t);
  const { json } = commandsOn("--data", join(clone, "data"));
  const sandbox = await startChild(t, ["sandbox", "--port", "0", "--data", join(clone, "data")]);
  const receiverPort = await closedPort();
  const asPasted = (block: string): string =>
    block
      .replaceAll("./heliograph", join(ROOT, "heliograph"))
      .replaceAll("http://127.0.0.1:8080", sandbox.url)
      .replaceAll(/\b9000\b/g, String(receiverPort))
      .replaceAll("curl ", "curl -sS --fail-with-body ");
  const openTerminal = async (): Promise<Terminal> => {
    const terminal = new Terminal(t);
    await terminal.paste(`cd ${clone}`);
    return terminal;
  };

  const [here, receiver] = [await openTerminal(), await openTerminal()];
  const said = new Map<string, string>();
  for (const block of BLOCKS) {
    if (GOES_ON.test(block)) {
      receiver.type(asPasted(block));
      await eventually(async () => receiver.output.includes(`on http://127.0.0.1:${receiverPort}`));
      continue;
    }
    said.set(block, await here.paste(asPasted(block)));
    // The message is on its way; what comes next is about one that has failed.
    if (block.includes("/text/single"))
      await eventually(async () =>
        JSON.stringify(await json("message", "list", "--account", "SHOP-TWO")).includes("UNDELIVERABLE"),
      );
  }
  const saidBy = (words: string): string =>
    said.get(BLOCKS.find((block) => block.includes(words)) ?? assert.fail(`the page has no "${words}"`))!;

  const made = JSON.parse(saidBy('"key": "SHOP-TWO"'));
  assert.deepEqual([made.parent, made.balance, made.alert.below], ["SHOP", 0, 5]);
  assert.match(saidBy("accounts/SHOP-TWO\n"), /"SHOP-ONE"[\s\S]*"SHOP-TWO"/);
  await eventually(async () => /"accountKey": "SHOP-TWO"/.test(receiver.output));
  assert.match(saidBy("payments/funds"), /"transactionId"/);
  assert.equal(JSON.parse(saidBy("/text/single")).messages[0].status.name, "PENDING_ENROUTE");
  assert.equal(JSON.parse(saidBy("creditLimit")).creditLimit, 50);
  assert.match(saidBy("rate quote"), /0\.01 EUR a part/);
  assert.match(saidBy("statement?format=csv"), /,charge,-0\.01,24\.99,[\s\S]*,closing,,24\.99,/);
  assert.match(saidBy("/plans/shop-retail"), /"prefix":"41","country":"CH","price":0\.05,"ownPrice":0\.01/);
  assert.match(saidBy("--reseller SHOP"), /"account":"SHOP-TWO"[\s\S]*,closing,[\s\S]*^SHOP-TWO /m);
  assert.match(saidBy("message failures"), /"failed":1,[\s\S]*"EC_UNKNOWN_SUBSCRIBER"[\s\S]*Of 1 message 1 failed/);
  assert.equal(JSON.parse(saidBy("suspended")).suspended, true);
  const account = await json("account", "show", "SHOP-TWO");
  assert.equal(Number(account.balance), 24.99);
});

/** The rows of the table "What a reseller can and cannot": each cell is a promise. */
const TABLE = /\| can \| cannot \|\n\|---\|---\|\n((?:\|.*\|\n)+)/.exec(PAGE)?.[1] ?? "";
const PROMISES = TABLE.trimEnd()
  .split("\n")
  .flatMap((row) => row.split("|").slice(1, -1))
  .map((cell) => cell.trim())
  .filter((cell) => cell !== "");

const service = await startTestService({ after }, { settings: { limits: { requestsPerSecond: 1_000 } } });
await addOtherReseller(service);
const operator = operating(service);
const reseller = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  operator(method, path, body, { authorization: RESELLER, headers });
const IF_ANY = { "if-match": "*" };

let count = 0;
/** A new client of the reseller, which the reseller makes, with its password. */
async function newClient(): Promise<{ key: string; username: string; password: string }> {
  const name = `RESELLER1-PROMISE${count++}`;
  const made = good(await reseller("POST", "/accounts", { key: name, username: name, ratePlan: "standard" }));
  return { key: name, username: name, password: made.password };
}

async function fund(accountKey: string, ammount: number): Promise<number> {
  const login = await service.call("POST", "/auth/1/session", { authorization: RESELLER });
  const authorization = `IBSSO ${good(login).token}`;
  const body = { accountKey, ammount, description: "x" };
  return (await service.call("POST", "/1/customerProfile/payments/funds", { authorization, body })).status;
}

const statusAs = async (authorization: string, path: string) =>
  (await service.call("GET", path, { authorization })).status;
const STATEMENT = "statement?from=2026-01-01T00:00:00Z";

/** What holds each promise to the behaviour, under the words of the table. */
const CHECKS: Readonly<Record<string, () => Promise<void>>> = {
  "make, change, suspend and retire its clients": async () => {
    const { key } = await newClient();
    const patch = (body: object) => reseller("PATCH", `/accounts/${key}`, body, IF_ANY);
    assert.equal(good(await patch({ defaultSender: "Acme" })).defaultSender, "Acme");
    assert.equal(good(await patch({ suspended: true })).suspended, true);
    good(await reseller("DELETE", `/accounts/${key}`, undefined, IF_ANY), 204);
  },
  "make resellers or operators, or clients of others": async () => {
    for (const [more, status] of [
      [{ kind: "reseller" }, 403],
      [{ kind: "operator" }, 403],
      [{ parent: "OTHERRESELLER" }, 400],
    ] as const) {
      const body = { username: "reseller1-no", ratePlan: "standard", ...more };
      assert.equal((await reseller("POST", "/accounts", body)).status, status);
    }
  },
  "call them what it likes within its own names": async () => {
    const body = { key: "RESELLER1-A-B9", username: "Reseller1_a.b", ratePlan: "standard" };
    assert.equal(good(await reseller("POST", "/accounts", body)).key, "RESELLER1-A-B9");
  },
  "give a name outside of them": async () => {
    const names = [{ key: "ELSE", username: "reseller1-x" }, { username: "else" }, { username: "otherreseller-x" }];
    for (const name of names)
      assert.equal((await reseller("POST", "/accounts", { ...name, ratePlan: "standard" })).status, 400);
  },
  "give them funds, take funds back, set a credit limit": async () => {
    const { key } = await newClient();
    assert.deepEqual([await fund(key, 5), await fund(key, -2)], [200, 200]);
    const { balance, creditLimit } = good(await reseller("PATCH", `/accounts/${key}`, { creditLimit: 7 }, IF_ANY));
    assert.deepEqual([balance, creditLimit], [3, 7]);
  },
  "change a price, an exchange rate, a carrier, a route": async () => {
    for (const path of ["/rate-plans/standard", "/exchange-rates/USD/EUR", "/carriers/simulator", "/routes/default"]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await reseller(method, path, method === "PUT" ? {} : undefined, IF_ANY);
        assert.equal(answer.status, 403, `${method} ${path}`);
      }
    }
  },
  "choose among the rate plans that there are, and see what they cost": async () => {
    good(await operator("PUT", "/rate-plans/second", { currency: "EUR", rate: [{ prefix: "", price: "1" }] }));
    const { key } = await newClient();
    const changed = await reseller("PATCH", `/accounts/${key}`, { ratePlan: "second" }, IF_ANY);
    assert.equal(good(changed).ratePlan, "second");
    assert.equal((await reseller("PATCH", `/accounts/${key}`, { ratePlan: "none" }, IF_ANY)).status, 400);
    const [price] = good(await reseller("GET", "/plans/second")).results;
    assert.deepEqual([price.price, price.ownPrice], [1, 0.01]);
  },
  "make a rate plan": async () => {
    const plan = { currency: "EUR", rate: [{ prefix: "", price: "0" }] };
    assert.equal((await reseller("PUT", "/rate-plans/mine", plan)).status, 403);
  },
  "set their limits up to the service's own": async () => {
    const { key } = await newClient();
    const limits = { requestsPerSecond: 1_000, messagesPerSecond: 5 };
    assert.deepEqual(good(await reseller("PATCH", `/accounts/${key}`, { limits }, IF_ANY)).limits, limits);
  },
  "set limits above the service's own": async () => {
    const { key } = await newClient();
    for (const requestsPerSecond of [1_001, 0]) {
      const limits = { requestsPerSecond };
      assert.equal((await reseller("PATCH", `/accounts/${key}`, { limits }, IF_ANY)).status, 400);
    }
  },
  "make and revoke their API keys, unless the operator says otherwise": async () => {
    const { key } = await newClient();
    const made = good(await reseller("POST", `/accounts/${key}/api-keys`, { scopes: ["balance"] }));
    assert.equal(await statusAs(`App ${made.key}`, "/account/1/balance"), 200);
    good(await reseller("DELETE", `/accounts/${key}/api-keys/${made.id}`), 204);
    assert.equal(await statusAs(`App ${made.key}`, "/account/1/balance"), 401);
  },
  "make a key that reads their messages, unless the operator says otherwise": async () => {
    const { key } = await newClient();
    assert.equal((await reseller("POST", `/accounts/${key}/api-keys`, { scopes: ["track"] })).status, 403);
    const made = good(await reseller("POST", `/accounts/${key}/api-keys`, {}));
    assert.equal(await statusAs(`App ${made.key}`, "/sms/1/logs"), 403);
  },
  "set their passwords and end their sessions, unless the operator says otherwise": async () => {
    const { key, username } = await newClient();
    const { password } = good(await reseller("PUT", `/accounts/${key}/users/${username}/password`, {}));
    const login = await service.call("POST", "/auth/1/session", { authorization: basic(username, password) });
    assert.deepEqual(good(await reseller("DELETE", `/accounts/${key}/sessions`)), { ended: 1 });
    assert.equal(await statusAs(`IBSSO ${good(login).token}`, "/account/1/balance"), 401);
  },
  "read their messages with a password that it set, unless the operator says otherwise": async () => {
    const { username, password } = await newClient();
    assert.equal(await statusAs(basic(username, password), "/account/1/balance"), 200);
    for (const path of ["/sms/1/logs", "/sms/1/reports", "/sms/1/inbox/reports"])
      assert.equal(await statusAs(basic(username, password), path), 403, path);
  },
  "read their balances, statements and opt-out lists, and why their messages fail": async () => {
    const { key } = await newClient();
    await fund(key, 5);
    assert.equal(good(await reseller("GET", `/accounts/${key}`)).balance, 5);
    assert.equal(good(await reseller("GET", `/accounts/${key}/${STATEMENT}`)).closingBalance, 5);
    good(await reseller("PUT", `/accounts/${key}/opt-outs/41790000001`), 204);
    assert.equal(good(await reseller("GET", `/accounts/${key}/opt-outs`)).results.length, 1);
    assert.equal(good(await reseller("GET", `/accounts/${key}/failures`)).failed, 0);
  },
  "see a password, a key or a secret again that was shown once": async () => {
    const body = { key: "RESELLER1-ONCE", username: "reseller1-once", ratePlan: "standard" };
    const { password, callbackSecret } = good(await reseller("POST", "/accounts", body));
    const { key } = good(await reseller("POST", "/accounts/RESELLER1-ONCE/api-keys", {}));
    let seen = "";
    for (const path of ["/accounts", "/accounts/RESELLER1-ONCE", "/accounts/RESELLER1-ONCE/api-keys", "/audit"])
      seen += JSON.stringify(good(await reseller("GET", path)));
    for (const secret of [password, callbackSecret, key]) assert.ok(secret.length > 20 && !seen.includes(secret));
  },
  "read what was changed of its clients, and by whom": async () => {
    good(await operator("PATCH", "/accounts/DEMO0001", { defaultSender: "Audited" }, { headers: IF_ANY }));
    const [entry] = good(await reseller("GET", "/audit?subject=DEMO0001")).results;
    assert.deepEqual([entry.actor, entry.after.defaultSender], ["OPERATOR1", "Audited"]);
  },
  "read the rest of the audit, or from which address the operator works": async () => {
    good(await operator("PATCH", "/accounts/DEMO0001", { defaultSender: "Again" }, { headers: IF_ANY }));
    good(await operator("PATCH", "/accounts/OTHERCLIENT", { defaultSender: "Hidden" }, { headers: IF_ANY }));
    const all = good(await reseller("GET", "/audit?limit=1000")).results;
    assert.ok(all.every(({ subject }: { subject: string }) => subject !== "OTHERCLIENT"));
    const operators = all.filter(({ actor }: { actor: string }) => actor === "OPERATOR1");
    assert.ok(operators.length > 0 && operators.every(({ address }: { address: unknown }) => address === null));
  },
  "learn whether an account exists that is not its own": async () => {
    const create = (key: string) =>
      reseller("POST", "/accounts", { key, username: "reseller1-z", ratePlan: "standard" });
    for (const ask of [create, (key: string) => reseller("GET", `/accounts/${key}`)]) {
      const [there, notThere] = [await ask("OTHERCLIENT"), await ask("NOBODY")];
      assert.deepEqual([there.status, there.json], [notThere.status, notThere.json]);
    }
    assert.deepEqual([await fund("OTHERCLIENT", 1), await fund("NOBODY", 1)], [404, 404]);
  },
};

test("every promise of the table has its check, and no other has one", () => {
  assert.ok(PROMISES.length > 0);
  assert.deepEqual(PROMISES.toSorted(), Object.keys(CHECKS).sort());
});

for (const [promise, check] of Object.entries(CHECKS)) test(`a reseller, as the table says: ${promise}`, check);
