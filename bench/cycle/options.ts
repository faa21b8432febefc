/** The options of the full-cycle benchmark: one table says what there is, what it may be, and what it means. */
import { parseArgs } from "node:util";
import { MAX_LOADS } from "./numbers.ts";
import { MODES, type ModeName } from "./requests.ts";

const UNTIL = ["accept", "submit", "report"] as const;
const STORES = ["sqlite", "postgres"] as const;
const STANDBYS = ["none", "sync", "async"] as const;
const PEERS = ["kannel"] as const;
/** The service's own default. */
export const DEFAULT_TIMELINE = "trouble";
const TIMELINES = ["all", "trouble", "off"] as const;
const CARRIERS = ["smpp", "http"] as const;
const PRESETS = ["heliograph", "twilio", "webhook"] as const;
const PEER_STORES = ["memory", "spool"] as const;

export type StandbyName = (typeof STANDBYS)[number];
export type StoreName = (typeof STORES)[number];
/** Unanswered submits on a connection over SMPP, unless it is said otherwise. */
export const SMPP_WINDOW = 1_000;

/** How the carrier is reached: over SMPP, or over HTTP with this preset. */
export type CarrierName = "smpp" | (typeof PRESETS)[number];
export type PeerStore = (typeof PEER_STORES)[number];

/** An option: what stands after its name (nothing for a switch), the default in brackets, and what it means. */
interface Option {
  readonly value?: string;
  readonly means: string;
}

/** As `--help` lists them. */
const OPTIONS = {
  store: { value: "sqlite|postgres", means: "where messages are kept (sqlite); sqlite,postgres measures both in turn" },
  url: { value: "postgres://…", means: "a PostgreSQL server to use; without it one is started for the run" },
  standby: {
    value: "none|sync|async",
    means:
      "a second server of the run's own that follows the first: commits wait for it, or do not (none); several in turn: none,sync,async",
  },
  nodes: { value: "1,2", means: "how many nodes share the load on postgres, measured in turn (1)" },
  accounts: { value: "N", means: "client accounts, whose requests go over all nodes in turn (1)" },
  pinned: { means: "each account's requests go over one node: account i over node i modulo --nodes" },
  mode: {
    value: "one|hundred|thousand|single|multi",
    means:
      "one, a hundred or a thousand destinations of a request, by the advanced operation; or the simple ones: one destination, or ten messages of one each (one); several in turn: one,hundred",
  },
  until: { value: "accept|submit|report", means: "how far the cycle goes (report)" },
  connections: {
    value: "N",
    means:
      "HTTP connections (64); several in turn: 1,16,64,256. Each account has one to each of its nodes at least, and no more than N requests are under way",
  },
  count: {
    value: "N",
    means:
      "messages of a round (20000, and as many more for each second of --receipt-delay; with --rate no more than come in 20 s; 1000 with --waiting)",
  },
  repeat: { value: "N", means: "rounds (5)" },
  "warm-up": {
    value: "N",
    means:
      "messages before the first round, as fast as they are answered, not measured (as --count; 20000 with --rate)",
  },
  load: {
    value: "N",
    means:
      "so many generators, each with a carrier, which has a route of its own, and a sink (1): where one process of a kind is not enough",
  },
  backlog: { value: "N", means: "messages under way at most, unless --rate or --share (4000)" },
  rate: { value: "N", means: "requests a second, started at set times; without it as fast as they are answered" },
  share: {
    value: "0.5",
    means: "measures the highest rate first, and then with requests started at set times at this share of it",
  },
  stored: { value: "N", means: "with so many finished messages in the store, in turn with an empty one" },
  waiting: {
    value: "N",
    means:
      "with so many messages of another account waiting for the same carrier, in turn with an idle service; --rate is then 50",
  },
  soak: {
    value: "MINUTES",
    means:
      "for so long at --share (0.7) of the highest rate; fails if memory or backlog grow, or anything is miscounted",
  },
  carrier: { value: "smpp|http", means: "how the carrier is reached (smpp); smpp,http measures both in turn" },
  preset: {
    value: "heliograph|twilio|webhook",
    means: "which API a carrier over HTTP has (heliograph); several in turn: heliograph,twilio",
  },
  window: {
    value: "N",
    means: "unanswered submits on a connection to the carrier (1000); requests under way to one over HTTP (64)",
  },
  binds: { value: "N", means: "connections to the carrier (1, or as many as there are nodes)" },
  "carrier-rate": {
    value: "N",
    means: "submits that the carrier answers a second (as many as come; 1000 with --waiting)",
  },
  "parts-per-second": { value: "N", means: "the limit that the service itself keeps with the carrier (none)" },
  "receipt-delay": {
    value: "MS",
    means:
      "how long after the submit its receipt comes (0). The rate is then that of the time from the first receipt to the last submit, messages that only wait for their receipt are not under way, and a round lasts for two delays at least (--count)",
  },
  timeline: {
    value: "all|trouble|off",
    means: "which steps of messages are kept for the console (trouble)",
  },
  profile: {
    means:
      "where the time goes in each thread of the service, and what the run's own PostgreSQL server did; the figures are then those of a slower one",
  },
  "profile-dir": { value: "DIRECTORY", means: "keeps the profiles there; Chrome's developer tools read them" },
  against: {
    value: "DIRECTORY",
    means: "the same on the service of another checkout, with its own node_modules, in turn",
  },
  peer: { value: "kannel", means: "the same job on Kannel, in turn" },
  "peer-connections": {
    value: "64,128",
    means: "HTTP connections to the peer (as --connections): a service may be fastest with other numbers of them",
  },
  "peer-store": {
    value: "memory|spool",
    means: "where Kannel keeps its messages (memory); memory,spool measures both",
  },
  json: { means: "the result for programs" },
  help: { means: "this list" },
} as const satisfies Record<string, Option>;

