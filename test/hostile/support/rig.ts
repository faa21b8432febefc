/**
 * The real program under attack: a child process, a thread that watches its health, a good client that goes on sending, and its memory. What an
 * attack must not do is the same for all of them: health stays within a second, every good request is answered, memory stays bounded.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { Worker } from "node:worker_threads";
import { isLong } from "../../support/chance.ts";
import { type Child, startChild } from "../../support/child.ts";
import { PATIENT_MS } from "../../support/patience.ts";
import { basic, callService, eventually, temporaryDirectory } from "../../support/service.ts";
import type { Watched, WatcherData } from "./watcher.ts";

/** "Within a second", and twice that for a machine that does other things too: what is tested is a stop of many seconds. The short run only asks for answers. */
const PATIENCE_MS = isLong ? 2_000 : PATIENT_MS;
const SEND_EVERY_MS = 50;
const READ_ONLY = 5;
const MEGABYTE = 1024 * 1024;

const OTHERS = 20;

/** The demo account's, for whoever attacks with credentials. */
export const KEY = "App demo-api-key";
export const OPERATOR = basic("operator", "operator-password");

/** The longest that anything took, in milliseconds. */
interface Worst {
  readonly healthMs: number;
  readonly sendMs: number;
}

export interface Rig {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly child: Child;
  /** Runs the attack, and checks all the while that nobody else suffers. `megabytes` is what memory may grow by. */
  withstands(name: string, megabytes: number, attack: () => Promise<void>): Promise<Worst>;
  /** A gauge of its metrics. */
  gauge(name: "http_connections" | "http_callers"): Promise<number>;
}

export async function startRig(t: TestContext, settings: Record<string, string> = {}): Promise<Rig> {
  const data = await temporaryDirectory(t);
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data], {
    HELIOGRAPH_LOG_LEVEL: "error",
    ...settings,
  });
  const { hostname: host, port } = new URL(child.url);
  const key = await goodClient(child.url);
  const watcher = new Worker(new URL("./watcher.ts", import.meta.url), {
    workerData: { host, port: Number(port), authorization: key, patienceMs: PATIENCE_MS } satisfies WatcherData,
  });
  t.after(async () => {
    await watcher.terminate();
  });
  const tell = async (): Promise<Watched> => {
    watcher.postMessage("tell");
    const [told] = (await once(watcher, "message")) as [Watched];
    return told;
  };
  /** What it has seen since it was last asked, and at least some looks. */
  const watched = async (): Promise<Watched> => {
    const seen = await tell();
    while (seen.tookMs.length + seen.failures.length < READ_ONLY) {
      await pause(SEND_EVERY_MS);
      const { tookMs, sendsMs, failures } = await tell();
      seen.tookMs.push(...tookMs);
      seen.sendsMs.push(...sendsMs);
      seen.failures.push(...failures);
    }
    return seen;
  };
  const memory = (): number => residentOctets(child.process.pid!);
  const rig: Rig = {
    url: child.url,
    host,
    port: Number(port),
    child,
    async gauge(name) {
      const { text } = await callService(child.url, "GET", "/metrics", { authorization: null });
      return Number(new RegExp(`^heliograph_${name} (\\d+)$`, "m").exec(text)?.[1]);
    },
    async withstands(name, megabytes, attack) {
      await send(child.url, key);
      await tell();
      const idle = await watched();
      const before = memory();
      let most = before;
      const client = new GoodClient(child.url, key, () => {
        most = Math.max(most, memory());
      });
      await attack();
      const answered = await client.stop();
      const busy = await watched();
      const healthMs = Math.max(0, ...busy.tookMs);
      const sendMs = Math.max(0, ...busy.sendsMs);
      const ratio = healthMs / median(idle);
      t.diagnostic(
        `${name}: health took ${healthMs.toFixed(0)} ms at worst over ${busy.tookMs.length} looks, ${ratio.toFixed(0)} times an idle one, ` +
          `and another account's message ${sendMs.toFixed(0)} ms; ` +
          `${answered} good requests; memory grew by ${((most - before) / MEGABYTE).toFixed(0)} MB`,
      );
      assert.deepEqual(busy.failures, [], `${name}: health is answered all the while`);
      assert.ok(answered > 0, `${name}: somebody was served`);
      assert.ok(most - before < megabytes * MEGABYTE, `${name}: memory grew by ${most - before} octets`);
      assert.equal(child.process.exitCode, null, `${name}: it still runs`);
      return { healthMs, sendMs };
    },
  };
  return rig;
}

