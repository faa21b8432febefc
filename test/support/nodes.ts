/** Nodes of a test's database: they are opened, and taken for dead at once, for tests do not wait for leases to run out. */
import { RULES } from "../../src/commands/table.ts";
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { PostgresEngine, type PostgresOptions } from "../../src/store/postgres/engine.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { freePage, goneNodes } from "../../src/store/postgres/takeover.ts";
import { PATIENT_MS } from "./postgres.ts";

/** A node's engine, which does nothing by itself before it is started. */
export function openEngine(
  url: string,
  changes: Pick<PostgresOptions, "clock"> & Partial<PostgresOptions>,
): Promise<PostgresEngine> {
  return PostgresEngine.open({
    rules: RULES,
    url,
    connections: 3,
    statementTimeoutMs: PATIENT_MS,
    leaseMs: 60_000,
    log: silentLog,
    lanes: { lane: 100, total: 1_000 },
    mode: "deliver",
    ...changes,
  });
}

/** Every node is fenced, as if its lease had run out and another had taken over. */
export async function takeOverFromAll(url: string): Promise<void> {
  const options = { url, connections: 1, statementTimeoutMs: PATIENT_MS, leaseMs: 10_000, log: silentLog };
  const connection = new PostgresConnection(options, "heliograph test");
  const session = await connection.session();
  await session.query("UPDATE node SET alive_until = '-infinity'");
  const reaper = new Nodes({ name: "test", roles: [], leaseMs: 0, lease: new Lease() });
  reaper.touched(Lease.moment());
  await reaper.fenceDead(session);
  for (const { epoch } of await goneNodes(session)) while ((await freePage(session, epoch)).more);
  await connection.close();
}