type OptionName = keyof typeof OPTIONS;

const NAME_WIDTH = 32;
const LINE_WIDTH = 130;

export const USAGE = [
  "npm run bench -- [options]",
  "",
  "The full cycle: HTTP request, durable, submit to the carrier, answer, receipt, report pushed to a sink; each part its own process.",
  "",
  ...Object.entries<Option>(OPTIONS).flatMap(([name, { value, means }]) => {
    const title = `  --${name}${value === undefined ? "" : ` ${value}`}`;
    const [first = "", ...rest] = wrapped(means);
    const lines = [first, ...rest].map((line) => " ".repeat(NAME_WIDTH) + line);
    return title.length < NAME_WIDTH ? [title.padEnd(NAME_WIDTH) + first, ...lines.slice(1)] : [title, ...lines];
  }),
].join("\n");

function wrapped(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1)!.length + word.length >= LINE_WIDTH - NAME_WIDTH) lines.push("");
    lines.push(`${lines.pop()!} ${word}`.trimStart());
  }
  return lines;
}

/** A round, unless it is said otherwise: so many messages, and at a set rate no more than come in this time. */
const ROUND_MESSAGES = 20_000;
const ROUND_SECONDS = 20;

export interface Options {
  readonly stores: readonly StoreName[];
  readonly url: string | null;
  readonly standbys: readonly StandbyName[];
  readonly nodes: readonly number[];
  readonly accounts: number;
  readonly pinned: boolean;
  readonly modes: readonly ModeName[];
  readonly until: (typeof UNTIL)[number];
  readonly connections: readonly number[];
  readonly count: number;
  readonly repeat: number;
  readonly warmUp: number;
  readonly loads: number;
  readonly backlog: number;
  readonly rate: number | null;
  readonly share: number | null;
  readonly stored: number;
  readonly waiting: number;
  readonly soakMinutes: number | null;
  readonly carriers: readonly CarrierName[];
  /** Null: what suits the carrier. */
  readonly window: number | null;
  readonly binds: number;
  readonly carrierRate: number | null;
  readonly partsPerSecond: number | null;
  readonly receiptDelayMs: number;
  readonly timeline: (typeof TIMELINES)[number];
  readonly profile: boolean;
  readonly profileDirectory: string | null;
  /** The other checkout's directory. */
  readonly against: string | null;
  readonly peer: (typeof PEERS)[number] | null;
  readonly peerConnections: readonly number[];
  readonly peerStores: readonly PeerStore[];
  readonly json: boolean;
}

