/** Failovers that do not go by the book: the standby is away, a wait for it is cancelled, a proxy leads astray, the old primary lives on, or the new one lacks something. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { STATE_NUMBER } from "../../src/store/schema/message.ts";
import { Load, type Node, pause, storedMessages } from "../support/cluster.ts";
import {
  assertNothingLost,
  assertQuick,
  recovery,
  type Scene,
  type SceneOptions,
  startScene,
} from "../support/failover.ts";
import { callService, eventually } from "../support/service.ts";
import type { Pair } from "../support/standby.ts";

const SEED = Number(process.env.SEED ?? systemClock.now() % 1_000_000);
const AWAY_MS = 30_000;
const PINNED_MS = 5_000;
const BEHIND_MS = 3_000;
/** What is on its way is there by then. */
const ON_ITS_WAY_MS = 1_000;
/** With this code a supervisor starts a node again. */
const TRY_AGAIN = 75;

function scene(t: TestContext, options: Partial<SceneOptions> & Pick<SceneOptions, "kind">): Promise<Scene> {
  return startScene(t, { synchronous: true, random: seededRandom(SEED), ...options });
}

const readiness = async (url: string): Promise<number> =>
  (await callService(url, "GET", "/readyz", { authorization: null })).status;

test(`while the standby is away nothing is acknowledged (SEED=${SEED})`, { timeout: 600_000 }, async (t) => {
  // Clients that hear a late 200: a wait for the standby ends with the statement's time.
  const all = await scene(t, { kind: "hosts", patienceMs: AWAY_MS });
  const { pair, load } = all;
  pair.part();
  await pause(ON_ITS_WAY_MS);
  const accepted = load.accepted.size;
  await pause(AWAY_MS);
  assert.equal(load.accepted.size, accepted);
  for (const { url } of all.nodes) assert.equal(await readiness(url), 503);
  pair.join();
  assertQuick(t, await recovery(all));
  for (const { url } of all.nodes) await eventually(async () => (await readiness(url)) === 200);
  await assertNothingLost(t, all);
});

/** Who waits for the standby is told to stop that: the commit is then the primary's alone. Gives how many were told. */
async function cancelWaits(pair: Pair): Promise<number> {
  const rows = await pair.onPrimary(
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'",
  );
  return rows.length;
}

test(`a commit whose wait for the standby was cancelled is not acknowledged (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const all = await scene(t, { kind: "hosts" });
  const { pair } = all;
  pair.part();
  let cancelled = 0;
  await eventually(async () => {
    cancelled += await cancelWaits(pair);
    return cancelled >= 10;
  });
  await pause(ON_ITS_WAY_MS);
  await pair.kill();
  await pair.promote();
  assertQuick(t, await recovery(all));
  t.diagnostic(`${cancelled} waits were cancelled`);
  await assertNothingLost(t, all);
});

test(`whoever was led to a read-only server for a while finds the primary again (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const all = await scene(t, { kind: "switching" });
  const { pair } = all;
  pair.switching.leadTo(pair.portOf("standby"));
  pair.switching.breakAll();
  await pause(PINNED_MS);
  // Who has a connection keeps it.
  pair.switching.leadTo(pair.portOf("primary"));
  assertQuick(t, await recovery(all));
  await assertNothingLost(t, all);
});

test(`a primary that becomes read-only in its place is left (SEED=${SEED})`, { timeout: 600_000 }, async (t) => {
  const all = await scene(t, { kind: "hosts" });
  const { pair, load } = all;
  await pair.onPrimary("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()");
  const refused = load.unavailable.length;
  await eventually(async () => load.unavailable.length > refused);
  await pause(ON_ITS_WAY_MS);
  await pair.promote({ keeping: true });
  assertQuick(t, await recovery(all));
  await assertNothingLost(t, all);
});

test(`an old primary that lives on, cut off, takes nothing with it (SEED=${SEED})`, { timeout: 600_000 }, async (t) => {
  const all = await scene(t, { kind: "hosts" });
  const { pair } = all;
  pair.isolate();
  await pair.promote();
  assertQuick(t, await recovery(all));
  await assertNothingLost(t, all);
});

