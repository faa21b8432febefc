/**
 * What is compared with what. A ratio is that of neighbouring rounds, the first service's figure divided by the other's: a machine that drifts drifts
 * for both.
 */
import type { Options } from "./options.ts";
import type { Round } from "./rig.ts";
import { type Percentiles, type Spread, spreadOf } from "./statistics.ts";

/** The service of this checkout, that of another one, or a program for the same job. */
export type Role = "own" | "against" | "peer";

export interface Compared {
  readonly name: string;
  /** Results of the same load are compared with each other; empty where there is only one. */
  readonly load: string;
  /** What the requests ask for, and of which service: whatever the number of connections. */
  readonly mode: string;
  readonly service: string;
  readonly role: Role;
  readonly rounds: readonly Round[];
  /** The rounds that found out the highest rate, where the others are at a share of it. */
  readonly highest: readonly Round[];
  readonly perSecond: number | null;
}

export interface Ratio {
  readonly figure: string;
  readonly ratio: Spread;
}

export interface Comparison {
  readonly of: string;
  readonly to: string;
  readonly highest: readonly Ratio[];
  readonly rounds: readonly Ratio[];
}

type Figure = (round: Round) => number | undefined;
type Figures = Readonly<Record<string, Figure>>;

export function total(table: Readonly<Record<string, number>>): number {
  return Object.values(table).reduce((sum, value) => sum + value, 0);
}

const CPU = "CPU µs a message";

const COST: Figures = {
  "messages a second": (round) => round.messagesPerSecond,
  [CPU]: ({ gatewayMicros }) => total(gatewayMicros),
  "wake-ups a message": ({ wakeUps }) => total(wakeUps),
};

const TIMES_TO_ANSWER: Figures = {
  "start to answer, p50": ({ answerMs }) => answerMs.p50,
  "start to answer, p99": ({ answerMs }) => answerMs.p99,
  "start to answer, p99.9": ({ answerMs }) => answerMs.p999,
};

const TIMES_TO_CARRIER: Figures = {
  ...TIMES_TO_ANSWER,
  "start to carrier, p50": ({ submitMs }) => submitMs?.p50,
  "start to carrier, p99": ({ submitMs }) => submitMs?.p99,
};

/**
 * Where the service is as busy as it can be, times beyond the answer follow from the backlog. While messages of another account wait, the service
 * has those to send too, and the carrier answers late, so nothing beyond the arrival there compares.
 */
const COMPARED: Readonly<Record<"closed" | "open" | "waiting", Figures>> = {
  closed: { ...COST, ...TIMES_TO_ANSWER },
  open: {
    ...COST,
    ...TIMES_TO_CARRIER,
    "start to report, p50": ({ reportMs }) => reportMs?.p50,
    "start to report, p99": ({ reportMs }) => reportMs?.p99,
  },
  waiting: TIMES_TO_CARRIER,
};

function compared(first: readonly Round[], other: readonly Round[], way: keyof typeof COMPARED): Ratio[] {
  const ratioOf = (figure: string, value: Figure): Ratio[] => {
    const quotients = first.map((round, index) => (value(round) ?? Number.NaN) / (value(other[index]!) ?? Number.NaN));
    return quotients.length > 0 && quotients.every(Number.isFinite) ? [{ figure, ratio: spreadOf(quotients) }] : [];
  };
  const threads = Object.keys(first[0]?.gatewayMicros ?? {});
  return Object.entries(COMPARED[way]).flatMap(([figure, value]) => [
    ...ratioOf(figure, value),
    // Only those that both have by the same name.
    ...(figure === CPU
      ? threads.flatMap((name) => ratioOf(`${CPU}, ${name}`, ({ gatewayMicros }) => gatewayMicros[name]))
      : []),
  ]);
}

/**
 * With something in the store before, each service against the one without; else the first against each other one. Each against that of another
 * checkout, which has its turn next; and the first of both checkouts against each peer.
 */
function pairsOf<Result extends Compared>(results: readonly Result[], { stored, waiting }: Options) {
  const having = (role: Role): Result[] => results.filter((result) => result.role === role);
  const own = having("own");
  const against = having("against");
  const first = own[0];
  // So many connections has only the peer.
  if (first === undefined) return [];
  const pairs: (readonly [Result, Result])[] =
    stored + waiting > 0
      ? own.flatMap((one, index) => (index % 2 === 0 ? [[one, own[index + 1]!] as const] : []))
      : own.slice(1).map((other) => [first, other] as const);
  for (const [index, other] of against.entries()) pairs.push([own[index]!, other]);
  for (const peer of having("peer"))
    for (const one of [first, ...against.slice(0, 1)]) pairs.push([one, peer] as const);
  return pairs;
}

/**
 * Where there are several numbers of connections: the service with as many as it is fastest with, against the peer with as many as that is. A peer
 * may be slower with more of them.
 */
function bestPairs(results: readonly Compared[]): Comparison[] {
  const rateOf = ({ rounds }: Compared): number => spreadOf(rounds.map((round) => round.messagesPerSecond)).median;
  return [...Map.groupBy(results, ({ mode }) => mode).values()].flatMap((ofMode) => {
    const services = [...Map.groupBy(ofMode, ({ role, service }) => `${role} ${service}`).values()];
    const best = services.map((lines) => lines.toSorted((one, other) => rateOf(other) - rateOf(one))[0]!);
    const peers = best.filter(({ role }) => role === "peer");
    return best
      .filter(({ role }) => role !== "peer")
      .flatMap((own) =>
        peers.map((peer) => ({
          of: `Of each the fastest: ${own.name}`,
          to: peer.name,
          highest: [],
          rounds: compared(own.rounds, peer.rounds, "closed"),
        })),
      );
  });
}

/** Results of the same load against each other, round by round: what ran next to each other is compared with each other. */
export function ratios(results: readonly Compared[], options: Options): Comparison[] {
  return [...sameLoad(results, options), ...(hasBest(options) ? bestPairs(results) : [])];
}

function hasBest({ connections, peerConnections, rate, share, stored, waiting }: Options): boolean {
  const severalNumbers = new Set([...connections, ...peerConnections]).size > 1;
  return severalNumbers && rate === null && share === null && stored + waiting === 0;
}

function sameLoad(results: readonly Compared[], options: Options): Comparison[] {
  return [...Map.groupBy(results, ({ load }) => load).values()].flatMap((group) =>
    pairsOf(group, options).map(([first, other]) => ({
      of: first.name,
      to: other.name,
      highest: compared(first.highest, other.highest, "closed"),
      rounds: compared(
        first.rounds,
        other.rounds,
        options.waiting > 0 ? "waiting" : first.perSecond === null ? "closed" : "open",
      ),
    })),
  );
}

const TAILS: Readonly<Record<string, (times: Percentiles) => number>> = {
  "start to answer, p99 by p50": ({ p50, p99 }) => p99 / p50,
  "start to answer, p99.9 by p50": ({ p50, p999 }) => p999 / p50,
};

/** How far the slow answers of a service are from its usual ones: within each round, so that the machine's speed does not matter. */
export function tailsOf({ rounds }: Pick<Compared, "rounds">): Ratio[] {
  return Object.entries(TAILS).map(([figure, value]) => ({
    figure,
    ratio: spreadOf(rounds.map(({ answerMs }) => value(answerMs))),
  }));
}