/** An option that cannot be, or something that it needs and this machine does not have, in a sentence. */
export class OptionFault extends Error {}

export function readOptions(args: readonly string[]): Options | "help" {
  let values: Partial<Record<OptionName, string | boolean>>;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: Object.fromEntries(
        Object.entries<Option>(OPTIONS).map(([name, { value }]) => [
          name,
          { type: value === undefined ? "boolean" : "string" } as const,
        ]),
      ),
    }));
  } catch (error) {
    throw new OptionFault((error as Error).message);
  }
  if (values.help === true) return "help";

  const checked = (name: OptionName, text: string, least: number, most: number): number => {
    const value = Number(text);
    if (text === "" || !Number.isInteger(value) || value < least || value > most)
      throw new OptionFault(`--${name} must be a whole number from ${least} to ${most}`);
    return value;
  };
  const number = <Otherwise>(name: OptionName, otherwise: Otherwise, most: number, least = 1): number | Otherwise =>
    values[name] === undefined ? otherwise : checked(name, String(values[name]), least, most);
  const listOf = <Item>(name: OptionName, otherwise: readonly Item[], item: (text: string) => Item): readonly Item[] =>
    values[name] === undefined ? otherwise : String(values[name]).split(",").map(item);
  const numbers = (name: OptionName, otherwise: readonly number[], most: number): readonly number[] =>
    listOf(name, otherwise, (text) => checked(name, text, 1, most));
  const wordsOf = <Word extends string>(name: OptionName, words: readonly Word[], otherwise: Word): readonly Word[] =>
    listOf(name, [otherwise], (text) => {
      const found = words.find((candidate) => candidate === text);
      if (found === undefined) throw new OptionFault(`--${name} must be one of ${words.join(", ")}`);
      return found;
    });
  const word = <Word extends string>(name: OptionName, words: readonly Word[], otherwise: Word): Word => {
    const [found, ...others] = wordsOf(name, words, otherwise);
    if (others.length > 0) throw new OptionFault(`--${name} must be one of ${words.join(", ")}`);
    return found!;
  };
  const text = (name: OptionName): string | null => (values[name] as string | undefined) ?? null;

  const modes = wordsOf("mode", Object.keys(MODES) as ModeName[], "one");
  const nodes = numbers("nodes", [1], 16);
  const url = text("url");
  const stores = wordsOf("store", STORES, url === null ? "sqlite" : "postgres");
  const waiting = number("waiting", 0, 10_000_000);
  const soakMinutes = number("soak", null, 240);
  const rate = number("rate", waiting > 0 ? 50 : null, 1_000_000);
  const least = Math.min(...modes.map((mode) => MODES[mode].destinations));
  const receiptDelayMs = number("receipt-delay", 0, 60_000, 0);
  const whole = Math.round(ROUND_MESSAGES * (1 + receiptDelayMs / 1000));
  const countOtherwise = waiting > 0 ? 1_000 : Math.min(whole, rate === null ? Infinity : rate * least * ROUND_SECONDS);
  const count = number("count", countOtherwise, 10_000_000);
  const connections = numbers("connections", [64], 5_000);
  const share = values.share === undefined ? (soakMinutes === null ? null : 0.7) : Number(values.share);
  if (share !== null && !(share > 0 && share <= 1)) throw new OptionFault("--share must be above 0 and at most 1");
  const options: Options = {
    stores,
    url,
    standbys: wordsOf("standby", STANDBYS, "none"),
    nodes,
    accounts: number("accounts", 1, 1_000),
    pinned: values.pinned === true,
    modes,
    until: word("until", UNTIL, "report"),
    connections,
    count,
    repeat: number("repeat", 5, 1_000),
    warmUp: number("warm-up", rate === null || waiting > 0 ? count : ROUND_MESSAGES, 10_000_000),
    loads: number("load", 1, MAX_LOADS),
    backlog: number("backlog", 4_000, 1_000_000),
    rate,
    share,
    stored: number("stored", 0, 100_000_000),
    waiting,
    soakMinutes,
    carriers: wordsOf("carrier", CARRIERS, "smpp").flatMap((carrier): readonly CarrierName[] =>
      carrier === "smpp" ? [carrier] : wordsOf("preset", PRESETS, "heliograph"),
    ),
    window: number("window", null, 10_000),
    // They are shared out among the nodes, and every node is to have one.
    binds: Math.max(number("binds", 1, 100), ...nodes),
    carrierRate: number("carrier-rate", waiting > 0 ? 1_000 : null, 100_000),
    partsPerSecond: number("parts-per-second", null, 100_000),
    receiptDelayMs,
    timeline: word("timeline", TIMELINES, DEFAULT_TIMELINE),
    profile: values.profile === true || values["profile-dir"] !== undefined,
    profileDirectory: text("profile-dir"),
    against: text("against"),
    peer: values.peer === undefined ? null : word("peer", PEERS, "kannel"),
    peerConnections: numbers("peer-connections", connections, 5_000),
    peerStores: wordsOf("peer-store", PEER_STORES, "memory"),
    json: values.json === true,
  };
  for (const [applies, message] of CONFLICTS) if (applies(options)) throw new OptionFault(message);
  return options;
}

