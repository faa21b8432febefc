/** The marks of ids (store/id-mark.ts) on PostgreSQL. */
import type { Session } from "./link.ts";

export async function idMarks(session: Session): Promise<Map<number, bigint>> {
  const { rows } = await session.query<{ node: number; highest: string }>(
    "SELECT node, CAST(highest AS text) AS highest FROM id_mark",
  );
  return new Map(rows.map(({ node, highest }) => [node, BigInt(highest)]));
}

export async function raiseIdMark(session: Session, node: number, mark: bigint): Promise<void> {
  await session.query(
    `INSERT INTO id_mark (node, highest) VALUES ($1, $2)
     ON CONFLICT (node) DO UPDATE SET highest = greatest(id_mark.highest, excluded.highest)`,
    [node, mark.toString()],
  );
}
