/** How the nodes stand with the carriers, and the order to try a carrier's connections at once. */
import { type CarrierState, STATE_NOTE_MS } from "../carriers/state.ts";
import type { Store } from "../store/port/store.ts";
import { refuseUnknown } from "./catalogue.ts";
import type { SignedBy } from "./manager.ts";

/** A carrier as a node sees it. */
export interface NodeCarrierState extends CarrierState {
  readonly node: string;
}

/** Of all nodes that run: one for each carrier that a node serves, in the order of the carriers' ids. */
export async function carrierStates(store: Pick<Store, "carrierNotes">): Promise<NodeCarrierState[]> {
  const notes = await store.carrierNotes({ goneMs: STATE_NOTE_MS.gone });
  return notes
    .flatMap(({ node, body }) => (JSON.parse(body) as CarrierState[]).map((state) => ({ node, ...state })))
    .sort((one, other) => (one.carrierId < other.carrierId ? -1 : one.carrierId > other.carrierId ? 1 : 0));
}

/** Every node that serves the carrier tries those of its connections that are not bound, within a second. */
export async function reconnectCarrier(
  store: Pick<Store, "reconnectCarrier">,
  { id, by, atMs }: { readonly id: string } & SignedBy,
): Promise<void> {
  if (!(await store.reconnectCarrier({ id, by, atMs }))) refuseUnknown({ kind: "carrier", id });
}
