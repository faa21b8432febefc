/** What the doctor looks at, and what it finds: one thing that was looked at, how it is, and how to mend it. */
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/port/store.ts";

/** What the checks read of the store. */
export type CheckedStore = Pick<
  Store,
  | "purpose"
  | "countAccounts"
  | "verifyLedger"
  | "checkWallets"
  | "quarantined"
  | "secretKeys"
  | "catalogue"
  | "accounts"
  | "deadLetters"
  | "reportHosts"
  | "parkedReceipts"
  | "unmatchedIncoming"
  | "nodes"
  | "backlog"
>;

export interface Examined {
  readonly store: CheckedStore;
  readonly settings: Settings;
  /** Whether others may be connected to. */
  readonly connect: boolean;
  /** How many changes are only in the journal, where the store is looked at and not written to: then its books are not whole. */
  readonly unwritten?: number;
  /** Whether a service answers where the settings say that it listens. */
  readonly answers?: boolean;
}

/** In the order in which they are told. */
export const AREAS = ["settings", "store", "catalogue", "carriers", "callbacks"] as const;
export type Area = (typeof AREAS)[number];

export interface Finding {
  readonly area: Area;
  /** What was looked at. */
  readonly about: string;
  /** A warning works today, and may not tomorrow. */
  readonly state: "ok" | "warning" | "wrong";
  readonly says: string;
  readonly mend: string | null;
}

/** Findings of one area, in the order in which they were made. */
export class Findings {
  readonly #area: Area;
  readonly all: Finding[] = [];

  constructor(area: Area) {
    this.#area = area;
  }

  ok(about: string, says: string): void {
    this.all.push({ area: this.#area, about, state: "ok", says, mend: null });
  }

  warn(about: string, says: string, mend: string): void {
    this.all.push({ area: this.#area, about, state: "warning", says, mend });
  }

  wrong(about: string, says: string, mend: string): void {
    this.all.push({ area: this.#area, about, state: "wrong", says, mend });
  }
}
