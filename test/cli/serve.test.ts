/** `heliograph init`, `apply`, `account create`, `serve`: a real service from nothing to its first message, and changes while it runs. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Ended, runProgram, startChild } from "../support/child.ts";
import { assertUnauthorized, basic, callService, eventually, temporaryDirectory } from "../support/service.ts";

const CATALOGUE = join(import.meta.dirname, "../../sandbox.catalogue.toml");

function assertRefused({ code, stdout, stderr }: Ended, says: string): void {
  assert.deepEqual([code, stdout, stderr], [1, "", `heliograph: ${says}\n`]);
}

/** The commands of one data directory. */
async function newService(t: TestContext) {
  const data = join(await temporaryDirectory(t), "data");
  const run = (...args: string[]) => runProgram([...args, "--data", data]);
  const succeed = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout;
  };
  return { data, run, succeed };
}

/** The password that a new account's owner is shown, once. */
function passwordIn(stdout: string): string {
  const [, password] = /which is shown only now:\n(\S+)$/m.exec(stdout) ?? [];
  assert.match(password ?? "", /^[\w-]{24}$/, stdout);
  return password!;
}

test("a real service: refused until it is set up, then set up step by step, and used with the passwords that were shown", async (t) => {
  const { data, run, succeed } = await newService(t);
  assertRefused(
    await run("serve", "--port", "0"),
    `there is no data in ${data}, which does not exist: name the directory that has it with --data, or with [store] data of --config; "heliograph init" sets up a new one`,
  );
  const operator = passwordIn(await succeed("init", "--username", "boss"));
  assert.match(
    await succeed("apply", CATALOGUE),
    /^In force: carriers 1, routes 1, rate plans 2, exchange rates 2\b.*\n$/m,
  );
  const create = ["account", "create", "--key"];
  const reseller = passwordIn(await succeed(...create, "SHOP", "--username", "shop", "--kind", "reseller"));
  const client = passwordIn(
    await succeed(
      ...create,
      "CUSTOMER",
      "--username",
      "customer",
      "--parent",
      "SHOP",
      "--sender",
      "Customer",
      "--funds",
      "1.5",
    ),
  );
  assert.equal(new Set([operator, reseller, client]).size, 3);

  const { url, output, end } = await startChild(t, ["serve", "--port", "0", "--data", data]);
  assert.match(output(), /^Heliograph listens on http:\/\/127\.0\.0\.1:\d+$/m);
  const authorization = basic("customer", client);
  const sent = await callService(url, "POST", "/sms/1/text/single", {
    authorization,
    body: { to: "41793026727", text: "for real" },
  });
  assert.equal(sent.status, 200, sent.text);
  assert.equal(sent.json.messages[0].status.name, "PENDING_ENROUTE");
  const login = await callService(url, "POST", "/1/customerProfile/login", { authorization: basic("shop", reseller) });
  const funds = await callService(url, "POST", "/1/customerProfile/payments/funds", {
    authorization: `IBSSO ${login.json.login.ibAuthCookie}`,
    body: { accountKey: "CUSTOMER", ammount: 10, description: "first payment" },
  });
  assert.equal(funds.status, 200, funds.text);
  assert.equal((await callService(url, "GET", "/account/1/balance", { authorization })).json.balance, 11.49);
  assert.equal(
    (await callService(url, "GET", "/account/1/balance", { authorization: basic("boss", operator) })).status,
    200,
  );

  await t.test("no password that everybody knows works", async () => {
    const known = ["demo", "reseller", "operator", "boss"].map((name) => [name, `${name}-password`] as const);
    for (const [name, password] of [...known, ["boss", ""], ["boss", "boss"], ["admin", "admin"]] as const) {
      const authorization = basic(name, password);
      const { status, json } = await callService(url, "GET", "/account/1/balance", { authorization });
      assertUnauthorized({ status, json }, "password", `${name} ${password}`);
    }
  });

  await t.test("an account that is made while it runs works at once", async () => {
    const made = passwordIn(await succeed(...create, "LATER", "--username", "later"));
    const { status } = await callService(url, "GET", "/account/1/balance", { authorization: basic("later", made) });
    assert.equal(status, 200);
  });

  await t.test("a catalogue that is applied while it runs is in force soon", async () => {
    const file = join(data, "dear.toml");
    const price = { before: 'price = "0.01"', after: 'price = "0.5"' };
    const text = await readFile(CATALOGUE, "utf8");
    assert.ok(text.includes(price.before));
    await writeFile(file, text.replace(price.before, price.after));
    await succeed("apply", file);
    const balance = async () => (await callService(url, "GET", "/account/1/balance", { authorization })).json.balance;
    await eventually(async () => {
      const before = await balance();
      await callService(url, "POST", "/sms/1/text/single", { authorization, body: { to: "41793026727", text: "x" } });
      return Math.round((before - (await balance())) * 100) === 50;
    });
  });

  assert.equal(await end("SIGTERM"), 0);
  for (const line of output().split("\n")) {
    if (/^(Heliograph .*)?$/.test(line)) continue;
    const entry = JSON.parse(line); // everything else is a line of the log
    assert.deepEqual([typeof entry.level, typeof entry.time, typeof entry.msg], ["number", "string", "string"], line);
  }
});

test("a service without routes says that it will reject everything", async (t) => {
  const { data, succeed } = await newService(t);
  await succeed("init");
  await succeed("rate", "set", "standard", "*", "0.01", "--currency", "EUR");
  const made = await succeed(
    "account",
    "create",
    "--key",
    "C",
    "--username",
    "c",
    "--sender",
    "Customer",
    "--funds",
    "1",
  );
  const { url, output } = await startChild(t, ["serve", "--port", "0", "--data", data]);
  assert.match(output(), /^No route is set, so every message will be rejected: "heliograph apply FILE" sets carriers/m);
  const body = { to: "41793026727", text: "x" };
  const sent = await callService(url, "POST", "/sms/1/text/single", {
    authorization: basic("c", passwordIn(made)),
    body,
  });
  assert.equal(sent.json.messages[0].status.name, "REJECTED_ROUTE_NOT_AVAILABLE");
});
