/** A service starts on what an earlier one has left in its journal, whatever it is, and serves everybody; the doctor tells what was set aside. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Finding } from "../../src/doctor/finding.ts";
import { openData } from "../support/accounts.ts";
import { runProgram, startChild } from "../support/child.ts";
import { basic, callService, DEMO, temporaryDirectory } from "../support/service.ts";

const QUIET = { HELIOGRAPH_LOG_LEVEL: "error" };
const GIVEN = 1_000_000_000_000_000n;

/** The data of a sandbox that is down, and in it a reseller that was given all that a store can hold. */
async function sandboxData(t: TestContext): Promise<string> {
  const data = await temporaryDirectory(t);
  const first = await startChild(t, ["sandbox", "--port", "0", "--data", data], QUIET);
  await first.end("SIGTERM");
  const db = openData(data);
  const balance = "SELECT -balance_micros FROM wallet WHERE name = 'payments' AND currency = 'EUR'";
  const taken = db.prepare<[], bigint>(balance).safeIntegers().pluck().get()!;
  const given = 2n ** 63n - 1n - taken - GIVEN / 2n;
  db.exec(`INSERT INTO posting (at_ms, kind, from_wallet, to_wallet, amount_micros)
    SELECT 0, 'funds', payments.id, wallet.id, ${given} FROM wallet AS payments, wallet AS wallet
    WHERE payments.name = 'payments' AND payments.currency = 'EUR' AND wallet.name = 'RESELLER1'`);
  db.exec(`UPDATE wallet SET balance_micros = balance_micros - ${given} WHERE name = 'payments' AND currency = 'EUR'`);
  db.exec(`UPDATE wallet SET balance_micros = balance_micros + ${given} WHERE name = 'RESELLER1'`);
  db.close();
  return data;
}

/** Leaves a posting to this account in the journal, as a version did that had no versions there. */
function leavePosting(data: string, seq: number, to: string): void {
  const db = openData(data);
  const idOf = (name: string) => db.prepare("SELECT min(id) FROM wallet WHERE name = ?").pluck().get(name) as number;
  const posting = {
    id: 1_000_000 + seq,
    atMs: 1,
    kind: "funds",
    from: idOf("payments"),
    to: idOf(to),
    amountMicros: `${GIVEN}`,
    description: "opening balance",
  };
  db.prepare("INSERT INTO journal (seq, changes) VALUES (?, ?)").run(seq, JSON.stringify([["posting", posting]]));
  db.close();
}

async function examined(data: string): Promise<Finding[]> {
  const settings = { ...QUIET, HELIOGRAPH_SERVER_PORT: "0" };
  const { stdout } = await runProgram(["doctor", "--no-connect", "--json", "--data", data], settings);
  return JSON.parse(stdout).findings;
}

test("what the wallets cannot hold, or nobody can read, does not keep the service from starting", async (t) => {
  const data = await sandboxData(t);
  leavePosting(data, 1, "DEMO0001");
  leavePosting(data, 2, "RESELLER1");
  const db = openData(data);
  db.exec(`INSERT INTO journal (seq, changes) VALUES (3, '[["message",[')`);
  db.close();

  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data], QUIET);
  const { json } = await callService(child.url, "GET", "/account/1/balance", { authorization: DEMO });
  assert.ok(json.balance >= 1_000_000_000, "what was promised and can be kept is kept");
  const message = { messages: [{ from: "Sender", destinations: [{ to: "41793026727" }], text: "Hello" }] };
  const sent = await callService(child.url, "POST", "/sms/1/text/advanced", { body: message });
  assert.equal(sent.status, 200, sent.text);
  const login = { authorization: basic("reseller", "reseller-password") };
  assert.equal((await callService(child.url, "GET", "/account/1/balance", login)).status, 200);

  const findings = await examined(data);
  const told = findings.find(({ about }) => about === "quarantine")!;
  assert.equal(told.state, "wrong");
  assert.match(
    told.says,
    /journal entry 3 of the journal: .*; \S+ journal posting 1000002: it would take the wallet \d+ or \d+ beyond/,
  );
  assert.match(told.says, /2 are of the journal, and in no table$/);
  assert.match(told.mend!, /keep a copy of the data/);
  assert.deepEqual(findings.find(({ about }) => about === "ledger")?.says, "the books agree");
  assert.equal(await child.end("SIGTERM"), 0);
});

test("what a newer version has left is not touched, and whoever starts the older one is told so in a line", async (t) => {
  const data = await sandboxData(t);
  const db = openData(data);
  db.exec("INSERT INTO journal (seq, version, changes) VALUES (1, 99, '{}')");
  const { code, stderr } = await runProgram(["sandbox", "--port", "0", "--data", data], QUIET);
  assert.equal(code, 1);
  assert.match(stderr, /a newer Heliograph than this one has left changes of version 99 in the journal/);
  const wrong = (await examined(data)).filter(({ state }) => state === "wrong");
  assert.deepEqual(
    wrong.map(({ about }) => about),
    ["journal"],
  );
  assert.match(wrong[0]!.says, /of version 99/);
  assert.equal(db.prepare("SELECT count(*) FROM journal").pluck().get(), 1);
  db.close();
});
