/** What the nodes say of their carriers, and what operators ask of all nodes. */
import type { Actor } from "./accounts.ts";

export interface CarrierNote {
  /** For people: machine and process. */
  readonly node: string;
  /** JSON, understood by admin/carriers.ts. */
  readonly body: string;
}

export interface CarrierStore {
  /**
   * How this node stands with its carriers, in place of what it said before; null takes that away. What others said longer ago than `goneMs` goes too,
   * by the store's own clock, which is one for all nodes.
   */
  noteCarriers(input: { note: CarrierNote | null; goneMs: number }): Promise<void>;
  /** What each node said last, but for those that have said nothing for `goneMs`. */
  carrierNotes(input: { goneMs: number }): Promise<CarrierNote[]>;
  /** Asks every node to try the carrier's connections at once. False where there is no such carrier. */
  reconnectCarrier(input: { id: string; by: Actor; atMs: number }): Promise<boolean>;
  /** How often that was asked for so far. */
  reconnects(): Promise<{ carrierId: string; times: number }[]>;
  /** Writes into the audit that somebody sends a message through a carrier to try it. */
  noteCarrierTry(input: { id: string; to: string; from: string; by: Actor; atMs: number }): Promise<void>;
}
