/** What `npm run bench -- nodes` measures, by which options, and how its table looks. */
import { parseArgs } from "node:util";
import { cell, decimal, hundredths, integer } from "../cycle/cells.ts";
import { OptionFault, type Options, readOptions } from "../cycle/options.ts";
import { total } from "../cycle/ratios.ts";
import type { ModeName } from "../cycle/requests.ts";
import type { Round } from "../cycle/rig.ts";
import { spreadOf } from "../cycle/statistics.ts";

/** A kind of load. */
export interface Row {
  readonly title: string;
  readonly mode: ModeName;
  /** One account, or all of `--accounts`. */
  readonly accounts: "one" | "all";
  readonly receiptDelayMs: number;
  /** Of the highest rate of `accounts`, where requests start at set times. */
  readonly share: number | null;
}

const DELAY_MS = 3_000;
/** Its submits have to last for two delays, and are to last for four. */
const DELAYS = 4;
const AS_FAST = { mode: "one", receiptDelayMs: 0, share: null } as const;

export const ROWS = {
  accounts: { ...AS_FAST, title: "many accounts, one destination a request", accounts: "all" },
  one: { ...AS_FAST, title: "one account, one destination a request", accounts: "one" },
  delay: { ...AS_FAST, title: "one account, receipts after 3 s", accounts: "one", receiptDelayMs: DELAY_MS },
  hundred: { ...AS_FAST, title: "many accounts, a hundred destinations a request", accounts: "all", mode: "hundred" },
  half: { ...AS_FAST, title: "many accounts, at half of the highest rate", accounts: "all", share: 0.5 },
} as const satisfies Record<string, Row>;

export type RowName = keyof typeof ROWS;

/** Passed on to the options of the full cycle, with what is otherwise so here. */
const PASSED = {
  accounts: "64",
  connections: "256",
  backlog: "4000",
  "warm-up": "10000",
  repeat: "3",
  load: "1",
  url: null,
} as const;

export const NODES_USAGE = `npm run bench -- nodes [options]

The full cycle by several nodes on one PostgreSQL server, for each number of nodes in turn. A line for each round, a table for each kind of load.

  --only NAME,…      kinds of load: ${Object.keys(ROWS).join(", ")} (all)
  --nodes 1,2,4      numbers of nodes; ratios are to the first
  --eight            with eight nodes too
  --seconds N        how long a round is to last (7; the round with late receipts ${(DELAYS * DELAY_MS) / 1000} at least)
  --repeat N         rounds (3)
  --warm-up N        messages a node before the first of each kind, by which its size is found too (10000)
  --accounts N       accounts, where they are many (64)
  --connections N    requests under way a node (256), and --backlog messages (4000)
  --load N           so many generators, carriers and sinks (1)
  --pinned           each account over one node
  --url postgres://… a server to use`;

export interface NodesOptions {
  readonly rows: readonly RowName[];
  readonly seconds: number;
  /** Of the full cycle; connections, backlog and messages to warm up with are for each node. */
  readonly cycle: Options;
}

export function readNodesOptions(args: readonly string[]): NodesOptions | "help" {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const passed = Object.fromEntries(Object.keys(PASSED).map((name) => [name, text]));
  const own = { only: text, nodes: text, seconds: text, eight: flag, pinned: flag, help: flag };
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({ args: [...args], options: { ...passed, ...own } }));
  } catch (error) {
    throw new OptionFault((error as Error).message);
  }
  if (values.help === true) return "help";
  const rows = String(values.only ?? Object.keys(ROWS).join(",")).split(",") as RowName[];
  if (rows.some((row) => !Object.hasOwn(ROWS, row)))
    throw new OptionFault(`--only must be some of ${Object.keys(ROWS).join(", ")}`);
  const seconds = Number(values.seconds ?? 7);
  if (!(seconds > 0)) throw new OptionFault("--seconds must be a number above 0");
  const nodes = `${values.nodes ?? "1,2,4"}${values.eight === true ? ",8" : ""}`;
  const given = Object.entries(PASSED).flatMap(([name, otherwise]) => {
    const value = values[name] ?? otherwise;
    return value === null ? [] : [`--${name}`, String(value)];
  });
  const fixed = ["--store", "postgres", "--nodes", nodes, ...(values.pinned === true ? ["--pinned"] : [])];
  const cycle = readOptions([...fixed, ...given]);
  return cycle === "help" ? cycle : { rows, seconds, cycle };
}

/** The numbers of nodes that a row is for: at half of the highest rate four of them, or what is nearest below. */
export function nodesOf({ share }: Row, nodes: readonly number[]): readonly number[] {
  const upToFour = nodes.filter((number) => number <= 4);
  return share === null ? nodes : [upToFour.length === 0 ? nodes[0]! : Math.max(...upToFour)];
}

/** How long its round is to last. */
export function secondsOf({ receiptDelayMs }: Row, seconds: number): number {
  return Math.max(seconds, (DELAYS * receiptDelayMs) / 1000);
}

/** Messages a second, also of a round that was too short to tell the rate: to find out how many messages the next one needs. */
export function paceOf({ messages, elapsedMs }: Pick<Round, "messages" | "elapsedMs">, receiptDelayMs: number): number {
  return (messages * 1000) / Math.max(1, elapsedMs - receiptDelayMs);
}

export interface Measured {
  readonly nodes: number;
  readonly rounds: readonly Round[];
}

const server = ({ gatewayMicros }: Round): number => gatewayMicros.postgres ?? 0;

/** Of the parts of the load, the busiest process's share of a core: near 100 it is what is measured. */
function busiestPercent({ benchMicros, messagesPerSecond }: Round, loads: number): number {
  const { parent: _, ...parts } = benchMicros;
  return (Math.max(...Object.values(parts)) * messagesPerSecond) / 1e4 / loads;
}

type Column = readonly [title: string, value: (round: Round, first: Round) => number, form: (value: number) => string];

const columns = (loads: number): readonly Column[] => [
  ["messages a second", (round) => round.messagesPerSecond, integer],
  ["to the first", (round, first) => round.messagesPerSecond / first.messagesPerSecond, hundredths],
  ["answer p50 ms", ({ answerMs }) => answerMs.p50, decimal],
  ["answer p99 ms", ({ answerMs }) => answerMs.p99, decimal],
  ["nodes, CPU µs a message", (round) => total(round.gatewayMicros) - server(round), integer],
  ["server, CPU µs a message", server, integer],
  ["flushes a message", ({ flushes, messages }) => (flushes ?? Number.NaN) / messages, hundredths],
  ["log, octets a message", ({ logBytes, messages }) => (logBytes ?? Number.NaN) / messages, integer],
  ["busiest part of the load, % of a core", (round) => busiestPercent(round, loads), integer],
];

/** A table as in the docs: the median of the rounds, and in brackets the least and the most. */
export function nodesTable(title: string, measured: readonly Measured[], loads: number): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const shown = columns(loads);
  const [first] = measured;
  return [
    "",
    line([title, ...shown.map(([name]) => name)]),
    `|${"---|".repeat(shown.length + 1)}`,
    ...measured.map(({ nodes, rounds }) => {
      const cells = shown.map(([, value, form]) => {
        const compared = rounds.slice(0, first!.rounds.length);
        const spread = spreadOf(compared.map((round, index) => value(round, first!.rounds[index]!)));
        return Number.isNaN(spread.median) ? "" : cell(spread, form);
      });
      return line([nodesName(nodes), ...cells]);
    }),
  ];
}

export function nodesName(nodes: number): string {
  return `${nodes} ${nodes === 1 ? "node" : "nodes"}`;
}
