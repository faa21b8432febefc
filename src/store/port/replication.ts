/**
 * Whether somebody beside the database's server has what is committed, and what a failover now would lose: as far as the server tells the user that
 * asks. A *standby* here is whoever is sent the server's log. Copies that a provider makes beneath the database are not seen.
 */
import { counted } from "../../runtime/text.ts";

/**
 * "waiting": commits are to be confirmed by more standbys than are there, so none ends. "hidden": somebody is sent the log, and this user may not
 * see who. "alone": nobody is sent it. "no_writes": this is a standby itself, or takes no writes from this user.
 */
export const REPLICATION_MODES = ["synchronous", "waiting", "asynchronous", "hidden", "alone", "no_writes"] as const;
export type ReplicationMode = (typeof REPLICATION_MODES)[number];

/** How far a standby has written the log, has flushed it to disk, and shows it to readers. */
export const LAG_STEPS = ["written", "flushed", "replayed"] as const;
export type LagStep = (typeof LAG_STEPS)[number];

export interface Lag {
  /** Of the log; null where the standby has not said how far it is. */
  readonly octets: number | null;
  /** As the server last measured it; null where it has not of late. */
  readonly ms: number | null;
}

export interface StandbyFacts {
  /** As it calls itself. */
  readonly name: string;
  /** "streaming", or "catchup" and the like until it is as far as the server. */
  readonly state: string;
  /** It is one of those that commits wait for. */
  readonly confirms: boolean;
  readonly lag: Readonly<Record<LagStep, Lag>>;
}

/** What the server says. */
export interface ServerFacts {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  /** `synchronous_standby_names` and `synchronous_commit`, as they are for this user. */
  readonly names: string;
  readonly commit: string;
  readonly user: string;
  readonly standbys: readonly StandbyFacts[];
  /** Those of which this user may see nothing. */
  readonly hidden: number;
}

export interface ReplicationFacts extends ServerFacts {
  readonly mode: ReplicationMode;
  /** How many standbys have to confirm a commit before it ends. */
  readonly needed: number;
  /** What a failover to the standby that is furthest ahead would lose of the log; null where that is not known. */
  readonly loss: Lag;
}

/** "ANY 2 (a, b)", "FIRST 1 (a)", "2 (a, b)"; and "a, b", which is for one. */
const COUNTED_NAMES = /^(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(/i;

/** How many standbys have to confirm. With `local` and `off` commits do not wait, whoever is named; and a standby has none. */
function neededBy({ names, commit, isStandby }: ServerFacts): number {
  if (names === "" || isStandby || commit === "local" || commit === "off") return 0;
  return Number(COUNTED_NAMES.exec(names)?.[1] ?? 1);
}

function modeOf({ isStandby, isReadOnly, standbys, hidden }: ServerFacts, needed: number): ReplicationMode {
  if (isStandby || isReadOnly) return "no_writes";
  // Those that are hidden may be the ones.
  const confirming = standbys.filter(({ confirms }) => confirms).length + hidden;
  if (needed > 0) return confirming < needed ? "waiting" : "synchronous";
  if (standbys.length > 0) return "asynchronous";
  return hidden > 0 ? "hidden" : "alone";
}

/** The standby that has flushed most. */
export function nearest({ standbys }: Pick<ServerFacts, "standbys">): StandbyFacts | undefined {
  const octets = ({ lag }: StandbyFacts): number => lag.flushed.octets ?? Number.POSITIVE_INFINITY;
  return [...standbys].sort((one, other) => (octets(one) < octets(other) ? -1 : 1))[0];
}

export function replicationFacts(server: ServerFacts): ReplicationFacts {
  const needed = neededBy(server);
  const mode = modeOf(server, needed);
  const lacks = mode === "asynchronous" ? nearest(server)!.lag.flushed : { octets: null, ms: null };
  return { ...server, mode, needed, loss: needed > 0 ? { octets: 0, ms: 0 } : lacks };
}

function lagInWords({ octets, ms }: Lag): string {
  if (octets === null) return "it is not known how far";
  const size = octets < 10_000 ? `${octets} bytes` : `${Math.round(octets / 1_000)} kB`;
  return ms === null || ms < 1 ? size : `${size}, ${(ms / 1_000).toFixed(3)} s`;
}

function standbyInWords({ name, state, lag }: StandbyFacts): string {
  return `${name || "one without a name"} (${state === "streaming" ? "" : `${state}, `}behind: ${lagInWords(lag.flushed)})`;
}

/** What is known, in a sentence or two, and no more than that. */
export function replicationInWords(facts: ReplicationFacts): string {
  const { mode, needed, commit, names, standbys, hidden, user, isStandby } = facts;
  const waits = `a commit waits for ${counted(needed, "standby")}${commit === "remote_write" ? " to have it in memory (remote_write)" : ""}`;
  const seen = standbys.length === 0 ? "" : `: ${standbys.map(standbyInWords).join(", ")}`;
  const unseen = hidden === 0 ? "" : `; of ${counted(hidden, "standby")} the user ${user} sees only the connection`;
  const unheeded = names === "" ? "" : `; for "${names}" no commit waits with synchronous_commit = ${commit}`;
  return {
    synchronous: `the database is synchronous: ${waits}${seen}${unseen}. A failover to the one that is furthest ahead loses nothing that was acknowledged`,
    waiting: `the database waits in vain: ${waits} of "${names}", and too few stream${seen || ": none is connected"}. No commit ends, and nothing is accepted`,
    asynchronous: `the database is asynchronous${seen}${unheeded}. A failover now would lose what the nearest lacks: ${lagInWords(facts.loss)}`,
    hidden: `the database may be asynchronous: no commit waits for a standby${unheeded}${unseen}. What a failover would lose cannot be said`,
    alone: `the database is alone: it sends its log to no standby${unheeded}. Unless what is beneath it keeps a copy, as some providers' do, the loss of its disk loses all since the last backup`,
    no_writes: `this ${isStandby ? "server is a standby, which" : "database"} takes no writes from this user`,
  }[mode];
}
