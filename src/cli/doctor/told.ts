/** What the process that looks tells the one that waits for it. */
import type { Finding } from "../../doctor/finding.ts";

export type Progress =
  | { readonly kind: "step"; readonly step: string }
  | { readonly kind: "found"; readonly findings: readonly Finding[] }
  | { readonly kind: "done" };
