/**
 * Nodes as real processes with clients that send, while something is done to their database: how long nobody gets a 200, how long nothing
 * goes to the carrier, and at the end whether all that was accepted is stored, and charged once.
 */
import type { TestContext } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import {
  assertAllThere,
  type Database,
  Load,
  type Node,
  sentAgain,
  setUp,
  smppCatalogue,
  startNode,
  startWatchedSmsc,
  storedMessages,
  unfinished,
  type WatchedSmsc,
} from "../support/cluster.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { callService, eventually } from "../support/service.ts";

const NODES = 2;
/** What operators have who set nothing. */
const LEASE_MS = 10_000;
/** Some fifty messages a second: enough to be under way at any moment, little enough for two cores. */
const SENDERS = 6;
const PAUSE_MS = 100;
/** Of clients who would rather know. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 20;
/** Messages accepted between two rounds. */
const BETWEEN_ROUNDS = 100;

export interface Sight {
  readonly atMs: number;
  readonly accepted: number;
  readonly parts: number;
}

export class Trial {
  readonly #database: Database;
  readonly #network: WatchedSmsc;
  readonly #load: Load;
  readonly #nodes: readonly Node[];
  #longestPauseMs = 0;

  private constructor(t: TestContext, database: Database, network: WatchedSmsc, load: Load, nodes: readonly Node[]) {
    [this.#database, this.#network, this.#load, this.#nodes] = [database, network, load, nodes];
    let last = this.sight();
    const looking = setInterval(() => {
      const now = this.sight();
      this.#longestPauseMs = Math.max(this.#longestPauseMs, now.atMs - last.atMs);
      if (now.accepted > last.accepted) last = now;
    }, LOOK_EVERY_MS);
    t.after(() => clearInterval(looking));
  }

  /** `lookUrl` is that of the server that takes writes at the moment. */
  static async start(t: TestContext, url: string, lookUrl = () => url, nodeUrl = url): Promise<Trial> {
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    const network = await startWatchedSmsc(t);
    const database = await setUp(t, url, smppCatalogue(network.smsc, { binds: 2, window: 10 }), lookUrl);
    const start = () => startNode(t, { ...database, url: nodeUrl }, { leaseMs: LEASE_MS, logLevel: "info" });
    const nodes = await Promise.all(Array.from({ length: NODES }, start));
    process.once("exit", () => {
      for (const node of nodes) node.process.kill("SIGKILL");
    });
    const random = seededRandom(systemClock.now() % 1_000_000);
    const urls = nodes.map((node) => node.url);
    const load = new Load(t, {
      urls: () => urls,
      random,
      notifyUrl: receiver.url,
      senders: SENDERS,
      pauseMs: PAUSE_MS,
      patienceMs: PATIENCE_MS,
    });
    const trial = new Trial(t, database, network, load, nodes);
    await trial.goesOn(trial.sight());
    return trial;
  }

  sight(): Sight {
    return { atMs: performance.now(), accepted: this.#load.accepted.size, parts: this.#network.parts.length };
  }

  /** Milliseconds from then until the next 200, and until the next part at the carrier. */
  async goesOn(then: Sight): Promise<{ accepts: number; dispatches: number }> {
    const first = async (what: "accepted" | "parts"): Promise<number> => {
      const now = await eventually(async () => this.sight()[what] > then[what] && this.sight());
      return Math.round(now.atMs - then.atMs);
    };
    const [accepts, dispatches] = await Promise.all([first("accepted"), first("parts")]);
    return { accepts, dispatches };
  }

  /** What /readyz says at the moment, and what clients heard last that was no 200. */
  async says(): Promise<string> {
    const ask = (url: string) => callService(url, "GET", "/readyz", { authorization: null });
    const ready = await Promise.all(this.#nodes.map(async ({ url }) => (await ask(url)).status));
    const last = this.#load.unavailable.at(-1);
    const after = last === undefined ? "" : `, the last after ${seconds(last.afterMs)} s: ${JSON.stringify(last.body)}`;
    return `/readyz ${ready.join(" and ")}, ${this.refused()} answers of 503${after}`;
  }

  refused(): number {
    return this.#load.unavailable.length;
  }

  /** The load ends, and everything has its end. */
  async finish(): Promise<Record<string, string | number>> {
    const ended = this.#nodes.filter((node) => node.process.exitCode !== null || node.process.signalCode !== null);
    if (ended.length > 0) throw new Error(`a node has ended: ${ended[0]!.output().slice(-4_000)}`);
    await this.#load.stop();
    await this.#database.reopen();
    await eventually(async () => (await unfinished(this.#database)) === 0);
    const there = new Set((await storedMessages(this.#database)).map(({ key }) => key));
    const { accepted } = this.#load;
    const row = {
      accepted: accepted.size,
      lost: [...accepted.values()].filter((id) => !there.has(id)).length,
      "answers of 503": this.refused(),
      "sent again": sentAgain(this.#network.parts).size,
      "longest pause, s": seconds(this.#longestPauseMs),
    };
    console.table([row]);
    await assertAllThere(this.#database, this.#load);
    return row;
  }

  /** Some time under load, so that a round does not begin where the last one ended. */
  async flows(): Promise<void> {
    const before = this.#load.accepted.size;
    await eventually(async () => this.#load.accepted.size - before >= BETWEEN_ROUNDS);
  }
}

export function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
