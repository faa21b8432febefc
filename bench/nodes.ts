/**
 * `npm run bench -- nodes`: what several nodes on one PostgreSQL server do, kind of load by kind of load. All numbers of nodes stand side by side, each
 * on a database of its own, and have their turn round by round. It says what it has found as it goes, for a run may be cut off.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { HERE } from "./cycle/checkout.ts";
import { REPORTS, startHeliograph } from "./cycle/heliograph.ts";
import { createDatabase, postgresServer, type Server } from "./cycle/postgres.ts";
import { commandLine, machineLine } from "./cycle/print.ts";
import { wholeRequests } from "./cycle/requests.ts";
import { Rig, type Round, type RoundOrder } from "./cycle/rig.ts";
import { onStage, orSayFault, type Stage } from "./cycle/stage.ts";
import { spreadOf } from "./cycle/statistics.ts";
import {
  type Measured,
  NODES_USAGE,
  type NodesOptions,
  nodesName,
  nodesOf,
  nodesTable,
  paceOf,
  ROWS,
  type Row,
  readNodesOptions,
  secondsOf,
} from "./nodes/model.ts";

const args = process.argv.slice(2);
await orSayFault(async () => {
  const options = readNodesOptions(args);
  if (options === "help") console.log(NODES_USAGE);
  else await onStage((stage) => main(options, stage));
});

interface Line extends Measured {
  readonly rounds: Round[];
  /** Messages a second by its last round. */
  pace: number;
  /** Requests a second, where they start at set times. */
  perSecond: number | null;
}

async function main({ rows, seconds, cycle }: NodesOptions, stage: Stage): Promise<void> {
  console.log(commandLine(["nodes", ...args]));
  console.log(machineLine());
  const server = await postgresServer(cycle, stage.stack);
  const rigs = new Map<number, Rig>();
  await Promise.all(cycle.nodes.map(async (nodes) => rigs.set(nodes, await startRig(nodes, server))));
  console.log(`${cycle.nodes.join(", ")} nodes stand ready after ${Math.round(performance.now() / 1000)} s`);
  /** Requests a second of `ROWS.accounts`, by numbers of nodes. */
  const highest = new Map<number, number>();

  for (const name of rows) {
    const row = ROWS[name];
    const lines = nodesOf(row, cycle.nodes).map((nodes): Line => ({ nodes, rounds: [], pace: 0, perSecond: null }));
    // Of one that fails, messages may still be under way: it has no more turns, and the others go on.
    const inTurn = async (turn: (line: Line) => Promise<void>): Promise<void> => {
      for (const line of lines) {
        if (!rigs.has(line.nodes)) continue;
        await turn(line).catch((error: Error) => {
          rigs.delete(line.nodes);
          process.exitCode = 1;
          console.log(`${name}, ${nodesName(line.nodes)}, and no more of these: ${error.message}`);
        });
      }
    };
    await inTurn(async (line) => {
      if (row.share !== null) {
        if (!highest.has(line.nodes)) {
          await warmUp(line, ROWS.accounts);
          highest.set(line.nodes, (await run(line, ROWS.accounts, line.pace * seconds)).requestsPerSecond);
        }
        line.perSecond = highest.get(line.nodes)! * row.share;
        line.pace = line.perSecond;
      } else await warmUp(line, row);
    });
    for (let number = 1; number <= cycle.repeat; number++) {
      await inTurn(async (line) => {
        let round: Round;
        do {
          round = await run(line, row, line.pace * secondsOf(row, seconds));
          if (line.perSecond === null) line.pace = paceOf(round, row.receiptDelayMs);
        } while (Number.isNaN(round.messagesPerSecond));
        line.rounds.push(round);
        const { messagesPerSecond, answerMs } = round;
        console.log(
          `${name}, ${nodesName(line.nodes)}, round ${number} of ${cycle.repeat}: ${Math.round(messagesPerSecond)} messages a second, ` +
            `answer p50 ${answerMs.p50.toFixed(1)} ms, p99 ${answerMs.p99.toFixed(1)} ms`,
        );
      });
    }
    const measured = lines.filter(({ rounds }) => rounds.length > 0);
    if (row === ROWS.accounts)
      for (const { nodes, rounds } of measured)
        highest.set(nodes, spreadOf(rounds.map((round) => round.requestsPerSecond)).median);
    for (const text of nodesTable(row.title, measured, cycle.loads)) console.log(text);
    console.log();
  }

  async function startRig(nodes: number, server: Server): Promise<Rig> {
    const directory = join(stage.directory, String(nodes));
    mkdirSync(directory);
    const database = await createDatabase(server, stage.stack);
    const parts = { options: cycle, checkout: HERE, carrier: "smpp", nodes, database, stored: 0, waiting: 0 } as const;
    const rigged = { options: cycle, carrier: "smpp", directory, sink: REPORTS, progress: stage.progress } as const;
    const start = (surroundings: Parameters<Parameters<typeof Rig.start>[0]["start"]>[0]) =>
      startHeliograph({ ...surroundings, ...parts });
    return Rig.start({ ...rigged, start }, stage.stack);
  }

  function run({ nodes, perSecond }: Line, row: Row, messages: number): Promise<Round> {
    const { mode, receiptDelayMs, accounts } = row;
    const order: RoundOrder = {
      mode,
      receiptDelayMs,
      perSecond,
      accounts: accounts === "one" ? 1 : cycle.accounts,
      connections: cycle.connections[0]! * nodes,
      backlog: cycle.backlog * nodes,
      messages: wholeRequests(Math.max(messages, 100 * cycle.loads), mode),
    };
    return rigs.get(nodes)!.run(order);
  }

  async function warmUp(line: Line, row: Row): Promise<void> {
    line.pace = paceOf(await run(line, row, cycle.warmUp * line.nodes), row.receiptDelayMs);
  }
}
