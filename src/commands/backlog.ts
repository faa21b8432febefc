/** How much waits, for whoever watches: each is counted along an index of just these rows, and only up to a bound. */
import type { CommandParts } from "../store/command-parts.ts";
import { commands } from "./entry.ts";

/** Rows of which more is read than an index has. */
const MAX_LOOKED_AT = 500;

export function backlogCommands({ sql }: CommandParts) {
  const { waits } = sql.dialect;
  const counting = <Values extends number[]>(rows: string) =>
    sql.prepareStaleRead<[...Values, number], { count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 AS one FROM ${rows} LIMIT ?) AS counted`,
    );
  const queued = counting<[]>(`message WHERE ${waits} = 1 AND owner IS NULL`);
  const queuedOrHeld = counting<[]>(`message WHERE ${waits} = 1`);
  const scheduled = counting<[]>(`message WHERE ${waits} = 0`);
  const due = counting<[number]>(`message WHERE ${waits} = 0 AND due_at_ms <= ?`);
  const reports = counting<[]>("report WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL");
  const heldReports = counting<[]>("report WHERE held_by IS NOT NULL");
  const dead = counting<[]>("report WHERE dead_at_ms IS NOT NULL");
  /** Of each, by when it was due. Among those of lanes it is that of the first lanes: lanes are in the memory of nodes from their start on. */
  const oldest = <Values extends number[]>(rows: string) =>
    sql.prepareStaleRead<Values, { at: number | null }>(
      `SELECT min(due_at_ms) AS at FROM (SELECT due_at_ms FROM ${rows}) AS looked`,
    );
  const oldestQueued = oldest<[number]>(
    `message WHERE ${waits} = 1 AND owner IS NULL ORDER BY carrier_id, account_id, message.key NULLS FIRST LIMIT ?`,
  );
  const oldestHeld = oldest<[number]>(
    `message WHERE ${waits} = 1 ORDER BY owner, carrier_id, account_id, message.key LIMIT ?`,
  );
  const oldestDue = oldest<[number]>(`message WHERE ${waits} = 0 AND due_at_ms <= ? ORDER BY due_at_ms LIMIT 1`);
  const oldestReport = oldest<[number]>(
    `report WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL AND due_at_ms <= ?
     ORDER BY due_at_ms LIMIT 1`,
  );
  const earlier = (one: number | null, other: number | null): number | null =>
    one === null || other === null ? (one ?? other) : Math.min(one, other);
  return commands({
    backlog: async ({ nowMs, limit, held = false }) => ({
      queued: (await (held ? queuedOrHeld : queued).get(limit))!.count,
      scheduled: (await scheduled.get(limit))!.count,
      due: (await due.get(nowMs, limit))!.count,
      reports: (await reports.get(limit))!.count + (held ? (await heldReports.get(limit))!.count : 0),
      deadReports: (await dead.get(limit))!.count,
      oldestDueAtMs: earlier(
        (await (held ? oldestHeld : oldestQueued).get(Math.min(limit, MAX_LOOKED_AT)))!.at,
        (await oldestDue.get(nowMs))!.at,
      ),
      oldestReportDueAtMs: (await oldestReport.get(nowMs))!.at,
    }),
  });
}
