/** Nodes that share a test's database, each an engine with its store, and a session beside them that keeps them waiting. */
import type { TestContext } from "node:test";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import type { Session } from "../../src/drivers/postgres/link.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { callsOf, GroupCommit, storeOver } from "../../src/store/group.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import type { Store } from "../../src/store/port/store.ts";
import type { PostgresEngine, PostgresOptions } from "../../src/store/postgres/engine.ts";
import { lineOfCall } from "../../src/store/told-lines.ts";
import { openEngine } from "../support/nodes.ts";
import { PATIENT_MS } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { Bench, NOW } from "./harness.ts";

export interface Node {
  readonly engine: PostgresEngine;
  /** What clients ask for. */
  readonly store: Store;
  /** What delivery tells, in the other line. */
  readonly delivery: Store;
  readonly feeds: Feed[];
  readonly fenced: string[];
  /** It renews, looks around and answers from what it saw; what it saw first is there. */
  start(): Promise<void>;
}

export async function openNode(
  t: Pick<TestContext, "after">,
  url: string,
  changes: Partial<PostgresOptions> = {},
): Promise<Node> {
  const engine = await openEngine(url, { clock: new VirtualClock(NOW), ...changes });
  t.after(() => engine.abandon());
  const feeds: Feed[] = [];
  const fenced: string[] = [];
  const onFeed = (feed: Feed): void => void feeds.push(feed);
  const send = callsOf(new GroupCommit(engine, onFeed));
  const told = engine.beside.map((one) => callsOf(new GroupCommit(one, onFeed)));
  const delivery = storeOver((call) => told[lineOfCall(call, told.length)]!(call));
  const start = async (): Promise<void> => {
    engine.start({ onFeed, onFenced: (reason) => fenced.push(reason), send });
    await eventually(async () => feeds.length > 0);
  };
  return { engine, store: storeOver(send), delivery, feeds, fenced, start };
}

/** Accounts and messages for this node's store. */
export function benchOn(
  t: TestContext,
  { store, engine }: Node,
  options?: Parameters<typeof Bench.start>[2],
): Promise<Bench> {
  const opened = { store, ids: engine.ids, overflowed: [], close: async () => undefined };
  return Bench.start(t, async () => ({ open: async () => opened }), options);
}

/** What this node was given to send since the last time. */
export function taken({ feeds }: Node): QueuedMessage[] {
  return feeds.splice(0).flatMap(({ messages }) => messages);
}

export async function sessionOf(t: TestContext, url: string): Promise<Session> {
  const options = { url, connections: 1, statementTimeoutMs: PATIENT_MS, leaseMs: 60_000, log: silentLog };
  const connection = new PostgresConnection(options, "test");
  t.after(() => connection.close());
  return connection.session();
}

/** Resolves when so many others wait for a lock. */
export function waiting(session: Session, count: number): Promise<void> {
  return seen(session, count, "pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted");
}

/** Resolves when so many groups have read what they need, and wait for those that end before them. */
export function prepared(session: Session, count: number): Promise<void> {
  return seen(
    session,
    count,
    "pg_stat_activity WHERE state = 'idle in transaction' AND application_name = 'heliograph deliver'",
  );
}

async function seen(session: Session, count: number, where: string): Promise<void> {
  await eventually(async () => {
    // In a transaction these views stay as they were first seen.
    await session.script("SELECT pg_stat_clear_snapshot()");
    const { rows } = await session.query<{ count: number }>(
      `SELECT count(DISTINCT pid) AS count FROM ${where} AND datname = current_database()`,
    );
    return rows[0]!.count >= count;
  });
}
