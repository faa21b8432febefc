/** `heliograph backup`: what was acknowledged before it began is in it, whatever goes on meanwhile, and it can be served. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { backupStore } from "../../src/copy/backup.ts";
import { copyStore } from "../../src/copy/copy.ts";
import { lockDirectory } from "../../src/drivers/sqlite/database.ts";
import { STEPS } from "../../src/store/postgres/schema-version.ts";
import { openData } from "../support/accounts.ts";
import { type Child, runProgram, startChild } from "../support/child.ts";
import { postgresUrl } from "../support/postgres.ts";
import { basic, callService, eventually, temporaryDirectory } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";
import { expectedRows, fillAndKill, onDatabase, startMoving } from "./copy-source.ts";
import { commandsOn, newService } from "./in-process.ts";

const ROOT = join(import.meta.dirname, "../..");

interface Load {
  /** The ids of all messages that were acknowledged so far. */
  readonly acknowledged: readonly string[];
  stop(): Promise<void>;
}

/** Clients that send, and send again when they have their answer, until they are stopped. */
function sendTo(t: TestContext, services: readonly Child[]): Load {
  const acknowledged: string[] = [];
  let going = true;
  const client = async ({ url }: Child, number: number): Promise<void> => {
    for (let count = 0; going; count++) {
      const destinations = Array.from({ length: 20 }, (_, index) => ({
        to: `4179${number}${String(count * 20 + index).padStart(6, "0")}`,
      }));
      const body = { messages: [{ from: "Load", text: "under load", destinations }] };
      const { status, json, text } = await callService(url, "POST", "/sms/1/text/advanced", { body });
      assert.equal(status, 200, text);
      acknowledged.push(...json.messages.map((message: { messageId: string }) => message.messageId));
    }
  };
  const clients = services.flatMap((service, index) => [client(service, index * 2), client(service, index * 2 + 1)]);
  const stop = async (): Promise<void> => {
    going = false;
    await Promise.all(clients);
  };
  t.after(stop);
  return { acknowledged, stop };
}

/** A backup in the midst of the load, and what it must hold. */
async function backUp(load: Load, to: string, settings: Record<string, string>, more: readonly string[] = []) {
  await eventually(async () => load.acknowledged.length > 500);
  const before = [...load.acknowledged];
  const { code, stdout, stderr } = await runProgram(["backup", to, ...more], settings);
  assert.equal(code, 0, stderr);
  assert.ok(load.acknowledged.length > before.length, "messages were taken meanwhile");
  await load.stop();
  assert.match(stdout, /^Backing up \S+\.\nChecking the backup\.\naccount +3\nmessage +[\d,]+\n/);
  assert.match(stdout, /^The backup in \S+ is whole: [\d,]+ rows, in \d+ s\./m);
  assert.match(stdout, /^Its books agree\.$/m);
  assert.deepEqual(readdirSync(to), ["heliograph.sqlite"]);
  assert.equal(statSync(join(to, "heliograph.sqlite")).mode & 0o777, 0o600);
  return before;
}

/** Every one of these messages is there, and can be asked for. */
async function assertHas({ url }: Child, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += 400) {
    const some = ids.slice(from, from + 400);
    const { json } = await callService(url, "GET", `/sms/1/logs?limit=1000&messageId=${some.join()}`);
    const found = json.results.map(({ messageId }: { messageId: string }) => messageId);
    assert.deepEqual(found.toSorted(), some.toSorted());
  }
}

const QUIET = { HELIOGRAPH_LOG_LEVEL: "silent" };

test("a backup of SQLite under load has what was acknowledged before it began, and is served as it is", async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, "data");
  const to = join(directory, "backup");
  const service = await startChild(t, ["sandbox", "--port", "0", "--data", data], QUIET);
  const before = await backUp(sendTo(t, [service]), to, {}, ["--data", data]);
  await service.end("SIGKILL");

  const restored = await startChild(t, ["sandbox", "--port", "0", "--data", to], QUIET);
  await assertHas(restored, before);
  assert.equal(await commandsOn("--data", to).done("ledger", "verify"), "The books agree.\n");
});

