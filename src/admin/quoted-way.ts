/** The part of a quote that is about routes and carriers: which group is used, and with what chance each carrier gets the message. Pure. */
import type { Groups, Snapshot } from "../catalogue/snapshot.ts";
import { once } from "../runtime/lazy.ts";
import type { SenderFilter } from "../sms/writing.ts";

export interface RouteQuestion {
  readonly snapshot: Snapshot;
  /** Null where it is not known. */
  readonly isUp: (carrierId: string) => boolean | null;
  readonly number: string;
  /** Null where every carrier can write the sender. */
  readonly canWrite: SenderFilter | null;
}

export interface QuotedCarrier {
  readonly id: string;
  readonly weight: number;
  readonly up: boolean | null;
  readonly writesSender: boolean;
  /** From 0 to 1. */
  readonly chance: number;
  /** A sentence. */
  readonly says: string;
}

export interface QuotedGroup {
  /** Whether any of its carriers may get the message. */
  readonly used: boolean;
  readonly carriers: readonly QuotedCarrier[];
}

export interface QuotedWay {
  /** The prefix of the route, or null where there is none. */
  readonly prefix: string | null;
  readonly groups: readonly QuotedGroup[];
}

/** A carrier at its place in a route. */
interface Candidate {
  readonly group: number;
  readonly id: string;
  readonly weight: number;
}

/** Where a message may go, and its share of the chance. */
type Share = readonly [candidate: Candidate, share: number];

export function wayOf({ snapshot, isUp, number, canWrite }: RouteQuestion): QuotedWay {
  const route = snapshot.routeOf(number);
  if (route === null) return { prefix: null, groups: [] };
  const candidates = candidatesOf(route.value);
  const writes = ({ id }: Candidate): boolean => canWrite === null || canWrite(snapshot.writingOf(id));
  const isDown = ({ id }: Candidate): boolean => isUp(id) === false;

  // Intake does not know who is up. Dispatch moves what waits for a carrier that is down, if another one can take it.
  const intended = sharesOf(candidates, writes);
  const chances = new Map<Candidate, number>();
  for (const [first, share] of intended) {
    const others = isDown(first) ? sharesOf(candidates, (other) => writes(other) && !isDown(other)) : [];
    for (const [candidate, part] of others.length === 0 ? [[first, 1] as Share] : others)
      chances.set(candidate, (chances.get(candidate) ?? 0) + share * part);
  }

  const carriers = candidates.map((candidate) => {
    const chance = chances.get(candidate) ?? 0;
    const facts = { up: isUp(candidate.id), writesSender: writes(candidate), chance };
    return { group: candidate.group, id: candidate.id, weight: candidate.weight, ...facts, says: saidOf(facts) };
  });
  return {
    prefix: route.prefix,
    groups: route.value.map((_, index) => {
      const members = carriers.filter(({ group }) => group === index).map(({ group: _group, ...carrier }) => carrier);
      return { used: members.some(({ chance }) => chance > 0), carriers: members };
    }),
  };
}

function candidatesOf(groups: Groups): Candidate[] {
  return groups.flatMap((members, group) => members.map(({ carrier: id, weight = 1 }) => ({ group, id, weight })));
}

/** The first group that has any that is usable, shared by weight. */
function sharesOf(candidates: readonly Candidate[], isUsable: (candidate: Candidate) => boolean): Share[] {
  const usable = candidates.filter(isUsable);
  const first = usable.filter(({ group }) => group === usable[0]!.group);
  const sum = first.reduce((total, { weight }) => total + weight, 0);
  return first.map((candidate) => [candidate, candidate.weight / sum]);
}

const percent = once(() => new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 }));

function saidOf({ up, writesSender, chance }: Pick<QuotedCarrier, "up" | "writesSender" | "chance">): string {
  if (!writesSender) return "It cannot write the letters of this sender.";
  if (chance === 0) return up === false ? "It is down." : "It is not asked: another one comes first.";
  if (up === false) return "It is down, and nobody else serves the number: the message would wait for it.";
  const known = up === null ? "Whether it is up is not known here." : "It is up.";
  return chance === 1
    ? `${known} It gets the message.`
    : `${known} It gets ${percent().format(chance)} of such messages.`;
}
