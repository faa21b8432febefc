/** What the server tells of its standbys. Whoever lacks pg_monitor sees that they are connected, and nothing else of them. */
import type { Session } from "../../drivers/postgres/link.ts";
import { type ReplicationFacts, replicationFacts, type ServerFacts, type StandbyFacts } from "../port/replication.ts";

const SERVER = `SELECT pg_is_in_recovery() AS "isStandby", current_setting('default_transaction_read_only') = 'on' AS "isReadOnly",
  trim(current_setting('synchronous_standby_names')) AS names, current_setting('synchronous_commit') AS commit, CAST(current_user AS text) AS "user"`;

/** Of the log up to where the server has flushed it. Where the standby has all, the time is that of something long past, or forgotten. */
const lagOf = (step: "write" | "flush" | "replay"): string => {
  const octets = `greatest(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), ${step}_lsn), 0)`;
  return `CASE WHEN ${step}_lsn IS NULL THEN json_build_object('octets', NULL, 'ms', NULL) ELSE
    json_build_object('octets', ${octets}, 'ms', CASE WHEN ${octets} = 0 THEN 0 ELSE extract(epoch FROM ${step}_lag) * 1000 END) END`;
};
// A backup that is being made and whoever reads changes one by one (a logical slot) are sent the log as well, and are no copy of the database. The
// server's own place in the log is asked for with a row only: a standby has none, and some providers' databases refuse to say.
const STANDBYS = `SELECT coalesce(application_name, '') AS name, state, state = 'streaming' AND sync_state IN ('sync', 'quorum') AS confirms,
    json_build_object('written', ${lagOf("write")}, 'flushed', ${lagOf("flush")}, 'replayed', ${lagOf("replay")}) AS lag
  FROM pg_stat_replication AS standby WHERE NOT pg_is_in_recovery() AND state IS DISTINCT FROM 'backup' AND NOT EXISTS
    (SELECT 1 FROM pg_replication_slots AS slot WHERE slot.active_pid = standby.pid AND slot.slot_type = 'logical')
  ORDER BY application_name LIMIT 20`;

export async function replicationOf(session: Session): Promise<ReplicationFacts> {
  const { rows } = await session.query<Omit<ServerFacts, "standbys" | "hidden">>(SERVER);
  const { rows: all } = await session.query<Omit<StandbyFacts, "state"> & { readonly state: string | null }>(STANDBYS);
  const standbys = all.filter((row): row is StandbyFacts => row.state !== null);
  return replicationFacts({ ...rows[0]!, standbys, hidden: all.length - standbys.length });
}
