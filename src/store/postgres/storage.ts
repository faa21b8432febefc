/** What the data takes in the database, and the partitions that messages lie in. */
import type { Session } from "../../drivers/postgres/link.ts";
import { timeOfId } from "../../runtime/ids.ts";
import type { StorageFacts } from "../port/nodes.ts";
import { partitionsOf } from "./partitions.ts";

/** The newest; where messages are kept for ever there are more. */
const MAX_PARTITIONS = 100;

export async function storageOf(session: Session): Promise<StorageFacts> {
  const { rows } = await session.query<{ octets: number }>(
    "SELECT CAST(pg_database_size(current_database()) AS bigint) AS octets",
  );
  const ranges = await partitionsOf(session, "message");
  return {
    octets: Number(rows[0]!.octets),
    files: [],
    journalEntries: null,
    partitions: [...ranges]
      .sort((one, other) => (one.from < other.from ? -1 : 1))
      .slice(-MAX_PARTITIONS)
      .map(({ name, from, to }) => ({ name, fromMs: timeOfId(from), toMs: timeOfId(to) })),
  };
}
