/** `heliograph message`, `statement`, `ledger`, `audit` and `opt-out`: what an operator is asked about, answered beside a service that runs. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openData } from "../support/accounts.ts";
import { operating } from "../support/operator.ts";
import { eventually, startTestService, temporaryDirectory } from "../support/service.ts";
import { commandsOn } from "./in-process.ts";

const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const { done, json, refused, run } = commandsOn("--data", data);
const send = async (to: string, text: string): Promise<string> => {
  const { json } = await service.call("POST", "/sms/1/text/single", { body: { from: "Shop", to, text } });
  return json.messages[0].messageId;
};
const delivered = await send("41793026727", `two\nparts ${"x".repeat(160)}`);
const refusedBySubscriber = await send("41793999003", "nobody");
await eventually(async () => {
  const messages = await json("message", "list", "--account", "DEMO0001");
  return messages.every(({ final }: { final: boolean }) => final);
});

test("a message's life can be looked up by its id alone, and what it cost is an exact amount", async () => {
  const [message, ...others] = await json("message", "show", delivered);
  assert.equal(others.length, 0);
  assert.deepEqual(
    [message.account, message.status, message.final, message.parts, message.pricePerPart, message.price, message.error],
    ["DEMO0001", "DELIVERED_TO_HANDSET", true, 2, "0.01", "0.02", null],
  );
  assert.match(message.doneAt, /^\d{4}-\d\d-\d\dT/);
  const shown = await done("message", "show", delivered, "--account", "DEMO0001");
  assert.match(shown, /^Text +"two\\nparts x+"$/m, "what a terminal would take for more is written out");
  assert.match(shown, /^Price +0\.02 EUR \(0\.01 a part\)$/m);
  const [failed] = await json("message", "show", refusedBySubscriber);
  assert.equal(failed.error, "EC_UNKNOWN_SUBSCRIBER");
  assert.match((await refused("message", "show", "123"))[1], /^there is no message 123, or it was deleted/);
});

test("messages are listed newest first, by sender, number, bulk and time", async () => {
  const list = (...args: string[]) => json("message", "list", "--account", "DEMO0001", ...args);
  const ids = (messages: { messageId: string }[]) => messages.map(({ messageId }) => messageId);
  assert.deepEqual(ids(await list()), [refusedBySubscriber, delivered]);
  assert.deepEqual(ids(await list("--limit", "1")), [refusedBySubscriber]);
  const [{ bulkId }] = await list("--to", "41793026727");
  assert.deepEqual(ids(await list("--bulk", bulkId)), [delivered]);
  assert.deepEqual(await list("--until", "2020-01-01"), []);
  assert.deepEqual(await list("--from", "Nobody"), []);
  assert.match(
    await done("message", "list", "--account", "DEMO0001"),
    / EC_UNKNOWN_SUBSCRIBER\n[\s\S]*2 messages\.\n$/,
  );
  const [code, says] = await refused("message", "list", "--account", "DEMO0001", "--since", "yesterday");
  assert.deepEqual([code, says.slice(0, 24)], [2, "--since must be a day su"]);
});

test("what messages say is left out of the list, as a table and as JSON, unless it is asked for", async () => {
  const list = ["message", "list", "--account", "DEMO0001"];
  assert.doesNotMatch(await done(...list), /nobody|TEXT/);
  for (const message of await json(...list)) assert.ok(!("text" in message));
  const shown = await done(...list, "--text");
  assert.match(shown, /ERROR +TEXT\n/);
  assert.match(shown, / "nobody"$/m);
  assert.match(shown, / "two\\nparts x+"$/m);
  assert.deepEqual(
    (await json(...list, "--text")).map(({ text }: { text: string }) => text),
    ["nobody", `two\nparts ${"x".repeat(160)}`],
  );
});

test("a statement's beginning, postings and end agree, as sums, as JSON and as CSV", async () => {
  const statement = await json("statement", "DEMO0001", "--from", "2020-01-01", "--postings");
  assert.deepEqual(
    [statement.opening, statement.charges, statement.funds.amount, statement.closing],
    ["0", { count: 2, parts: 3, amount: "-0.03" }, "100", "99.97"],
  );
  assert.equal(statement.postings.length, 3);
  const csv = (await done("statement", "DEMO0001", "--from", "2020-01-01", "--csv")).trimEnd().split("\r\n");
  assert.equal(csv[0], "date,kind,amount,balance,currency,messageId,smsCount,description,account");
  assert.equal(csv[1], "2020-01-01T00:00:00.000+0000,opening,,0,EUR,,,,DEMO0001");
  assert.match(csv[2]!, /^\S+,funds,100,100,EUR,,,opening balance,DEMO0001$/);
  assert.match(csv[3]!, new RegExp(`^\\S+,charge,-0\\.02,99\\.98,EUR,${delivered},2,,DEMO0001$`));
  assert.match(csv.at(-1)!, /^\S+,closing,,99\.97,EUR,,,,DEMO0001$/);
  assert.match(await done("statement", "DEMO0001"), /^Charged +-0\.03 {2}2 postings, 3 parts$/m);
  const before = await json("statement", "DEMO0001", "--from", "2020-01-01", "--to", "2020-02-01");
  assert.deepEqual([before.opening, before.closing], ["0", "0"]);
});

test("the CSV of the command line is that of the API, to the letter", async () => {
  const until = "2100-01-01T00:00:00Z";
  const { text } = await operating(service)(
    "GET",
    `/accounts/DEMO0001/statement?from=2020-01-01T00:00:00Z&to=${until}&format=csv`,
  );
  assert.equal(await done("statement", "DEMO0001", "--from", "2020-01-01", "--to", until, "--csv"), text);
  assert.match((await refused("statement", "NOBODY", "--csv"))[1], /^there is no account NOBODY/);
});

test("a statement on a terminal has lines, and no characters that end them", async () => {
  const { stdout } = await run(["statement", "DEMO0001", "--csv"], { terminal: true });
  assert.match(stdout, /description,account\n/);
  assert.ok(!stdout.includes("\\r") && !stdout.includes("\\u000d"), stdout);
});

test("an amount with more digits than any has is too large, and not taken for a wrong form", async () => {
  for (const amount of ["1000000000.000001", "1000000000000", "9".repeat(40), "1".repeat(1_000)]) {
    const made = await refused("account", "create", "--key", "RICH", "--username", "rich", "--funds", amount);
    assert.equal(made[0], 2);
    assert.match(made[1], /^--funds (is too large|must be at most 1000000000)/);
  }
  const [, says] = await refused("account", "change", "DEMO0001", "--credit-limit", "1e30");
  assert.match(says, /^--credit-limit must be a decimal number/);
});

test("opt-out lists are shown", async () => {
  await done("opt-out", "add", "41790000001", "--account", "DEMO0001");
  await done("opt-out", "add", "41790000000", "--account", "DEMO0001");
  const numbers = await json("opt-out", "list", "--account", "DEMO0001");
  assert.deepEqual(
    numbers.map(({ number }: { number: string }) => number),
    ["41790000000", "41790000001"],
  );
  assert.equal(await done("opt-out", "list"), "Nobody is on the list.\n");
  assert.deepEqual(await refused("opt-out", "list", "--account", "NOBODY"), [
    1,
    'there is no account NOBODY: "heliograph account list" shows them all',
  ]);
});

test("what waits for an operator is told as JSON too", async () => {
  for (const list of [
    ["receipt", "list"],
    ["incoming", "list"],
    ["report", "dead"],
  ]) {
    assert.deepEqual(await json(...list), [], list.join(" "));
  }
});

test("books that do not agree are told, with the exit code 1", async () => {
  assert.equal(await done("ledger", "verify"), "The books agree.\n");
  const db = openData(data);
  db.exec("UPDATE wallet SET balance_micros = balance_micros + 1 WHERE name = 'DEMO0001'");
  db.close();
  const { code, stdout } = await run(["ledger", "verify", "--json"]);
  assert.equal(code, 1);
  const { ok, faults } = JSON.parse(stdout);
  assert.deepEqual([ok, faults.length], [false, 1]);
});
