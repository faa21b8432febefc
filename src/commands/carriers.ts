/** How the nodes stand with their carriers, for operators to read, and what operators ask of all nodes. */
import type { CommandParts } from "../store/command-parts.ts";
import type { CarrierNote } from "../store/port/carriers.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";

export function carrierCommands(parts: CommandParts) {
  const { sql, epoch } = parts;
  const { note, noteChange } = auditWriter(parts);
  // By the database's clock: a node whose own is fast would take the others for gone.
  const { nowMs } = sql.dialect;
  const put = sql.prepare<[number, string, string]>(
    `INSERT INTO carrier_state (epoch, node, body, seen_ms) VALUES (?, ?, ?, ${nowMs})
     ON CONFLICT (epoch) DO UPDATE SET body = excluded.body, seen_ms = excluded.seen_ms`,
  );
  const drop = sql.prepare<[number]>("DELETE FROM carrier_state WHERE epoch = ?");
  const dropGone = sql.prepare<[number]>(`DELETE FROM carrier_state WHERE seen_ms < ${nowMs} - ?`);
  const all = sql.prepare<[number], CarrierNote>(
    `SELECT node, body FROM carrier_state WHERE seen_ms >= ${nowMs} - ? ORDER BY epoch LIMIT 1000`,
  );
  // The lock keeps two operators from counting at the same time, and a carrier from going meanwhile.
  const known = sql.prepare<[string], { id: string }>(
    `SELECT id FROM catalogue_item WHERE kind = 'carrier' AND id = ? ${sql.dialect.lock()}`,
  );
  const ask = sql.prepare<[string]>(
    `INSERT INTO carrier_reconnect (carrier_id, times) VALUES (?, 1)
     ON CONFLICT (carrier_id) DO UPDATE SET times = carrier_reconnect.times + 1`,
  );
  const asked = sql.prepare<[], { carrierId: string; times: number }>(
    `SELECT carrier_id AS "carrierId", times FROM carrier_reconnect WHERE carrier_id IN
       (SELECT id FROM catalogue_item WHERE kind = 'carrier')`,
  );
  return commands({
    async noteCarriers({ note: own, goneMs }) {
      if (own === null) await drop.run(epoch);
      else await put.run(epoch, own.node, own.body);
      await dropGone.run(goneMs);
    },

    carrierNotes: ({ goneMs }) => all.all(goneMs),

    async reconnectCarrier({ id, by, atMs }) {
      if ((await known.get(id)) === undefined) return false;
      await ask.run(id);
      await noteChange({ by, atMs, action: "reconnect", kind: "carrier", subject: id, resellerId: null });
      return true;
    },

    noteCarrierTry: ({ id, by, atMs, ...after }) =>
      note({ by, atMs, action: "try", kind: "carrier", subject: id, resellerId: null, after }),

    reconnects: () => asked.all(),
  });
}