test("a backup of PostgreSQL under the load of two nodes is restored into another database", async (t) => {
  const to = join(await temporaryDirectory(t), "backup");
  const [from, other] = [await postgresUrl(t, { empty: true }), await postgresUrl(t, { empty: true })];
  const settings = { ...QUIET, HELIOGRAPH_STORE_URL: from };
  const nodes = [
    await startChild(t, ["sandbox", "--port", "0"], settings),
    await startChild(t, ["sandbox", "--port", "0"], settings),
  ];
  const before = await backUp(sendTo(t, nodes), to, settings);
  for (const node of nodes) await node.end("SIGKILL");
  const wallets = await onDatabase(from, "SELECT 1 FROM wallet WHERE name = 'revenue'");
  assert.ok(wallets.length >= 2, "each node had a wallet of its own");

  const copied = await runProgram(["copy", "--from", `sqlite:${to}`, "--to", other]);
  assert.equal(copied.code, 0, copied.stderr);
  const restored = await startChild(t, ["sandbox", "--port", "0"], { ...QUIET, HELIOGRAPH_STORE_URL: other });
  await assertHas(restored, before);
  for (const where of [
    ["--data", to],
    ["--store", other],
  ])
    assert.equal(await commandsOn(...where).done("ledger", "verify"), "The books agree.\n");
});

/** Two wallets of the service's own that are full, and as much elsewhere: what they come to together no database has a number for. */
function fillWallets(directory: string): void {
  const most = 9_000_000_000_000_000_000n;
  const db = openData(directory);
  const open = db.prepare("INSERT INTO wallet (name, currency, balance_micros, shard) VALUES (?, 'XTS', ?, ?)");
  const post = db.prepare(
    "INSERT INTO posting (id, at_ms, kind, from_wallet, to_wallet, amount_micros) VALUES (?, 0, 'funds', ?, ?, ?)",
  );
  for (const shard of [0, -1]) {
    const from = open.run("payments", -most, shard).lastInsertRowid;
    const to = open.run("earlier", most, shard).lastInsertRowid;
    post.run(1_000_000 - shard, from, to, most);
  }
  db.close();
}

test("a backup of PostgreSQL has every row of every table, whatever their sums are", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  fillWallets(directory);
  const url = await postgresUrl(t);
  const toName = "the database";
  assert.equal((await copyStore({ from: directory, to: url, toName })).kind, "copied");
  const to = join(await temporaryDirectory(t), "backup");
  const pages: string[] = [];
  const outcome = await backupStore({
    from: { url },
    fromName: toName,
    to,
    pageCharacters: 500,
    onProgress: ({ table }) => pages.push(table!),
  });
  assert.deepEqual(outcome.ledgerFaults, []);
  assert.ok(pages.filter((table) => table === "message").length > 1, "messages came in pages");
  const found = expectedRows(to);
  for (const [table, rows] of expectedRows(directory)) {
    // What stands for U+0000 there, and the copy's own change of the counter, have come along; and a backup says that it is one.
    const wanted =
      table === "counter"
        ? rows.map((row) => ({ ...row, changes: String(Number(row.changes) + 1), is_backup: "1" }))
        : rows;
    assert.ok(rows.length > 0, `${table} has rows`);
    assert.deepEqual(found.get(table), wanted, table);
  }
});

test("a backup of a database with an older schema, or a newer one, says what to run", async (t) => {
  const url = await postgresUrl(t);
  const { length } = STEPS;
  const backUp = async (): Promise<void> => {
    const to = join(await temporaryDirectory(t), "backup");
    await backupStore({ from: { url }, fromName: "the database", to });
  };
  for (const version of [length - 1, length + 1]) {
    // As before one of its tables was made.
    await onDatabase(url, `UPDATE heliograph_schema SET version = ${version}; DROP TABLE IF EXISTS trace`);
    await assert.rejects(backUp(), {
      message: `the tables in the database are not those of this version of Heliograph (step ${version} of ${length}): make the backup with the version that runs on it, or run "heliograph migrate" first`,
    });
  }
});

