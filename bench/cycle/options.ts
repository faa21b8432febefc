/** The options of the full-cycle benchmark. */
import { parseArgs } from "node:util";
import { MODES, type ModeName } from "./requests.ts";

export const USAGE = `npm run bench -- [options]

The full cycle: HTTP request, durable, SMPP submit, answer, receipt, report pushed to a sink; each part its own process.

  --store sqlite|postgres          where messages are kept (sqlite); sqlite,postgres measures both in turn
  --url postgres://…               a PostgreSQL server to use; without it one is started for the run
  --nodes 1,2                      how many nodes share the load on postgres, measured in turn (1)
  --mode one|hundred|thousand      destinations of a request, by the advanced operation (one)
         single|multi              or the simple ones: one destination; ten messages of one destination
  --until accept|submit|report     how far the cycle goes (report)
  --connections N                  HTTP connections (64)
  --count N                        messages of a round (20000)
  --repeat N                       rounds (5)
  --warm-up N                      messages before the first round, not measured (as --count)
  --backlog N                      messages under way at most (4000)
  --rate N                         requests a second, started at set times; without it as fast as they are answered
  --window N, --binds N            of the SMPP carrier (1000; as many binds as there are nodes)
  --receipt-delay MS               how long after the submit its receipt comes (0)
  --profile                        where the time goes in each thread of the service; the figures are then those of a slower one
  --profile-dir DIRECTORY          keeps the profiles there; Chrome's developer tools read them
  --peer kannel                    the same job on Kannel, in turn; --peer-store spool keeps its messages on disk
  --json                           the result for programs`;

const UNTIL = ["accept", "submit", "report"] as const;
const STORES = ["sqlite", "postgres"] as const;
const PEERS = ["kannel"] as const;
const PEER_STORES = ["memory", "spool"] as const;

export type StoreName = (typeof STORES)[number];

export interface Options {
  readonly stores: readonly StoreName[];
  readonly url: string | null;
  readonly nodes: readonly number[];
  readonly mode: ModeName;
  readonly until: (typeof UNTIL)[number];
  readonly connections: number;
  readonly count: number;
  readonly repeat: number;
  readonly warmUp: number;
  readonly backlog: number;
  readonly rate: number | null;
  readonly window: number;
  readonly binds: number;
  readonly receiptDelayMs: number;
  readonly profile: boolean;
  readonly profileDirectory: string | null;
  readonly peer: (typeof PEERS)[number] | null;
  readonly peerStore: (typeof PEER_STORES)[number];
  readonly json: boolean;
}

/** An option that cannot be, in a sentence. */
export class OptionFault extends Error {}

const NUMBERS = {
  connections: { value: 64, most: 5_000 },
  count: { value: 20_000, most: 10_000_000 },
  repeat: { value: 5, most: 1_000 },
  backlog: { value: 4_000, most: 1_000_000 },
  window: { value: 1_000, most: 10_000 },
  binds: { value: 1, most: 100 },
} as const;

export function readOptions(args: readonly string[]): Options | "help" {
  let values: Record<string, string | boolean | undefined>;
  try {
    const text = { type: "string" } as const;
    const flag = { type: "boolean" } as const;
    ({ values } = parseArgs({
      args: [...args],
      options: {
        ...{ store: text, url: text, nodes: text, mode: text, until: text, connections: text, count: text },
        ...{ repeat: text, "warm-up": text, backlog: text, rate: text, window: text, binds: text },
        ...{ "receipt-delay": text, profile: flag, "profile-dir": text, peer: text, "peer-store": text },
        ...{ json: flag, help: flag },
      },
    }));
  } catch (error) {
    throw new OptionFault((error as Error).message);
  }
  if (values.help === true) return "help";
  const number = (name: string, most: number, least = 1): number => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new OptionFault(`--${name} must be a whole number from ${least} to ${most}`);
    return value;
  };
  const numberOr = (name: keyof typeof NUMBERS): number =>
    values[name] === undefined ? NUMBERS[name].value : number(name, NUMBERS[name].most);
  const word = <Word extends string>(name: string, words: readonly Word[], otherwise: Word): Word => {
    if (values[name] === undefined) return otherwise;
    const found = words.find((candidate) => candidate === values[name]);
    if (found === undefined) throw new OptionFault(`--${name} must be one of ${words.join(", ")}`);
    return found;
  };

  const mode = word("mode", Object.keys(MODES) as ModeName[], "one");
  const { destinations } = MODES[mode];
  const whole = (messages: number): number => Math.ceil(messages / destinations) * destinations;
  const nodes = String(values.nodes ?? "1")
    .split(",")
    .map(Number);
  if (nodes.some((node) => !Number.isInteger(node) || node < 1 || node > 16))
    throw new OptionFault("--nodes must be numbers from 1 to 16, such as 1,2");
  const url = (values.url as string | undefined) ?? null;
  const stores = String(values.store ?? (url === null ? "sqlite" : "postgres"))
    .split(",")
    .map((name) => STORES.find((known) => known === name));
  if (stores.includes(undefined))
    throw new OptionFault(`--store must be ${STORES.join(", ")} or both, separated by a comma`);
  if (!stores.includes("postgres") && nodes.some((node) => node > 1))
    throw new OptionFault("--nodes above 1 needs --store postgres");
  const count = whole(numberOr("count"));
  return {
    stores: stores.filter((name) => name !== undefined),
    url,
    nodes,
    mode,
    until: word("until", UNTIL, "report"),
    connections: numberOr("connections"),
    count,
    repeat: numberOr("repeat"),
    warmUp: values["warm-up"] === undefined ? count : whole(number("warm-up", NUMBERS.count.most)),
    backlog: numberOr("backlog"),
    rate: values.rate === undefined ? null : number("rate", 1_000_000),
    window: numberOr("window"),
    // They are shared out among the nodes, and every node is to have one.
    binds: Math.max(numberOr("binds"), ...nodes),
    receiptDelayMs: values["receipt-delay"] === undefined ? 0 : number("receipt-delay", 60_000, 0),
    profile: values.profile === true || values["profile-dir"] !== undefined,
    profileDirectory: (values["profile-dir"] as string | undefined) ?? null,
    peer: values.peer === undefined ? null : word("peer", PEERS, "kannel"),
    peerStore: word("peer-store", PEER_STORES, "memory"),
    json: values.json === true,
  };
}
