/** Answers kept so that a request that comes again is answered as the first time. */
import type { ReplayGuard } from "../store/port/messages.ts";
import type { ReplayName } from "../store/schema/bulk.ts";
import type { Tables } from "../store/tables.ts";

/** Under which names a request may have been answered before: its own key first, then the client's bulkId. */
export function replayNames(accountId: number, guard: ReplayGuard | null, bulkId: string | null): ReplayName[] {
  if (guard === null) return [];
  const { key, bulk, bodyHash } = guard;
  return [
    ...(key === null ? [] : [{ accountId, kind: "key", token: key, bodyHash } as const]),
    ...(bulk && bulkId !== null ? [{ accountId, kind: "bulk", token: bulkId, bodyHash } as const] : []),
  ];
}

/** What was answered before, null if nothing was, "conflict" if the key belongs to another request. */
export function findReplay<Answer>(
  tables: Tables,
  names: readonly ReplayName[],
  atMs: number,
): Answer | "conflict" | null {
  for (const name of names) {
    const kept = tables.replays.answer(name);
    if (kept === undefined) {
      if (name.kind === "key" && tables.replays.hasOther(name)) return "conflict";
      continue;
    }
    // A key belongs to this request from now on, even though the bulkId answered it.
    const key = names.find((other) => other.kind === "key");
    if (name.kind === "bulk" && key !== undefined) tables.replays.insert({ ...key, answer: kept, atMs });
    return JSON.parse(kept) as Answer;
  }
  return null;
}

export function keepReplay(tables: Tables, names: readonly ReplayName[], answer: unknown, atMs: number): void {
  for (const name of names) tables.replays.insert({ ...name, answer: JSON.stringify(answer), atMs });
}