/** An account of its own for the good client, and its key. */
async function goodClient(url: string): Promise<string> {
  const ask = async (path: string, body: object) => {
    const { status, json, text } = await callService(url, "POST", path, { authorization: OPERATOR, body });
    assert.equal(status, 200, text);
    return json;
  };
  await ask("/operator/1/accounts", { key: "GOOD", username: "good", ratePlan: "standard", openingBalance: 100 });
  return `App ${(await ask("/operator/1/accounts/GOOD/api-keys", {})).key}`;
}

async function send(url: string, authorization: string): Promise<void> {
  const body = { from: "Good", to: "41793026727", text: "Hello" };
  const { status, text } = await callService(url, "POST", "/sms/1/text/single", { authorization, body });
  assert.equal(status, 200, `a good client is served: ${text}`);
}

/** Sends a message again and again until it is stopped; every one has to be taken. */
class GoodClient {
  readonly #url: string;
  readonly #key: string;
  readonly #onSent: () => void;
  readonly #running: Promise<number>;
  #stopping = false;

  constructor(url: string, key: string, onSent: () => void) {
    this.#url = url;
    this.#key = key;
    this.#onSent = onSent;
    this.#running = this.#run();
    // Whoever stops it hears of it.
    this.#running.catch(() => undefined);
  }

  async #run(): Promise<number> {
    let sent = 0;
    do {
      await send(this.#url, this.#key);
      sent++;
      this.#onSent();
      await pause(SEND_EVERY_MS);
    } while (!this.#stopping);
    return sent;
  }

  stop(): Promise<number> {
    this.#stopping = true;
    return this.#running;
  }
}

/** Many connections of an attacker; what becomes of each is nobody's business but the service's. */
export class Crowd {
  readonly #rig: Rig;
  readonly #sockets = new Set<Socket>();

  constructor(t: TestContext, rig: Rig) {
    this.#rig = rig;
    t.after(() => this.leave());
  }

  /** `from` is an address of this machine, such as 127.0.0.2. What it says goes out at once. It does not close its side, and reads only if told to. */
  async join(says: string | Uint8Array = "", { from, reads = true }: { from?: string; reads?: boolean } = {}) {
    const { host, port } = this.#rig;
    const socket = connect({
      host,
      port,
      allowHalfOpen: true,
      ...(from === undefined ? {} : { localAddress: from }),
    });
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
    if (reads) socket.resume();
    await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
    if (says.length > 0 && socket.writable) socket.write(says);
    return socket;
  }

  /** So many at once, a hundred at a time. */
  async joinMany(
    count: number,
    says: string | Uint8Array | ((index: number) => string) = "",
    options: { from?: (index: number) => string; reads?: boolean } = {},
  ): Promise<void> {
    for (let start = 0; start < count; start += 100) {
      const indexes = Array.from({ length: Math.min(100, count - start) }, (_, index) => start + index);
      await Promise.all(
        indexes.map((index) =>
          this.join(typeof says === "function" ? says(index) : says, {
            ...(options.from === undefined ? {} : { from: options.from(index) }),
            ...(options.reads === undefined ? {} : { reads: options.reads }),
          }),
        ),
      );
    }
  }

  /** Waits until the service has closed on all of them, although none has closed its own side. */
  async isShownOut(): Promise<void> {
    // Those of the watcher and of the good client, and the one that asks, with some that were just closed.
    await eventually(async () => {
      // Metrics are dear to ask for without a pause.
      await pause(SEND_EVERY_MS);
      return (await this.#rig.gauge("http_connections")) < OTHERS;
    });
    await this.leave();
  }

  async leave(): Promise<void> {
    const closed = [...this.#sockets].map((socket) => once(socket, "close").catch(() => undefined));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function median({ tookMs }: Watched): number {
  const sorted = [...tookMs].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 1;
}

/** Only Linux tells. */
function residentOctets(pid: number): number {
  if (process.platform !== "linux") return 0;
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
