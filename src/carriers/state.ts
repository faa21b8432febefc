/** How it stands with a carrier on one node, in a word and a sentence, for operators. Pure. */
import type { CarrierFacts, LinkFacts } from "./facts.ts";

/**
 * bound: at least one connection is. ready: the same of a carrier over HTTP, which nobody binds to. throttled: it is, and the carrier says that it is
 * sent too much. slow, sick: it is, and hardly takes any messages (facts.ts). connecting: a connection is being tried.
 * waiting: none is there, and none is tried before `nextTryMs`. refused: the same, because the carrier refused the bind or the login.
 */
export const CARRIER_STATES = [
  "bound",
  "ready",
  "throttled",
  "slow",
  "sick",
  "connecting",
  "waiting",
  "refused",
] as const;

export interface CarrierState {
  readonly carrierId: string;
  readonly state: (typeof CARRIER_STATES)[number];
  /** Since when it is bound, or is not; of one that is slow or sick, since when it is that. */
  readonly sinceMs: number;
  /** Null where there is nothing to tell. */
  readonly reason: string | null;
  /** When it is tried again; null while it is bound or being tried. */
  readonly nextTryMs: number | null;
  /** Connections that are bound, of those that the node may have. */
  readonly bound: number;
  readonly connections: number;
}

/** The kind of the one link of a carrier over HTTP. */
const HTTP = "http";
/** After an answer that it is sent too much a carrier counts as throttled for so long. */
const THROTTLED_MS = 10_000;

/** A node says how it stands at least so often, and counts as gone after such a silence. */
export const STATE_NOTE_MS = { again: 30_000, gone: 90_000 } as const;

export type StateFacts = Pick<CarrierFacts, "id" | "isUp" | "sinceMs" | "connections"> &
  // A carrier by itself has none.
  Partial<Pick<CarrierFacts, "health">>;

export function carrierState({ id, isUp, sinceMs, connections, health }: StateFacts): CarrierState {
  const links = connections?.links ?? [];
  const missing = links.filter(({ isBound }) => !isBound);
  const bound = links.length - missing.length;
  const common = { carrierId: id, sinceMs, nextTryMs: null, bound, connections: links.length };
  if (!isUp || isLoginRefused(links)) return { ...common, ...downState(missing) };
  if (health !== undefined && health.state !== "well") {
    const { state, why: reason } = health;
    return { ...common, sinceMs: health.sinceMs, state, reason };
  }
  if ((connections?.throttledAgoMs ?? THROTTLED_MS) < THROTTLED_MS) {
    const paceFound = connections?.paceFound ?? null;
    const found = paceFound === null ? "" : `; it takes ${Math.round(paceFound)} parts a second`;
    return { ...common, state: "throttled", reason: `the carrier says that it is sent too much${found}` };
  }
  const state = links[0]?.kind === HTTP ? "ready" : "bound";
  return { ...common, state, reason: newestProblem(missing) ?? connections?.warning ?? null };
}

/** A carrier over HTTP does not take who we are: it is up only to be tried with one message. */
export function isLoginRefused(links: readonly LinkFacts[]): boolean {
  return links.some(({ kind, isRefused }) => kind === HTTP && isRefused);
}

function downState(missing: readonly LinkFacts[]): Pick<CarrierState, "state" | "reason" | "nextTryMs"> {
  const reason = newestProblem(missing);
  const waits = missing.flatMap(({ nextTryMs }) => nextTryMs ?? []);
  const nextTryMs = waits.length < missing.length ? null : Math.min(...waits);
  if (isLoginRefused(missing)) return { state: "refused", reason, nextTryMs };
  if (missing.length === 0 || nextTryMs === null) return { state: "connecting", reason, nextTryMs: null };
  const isRefused = missing.some(({ isRefused }) => isRefused);
  return { state: isRefused ? "refused" : "waiting", reason, nextTryMs };
}

/** The last thing that went wrong with a connection that is not there. */
export function newestProblem(links: readonly LinkFacts[]): string | null {
  let newest: LinkFacts | null = null;
  for (const link of links)
    if (!link.isBound && link.problem !== null && (link.problemMs ?? 0) >= (newest?.problemMs ?? 0)) newest = link;
  return newest?.problem ?? null;
}
