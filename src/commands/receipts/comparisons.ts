/**
 * The parts that the receipts of one command are compared with. A carrier may give one id to many parts, and send as many receipts under it. So the
 * parts of such an id are read once a command, with their messages, and parked receipts are tried only while `areSpent` is false: what a
 * command costs is bounded, whatever is parked.
 */
import { nameKey } from "../../store/part-names.ts";
import type { PartName } from "../../store/port/receipts.ts";
import type { PartRow } from "../../store/schema/message.ts";
import type { Tables } from "../../store/tables.ts";
import { MAX_SAME_ID } from "../../store/tables.ts";
import type { Candidate } from "./candidates.ts";

/** So often one command compares a receipt with a part before it leaves what is parked to a later one. */
const MAX_COMPARISONS = 50_000;

export class Comparisons {
  readonly #tables: Tables;
  #named: Map<string, readonly Candidate[]> | null = null;
  #made = 0;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  get areSpent(): boolean {
    return this.#made >= MAX_COMPARISONS;
  }

  /**
   * The parts of that name, each with its message as it was when the command came to that name: of one that `isKept` only what never changes counts.
   * Of more than MAX_SAME_ID the messages are not read.
   */
  partsOf(name: PartName): readonly Candidate[] {
    const known = this.#named?.get(nameKey(name));
    if (known !== undefined) return this.#counted(known);
    const parts = this.#tables.parts.named(name);
    const areMany = parts.length > MAX_SAME_ID;
    const found = parts.map((part) => ({ part, row: areMany ? undefined : this.#tables.messages.get(part.key) }));
    // One alone is found as soon without.
    if (found.length > 1) {
      this.#named ??= new Map();
      this.#named.set(nameKey(name), found);
    }
    return this.#counted(found);
  }

  /** Whether its parts have been read before: of their messages there may be more to know by now. */
  isKept(name: PartName): boolean {
    return this.#named?.has(nameKey(name)) === true;
  }

  #counted(found: readonly Candidate[]): readonly Candidate[] {
    this.#made += found.length > MAX_SAME_ID ? 1 : found.length;
    return found;
  }

  /** A part of that name has gone. */
  gone(name: PartName, gone: PartRow): void {
    const known = this.#named?.get(nameKey(name));
    if (known === undefined) return;
    // With one less it may be one of few.
    if (known.length === MAX_SAME_ID + 1) this.#named!.delete(nameKey(name));
    else
      this.#named!.set(
        nameKey(name),
        known.filter(({ part }) => part !== gone && (part.id === null || part.id !== gone.id)),
      );
  }

  /** A part of that name has come. */
  come(name: PartName): void {
    this.#named?.delete(nameKey(name));
  }
}
