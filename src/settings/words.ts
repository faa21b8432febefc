/** Settings that are one of a few words, as the code has them. Without what reads settings, which only the first thread needs. */
import type { TraceLevel } from "../events/trace.ts";
import { parseRoles, type Role } from "../node/roles.ts";
import type { FactorPolicy, Settings } from "./schema.ts";

/** What this node does. */
export function rolesOf({ node }: Settings): readonly Role[] {
  return parseRoles(node.roles)!;
}

/** Which steps of messages are kept. */
export function traceLevelOf({ console }: Pick<Settings, "console">): TraceLevel {
  return console.timeline as TraceLevel;
}

/** Of whom a second factor is required. */
export function factorPolicyOf({ access }: Pick<Settings, "access">): FactorPolicy {
  return access.secondFactor as FactorPolicy;
}
