/** A request as the service keeps it, and the words for it. */
import type { StateColour } from "../../parts/Status.tsx";

export interface RequestItem {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly door: string;
  readonly by: string | null;
  readonly from: string;
  /** Messages that were rejected though the request was not. */
  readonly rejected: number;
  readonly reason: string | null;
  readonly fields: readonly string[];
}

export interface RequestList {
  readonly items: readonly RequestItem[];
  readonly kept: { readonly requests: number; readonly texts: boolean };
}

export interface RequestDetail extends RequestItem {
  readonly error: string | null;
  readonly advice: string | null;
  readonly body: {
    readonly text: string;
    readonly octets: number;
    readonly isWhole: boolean;
    readonly hasTexts: boolean;
  } | null;
}

/** Answers that say to come again later. */
const LATER = [429, 503];

export function stateOf({ status, rejected }: RequestItem): { readonly is: StateColour; readonly word: string } {
  if (rejected > 0) return { is: "retrying", word: "rejected" };
  if (status < 400) return { is: "done", word: "answered" };
  return LATER.includes(status) ? { is: "retrying", word: "later" } : { is: "failed", word: "refused" };
}

const DOORS: Readonly<Record<string, string>> = {
  basic: "password",
  key: "API key",
  session: "session",
  console: "this console",
  query: "password in the address",
};

/** How the caller showed who it is. */
export function doorOf({ door, by }: RequestItem): string {
  const words = DOORS[door] ?? "no credentials";
  if (door === "console" || by === null) return words;
  return door === "key" ? `${words} “${by}”` : `${words} of ${by}`;
}

/** The same, short: who it is. */
export function callerOf({ door, by }: RequestItem): string {
  if (door === "console") return "this console";
  return by === null ? "nobody" : door === "key" ? `key “${by}”` : by;
}

/** The beginning of a path without its query, for a title. */
export function shortPath(path: string): string {
  return path.split("?", 1)[0] ?? path;
}