/** What cannot go together. */
const CONFLICTS: readonly [applies: (options: Options) => boolean, message: string][] = [
  [
    ({ standbys, stores, url }) =>
      standbys.some((standby) => standby !== "none") && (!stores.includes("postgres") || url !== null),
    "--standby needs --store postgres, and a server of the run's own",
  ],
  [
    ({ stores, nodes }) => !stores.includes("postgres") && nodes.some((node) => node > 1),
    "--nodes above 1 needs --store postgres",
  ],
  [
    ({ carriers, nodes, waiting, carrierRate, peer }) =>
      carriers.some((carrier) => carrier !== "smpp") &&
      (nodes.some((node) => node > 1) || waiting > 0 || carrierRate !== null || peer !== null),
    "--carrier http is for one node, without --waiting, --carrier-rate and --peer",
  ],
  [({ rate, share }) => rate !== null && share !== null, "--rate and --share do not go together"],
  [
    ({ waiting, until }) => waiting > 0 && until === "accept",
    "--waiting measures the way to the carrier: --until accept does not go with it",
  ],
  [
    ({ accounts, loads, peer }) => Math.max(accounts, loads) > 1 && peer !== null,
    "--peer is for one account and one load",
  ],
  [
    ({ loads, connections, count, warmUp, modes }) =>
      loads > Math.min(...connections) ||
      modes.some((mode) => Math.ceil(Math.min(count, warmUp) / MODES[mode].destinations) < loads),
    "--load needs a connection and a request for each",
  ],
  [({ waiting, stored }) => waiting > 0 && stored > 0, "--waiting and --stored do not go together"],
  [({ waiting, peer }) => waiting > 0 && peer !== null, "--waiting and --peer do not go together"],
  [
    ({ against, stored, waiting }) => against !== null && stored + waiting > 0,
    "--against does not go with --stored and --waiting: the stores of another state may be different",
  ],
  [
    ({ soakMinutes, stores, nodes, modes, connections, against, peer, stored, waiting, until }) =>
      soakMinutes !== null &&
      (Math.max(stores.length, nodes.length, modes.length, connections.length) > 1 ||
        peer !== null ||
        against !== null ||
        stored + waiting > 0 ||
        until !== "report"),
    "--soak is for one service and its whole cycle: one store, one mode, nothing to compare it with",
  ],
  [
    ({ soakMinutes }) => soakMinutes !== null && process.platform !== "linux",
    "--soak needs Linux, which tells of a process's memory",
  ],
];