test("a restored store hands out none of the ids that were handed out after the backup", async (t) => {
  const { bench, directory, moveTo } = await startMoving(t);
  const known = new Set<string>();
  const send = async (): Promise<void> => {
    for (let count = 0; count < 5; count++) {
      const id = bench.ids.take(1);
      assert.ok(!known.has(id), `${id} came again`);
      known.add(id);
      await bench.accept([bench.message()], {}, { firstKey: id });
    }
  };
  await send();
  await bench.close();
  const to = join(await temporaryDirectory(t), "backup");
  await backupStore({ from: { data: directory }, fromName: "the store", to });
  await bench.open();
  await send();
  await bench.close();

  moveTo({ directory: to });
  bench.clock.stepBack(30 * 60_000);
  await bench.open();
  await send();
  await bench.restart();
  await send();
  await bench.close();

  const another = join(await temporaryDirectory(t), "backup");
  await backupStore({ from: { data: directory }, fromName: "the store", to: another });
  moveTo({ directory });
  await bench.clock.advance(60_000);
  await bench.open();
  await send();
  await bench.close();
  const url = await postgresUrl(t);
  assert.equal((await copyStore({ from: another, to: url, toName: "the database" })).kind, "copied");
  // The node gets the number that the embedded store has.
  await onDatabase(url, "UPDATE counter SET starts = 1022");
  moveTo(url);
  await bench.open();
  assert.equal(bench.ids.node, 0);
  await send();
});

/** A backup in a process that is killed when it has said so for the so-manieth time how far it is, or when it would check. */
async function backUpAndDie(from: object, to: string, after: number): Promise<void> {
  const script = `
    import { backupStore } from ${JSON.stringify(join(ROOT, "src/copy/backup.ts"))};
    let times = 0;
    const die = () => process.kill(process.pid, "SIGKILL");
    await backupStore({
      ...JSON.parse(process.env.BACKUP_OPTIONS),
      onProgress: () => { if (++times === ${after}) die(); },
      onStep: (step) => { if (step === "checking") die(); },
    });`;
  const options = { from, to, fromName: "the store", pageCharacters: 500 };
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, BACKUP_OPTIONS: JSON.stringify(options) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  assert.equal((await once(child, "close"))[1], "SIGKILL");
}

test("a backup that is killed does not look whole, and is made anew", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  const url = await postgresUrl(t);
  await copyStore({ from: directory, to: url, toName: "the database" });
  for (const [from, deaths] of [
    [{ data: directory }, [1, 1_000_000]],
    [{ url }, [1, 7, 1_000_000]],
  ] as const) {
    const to = join(await temporaryDirectory(t), "backup");
    const wrong = commandsOn("--data", to);
    for (const after of deaths) {
      await backUpAndDie(from, to, after);
      assert.deepEqual(
        readdirSync(to).filter((name) => name.endsWith(".sqlite")),
        [],
      );
      assert.match((await wrong.refused("serve"))[1], /^there is no data in/);
    }
    const outcome = await backupStore({ from, fromName: "the store", to });
    assert.deepEqual(outcome.ledgerFaults, []);
    assert.deepEqual(readdirSync(to), ["heliograph.sqlite"]);
  }
});