test(`who stays with an old primary is told of no success there (SEED=${SEED})`, { timeout: 600_000 }, async (t) => {
  const environment = { HELIOGRAPH_STORE_STATEMENT_TIMEOUT_MS: "2000" };
  const all = await scene(t, { kind: "switching", environment });
  const { pair } = all;
  pair.part();
  await pair.promote({ keeping: true });
  t.diagnostic(`${(await recovery(all)).firstAcceptedMs} ms to the first 200`);
  await assertNothingLost(t, all);
});

// --- A standby that lacks what was acknowledged ------------------------------------------------------------------------------

/** The standby becomes the primary without what was written since it was parted from it. */
async function failOverBehind({ pair, database }: Scene): Promise<void> {
  await pair.kill();
  await pair.promote();
  await database.reopen();
}

/**
 * Nothing waits for anything under nodes that live. A message that the database knows as submitted ends with its validity, where its receipt is among
 * what was lost: one that the carrier had before. Gives how many there are.
 */
async function settleBehind({ load, database, parts }: Scene, sentBefore: number): Promise<number> {
  await load.stop();
  const { open } = await eventually(async () => {
    const since = new Set(parts.slice(sentBefore).map(({ text }) => text));
    const open = (await storedMessages(database)).filter(({ state }) => state !== STATE_NUMBER.done);
    const [row] = await database.query<{ count: string }>("SELECT count(*) FROM report");
    const areLost = open.every(({ state, text }) => state === STATE_NUMBER.submitted && !since.has(text));
    return areLost && row!.count === "0" && { open };
  });
  return open.length;
}

/** They say what may be missing, and end so that they are started again. */
async function assertEnded(nodes: readonly Node[]): Promise<void> {
  for (const node of nodes) {
    await eventually(async () => node.process.exitCode !== null);
    assert.equal(node.process.exitCode, TRY_AGAIN, node.output());
    assert.match(
      node.output(),
      /the database is \d+ groups? behind what was written: messages acknowledged between \S+ and \S+ may be/,
    );
  }
}

test(`nodes that have written more than the new primary has say so and end (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const all = await scene(t, { kind: "hosts", synchronous: false });
  const { pair, load, nodes, database } = all;
  await pause(ON_ITS_WAY_MS);
  const before = load.accepted.size;
  pair.part();
  await pause(BEHIND_MS);
  const behind = load.accepted.size - before;
  await failOverBehind(all);
  const sent = all.parts.length;
  await assertEnded(nodes.splice(0));
  nodes.push(...(await Promise.all([all.start(), all.start(), all.start()])));
  await recovery(all);
  const open = await settleBehind(all, sent);
  const stored = new Set(
    (await database.query<{ text: string }>("SELECT body AS text FROM message")).map(({ text }) => text),
  );
  const lost = [...load.accepted.keys()].flatMap((text, index) => (stored.has(text) ? [] : [index]));
  t.diagnostic(
    `${lost.length} of ${behind} messages are lost that were acknowledged while the standby was parted, and ${open} receipts`,
  );
  assert.ok(
    lost.every((index) => index >= before - 1 && index < before + behind + 6),
    `lost: ${lost}, from ${before} on`,
  );
  assert.deepEqual(await database.store.verifyLedger(), []);
  for (const node of nodes) assert.equal(node.process.exitCode, null, node.output());
});

test(`a node that the new primary does not know is not taken for another of its number (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const all = await scene(t, { kind: "hosts", synchronous: false });
  const { pair, nodes, load, receiver } = all;
  pair.part();
  await load.stop();
  const unknown = await all.start();
  unknown.process.kill("SIGSTOP");
  await failOverBehind(all);
  for (const node of nodes.splice(0)) await node.end("SIGKILL");
  const sent = all.parts.length;
  const heir = await all.start();
  nodes.push(heir);
  assert.equal(heir.epoch, unknown.epoch);
  await settleBehind(all, sent);
  // Neither has written anything for clients: by the numbers of their groups they are the same.
  unknown.process.kill("SIGCONT");
  await eventually(async () => unknown.process.exitCode !== null);
  assert.equal(unknown.process.exitCode, TRY_AGAIN, unknown.output());
  const again = new Load(t, {
    urls: () => [heir.url],
    random: seededRandom(SEED),
    notifyUrl: receiver.url,
    senders: 1,
  });
  await eventually(async () => again.accepted.size > 10);
  await again.stop();
  await settleBehind(all, sent);
  assert.equal(heir.process.exitCode, null, heir.output());
});
