/** Receipts that match no message are deleted when somebody has looked at them, or does not want to: by their ids, their carrier or their age. */
import type { CommandInput, Store } from "../store/port/store.ts";
import type { SignedBy } from "./manager.ts";

type ReceiptStore = Pick<Store, "parkedReceipts" | "discard">;

/** Deleted in one transaction, and one entry of the audit. */
const PAGE = 1_000;
/** Of these so many in one call: whoever has more calls again. */
const MAX_PAGES = 10;

export interface Clearing extends SignedBy {
  /** Which ones; null for all that the filter means. */
  readonly ids: readonly string[] | null;
  readonly filter: Omit<CommandInput<"parkedReceipts">, "limit">;
}

/** `more` says that there are more of them. */
export async function clearReceipts(
  store: ReceiptStore,
  { ids, filter, by, atMs }: Clearing,
): Promise<{ readonly cleared: number; readonly more: boolean }> {
  if (ids !== null) {
    const { discarded } = await store.discard({ kind: "receipt", ids, by, atMs });
    return { cleared: discarded, more: false };
  }
  let cleared = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { receipts } = await store.parkedReceipts({ ...filter, limit: PAGE });
    if (receipts.length === 0) return { cleared, more: false };
    const found = receipts.map(({ id }) => String(id));
    cleared += (await store.discard({ kind: "receipt", ids: found, by, atMs })).discarded;
    if (receipts.length < PAGE) return { cleared, more: false };
  }
  return { cleared, more: true };
}
