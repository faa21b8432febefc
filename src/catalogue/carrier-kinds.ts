/**
 * The kinds of carriers, each with the schema of its profile and what is to be known of such a carrier. The file, the operator's API and the command
 * line read profiles by this table, and nobody asks a profile for its kind but who makes a carrier of it or tries one.
 */
import { httpFaults } from "../carriers/http/faults.ts";
import { describe } from "../carriers/http/presets.ts";
import { HttpCarrierProfile, type HttpProfile } from "../carriers/http/profile.ts";
import { SmppCarrierProfile, type SmppProfile, tagOfTwo, type Writing } from "../carriers/smpp/profile.ts";
import type { TObject } from "../runtime/type.ts";
import { isErrorName } from "../simulator/handsets.ts";
import { SimulatorCarrierProfile, type SimulatorProfile } from "../simulator/profile.ts";
import type { ItemFault } from "./faults.ts";

export type CarrierProfile = SimulatorProfile | SmppProfile | HttpProfile;

/** What fields may not say together, or alone, though each has the right shape. It is looked at if those that it reads are right, whatever else is wrong. */
export interface Rule<Item> {
  readonly reads: readonly string[];
  faults(item: Item): readonly ItemFault[];
}

/** What a kind says of its profiles. */
interface CarrierKind<Profile = CarrierProfile> {
  readonly schema: TObject;
  /** Where a carrier is reached, for people: "host:port" each; none for one that is simulated. */
  hosts(profile: Profile): readonly string[];
  /** As whom we come. */
  login(profile: Profile): string | null;
  /** How many connections all nodes share; null where they are not counted. */
  binds(profile: Profile): number | null;
  /** How its receipts spell the ids of messages; null where they are spelled as they were given. */
  receiptIds(profile: Profile): NonNullable<SmppProfile["receiptIds"]> | null;
  /** What it can write; null for one that takes any text. */
  writing(profile: Profile): Writing | null;
  /** The file of the authority that it trusts. */
  authorityFile(profile: Profile): string | null;
  /** The profile by which calls of its provider are read; null where nobody calls. */
  called(profile: Profile): HttpProfile | null;
  readonly rules: readonly Rule<Profile>[];
}

const NOTHING = () => null;
const OF_ANY_KIND = {
  ...{ login: NOTHING, binds: NOTHING, receiptIds: NOTHING, writing: NOTHING, authorityFile: NOTHING, called: NOTHING },
  hosts: () => [],
  rules: [],
};

export function carrierKind<Profile>(schema: TObject, own: Partial<CarrierKind<Profile>> = {}): CarrierKind<Profile> {
  return { ...OF_ANY_KIND, ...own, schema };
}

/** A profile's secrets (CARRIER_SECRETS) are sealed in the store and never shown, and one that is left out of a change stays as it was. */
export const CARRIER_KINDS = {
  simulator: carrierKind<SimulatorProfile>(SimulatorCarrierProfile, {
    rules: [{ reads: ["handset"], faults: phoneFaults }],
  }),
  smpp: carrierKind<SmppProfile>(SmppCarrierProfile, {
    hosts: ({ hosts }) => hosts,
    login: ({ systemId }) => systemId,
    binds: ({ binds = 1 }) => binds,
    receiptIds: ({ receiptIds = "same" }) => receiptIds,
    writing: ({ alphabet = "gsm", missingLetters = "transliterate", nameAlphabet = "latin1" }) => {
      return { alphabet, missingLetters, nameAlphabet };
    },
    authorityFile: ({ tlsCa = null }) => tlsCa,
    rules: [
      { reads: ["tlsCa", "tlsCaPem"], faults: authorityFaults },
      { reads: ["tlvs"], faults: tagFaults },
    ],
  }),
  http: carrierKind<HttpProfile>(HttpCarrierProfile, {
    hosts: (profile) => [URL.parse(describe(profile).url)?.host ?? ""],
    login: ({ username = null }) => username,
    called: (profile) => profile,
    rules: [{ reads: ["preset", "url", "send", "receipts"], faults: httpFaults }],
  }),
} as const;

/** Null where there is no such kind. */
export function kindNamed(kind: unknown): CarrierKind | null {
  const kinds: Readonly<Record<string, CarrierKind>> = CARRIER_KINDS;
  return typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind]! : null;
}

/** One that a newer version has stored may have a kind that is not known here. */
export function kindOf({ kind }: CarrierProfile): Omit<CarrierKind, "schema"> {
  return kindNamed(kind) ?? OF_ANY_KIND;
}

function authorityFaults({ tlsCa, tlsCaPem }: SmppProfile): ItemFault[] {
  const isTwice = tlsCa !== undefined && tlsCaPem !== undefined;
  return isTwice ? [{ field: "tlsCa", says: "or tlsCaPem may be given, not both" }] : [];
}

function tagFaults(profile: SmppProfile): ItemFault[] {
  const tag = tagOfTwo(profile);
  return tag === null ? [] : [{ field: "tlvs", says: `has two fields with the tag 0x${tag.toString(16)}` }];
}

/** A phone of a simulator may answer with errors that there are. */
function phoneFaults({ handset = [] }: SimulatorProfile): ItemFault[] {
  return handset.flatMap(({ error }, index) => {
    if (error === undefined || isErrorName(error)) return [];
    const at = ["handset", index, "error"];
    return [{ field: at.join("."), says: "is not the name of an error that a report can have", at }];
  });
}
