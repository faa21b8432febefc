/** What the operator sets. */

export type Purpose = "sandbox" | "production";

export interface CatalogueItem {
  readonly kind: "carrier" | "route" | "ratePlan" | "exchangeRate" | "number";
  readonly id: string;
  /** Grows with every change; 1 for one that is new. */
  readonly version?: number;
  /** JSON, understood by catalogue/. Only that of a number (its id) is read here too: whose it is is decided where its messages are kept. */
  readonly body: string;
}
