/**
 * What the store refused and kept aside, when somebody has looked at it. A message whose outcome is among it is held: nobody knows whether its phone has
 * it. To retry is to hand it over again; to drop is to end it, with its charge.
 */
import type { Quarantined } from "../store/port/quarantine.ts";
import type { Store } from "../store/port/store.ts";
import type { SignedBy } from "./manager.ts";

export type QuarantineStore = Pick<Store, "quarantined" | "discard">;

export interface Decision extends SignedBy {
  readonly ids: readonly number[];
}

/** As many as there can be, and those that hold messages. */
const ALL = 100_000;

async function chosen(store: QuarantineStore, ids: readonly number[]): Promise<Quarantined[]> {
  const { items } = await store.quarantined({ limit: ALL });
  return items.filter(({ id }) => ids.includes(id));
}

/** Lets messages go again. Gives how many; what holds none stays. */
export async function retryHeld(store: QuarantineStore, { ids, by, atMs }: Decision): Promise<number> {
  const held = (await chosen(store, ids)).filter(({ heldKey }) => heldKey !== null);
  const named = held.map(({ id }) => String(id));
  if (named.length === 0) return 0;
  return (await store.discard({ kind: "quarantine", ids: named, held: "goes again", by, atMs })).discarded;
}

/** Deletes what was kept aside, and ends the messages that it held: what became of them is not known, and their charge stays. */
export async function dropQuarantined(store: QuarantineStore, { ids, by, atMs }: Decision): Promise<number> {
  return (await store.discard({ kind: "quarantine", ids: ids.map(String), held: "ends", by, atMs })).discarded;
}
