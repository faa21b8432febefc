/** `heliograph copy`: a store moves from SQLite to PostgreSQL with all that is in it, whatever interrupts the move. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type CopyCommandOptions, copy } from "../../src/cli/copy.ts";
import { ProgressBar } from "../../src/cli/copy-progress.ts";
import { CommandFault, withStore } from "../../src/cli/support.ts";
import { openStore } from "../../src/commands/open.ts";
import { BY_DAY, COPIED, COUNTER, SOURCE_ONLY, TARGET_ONLY } from "../../src/copy/copied-tables.ts";
import { type CopyOptions, copyStore } from "../../src/copy/copy.ts";
import { CopySource, fingerprints } from "../../src/copy/copy-source.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { Lease } from "../../src/node/lease.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { readSettings, SettingsFault } from "../../src/settings/settings.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import type { Store } from "../../src/store/port/store.ts";
import { CARRIER, HOUR } from "../store/harness.ts";
import { runProgram } from "../support/child.ts";
import { postgresUrl } from "../support/postgres.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import {
  expectedRows,
  fillAndKill,
  INBOX,
  KEY_EXPIRES_AT_MS,
  onDatabase,
  REPLAYED,
  rowsOf,
  startMoving,
} from "./copy-source.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Small enough that a little data has many pages, on several connections. */
const SMALL = { toName: "the database", pageRows: 3, stretchRows: 8 };

const copyCommand = (from: string, to: string) => runProgram(["copy", "--from", from, "--to", to]);

async function assertSame(directory: string, url: string): Promise<void> {
  const wanted = expectedRows(directory);
  const found = await rowsOf(url);
  for (const [table, rows] of wanted) {
    assert.ok(rows.length > 0, `${table} has rows to copy`);
    assert.deepEqual(found.get(table), rows, table);
  }
}

test("everything arrives, with its ids; and the directory is as it was", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  const url = await postgresUrl(t, { empty: true });
  const wanted = expectedRows(directory);
  const before = looksOf(directory);

  const first = await copyCommand(`sqlite:${directory}`, url);
  assert.equal(first.code, 0, first.stderr);
  await assertSame(directory, url);
  assert.deepEqual(expectedRows(directory), wanted);
  assert.deepEqual(looksOf(directory), before);
  assert.match(first.stdout, /^Copying\.\nComparing both sides\.\n +SQLite +PostgreSQL\n/);
  assert.match(first.stdout, /^message +(\d+) +\1$/m);
  assert.match(first.stdout, /^balances of accounts +0\.000003 USD +0\.000003 USD$/m);
  assert.match(first.stdout, /^postings: refund +0\.01 EUR +0\.01 EUR$/m);
  assert.match(first.stdout, /^charged, each of 1 account +(\S+ EUR) +\1$/m);
  assert.match(first.stdout, /rows are copied and compared, in \d+ s/);
  const { password } = new URL(url);
  assert.ok(password !== "" && !`${first.stdout}${first.stderr}`.includes(password), "no password is printed");

  const rows = await rowsOf(url);
  const again = await copyCommand(directory, url);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /^There is nothing to do: postgres:\S+ holds all of \S+ already\./m);
  assert.deepEqual(await rowsOf(url), rows);
});

function looksOf(directory: string): Map<string, string> {
  const source = new CopySource(directory);
  try {
    return fingerprints(source);
  } finally {
    source.close();
  }
}

test("the list of what is copied has every table of both stores", async (t) => {
  const { bench, directory } = await startMoving(t);
  await bench.close();
  const source = new CopySource(directory);
  t.after(() => source.close());
  const copied = [...COPIED.map(({ name }) => name), COUNTER.name];
  const tables = source.pairs(
    "SELECT name, type FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
  );
  assert.deepEqual(
    tables.map(([name]) => name),
    [...copied, ...SOURCE_ONLY].sort(),
  );
  const url = await postgresUrl(t);
  const there = await onDatabase(
    url,
    "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace",
  );
  assert.deepEqual(there.map(({ relname }) => relname).sort(), [...copied, ...TARGET_ONLY].sort());
  const byDay = await onDatabase(url, "SELECT relname FROM pg_class WHERE relkind = 'p'");
  assert.deepEqual(byDay.map(({ relname }) => relname).sort(), BY_DAY.toSorted());
});

