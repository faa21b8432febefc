/** The catalogue as this page has it: what the operator's API answers, how groups of carriers are written in a field, and what a search finds. Pure. */
import { countryOf } from "../../../../src/sms/countries.ts";

interface Versioned {
  readonly version: number;
}

export interface Share {
  readonly carrier: string;
  readonly weight?: number;
}

export interface Route extends Versioned {
  readonly prefix: string;
  readonly carrier?: string;
  readonly groups?: readonly (readonly Share[])[];
}

export interface Rate {
  readonly prefix: string;
  readonly price: string;
}

export interface RatePlan extends Versioned {
  readonly id: string;
  readonly currency: string;
  readonly rate: readonly Rate[];
}

export interface ExchangeRate extends Versioned {
  readonly from: string;
  readonly to: string;
  readonly rate: string;
}

export interface OwnNumber extends Versioned {
  readonly number: string;
  readonly account: string;
  readonly forwardUrl?: string;
  readonly contentType?: string;
  readonly keywords?: readonly string[];
  readonly stopKeywords?: readonly string[];
  readonly startKeywords?: readonly string[];
}

export function groupsOf({ carrier, groups }: Pick<Route, "carrier" | "groups">): readonly (readonly Share[])[] {
  return groups ?? (carrier === undefined ? [] : [[{ carrier }]]);
}

/** One group: "acme=3, other". */
export function groupText(group: readonly Share[]): string {
  return group.map(({ carrier, weight }) => (weight === undefined ? carrier : `${carrier}=${weight}`)).join(", ");
}

/** Groups as they are typed, a line each. A weight that is no number stays as it is, and the service says so. */
export function readGroups(typed: string): Share[][] {
  return typed
    .split("\n")
    .map((line) =>
      line
        .split(/[\s,]+/)
        .filter((word) => word !== "")
        .map((word) => {
          const [carrier = "", weight] = word.split("=");
          return weight === undefined ? { carrier } : { carrier, weight: Number(weight) };
        }),
    )
    .filter((group) => group.length > 0);
}

export const shownPrefix = (prefix: string): string => (prefix === "" ? "all numbers" : prefix);

const names = new Intl.DisplayNames(undefined, { type: "region" });

/** The country of a prefix, or nothing where it is of none, or of several. */
export function countryName(prefix: string): string {
  const code = countryOf(prefix);
  return code === null ? "" : (names.of(code) ?? code);
}

/** Whether a row that says these words is looked for: each word of the search begins or is in one of them. */
export function isFound(search: string, ...words: readonly string[]): boolean {
  const text = words.join(" ").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** In the path, the route of all numbers has a name. */
export const routePath = (prefix: string): string => `/operator/1/routes/${prefix === "" ? "default" : prefix}`;
