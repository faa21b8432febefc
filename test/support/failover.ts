/**
 * Three nodes on a primary and its standby, under load, with a carrier whose receipts come early and late and a receiver of reports: for tests of what
 * becomes of them when the database changes its place, and what they have promised when all is over.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Random } from "../../src/runtime/random.ts";
import type { PartRecord } from "../../src/smsc/part.ts";
import {
  assertAllThere,
  type Database,
  Load,
  type Node,
  pause,
  type StoredMessage,
  sentAgain,
  setUp,
  smppCatalogue,
  startNode,
  startWatchedSmsc,
  unfinished,
} from "./cluster.ts";
import { ReportReceiver } from "./report-receiver.ts";
import { eventually } from "./service.ts";
import { Pair, type UrlKind } from "./standby.ts";

const LEASE_MS = 2_000;
const DELIVERED = 5;
const BINDS = 3;
const WINDOW = 10;
/** What the carrier may have and not yet have answered for: at most so much goes out once more after a failover. */
const WINDOWS = BINDS * WINDOW;
const NODES = 3;
/** What the service promises after a promotion. */
const MAX_FIRST_ACCEPTED_MS = 5_000;
const MAX_FIRST_SENT_MS = 10_000;

export interface SceneOptions {
  readonly synchronous: boolean;
  readonly kind: UrlKind;
  readonly random: Random;
  readonly senders?: number;
  /** How long a client waits for an answer. */
  readonly patienceMs?: number;
  /** Of the nodes, beside what all tests of nodes have. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Scene {
  readonly pair: Pair;
  readonly database: Database;
  readonly nodes: Node[];
  readonly load: Load;
  readonly receiver: ReportReceiver;
  /** Everything that the carrier took, in order. */
  readonly parts: readonly PartRecord[];
  start(): Promise<Node>;
}

export async function startScene(t: TestContext, options: SceneOptions): Promise<Scene> {
  const pair = await Pair.start(t, options);
  const receiver = await ReportReceiver.start();
  const { smsc, parts } = await startWatchedSmsc(t, {
    faults: { receiptFirst: 0.1, delayReceipt: { probability: 0.2, ms: 3_000 } },
  });
  const database = await setUp(t, pair.url("switching"), smppCatalogue(smsc, { binds: BINDS, window: WINDOW }));
  const { environment = {} } = options;
  const start = (): Promise<Node> =>
    startNode(t, { ...database, url: pair.url(options.kind) }, { leaseMs: LEASE_MS, logLevel: "info", environment });
  const following = pair.follow();
  const nodes = await Promise.all(Array.from({ length: NODES }, start));
  await following;
  t.after(() => receiver.stop());
  const load = new Load(t, {
    urls: () => nodes.map(({ url }) => url),
    notifyUrl: receiver.url,
    senders: 6,
    pauseMs: 10,
    ...options,
  });
  await eventually(async () => smsc.connections.length === BINDS && load.accepted.size > 30);
  return { pair, database, nodes, load, receiver, parts, start };
}

export interface Recovery {
  readonly firstAcceptedMs: number;
  readonly firstSentMs: number;
}

/**
 * From now on: until a message is accepted, and until such a one goes to the carrier. Not just the first: that may have been stored and sent before, and
 * only its client had no answer.
 */
export async function recovery({ load, parts, database }: Scene): Promise<Recovery> {
  const began = performance.now();
  const known = load.accepted.size;
  const sent = parts.length;
  const sinceBegan = (): number => Math.round(performance.now() - began);
  await eventually(async () => load.accepted.size > known);
  const firstAcceptedMs = sinceBegan();
  await eventually(async () => {
    const texts = new Set([...load.accepted.keys()].slice(known));
    return parts.slice(sent).some(({ text }) => texts.has(text));
  });
  const firstSentMs = sinceBegan();
  await database.reopen();
  return { firstAcceptedMs, firstSentMs };
}

/** As quick as the service promises to be after a promotion. */
export function assertQuick(t: TestContext, { firstAcceptedMs, firstSentMs }: Recovery): void {
  t.diagnostic(`${firstAcceptedMs} ms to the first 200, ${firstSentMs} ms to the first message sent`);
  assert.ok(firstAcceptedMs <= MAX_FIRST_ACCEPTED_MS, `the first 200 came after ${firstAcceptedMs} ms`);
  assert.ok(firstSentMs <= MAX_FIRST_SENT_MS, `dispatch went on after ${firstSentMs} ms`);
}

/** The load ends, and then nothing is left that waits for anything. */
export async function settle({ load, database }: Scene): Promise<void> {
  await load.stop();
  await eventually(async () => (await unfinished(database)) === 0);
}

/** After a whole lease more, in which those who are in touch may take others for dead: nobody was restarted or fenced. */
async function assertNobodyFenced({ nodes, database }: Scene): Promise<void> {
  await pause(1.5 * LEASE_MS);
  for (const node of nodes) assert.equal(node.process.exitCode, null, node.output());
  const epochs = await database.query<{ epoch: string }>("SELECT epoch FROM node ORDER BY epoch");
  assert.deepEqual(
    epochs.map(({ epoch }) => Number(epoch)),
    nodes.map(({ epoch }) => epoch).sort((one, other) => one - other),
    "nobody was fenced",
  );
}

/** All comes to its end: every 200 is stored, charged once, delivered, reported once; few were sent again, and no node was fenced. */
export async function assertNothingLost(t: TestContext, scene: Scene, failovers = 1): Promise<void> {
  await settle(scene);
  await assertNobodyFenced(scene);
  const { database, load, parts, receiver } = scene;
  const stored = await assertAllThere(database, load);
  const undelivered = stored.filter(({ status }) => status !== DELIVERED);
  assert.deepEqual(undelivered, [], "every message has its end");
  assert.equal(new Set(parts.map(({ text }) => text)).size, stored.length, "the carrier saw every message");
  const again = sentAgain(parts);
  const times = [...again.values()].reduce((sum, count) => sum + count - 1, 0);
  assert.ok(times <= failovers * WINDOWS, `${times} were sent again`);
  assertReported(stored, receiver);
  t.diagnostic(
    `${stored.length} messages, ${times} sent again, ${receiver.items.length - stored.length} reports came again, ` +
      `${load.unavailable.length} answers of 503`,
  );
}

/** Each under one id, however often. */
function assertReported(stored: readonly StoredMessage[], receiver: ReportReceiver): void {
  const reported = new Map<string, Set<unknown>>();
  for (const { headers, items } of receiver.requests)
    for (const { messageId, status } of items) {
      assert.equal(status.id, DELIVERED);
      reported.set(messageId, (reported.get(messageId) ?? new Set()).add(headers["webhook-id"]));
    }
  const unreported = stored.filter(({ key }) => reported.get(key)?.size !== 1);
  assert.deepEqual(unreported, [], "each was reported, and under one id however often");
}