test("the copied store goes on where the other stopped", async (t) => {
  const { bench, directory, moveTo } = await startMoving(t);
  const made = await fillAndKill(bench);
  const url = await postgresUrl(t);
  assert.equal((await copyStore({ ...SMALL, from: directory, to: url })).kind, "copied");
  const [epochs] = await onDatabase(url, "SELECT starts FROM counter");
  moveTo(url);
  await bench.restart();
  const { store, accountId } = bench;

  // What waited is claimed, oldest first, what was in memory before with what was not.
  assert.deepEqual(bench.overflowed, [{ carrierId: CARRIER, accountId }]);
  const claimed: QueuedMessage[] = [];
  for (let more = true; more; ) {
    ({ more } = await store.claimLane({ carrierId: CARRIER, accountId, limit: 3 }));
    const messages = bench.takeMessages();
    await bench.submit(messages);
    claimed.push(...messages);
  }
  const keys = claimed.map(({ key }) => key);
  assert.equal(keys.length, made.queued);
  assert.deepEqual(keys, keys.toSorted());
  assert.ok(claimed.every(({ text }) => text === "with a NUL \uFFFD in it"));
  const [{ starts } = {}] = await onDatabase(url, "SELECT starts FROM counter");
  assert.ok(Number(starts) > Number(epochs!.starts));

  // A request that comes again gets its first answer; a name that is taken stays so, one of a rejected message is free.
  const repeated = bench.acceptance([bench.message(), bench.message()], {}, { bulkId: "first", replay: REPLAYED });
  const { firstKey, bulkId, statusIds } = made.answer;
  const answer = await store.accept(repeated);
  const partCounts = [1, 1];
  const pricesMicros = [10_000n, 10_000n];
  assert.deepEqual(answer, { kind: "accepted", firstKey, bulkId, statusIds, replayed: true, partCounts, pricesMicros });
  const DUPLICATE = STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;
  const named = ["mine", "queued 3", "open 1", "canceled 1", "gone"].map((name) =>
    bench.message({ clientMessageId: name }),
  );
  const statuses = await bench.accept(named, {}, { bulkId: "names" });
  assert.deepEqual(statuses.slice(0, 4), [DUPLICATE, DUPLICATE, DUPLICATE, DUPLICATE]);
  assert.notEqual(statuses[4], DUPLICATE, "its message has left");

  // A receipt finds its part, and the message is delivered.
  assert.equal(await bench.receive(bench.receipt(made.openPart)), 0);
  const parked = await store.parkedReceipts({ limit: 10 });
  assert.equal(parked.count, 1);
  // What was said after the last word is still beside its message.
  const later = await store.laterReceipts({ messageKey: made.openPart.split(".")[0]! });
  assert.deepEqual(
    later.map(({ outcome }) => outcome),
    ["undeliverable"],
  );

  // Reports go out under their ids, one that somebody had in memory marked as perhaps sent; followers wait.
  const { batches } = await store.dueReports({ nowMs: bench.clock.now(), limit: 10 });
  assert.ok(batches.some(({ url, tried }) => url.endsWith("/held") && tried === true));
  assert.equal((await store.deadLetters({ accountKey: "CLIENT", url: null, beforeId: null, limit: 10 })).length, 1);

  // Bulks are what they were: the canceled one is refunded to its end.
  const bulk = async (bulkId: string) => (await store.bulk({ accountId, bulkId }))?.status;
  assert.deepEqual(
    [await bulk("open"), await bulk("paused"), await bulk("canceled"), await bulk("moved")],
    ["PENDING", "PAUSED", "CANCELED", "PENDING"],
  );
  for (let more = true; more; ) ({ more } = await store.claimDue({ nowMs: bench.clock.now(), limit: 10 }));

  // The second part of a long message from a phone makes it whole.
  const part = { from: "41790000001", to: INBOX, text: "part 2", atMs: bench.clock.now() };
  const concatenation = { reference: 8, total: 2, sequence: 2 };
  await store.incoming({ carrierId: CARRIER, parts: [{ ...part, concatenation }], nowMs: bench.clock.now() });
  const { messages } = await bench.fetchIncoming(10);
  assert.ok(messages.some(({ text }) => text.startsWith("part 1") && text.endsWith("part 2")));
  assert.deepEqual(messages.find(({ text }) => text === "00ff")?.binary, { dataCoding: 4, esmClass: 0 });

  // Whoever logs in is known, and the next account has an id that nobody had.
  const byKey = await store.findApiKey({ keyHash: "hash of a key", nowMs: bench.clock.now() });
  assert.deepEqual([byKey?.key, byKey?.scopes], ["CLIENT", ["send"]]);
  const bounds = { id: "one", expiresAtMs: KEY_EXPIRES_AT_MS, allowedAddresses: ["192.0.2.0/24"] };
  assert.deepEqual(byKey?.apiKey, bounds);
  const session = { tokenHash: "token", nowMs: bench.clock.now(), idleMs: 99 * HOUR, maxMs: 999 * HOUR };
  assert.equal((await store.findSession(session))?.key, "RESELLER");
  const fresh = await store.createAccount({
    key: "NEXT",
    kind: "client",
    parentKey: null,
    currency: "CHF",
    ratePlanId: "standard",
    defaultSender: null,
    creditLimitMicros: 0n,
    openingBalanceMicros: 7n,
    callbackSecret: "whsec_next=",
    username: "next",
    passwordHash: "x",
    atMs: bench.clock.now(),
  });
  assert.equal(fresh.kind === "created" && fresh.account.id, 4);
  assert.deepEqual(await store.verifyLedger(), []);
});

