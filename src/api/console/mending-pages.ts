/** The page of the console on which what was found can be mended. */
import type { Finding } from "../../doctor/finding.ts";

/** By the area and what was looked at; then by the area alone. What is mended outside (settings, disks) has no page. */
const PAGES: Readonly<Record<string, string>> = {
  "store quarantine": "/unmatched?of=quarantine",
  "store nodes": "/nodes",
  "store roles": "/nodes",
  "store disk": "/nodes",
  "store clock": "/nodes",
  "catalogue routes": "/routes",
  "catalogue carriers": "/routes",
  "catalogue accounts": "/accounts",
  "catalogue numbers": "/routes",
  "callbacks receipts": "/unmatched?of=receipts",
  "callbacks incoming": "/unmatched?of=incoming",
  catalogue: "/routes",
  callbacks: "/reports",
};

export function pageOfFinding({ area, about }: Finding): string | null {
  if (area === "carriers") return `/carriers/${encodeURIComponent(about)}`;
  return PAGES[`${area} ${about}`] ?? PAGES[area] ?? null;
}
