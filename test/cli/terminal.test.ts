/** What others wrote reaches nobody's terminal as a command: names, senders, texts, descriptions, and what strangers send to receive and smsc. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openData } from "../support/accounts.ts";
import { eventually } from "../support/service.ts";
import { bindTo, SUBMIT } from "../support/smsc.ts";
import { withDeadLetters } from "./dead-letters.ts";
import { type Commands, commandsOn } from "./in-process.ts";

/** Renames the window, clears the screen in one octet, deletes, turns the writing around, and begins a line of its own. */
const HOSTILE = "\u001b]0;owned\u0007\u009b2J\u007f\u202ekcab\u2066x\u200e\u200f\u061c\u2028y\u2029\rover\nforged line";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

function assertHarmless(text: string, what: string): void {
  assert.doesNotMatch(text, OBEYED, `${what}: ${JSON.stringify(text)}`);
  assert.doesNotMatch(text, /^forged line/m, `${what}: ${JSON.stringify(text)}`);
}

/** A store in which every text that somebody else chose is hostile. */
async function hostileStore(t: TestContext): Promise<Commands & { ids: readonly string[] }> {
  const { data, ids } = await withDeadLetters(t, ["http://a.test/"]);
  const commands = commandsOn("--data", data);
  await commands.done("api-key", "create", "--account", "ACME", "--name", "ours");
  await commands.done("rate", "set", "standard", "*", "0.01", "--currency", "EUR");
  await commands.done("carrier", "set", "simulated", "kind=simulator", "answerAfterMs=1");
  await commands.done("route", "set", "*", "simulated");
  await commands.done("number", "set", "4179", "account=ACME");
  await commands.done("opt-out", "add", "41793026727", "--account", "ACME");
  const db = openData(data);
  db.exec(
    "INSERT INTO incoming_message (key, carrier_id, sender, recipient, body, part_count, received_at_ms, to_fetch) VALUES (1, '', '', '', '', 1, 1, 0)",
  );
  db.exec(
    "INSERT INTO parked_receipt (carrier_id, carrier_message_id, outcome, error_id, at_ms) VALUES ('', 'id', 'delivered', 0, 1)",
  );
  db.exec(
    "INSERT INTO later_receipt (message_key, carrier_id, carrier_message_id, outcome, error_id, at_ms) SELECT key, '', '', '', 0, 1 FROM message",
  );
  db.prepare(
    "INSERT INTO posting (at_ms, kind, from_wallet, to_wallet, amount_micros, description) SELECT 1, 'funds', min(id), max(id), 1, ? FROM wallet",
  ).run(HOSTILE);
  const spoilt: Readonly<Record<string, readonly string[]>> = {
    account: ["default_sender", "rate_plan_id", "alert_url"],
    login: ["username"],
    api_key: ["name"],
    message: ["sender", "recipient", "body", "callback_data", "bulk_id"],
    incoming_message: ["carrier_id", "sender", "recipient", "body"],
    parked_receipt: ["carrier_id", "carrier_message_id", "recipient", "why", "octets"],
    later_receipt: ["carrier_id", "carrier_message_id", "outcome"],
    opt_out: ["number"],
    report: ["url", "reason"],
  };
  for (const [table, columns] of Object.entries(spoilt))
    db.prepare(`UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join()}`).run(
      ...columns.map(() => HOSTILE),
    );
  db.exec("UPDATE account SET alert_below_micros = 1");
  const body = { id: HOSTILE, kind: "smpp", hosts: [HOSTILE], systemId: HOSTILE, password: "hush" };
  db.prepare("INSERT INTO catalogue_item (kind, id, body) VALUES ('carrier', ?, ?)").run(HOSTILE, JSON.stringify(body));
  const history = [{ atMs: 1, status: 500, durationMs: 3, reason: HOSTILE, excerpt: HOSTILE }];
  db.prepare("UPDATE report SET history = ?").run(JSON.stringify(history));
  const changed = [JSON.stringify({ name: "a" }), JSON.stringify({ name: HOSTILE, [HOSTILE]: 1 })];
  db.prepare(
    "INSERT INTO audit (at_ms, actor, address, action, kind, subject, before, after) VALUES (1, ?, ?, 'change', ?, ?, ?, ?)",
  ).run(HOSTILE, HOSTILE, HOSTILE, HOSTILE, ...changed);
  db.close();
  return { ids, ...commands };
}