// --- Interrupted -------------------------------------------------------------------------------------------------------------

/** A copy in a process that is killed after so many pages, or when it would begin to compare. */
async function copyAndDie(options: Omit<CopyOptions, "toName">, after: number): Promise<void> {
  const script = `
    import { copyStore } from ${JSON.stringify(join(ROOT, "src/copy/copy.ts"))};
    let pages = 0;
    const die = () => process.kill(process.pid, "SIGKILL");
    await copyStore({
      ...JSON.parse(process.env.COPY_OPTIONS),
      onRows: () => { if (++pages === ${after}) die(); },
      onStep: (step) => { if (step === "checking") die(); },
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, COPY_OPTIONS: JSON.stringify({ ...SMALL, ...options }) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code, signal] = await once(child, "close");
  assert.deepEqual([code, signal], [null, "SIGKILL"]);
}

/** The same in this process: it fails after so many pages, or when it would begin to compare. */
async function copyAndFail(options: Omit<CopyOptions, "toName">, after: number): Promise<void> {
  let pages = 0;
  const fail = () => {
    throw new Error("on purpose");
  };
  const failing = copyStore({
    ...SMALL,
    ...options,
    onRows: () => ++pages === after && fail(),
    onStep: (step) => step === "checking" && fail(),
  });
  await assert.rejects(failing, /on purpose/);
}

test("a copy that is killed goes on where it stopped, and until then no service can start on the database", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  const url = await postgresUrl(t);
  const counts: number[] = [];
  for (const after of [1, 9, 1_000]) {
    await copyAndDie({ from: directory, to: url }, after);
    const [row] = await onDatabase(url, "SELECT sum(row_count) AS count FROM copy_progress");
    counts.push(Number(row!.count));
  }
  assert.deepEqual(
    counts,
    counts.toSorted((one, other) => one - other),
  );
  const total = [...expectedRows(directory)].filter(([name]) => COPIED.some((table) => table.name === name));
  assert.equal(
    counts.at(-1),
    total.reduce((sum, [, rows]) => sum + rows.length, 0),
    "it was killed when all was there and nothing compared",
  );
  await assert.rejects(openAsNode(url), /a copy into this database is not finished: run "heliograph copy" again/);
  assert.deepEqual(await onDatabase(url, "SELECT * FROM node"), []);

  const last = await copyCommand(directory, url);
  assert.equal(last.code, 0, last.stderr);
  assert.match(last.stdout, /^An earlier copy was interrupted; going on where it stopped\.$/m);
  await assertSame(directory, url);
  await (await openAsNode(url)).close();
});

function openAsNode(url: string) {
  const settings = readSettings({ environment: {}, flags: { store: { url } } });
  const lanes = { lane: 10, total: 10 };
  const deliver = { lanes, roles: ["api"] as const, lease: new Lease() };
  return openStore({ settings, clock: systemClock, log: silentLog, deliver, name: "a node" });
}

test("a page that fails leaves no gap, though the next ones were sent already", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  const url = await postgresUrl(t);
  // The third page of messages meets a row that is not allowed, until it is.
  await onDatabase(
    url,
    "ALTER TABLE message ADD CONSTRAINT in_the_way CHECK (client_message_id <> 'queued 3' OR client_message_id IS NULL)",
  );
  const options = { ...SMALL, stretchRows: 1_000, from: directory, to: url };
  await assert.rejects(copyStore(options), /in_the_way/);
  await onDatabase(url, "ALTER TABLE message DROP CONSTRAINT in_the_way");
  assert.equal((await copyStore(options)).kind, "copied");
  await assertSame(directory, url);
});

test("a difference between both sides is an error that says which, and the database stays closed", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  const url = await postgresUrl(t);
  await copyAndFail({ from: directory, to: url }, 1_000);
  await onDatabase(url, "UPDATE message SET charged_micros = charged_micros + 1 WHERE client_message_id = 'queued 3'");
  await onDatabase(url, "DELETE FROM opt_out WHERE account_id = 0");
  const { code, stdout, stderr } = await copyCommand(directory, url);
  assert.equal(code, 1);
  assert.match(stdout, /^opt_out +2 +1 +differs$/m);
  assert.match(
    stderr,
    /differs from \S+: opt_out; charged to account CLIENT; account CLIENT paid [\d.]+ EUR for messages that cost [\d.]+ EUR\. /,
  );
  await assert.rejects(openAsNode(url), /is not finished/);
});

// --- Refused -------------------------------------------------------------------------------------------------------------------

/** What the command says, in a line and before it has said anything else. */
async function refusal(from: string, to: string): Promise<string> {
  const options: CopyCommandOptions = { from, to };
  const error = await copy(options).then(
    () => assert.fail("it was copied"),
    (error: Error) => error,
  );
  assert.ok(error instanceof CommandFault || error instanceof SettingsFault, error.stack);
  assert.doesNotMatch(error.message, /\n/);
  return error.message;
}

test("a copy is refused while a service runs on either side", async (t) => {
  const { bench, directory } = await startMoving(t);
  const url = await postgresUrl(t);
  assert.match(await refusal(directory, url), /a service runs on \S+, or another copy: stop it, then copy/);
  await bench.close();
  const node = await openAsNode(url);
  t.after(() => node.close());
  assert.match(await refusal(directory, url), /a node runs on postgres:\S+ \(a node\): stop all nodes/);
});

test("a database with other data is left alone", async (t) => {
  const [one, other] = [await startMoving(t), await startMoving(t)];
  const url = await postgresUrl(t);
  // Freshly made stores have the same numbers of rows.
  for (const { bench } of [one, other]) {
    await bench.store.rotateCallbackSecret({ accountKey: "CLIENT", secret: `whsec_${Math.random()}` });
    await bench.close();
  }
  await copyStore({ ...SMALL, from: one.directory, to: url });
  const rows = await rowsOf(url);
  assert.match(await refusal(other.directory, url), /holds data that is not from .* name an empty database with --to/);
  await onDatabase(url, "DELETE FROM login WHERE username = 'client'");
  assert.match(
    await refusal(one.directory, url),
    /was copied from .* before, and one of them was used since \(login\)/,
  );
  assert.equal((await rowsOf(url)).get("account")?.length, rows.get("account")?.length);
});

test("a source that was changed since the copy began is refused, whatever was changed", async (t) => {
  const { bench, directory } = await startMoving(t);
  await fillAndKill(bench);
  const url = await postgresUrl(t);
  await copyAndFail({ from: directory, to: url }, 2);
  const settings = readSettings({ environment: {}, flags: { store: { data: directory } } });
  const changed = async (change: (store: Store) => Promise<unknown>): Promise<string> => {
    await withStore(settings, change);
    const says =
      /holds the beginning of a copy, and \S+ is not as it was then \(([a-z_, ]+)\): it was changed in between/;
    return says.exec(await refusal(directory, url))?.[1] ?? "";
  };
  const nowMs = bench.clock.now();
  const all = { accountKey: null, url: null };
  assert.equal(await changed((store) => store.replayDeadLetters({ ...all, nowMs, limit: 10 })), "report");
  const list = { accountKey: null, number: "41790000001" };
  assert.equal(await changed((store) => store.optOut({ ...list, atMs: nowMs })), "opt_out, report");
  assert.equal(await changed((store) => store.optIn(list)), "report");
  const secret = "whsec_newest=";
  assert.match(await changed((store) => store.rotateCallbackSecret({ accountKey: "CLIENT", secret })), /^account, /);
  // A service that ran on it: it has another start.
  await bench.open();
  await bench.close();
  assert.match(await changed(async () => undefined), /counter/);
});

test("what is wrong with the command is told with what to do, and without the password", async (t) => {
  const { bench, directory } = await startMoving(t);
  await bench.close();
  const url = await postgresUrl(t);
  const none = join(directory, "none");
  const secret = "postgres://user:secret@127.0.0.1:1/none";
  for (const [from, to, says] of [
    [none, url, /^there is no data in \S+none: name the directory/],
    [url, url, /--from must be the embedded store's directory/],
    ["sqlite:", url, /--from must name a directory/],
    [directory, directory, /\[store\] url must be of the form postgres:/],
    [directory, "user:secret@127.0.0.1/none", /\[store\] url must be of the form postgres:/],
    [directory, "postgres:user:secret@127.0.0.1/none", /\[store\] url must be of the form postgres:/],
    [directory, "postgres://user:12/secret@127.0.0.1:1/none", /the data in the database of store.url cannot be opened/],
    [
      directory,
      secret,
      /the data in postgres:\/\/127\.0\.0\.1:1\/none cannot be opened: the database is away \(ECONNREFUSED\)/,
    ],
    [directory, url.replace(/:[^:@]+@/, ":secret@"), /cannot be opened: password authentication failed/],
    [directory, url.replace(/\/[^/]+$/, "/nowhere"), /cannot be opened: database "nowhere" does not exist/],
  ] as const) {
    const message = await refusal(from, to);
    assert.match(message, says);
    assert.doesNotMatch(message, /secret/);
  }
  await assert.rejects(copy({ from: directory }), /name the database in a file with --to-file/);
  const named = await runProgram(["copy", "--from", directory], { HELIOGRAPH_STORE_URL: url });
  assert.equal(named.code, 0, named.stderr);
});

// --- Progress ------------------------------------------------------------------------------------------------------------------

function shown(t: TestContext, isTTY: boolean): { bar: ProgressBar; clock: VirtualClock; text: () => string } {
  const clock = new VirtualClock(0);
  let text = "";
  const write = (more: string): void => {
    text += more;
  };
  const bar = new ProgressBar({ isTTY, columns: 100, write }, clock);
  t.after(() => bar.end());
  return { bar, clock, text: () => text };
}

test("progress is a bar on a terminal, and a line every few seconds elsewhere", async (t) => {
  const terminal = shown(t, true);
  await terminal.clock.advance(1_000);
  terminal.bar.show({ what: "message", rows: 3_000, total: 12_000, earlier: 1_000 });
  terminal.bar.show({ what: "message", rows: 3_500, total: 12_000, earlier: 1_000 });
  assert.equal(
    terminal.text(),
    `\r\u001b[K${"█".repeat(3)}${"░".repeat(9)} 25%  3,000 of 12,000 rows, 2,000/s, 5 s left (message)`,
  );
  const file = shown(t, false);
  for (let rows = 0; rows <= 100_000; rows += 1_000) {
    file.bar.show({ what: "posting", rows, total: 1_000_000, earlier: 0 });
    await file.clock.advance(100);
  }
  assert.deepEqual(file.text().split("\n"), [
    "5%  50,000 of 1,000,000 rows, 10,000/s, 1 min 35 s left (posting)",
    "10%  100,000 of 1,000,000 rows, 10,000/s, 1 min 30 s left (posting)",
    "",
  ]);
});
