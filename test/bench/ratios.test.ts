/** What is divided by what, and how it is printed: on rounds that are made up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Options, readOptions } from "../../bench/cycle/options.ts";
import { type Measured, printTable, summary } from "../../bench/cycle/print.ts";
import { type Compared, type Ratio, ratios, tailsOf } from "../../bench/cycle/ratios.ts";
import { madeUpRound } from "./made-up.ts";

function options(...args: string[]): Options {
  const found = readOptions(args);
  assert.notEqual(found, "help");
  return found as Options;
}

interface MadeUp {
  readonly role?: Compared["role"];
  readonly threads?: readonly string[];
  readonly perSecond?: number;
  readonly load?: string;
  readonly service?: string;
}

function measured(name: string, times: readonly number[], made: MadeUp = {}): Measured {
  const { role = "own", threads = ["edge", "store"], perSecond = null, load = "", service = name } = made;
  const rounds = times.map((each) => madeUpRound(each, threads));
  const of = { name, service, load, mode: "one", role, perSecond };
  return { ...of, rounds, highest: [], peakMemoryBytes: null, profile: [], server: null };
}

const KANNEL = { role: "peer", threads: ["bearerbox", "smsbox"] } as const;

function ratioOf(found: readonly Ratio[], figure: string) {
  return found.find((each) => each.figure === figure)?.ratio;
}

test("this checkout is compared with the other one, and both with each peer", () => {
  const results = [
    measured("here", [2, 3]),
    measured("there", [1, 1], { role: "against" }),
    measured("Kannel", [4, 4], KANNEL),
  ];
  const found = ratios(results, options("--against", "x", "--peer", "kannel"));
  assert.deepEqual(
    found.map(({ of, to }) => [of, to]),
    [
      ["here", "there"],
      ["here", "Kannel"],
      ["there", "Kannel"],
    ],
  );
});

test("each store is compared with the same one of the other checkout", () => {
  const against = { role: "against" } as const;
  const results = [
    measured("SQLite here", [1]),
    measured("SQLite there", [1], against),
    measured("PostgreSQL here", [1]),
    measured("PostgreSQL there", [1], against),
  ];
  assert.deepEqual(
    ratios(results, options("--against", "x", "--store", "sqlite,postgres")).map(({ of, to }) => [of, to]),
    [
      ["SQLite here", "PostgreSQL here"],
      ["SQLite here", "SQLite there"],
      ["PostgreSQL here", "PostgreSQL there"],
    ],
  );
});

test("a ratio is that of neighbouring rounds, with its median and how far the rounds lie apart", () => {
  const results = [measured("here", [2, 9, 4]), measured("there", [1, 3, 4], { role: "against" })];
  const [{ rounds } = { rounds: [] }] = ratios(results, options("--against", "x"));
  const expected = { median: 2, least: 1, most: 3 };
  for (const figure of [
    "messages a second",
    "CPU µs a message",
    "CPU µs a message, edge",
    "CPU µs a message, store",
    "wake-ups a message",
    "start to answer, p50",
    "start to answer, p99",
    "start to answer, p99.9",
  ])
    assert.deepEqual(ratioOf(rounds, figure), expected, figure);
});

test("at a low rate the CPU is compared too, by thread only where both have the thread", () => {
  const results = [measured("here", [3], { perSecond: 50 }), measured("Kannel", [2], { ...KANNEL, perSecond: 50 })];
  const [{ rounds } = { rounds: [] }] = ratios(results, options("--rate", "50", "--peer", "kannel"));
  assert.equal(ratioOf(rounds, "CPU µs a message")?.median, 1.5);
  assert.equal(ratioOf(rounds, "start to report, p99")?.median, 1.5);
  assert.equal(ratioOf(rounds, "CPU µs a message, edge"), undefined);
});

test("how far a service's slow answers are from its usual ones is a ratio of its own", () => {
  assert.deepEqual(
    tailsOf(measured("here", [1, 7])).map(({ figure, ratio }) => [figure, ratio.median]),
    [
      ["start to answer, p99 by p50", 3],
      ["start to answer, p99.9 by p50", 5],
    ],
  );
});

test("the table ends with all ratios", () => {
  const results = [measured("here", [2, 3]), measured("there", [1, 1], { role: "against" })];
  const text = printTable(results, options("--against", "x")).join("\n");
  const [figures, end] = text.split("Ratios of neighbouring rounds");
  assert.match(figures!, /^ {2}wake-ups a message +5\.00 \(4\.00 – 6\.00\)\n {4}edge +2\.50 /m);
  assert.match(end!, /^here, divided by there\n {2}messages a second +2\.50 \(2\.00 – 3\.00\)\n/m);
  assert.match(end!, /^ {2}start to answer, p99\.9 +2\.50 \(2\.00 – 3\.00\)\n/m);
  assert.match(
    end!,
    /^here, by itself\n {2}start to answer, p99 by p50 +3\.00\n {2}start to answer, p99\.9 by p50 +5\.00$/m,
  );
});

test("what a PostgreSQL server did stands below the profiles of the threads", () => {
  const server = {
    statements: [{ text: "SELECT 1", micros: 12.34, calls: 0.5, rows: 1 }],
    waits: [{ event: "IO/WalSync", share: 0.625 }],
    busyConnections: 1.5,
    tables: [{ table: "message", inserted: 1, updated: 0.5, hotUpdated: 0.25, deleted: 0 }],
  };
  const text = printTable([{ ...measured("here", [1]), server }], options()).join("\n");
  assert.match(text, /^ +12\.3 +0\.500 +1\.000 {2}SELECT 1$/m);
  assert.match(text, /^ +62\.5 % {2}IO\/WalSync$/m);
  assert.match(text, /^ +1\.000 +0\.500 +0\.250 +0\.000 {2}message$/m);
});

test("programs are told the wake-ups by thread, and the ratios within a service", () => {
  const { wakeUpsPerMessage, tails } = summary(measured("here", [2, 3]));
  assert.equal(wakeUpsPerMessage.gateway.store?.median, 2.5);
  assert.equal(wakeUpsPerMessage.gatewayTotal.median, 5);
  assert.equal(tails.length, 2);
});

test("a round at a set rate is no longer than its time, and is warmed up at full speed", () => {
  const sizes = (...args: string[]): number[] => {
    const { count, warmUp } = options(...args);
    return [count, warmUp];
  };
  assert.deepEqual(sizes(), [20_000, 20_000]);
  assert.deepEqual(sizes("--count", "300"), [300, 300]);
  assert.deepEqual(sizes("--rate", "50"), [1_000, 20_000]);
  assert.deepEqual(sizes("--receipt-delay", "3000"), [80_000, 80_000]);
  assert.deepEqual(sizes("--rate", "5000"), [20_000, 20_000]);
  assert.deepEqual(sizes("--waiting", "5"), [1_000, 1_000]);
});

test("with several numbers of connections the service at its best is also compared with the peer at its best", () => {
  const results = [
    measured("Heliograph, 64", [4, 6], { load: "64", service: "Heliograph" }),
    measured("Kannel, 64", [2, 2], { ...KANNEL, load: "64", service: "Kannel" }),
    measured("Heliograph, 256", [8, 10], { load: "256", service: "Heliograph" }),
    measured("Kannel, 256", [1, 1], { ...KANNEL, load: "256", service: "Kannel" }),
  ];
  const found = ratios(results, options("--connections", "64,256", "--peer", "kannel"));
  assert.deepEqual(
    found.map(({ of, to }) => [of, to]),
    [
      ["Heliograph, 64", "Kannel, 64"],
      ["Heliograph, 256", "Kannel, 256"],
      ["Of each the fastest: Heliograph, 256", "Kannel, 64"],
    ],
  );
  assert.deepEqual(ratioOf(found[2]!.rounds, "messages a second"), { median: 4.5, least: 4, most: 5 });
});

test("the peer may be measured with other numbers of connections than the service", () => {
  const results = [
    measured("Kannel, 64", [1, 1], { ...KANNEL, load: "64", service: "Kannel" }),
    measured("Heliograph, 512", [8, 10], { load: "512", service: "Heliograph" }),
  ];
  const found = ratios(results, options("--connections", "512", "--peer", "kannel", "--peer-connections", "64"));
  assert.deepEqual(
    found.map(({ of, to }) => [of, to]),
    [["Of each the fastest: Heliograph, 512", "Kannel, 64"]],
  );
  assert.equal(ratioOf(found[0]!.rounds, "messages a second")?.median, 9);
});
