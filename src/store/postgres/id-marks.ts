/** The marks of ids (store/id-mark.ts) on PostgreSQL. */
import type { Session } from "../../drivers/postgres/link.ts";
import { HIGHEST_STORED, marksWith } from "../id-mark.ts";

export async function idMarks(session: Session): Promise<ReadonlyMap<number, bigint>> {
  const { rows } = await session.query<{ node: number; highest: string }>(
    "SELECT node, CAST(highest AS text) AS highest FROM id_mark",
  );
  const { rows: stored } = await session.query<{ id: string | null }>(HIGHEST_STORED);
  return marksWith(new Map(rows.map(({ node, highest }) => [node, BigInt(highest)])), stored[0]!.id);
}

export async function raiseIdMark(session: Session, node: number, mark: bigint): Promise<void> {
  await session.query(
    `INSERT INTO id_mark (node, highest) VALUES ($1, $2)
     ON CONFLICT (node) DO UPDATE SET highest = greatest(id_mark.highest, excluded.highest)`,
    [node, mark.toString()],
  );
}
