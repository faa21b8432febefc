/** Why a message that may go has not gone: its carrier is not there, and since when and why it is not. */
import type { NodeCarrierState } from "../admin/carriers.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { MessageLife } from "../store/port/message-life.ts";

interface Waiting {
  readonly life: Pick<MessageLife, "state" | "dueAtMs" | "carrierId">;
  readonly carriers: readonly NodeCarrierState[];
  readonly nowMs: number;
}

/** "not served" where no running service serves it. Null for a message that waits for nothing, or for something else: its time, its turn, its receipt. */
export function waitsFor({ life, carriers, nowMs }: Waiting) {
  const { state, dueAtMs, carrierId: carrier } = life;
  const mayGo = state === "queued" || (state === "scheduled" && dueAtMs <= nowMs);
  if (!mayGo || carrier === null || carrier === "") return null;
  const states = carriers.filter(({ carrierId }) => carrierId === carrier);
  if (states.some((one) => one.state === "bound")) return null;
  // With several nodes, the one that is nearest to having it.
  const [best] = states.toSorted((one, other) => rank(one) - rank(other));
  if (best === undefined) return { carrier, state: "not served" as const, since: null, reason: null, nextTryAt: null };
  const { sinceMs, reason, nextTryMs } = best;
  const nextTryAt = nextTryMs === null ? null : formatDateTime(nextTryMs);
  return { carrier, state: best.state, since: formatDateTime(sinceMs), reason, nextTryAt };
}

const ORDER: readonly NodeCarrierState["state"][] = ["throttled", "slow", "sick", "connecting", "waiting", "refused"];

function rank({ state }: NodeCarrierState): number {
  return ORDER.indexOf(state);
}