test("a restored service sends nothing while its carriers lead nowhere, and what waits when they are set right", async (t) => {
  const smsc = await startSmsc(t);
  const { data, done, run } = await newService(t);
  const nowhere = "hosts=127.0.0.1:9";
  const profile = ["kind=smpp", nowhere, "systemId=me", "--password-stdin"];
  assert.equal((await run(["carrier", "set", "first", ...profile], { input: "secret" })).code, 0);
  await done("route", "set", "*", "first");
  const made = await done("account", "create", "--key", "ACME", "--username", "acme", "--funds", "1");
  const authorization = basic("acme", made.trimEnd().split("\n").at(-1)!);
  const service = await startChild(t, ["serve", "--port", "0", "--data", data]);
  const body = { from: "Acme", to: "41793026727", text: "It waits" };
  const sent = await callService(service.url, "POST", "/sms/1/text/single", { body, authorization });
  assert.equal(sent.status, 200, sent.text);
  await service.end("SIGTERM");
  await done("carrier", "set", "first", `hosts=127.0.0.1:${smsc.port}`);
  const to = join(await temporaryDirectory(t), "backup");
  await done("backup", to);

  const restored = commandsOn("--data", to);
  await restored.done("carrier", "set", "first", nowhere);
  const again = await startChild(t, ["serve", "--port", "0", "--data", to]);
  await eventually(async () => again.output().includes("a carrier could not be reached"));
  const list = ["message", "list", "--account", "ACME"];
  assert.match(await restored.done(...list), /PENDING_ENROUTE/);
  assert.deepEqual(smsc.parts, []);
  await restored.done("carrier", "set", "first", `hosts=127.0.0.1:${smsc.port}`);
  await eventually(async () => /DELIVERED_TO_HANDSET/.test(await restored.done(...list)));
  assert.deepEqual(
    smsc.parts.map(({ text }) => text),
    ["It waits"],
  );
});

test("a backup with books that do not agree is kept, and said to be so", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  const url = await postgresUrl(t);
  await copyStore({ from: directory, to: url, toName: "the database" });
  await onDatabase(url, "UPDATE message SET charged_micros = charged_micros + 1 WHERE client_message_id = 'queued 3'");
  const to = join(await temporaryDirectory(t), "backup");
  const { code, stdout } = await commandsOn("--store", url).run(["backup", to]);
  assert.equal(code, 1);
  assert.match(stdout, /^account \S+ paid [\d.]+ EUR for messages that cost [\d.]+ EUR$/m);
  assert.match(stdout, /^Its books do not agree, because those of postgres:\S+ do not/m);
  assert.deepEqual(readdirSync(to), ["heliograph.sqlite"]);
});

test("what stands in the way of a backup is told with what to do, and without the password", async (t) => {
  const { bench, directory } = await startMoving(t);
  const made = commandsOn("--data", directory);
  const to = join(await temporaryDirectory(t), "backup");
  const says = async (commands: ReturnType<typeof commandsOn>, directory: string): Promise<string> => {
    const [code, message] = await commands.refused("backup", directory);
    assert.equal(code, 1);
    assert.doesNotMatch(message, /secret|\n/);
    return message;
  };
  assert.match(
    await says(made, directory),
    /is not empty \(heliograph\.\w+ is in it\): name a directory that is empty/,
  );
  await made.done("backup", to);
  assert.match(await says(made, to), /is not empty \(heliograph\.sqlite is in it\)/);
  const [busy, file] = [join(to, "busy"), join(to, "file")];
  mkdirSync(busy);
  const unlock = lockDirectory(busy);
  assert.match(await says(made, busy), /^another backup into \S+ is under way$/);
  unlock();
  writeFileSync(file, "");
  assert.match(await says(made, file), /cannot be written/);
  const free = join(to, "free");
  assert.match(await says(commandsOn("--data", busy), free), /^there is no data in/);
  const away = commandsOn("--store", "postgres://user:secret@127.0.0.1:1/none");
  assert.match(
    await says(away, free),
    /^the data in postgres:\/\/127\.0\.0\.1:1\/none cannot be opened: the database is/,
  );
  const empty = commandsOn("--store", await postgresUrl(t, { empty: true }));
  assert.match(await says(empty, free), /^there is no data in postgres:/);
  const url = await postgresUrl(t);
  await onDatabase(url, "ALTER TABLE account ADD COLUMN of_tomorrow text");
  assert.match(
    await says(commandsOn("--store", url), free),
    /not those of this version of Heliograph \(account differs\)/,
  );
  await bench.close();
});
