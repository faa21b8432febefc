/** What only SQLite does this way: there is one node, and old messages are deleted row by row. */
import { firstIdAt } from "../../runtime/ids.ts";
import type { OwnCommands } from "../commands/all.ts";
import { chargePieces, keepCharge } from "../commands/ledger.ts";
import type { Db } from "./database.ts";
import type { SqliteTables } from "./tables.ts";

export function ownCommands(db: Db, tables: SqliteTables): OwnCommands {
  const oldMessages = db.prepare<[bigint, number], { accountId: number; chargedMicros: bigint }>(
    `DELETE FROM message WHERE key IN (SELECT key FROM message WHERE key < ? AND state = 4 ORDER BY key LIMIT ?)
     RETURNING account_id AS accountId, charged_micros AS chargedMicros`,
  );
  // Those that somebody has yet to fetch wait.
  const oldIncoming = db.prepare<[bigint, number]>(
    `DELETE FROM incoming_message WHERE key IN
       (SELECT key FROM incoming_message WHERE key < ? AND to_fetch = 0 ORDER BY key LIMIT ?)`,
  );
  const keep = db.prepare<[number, bigint]>(keepCharge("?", "?"));

  return {
    cluster: () => ({ nodes: { api: 1, dispatch: 1, reports: 1 }, leads: true }),

    shareBinds: ({ claims }) =>
      claims.map(({ carrierId, binds }) => ({ carrierId, slots: [...Array(binds).keys()], excess: 0 })),

    retire({ beforeMs, limit }) {
      tables.flush();
      const rows = oldMessages.safeIntegers().all(firstIdAt(beforeMs), limit);
      const charges = new Map<number, bigint>();
      for (const { accountId, chargedMicros } of rows) {
        const id = Number(accountId);
        charges.set(id, (charges.get(id) ?? 0n) + chargedMicros);
      }
      for (const [accountId, chargedMicros] of charges)
        for (const piece of chargePieces(chargedMicros)) keep.run(accountId, piece);
      const { changes } = oldIncoming.run(firstIdAt(beforeMs), limit);
      return { more: rows.length === limit || changes === limit };
    },
  };
}
