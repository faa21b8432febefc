/** The doctor on the schema: whether the store's is the one that this version of the program knows. */
import { readdirSync } from "node:fs";
import type { Findings } from "./finding.ts";

export function stepsIn(folder: string): number {
  return readdirSync(folder).filter((name) => /^\d{3}-.*\.sql$/.test(name)).length;
}

export function toldSchema(version: number, steps: number, found: Findings): boolean {
  if (version > steps) {
    found.wrong("schema", `version ${version}, and this Heliograph knows up to ${steps}`, "use the newer Heliograph");
    return false;
  }
  if (version < steps) {
    found.warn(
      "schema",
      `version ${version} of ${steps}: what is in the store is looked at after that`,
      '"heliograph migrate", or a start of the service, brings it up to date',
    );
    return false;
  }
  found.ok("schema", `version ${version}, up to date`);
  return true;
}
