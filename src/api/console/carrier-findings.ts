/** What is wrong with the carriers of this node, by what delivery knows of them. Pure. */
import type { CarrierFacts } from "../../carriers/facts.ts";
import { isLoginRefused, newestProblem } from "../../carriers/state.ts";
import { loginRemedy } from "../../doctor/connections.ts";
import { type Finding, Findings } from "../../doctor/finding.ts";
import { counted } from "../../runtime/text.ts";
import { formatDateTime } from "../../schedule/date-time.ts";

/** A carrier that said so within this time says so still: between two looks a queue may run empty. */
const THROTTLED_LATELY_MS = 300_000;

export function carrierFindings(facts: readonly CarrierFacts[]): Finding[] {
  const found = new Findings("carriers");
  for (const carrier of facts) {
    const { id, isUp, connections, waiting } = carrier;
    const why = whyDown(carrier);
    const links = connections?.links ?? [];
    const isRefused = isLoginRefused(links);
    if (!isUp || isRefused) {
      const held = waiting === 0 ? "" : `; ${counted(waiting, "message waits", "messages wait")} for it`;
      found.wrong(
        id,
        `the carrier ${id} is down${why === null ? "" : `: ${why}`}${held}`,
        isRefused
          ? loginRemedy(id)
          : "it is tried again by itself; see its page for each connection, and ask the carrier if it stays so",
      );
      continue;
    }
    const isThere = links[0]?.kind === "http" ? "can be reached" : "is bound";
    const { state, why: reason, sinceMs } = carrier.health;
    if (state === "sick")
      found.wrong(
        id,
        `the carrier ${id} ${isThere} and is sick since ${formatDateTime(sinceMs)}: ${reason}`,
        "messages take another carrier of their route where there is one; it is tried with single messages, and gets all of them again by degrees. Ask the carrier if it stays so",
      );
    else if (state === "slow")
      found.warn(id, `the carrier ${id} ${isThere} and is slow: ${reason}`, "nothing is to be done");
    const bound = links.filter(({ isBound }) => isBound).length;
    if (bound < links.length)
      found.warn(
        id,
        `the carrier ${id} has ${bound} of ${counted(links.length, "connection")}${why === null ? "" : `: ${why}`}`,
        "what is there works; the others are tried again by themselves",
      );
    const throttled = state === "sick" ? null : throttledWords(carrier, isThere);
    if (throttled !== null)
      found.warn(
        id,
        throttled,
        `nothing is lost, and what waits goes when there is room: ask the carrier for more, set partsPerSecond to what it allows, or lead some of the route elsewhere ("heliograph route set")`,
      );
  }
  return found.all;
}

/** It is bound, and says that it is sent too much (ESME_RTHROTTLED). Null for one that has not said so lately. */
function throttledWords({ id, connections, waiting, putOff }: CarrierFacts, isThere: string): string | null {
  const { throttled = 0, throttledAgoMs = null, paceFound = null } = connections ?? {};
  if (throttledAgoMs === null || throttledAgoMs > THROTTLED_LATELY_MS) return null;
  const takes = paceFound === null ? "" : `; it takes about ${paceFound} parts a second`;
  const held = waiting + putOff === 0 ? "" : `; ${counted(waiting + putOff, "message waits", "messages wait")} for it`;
  return `the carrier ${id} ${isThere} and throttles: ${counted(throttled, "answer")} since the start that it is sent too much, the last ${Math.round(throttledAgoMs / 1_000)} s ago${takes}${held}`;
}

/** Why it is sick or slow, or the last thing that went wrong with a connection that is not there. */
export function whyDown({ isUp, health, connections }: CarrierFacts): string | null {
  return (isUp ? health.why : null) ?? newestProblem(connections?.links ?? []);
}
