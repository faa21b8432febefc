/** The kinds of carriers, each with the schema of its profile. The file, the operator's API and the command line read profiles by this table. */

import { describe } from "../carriers/http/presets.ts";
import { HttpCarrierProfile } from "../carriers/http/profile.ts";
import { SmppCarrier } from "../carriers/smpp/profile.ts";
import { type Static, type TObject, Type } from "../runtime/type.ts";
import { HANDSET_OUTCOMES } from "../simulator/handsets.ts";

const strict = { additionalProperties: false };

const OwnHandset = Type.Object(
  {
    suffix: Type.String({ pattern: "^[0-9]{3,15}$" }),
    outcome: Type.Union(HANDSET_OUTCOMES.map((outcome) => Type.Literal(outcome))),
    error: Type.Optional(Type.String({ maxLength: 64 })),
    laterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400_000 })),
  },
  strict,
);
const SimulatorCarrier = Type.Object(
  {
    id: Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
    kind: Type.Literal("simulator"),
    /** The rate plan that has what it would ask for a part, as other carriers have one. */
    ratePlan: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" })),
    /** How long a handset takes to answer. */
    answerAfterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400_000 })),
    /** Parts in its hands at once. */
    capacity: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** Phones that behave as the operator says. */
    handset: Type.Optional(Type.Array(OwnHandset, { maxItems: 1_000 })),
  },
  strict,
);

/** A profile's secrets (CARRIER_SECRETS) are sealed in the store and never shown, and one that is left out of a change stays as it was. */
export const CARRIER_KINDS = { simulator: SimulatorCarrier, smpp: SmppCarrier, http: HttpCarrierProfile } as const;

export type CarrierProfile = Static<(typeof CARRIER_KINDS)[keyof typeof CARRIER_KINDS]>;

/** The profiles of one kind, or null where there is no such kind. */
export function carrierSchema(kind: unknown): TObject | null {
  const kinds: Readonly<Record<string, TObject>> = CARRIER_KINDS;
  return typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind]! : null;
}

/** Where a carrier is reached, for people: "host:port" each; none for one that is simulated. */
export function hostsOf(profile: CarrierProfile): readonly string[] {
  if (profile.kind === "smpp") return profile.hosts;
  return profile.kind === "http" ? [URL.parse(describe(profile).url)?.host ?? ""] : [];
}
