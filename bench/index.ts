/**
 * `npm run bench -- [NAME] [options]`: runs one of the benchmarks of this folder; without a name the full cycle. Each is bounded and
 * ends by itself.
 */
const BENCHMARKS: Readonly<Record<string, { file: string; shows: string }>> = {
  cycle: {
    file: "./cycle/index.ts",
    shows: "the full cycle, from the request to the report; --help lists its options",
  },
  nodes: {
    file: "./nodes.ts",
    shows: "the full cycle by one node and by several on one PostgreSQL server; --help lists its options",
  },
  sms: { file: "./sms.ts", shows: "what it costs to count, encode and transliterate a text" },
  smpp: {
    file: "./smpp.ts",
    shows: "submit, answer and receipt through our SMPP session, against the npm library smpp",
  },
  pace: { file: "./pace.ts", shows: "how a carrier's rate is found from what it throttles, over simulated time" },
  sick: { file: "./sick.ts", shows: "how soon a carrier that is bound but sick is passed over, over simulated time" },
  schedule: { file: "./schedule.ts", shows: "start-up time and memory with a million scheduled messages" },
  start: {
    file: "./start.ts",
    shows: "the CPU of a start with a million messages, by thread and phase, and as a ratio to node -e 0",
  },
  idle: { file: "./idle.ts", shows: "what a sandbox that nobody uses takes of the machine: CPU, wake-ups, memory" },
  console: { file: "./console.ts", shows: "the console in a browser: from signing in to the first page" },
  turns: {
    file: "./turns.ts",
    shows: "the full cycle of this clone and of another, by turns: what a message costs in each",
  },
  beside: {
    file: "./beside/index.ts",
    shows:
      "what one account's load does to another's single messages; also as --beside [bulk|long|duplicates|logs|reports]",
  },
  copy: { file: "./copy.ts", shows: "moving a store from SQLite to PostgreSQL; --messages says how many" },
};

const args = process.argv.slice(2);
if (args[0] === "--beside") args[0] = "beside";
const [name = "", ...rest] = args[0] === undefined || args[0].startsWith("-") ? ["cycle", ...args] : args;
const benchmark = BENCHMARKS[name];
if (benchmark === undefined) {
  console.error("npm run bench -- NAME, where NAME is one of:");
  for (const [known, { shows }] of Object.entries(BENCHMARKS)) console.error(`  ${known.padEnd(10)}${shows}`);
  process.exitCode = 1;
} else {
  // The benchmark sees its own arguments where it would if it were run by itself.
  process.argv.splice(2, process.argv.length, ...rest);
  await import(benchmark.file);
}
