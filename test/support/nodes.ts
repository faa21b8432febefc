/** Lets the nodes of a test's database be taken for dead at once: tests do not wait for leases to run out. */
import { PostgresConnection } from "../../src/drivers/postgres/connection.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { Nodes } from "../../src/store/postgres/nodes.ts";
import { freePage, goneNodes } from "../../src/store/postgres/takeover.ts";
import { PATIENT_MS } from "./postgres.ts";

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
