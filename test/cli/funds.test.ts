/** `heliograph account top-up`, `take-back`, `correct` and `retire`: an operator's money by the real program, beside a real service. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { runProgram, startChild } from "../support/child.ts";
import { cutProxy } from "../support/cut-proxy.ts";
import { postgresUrl } from "../support/postgres.ts";
import { basic, callService, temporaryDirectory } from "../support/service.ts";
import { commandsOn, newService, SANDBOX_CATALOGUE } from "./in-process.ts";

test("an account that has spent all is filled up by the program while the service runs, and sends again", async (t) => {
  const data = join(await temporaryDirectory(t), "data");
  const run = (...args: string[]) => runProgram([...args, "--data", data]);
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    return stdout;
  };
  await done("init");
  await done("apply", SANDBOX_CATALOGUE);
  const made = await done("account", "create", "--key", "ACME", "--username", "acme", "--funds", "0.01");
  const [, password = ""] = /shown only now:\n(\S+)$/m.exec(made) ?? [];
  const authorization = basic("acme", password);
  const { url, end } = await startChild(t, ["serve", "--port", "0", "--data", data]);
  const send = async (): Promise<string> => {
    const body = { from: "Acme", to: "41793026727", text: "Hello" };
    const { json } = await callService(url, "POST", "/sms/1/text/single", { authorization, body });
    return json.messages[0].status.name;
  };
  assert.deepEqual([await send(), await send()], ["PENDING_ENROUTE", "REJECTED_NOT_ENOUGH_CREDITS"]);
  assert.equal(
    await done("account", "top-up", "ACME", "25", "--reason", "invoice 4711"),
    "ACME was topped up by 25 EUR, and has 25 EUR now.\n",
  );
  assert.equal(await send(), "PENDING_ENROUTE");
  assert.equal(await done("account", "take-back", "ACME", "5"), "ACME has given back 5 EUR, and has 19.99 EUR now.\n");
  assert.equal(
    await done("account", "correct", "ACME", "-0.99", "--reason", "charged twice"),
    "ACME was corrected by -0.99 EUR, and has 19 EUR now.\n",
  );
  const refused = await run("account", "take-back", "ACME", "19.01");
  assert.deepEqual(
    [refused.code, refused.stdout, refused.stderr],
    [1, "", "heliograph: the amount: the account has 19 EUR: no more than 19 EUR can be taken from it\n"],
  );
  const balance = await callService(url, "GET", "/account/1/balance", { authorization });
  assert.deepEqual(balance.json, { balance: 19, currency: "EUR" });

  const audit = await done("audit", "--kind", "funds", "--subject", "ACME");
  assert.match(audit, /command line \(\S+\) {2}correction funds ACME\n {4}balance: 19\.99 EUR → 19 EUR\n/);
  assert.match(audit, /takeBack funds ACME\n {4}balance: 24\.99 EUR → 19\.99 EUR\n {4}amount: none → -5 EUR\n/);
  assert.match(audit, /topUp funds ACME\n.*0 EUR → 25 EUR\n.*25 EUR\n {4}reason: none → invoice 4711\n/);
  assert.match(audit, /topUp funds ACME\n.*0 EUR → 0\.01 EUR\n.*\n {4}reason: none → opening balance\n/);

  const unsaid = await run("account", "retire", "ACME", "--yes");
  assert.deepEqual([unsaid.code, unsaid.stdout], [1, ""]);
  assert.match(
    unsaid.stderr,
    /^heliograph: the account has 19 EUR: say where that goes, .*: --balance-to KEY, --paid-out, or --write-off "REASON"\n$/,
  );
  await done("account", "create", "--key", "SHOP", "--username", "shop");
  const retired = await done("account", "retire", "ACME", "--balance-to", "SHOP", "--yes");
  assert.match(retired, /state: active → retired/);
  assert.match(retired, /^What it had, 19 EUR, is SHOP's now\.$/m);
  const entries = await done("audit", "--kind", "account", "--subject", "ACME");
  assert.match(entries, /^ {4}retiredAt: none → \d{4}-\d\d-\d\dT\S+\+0000$/m);
  assert.ok(!/AtMs/.test(entries + JSON.stringify(JSON.parse(await done("audit", "--json")))));
  assert.match(await done("account", "show", "SHOP"), /^Balance +19 EUR$/m);
  assert.equal(await done("ledger", "verify"), "The books agree.\n");
  assert.equal(await end("SIGTERM"), 0);
  assert.equal(await done("ledger", "verify"), "The books agree.\n");
});

test("where the answer of the database is lost it says that the money may be booked, and where to look before it is done again", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const commands = commandsOn("--store", url);
  await commands.done("init");
  await commands.done("apply", SANDBOX_CATALOGUE);
  await commands.done("account", "create", "--key", "ACME", "--username", "acme");
  const proxy = await cutProxy(t, url);
  const cut = proxy.cutAtCommit("invoice 4711");
  const lost = await runProgram(["account", "top-up", "ACME", "25", "--reason", "invoice 4711", "--store", proxy.url]);
  await cut;
  assert.deepEqual([lost.code, lost.stdout], [1, ""]);
  const look =
    /^heliograph: .+; it may have been booked all the same: look at "heliograph (audit [^"]+)" before you repeat it$/m;
  const [, command = assert.fail(lost.stderr)] = look.exec(lost.stderr) ?? [];
  assert.equal(command, "audit --kind funds --subject ACME");
  assert.match(
    await commands.done(...command.split(" ")),
    /topUp funds ACME\n.*\n.*\n {4}reason: none → invoice 4711\n/,
  );
});

test("scripts get what was moved as JSON, and the statement tells what is what", async (t) => {
  const { done, json, refused } = await newService(t);
  await done("account", "create", "--key", "ACME", "--username", "acme", "--funds", "10");
  const [code, says] = await refused("audit", "--kind", "fund");
  assert.deepEqual([code, /'fund' is invalid\. Allowed choices are account, funds, /.test(says)], [2, true], says);
  const { transactionId, ...moved } = await json("account", "correct", "ACME", "-2.5", "--reason", "a test");
  assert.ok(Number.isSafeInteger(transactionId));
  const corrected = { account: "ACME", kind: "correction", amount: "-2.5", balance: "7.5", currency: "EUR" };
  assert.deepEqual(moved, { ...corrected, reason: "a test" });
  assert.equal((await json("account", "top-up", "ACME", "1")).reason, null);
  const statement = await json("statement", "ACME");
  assert.deepEqual(
    [statement.funds, statement.corrections, statement.transfers.count, statement.writeOffs.count],
    [{ count: 2, parts: 0, amount: "11" }, { count: 1, parts: 0, amount: "-2.5" }, 0, 0],
  );
  assert.match(await done("statement", "ACME"), /^Corrected +-2\.5 {2}1 posting$/m);
  assert.match(
    await done("account", "retire", "ACME", "--write-off", "gone", "--yes"),
    /^What it had, 8\.5 EUR, is written off: gone$/m,
  );
  const text = await done("statement", "ACME", "--postings");
  assert.match(text, /^\S+ +writeOff +-8\.5 +0 .* gone$/m);
  assert.match(text, /^Written off +-8\.5 {2}1 posting$/m);
  assert.equal(await done("ledger", "verify"), "The books agree.\n");
});

test("retiring looks at the money before it asks, and takes one place for it", async (t) => {
  const { done, refused, run } = await newService(t);
  await done("account", "create", "--key", "ACME", "--username", "acme", "--funds", "10");
  const two = await refused("account", "retire", "ACME", "--paid-out", "--balance-to", "SHOP", "--yes");
  assert.deepEqual(two, [2, "--paid-out goes with no other: the balance goes to one place"]);
  const no = await run(["account", "retire", "ACME", "--paid-out"], { answer: "n" });
  assert.match(no.stdout, /^ACME has 10 EUR\. Retire ACME for good\?/);
  assert.match(await done("account", "show", "ACME"), /^Balance +10 EUR$/m);
  const yes = await run(["account", "retire", "ACME", "--paid-out"], { answer: "y" });
  assert.equal(yes.code, 0);
  assert.match(yes.stdout, /^What it had, 10 EUR, is booked as paid out\.$/m);
  assert.match(await done("account", "show", "ACME"), /^Balance +0 EUR$/m);
});

for (const [name, urlOf] of [
  ["the embedded store", async () => null],
  ["PostgreSQL", (t: TestContext) => postgresUrl(t, { empty: true })],
] as const)
  test(`a top-up with a key is booked once, however often it is run, on ${name}`, async (t) => {
    const url = await urlOf(t);
    const where = url === null ? ["--data", join(await temporaryDirectory(t), "data")] : ["--store", url];
    const { done, json, refused } = commandsOn(...where);
    await done("init");
    await done("apply", SANDBOX_CATALOGUE);
    for (const key of ["ACME", "SHOP"]) await done("account", "create", "--key", key, "--username", key.toLowerCase());
    const topUp = ["account", "top-up", "ACME", "25", "--reason", "invoice 4711", "--key", "invoice-4711"];
    // Through processes of their own, as a script that was interrupted runs it again.
    const first = await runProgram([...topUp, ...where]);
    assert.deepEqual([first.code, first.stdout], [0, "ACME was topped up by 25 EUR, and has 25 EUR now.\n"]);
    await done("account", "take-back", "ACME", "5");
    const again = await runProgram([...topUp, ...where]);
    assert.deepEqual(
      [again.code, again.stdout],
      [0, "Nothing is moved: with this key ACME was topped up by 25 EUR, and had 25 EUR after it before.\n"],
    );
    const moved = await json(...topUp.map((word) => (word === "25" ? "25.00" : word)));
    assert.deepEqual([moved.isRepeat, moved.balance], [true, "25"]);
    assert.match(await done("account", "show", "ACME"), /^Balance +20 EUR$/m);

    const other = await refused("account", "top-up", "ACME", "26", "--key", "invoice-4711");
    assert.deepEqual(
      [other[0], /^the key invoice-4711 was used for another change of ACME: /.test(other[1])],
      [1, true],
    );
    assert.match(await done("account", "show", "ACME"), /^Balance +20 EUR$/m);
    assert.equal(
      await done("account", "top-up", "SHOP", "25", "--key", "invoice-4711"),
      "SHOP was topped up by 25 EUR, and has 25 EUR now.\n",
    );
    const long = await refused("account", "top-up", "ACME", "1", "--key", "k".repeat(256));
    assert.deepEqual(long, [2, "--key must be 1 to 255 characters long"]);
    assert.equal(await done("ledger", "verify"), "The books agree.\n");
  });
