/** Looks at what a power cut has left, with the product's own code: does it open, is everything there that somebody was told of? */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { RULES } from "../../src/commands/table.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";

export const FAULTS = ["lost", "unreported", "twice", "ledger", "damaged"] as const;
/** What is wrong, in words; empty if nothing is. */
export type Findings = Readonly<Record<(typeof FAULTS)[number], readonly string[]>>;

const NOTHING: Findings = { lost: [], unreported: [], twice: [], ledger: [], damaged: [] };
const DONE = 4;

/** Opens the files as a service that starts after the cut does. */
export async function check(
  files: ReadonlyMap<string, Buffer>,
  accepted: readonly string[],
  reported: ReadonlySet<string>,
): Promise<Findings> {
  const directory = mkdtempSync(join(tmpdir(), "heliograph-powercut-"));
  try {
    for (const [name, octets] of files) writeFileSync(join(directory, name), octets, { mode: 0o600 });
    return await look(directory, accepted, reported);
  } catch (error) {
    return { ...NOTHING, damaged: [(error as Error).message] };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function look(directory: string, accepted: readonly string[], reported: ReadonlySet<string>): Promise<Findings> {
  const faults: unknown[] = [];
  const engine = new SqliteEngine({
    rules: RULES,
    directory,
    clock: systemClock,
    lanes: { lane: 0, total: 0 },
    mode: "deliver",
    onFault: (error) => faults.push(error),
  });
  try {
    const ledger = await localStore(engine, () => undefined).verifyLedger();
    return { ...readStored(directory, accepted, reported), ledger: [...ledger, ...faults.map(String)] };
  } finally {
    engine.close();
  }
}

function readStored(
  directory: string,
  accepted: readonly string[],
  reported: ReadonlySet<string>,
): Omit<Findings, "ledger"> {
  const db = new Database(join(directory, "heliograph.sqlite"), { readonly: true });
  try {
    const check = db.pragma("integrity_check") as { integrity_check: string }[];
    const damaged = check.map((row) => row.integrity_check).filter((says) => says !== "ok");
    const messages = db
      .prepare<[], { id: string; state: number }>(
        "SELECT coalesce(client_message_id, CAST(key AS TEXT)) AS id, state FROM message",
      )
      .all();
    const reports = db.prepare<[], { items: string }>("SELECT items FROM report").all();
    const waiting = reports.flatMap(({ items }) => JSON.parse(items) as { messageId: string }[]);
    const told = new Set([...reported, ...waiting.map(({ messageId }) => messageId)]);
    const stored = new Set<string>();
    const twice: string[] = [];
    for (const { id } of messages) {
      if (stored.has(id)) twice.push(id);
      stored.add(id);
    }
    return {
      damaged,
      twice,
      lost: accepted.filter((id) => !stored.has(id)),
      // Every message here has a URL for its report, which was taken there before the batch was deleted.
      unreported: messages.filter(({ id, state }) => state === DONE && !told.has(id)).map(({ id }) => id),
    };
  } finally {
    db.close();
  }
}
