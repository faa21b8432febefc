/** A carrier as the service tells it, and how its state and its figures read. */
import { Status } from "../../parts/Status.tsx";
import { duration, Time } from "../../parts/Time.tsx";

export interface TimesSummary {
  readonly medianMs: number;
  readonly slowMs: number;
}

export interface CarrierRow {
  readonly id: string;
  readonly kind: string;
  readonly state: "up" | "slow" | "sick" | "down" | "elsewhere";
  readonly since: string | null;
  readonly why: string | null;
  readonly bound: number;
  readonly connections: number;
  readonly binds: number;
  readonly nodes: readonly { readonly name: string; readonly binds: number; readonly isSelf: boolean }[];
  readonly windowUsed: number;
  readonly window: number;
  readonly paceLimit: number | null;
  readonly paceFound: number | null;
  readonly partsPerSecond: readonly (number | null)[];
  readonly answerTimes: TimesSummary | null;
  readonly receiptTimes: TimesSummary | null;
  readonly throttled: number;
  readonly later: number;
  readonly unknown: number;
  readonly refused: number;
  readonly delivered: number;
  readonly failed: number;
  readonly parts: number;
  readonly waiting: number;
  readonly putOff: number;
  readonly inFlight: number;
  readonly lanes: number;
  readonly overflowedLanes: number;
  readonly isPaused: boolean;
  readonly lastReceiptAt: string | null;
}

export function latest(values: readonly (number | null)[]): string {
  const value = values.at(-1) ?? 0;
  return value === 0 || value >= 10 ? Math.round(value).toLocaleString() : value.toFixed(1);
}

/** The median and what 95 of 100 do not pass. */
export function timesWords(times: TimesSummary | null): string {
  return times === null ? "–" : `${shortMs(times.medianMs)} · ${shortMs(times.slowMs)}`;
}

export function shortMs(ms: number): string {
  return ms < 10 ? `${Math.round(ms * 10) / 10} ms` : duration(ms);
}

const STATES = {
  up: { is: "done", word: "up" },
  slow: { is: "retrying", word: "slow" },
  sick: { is: "failed", word: "sick" },
  down: { is: "failed", word: "down" },
  elsewhere: { is: "waiting", word: "on other nodes" },
} as const;

export function CarrierState({ of: { state, since, why, bound, connections } }: { of: CarrierRow }) {
  const isPart = state === "up" && bound < connections;
  const { is, word } = isPart ? ({ is: "retrying", word: "up in part" } as const) : STATES[state];
  return (
    <span class="carriers-state">
      <Status is={is}>{word}</Status>
      {since !== null && (
        <span class="soft">
          since <Time at={since} as="clock" />
        </span>
      )}
      {why !== null && (
        <span class="carriers-why" title={why}>
          {why}
        </span>
      )}
    </span>
  );
}