const LISTS: readonly (readonly string[])[] = [
  ["account", "list"],
  ["account", "show", "ACME"],
  ["api-key", "list"],
  ["carrier", "list"],
  ["carrier", "show", HOSTILE],
  ["route", "list"],
  ["rate", "list"],
  ["rate", "quote", "41793026727", "--account", "ACME"],
  ["number", "list"],
  ["opt-out", "list", "--account", "ACME"],
  ["message", "list", "--account", "ACME"],
  ["report", "dead"],
  ["receipt", "list"],
  ["incoming", "list"],
  ["statement", "ACME", "--from", "1970-01-01", "--postings"],
  ["ledger", "verify"],
  ["audit"],
  ["doctor", "--no-connect"],
];

test("no list shows a terminal anything to obey, as a table or as JSON", async (t) => {
  const store = await hostileStore(t);
  for (const command of LISTS) {
    for (const json of [[], ["--json"]]) {
      const { stdout, stderr } = await store.run([...command, ...json]);
      assertHarmless(`${stdout}${stderr}`, [...command, ...json].join(" "));
      if (json.length > 0) assert.doesNotThrow(() => JSON.parse(stdout), command.join(" "));
    }
  }
  const { stdout } = await store.run(["api-key", "list", "--json"]);
  assert.equal(JSON.parse(stdout)[0].name, HOSTILE, "to a script it is what it is");
  assert.match((await store.run(["api-key", "list"])).stdout, /\\u001b\]0;owned\\u0007\\u009b2J\\u007f\\u202ekcab/);
});

test("a message that is shown whole shows nothing to obey", async (t) => {
  const store = await hostileStore(t);
  const [{ messageId }] = await store.json("message", "list", "--account", "ACME");
  const { stdout } = await store.run(["message", "show", messageId]);
  assertHarmless(stdout, "message show");
  assert.match(stdout, /forged line/);
});

test("what a command complains of, and what it repeats of its command line, is written out", async (t) => {
  const store = await hostileStore(t);
  for (const command of [
    ["account", "show", HOSTILE],
    ["carrier", "delete", HOSTILE],
    [HOSTILE],
    ["message", "show", HOSTILE],
    ["account", "create", "--key", "NEW", "--username", "new", "--rate-plan", HOSTILE],
  ]) {
    const { stdout, stderr } = await store.run(command);
    assert.doesNotMatch(`${stdout}${stderr}`, OBEYED, command.join(" "));
  }
});

test("a file for another program has every character, and a terminal is shown them", async (t) => {
  const store = await hostileStore(t);
  const piped = await store.run(["export"]);
  const seen = await store.run(["export"], { terminal: true });
  assertHarmless(seen.stdout.replaceAll("\\nforged", "forged"), "export on a terminal");
  assert.ok(piped.stdout.includes("\u202e"));
});

/** A command that goes on until the test ends it, and what it has printed. */
async function started(
  t: TestContext,
  args: readonly string[],
  listens: RegExp,
): Promise<{ port: number; output: () => string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../bin/heliograph.js"), ...args]);
  const ended = new Promise((resolve) => child.once("close", resolve));
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [, port] = await eventually(async () => listens.exec(output) ?? false);
  return { port: Number(port), output: () => output };
}

test("what strangers post to receive is written out", async (t) => {
  const { port, output } = await started(t, ["receive", "--port", "0"], /127\.0\.0\.1:(\d+)/);
  for (const body of [
    HOSTILE,
    JSON.stringify({ text: HOSTILE }),
    JSON.stringify(HOSTILE).replaceAll("\\u001b", "\\u001b"),
  ])
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers: { "webhook-id": "\u009b2J" } });
  await eventually(async () => output().split("POST /").length === 4);
  assert.doesNotMatch(output(), OBEYED);
});

test("what strangers submit to smsc is written out", async (t) => {
  const { port, output } = await started(t, ["smsc", "--port", "0", "--print"], /127\.0\.0\.1:(\d+)/);
  const customer = await bindTo(t, { port }, { systemId: "\u001b[2J" });
  const text = Buffer.from(HOSTILE, "utf16le").swap16();
  await customer.submit({ ...SUBMIT, sourceAddr: "\u001b[2J", dataCoding: 8, shortMessage: text });
  await eventually(async () => output().includes("forged line"));
  assertHarmless(output(), "smsc --print");
});
