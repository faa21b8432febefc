/** A service that stops cuts nobody off: at whichever address a client came, and whenever its answer began. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectSocket, createServer } from "node:net";
import { test } from "node:test";
import type { Store } from "../../src/store/port/store.ts";
import { DEMO, eventually, startTestService } from "../support/service.ts";

const LONG_MS = 60_000;
const BALANCE = "/account/1/balance";

/** A store in which a command waits until it is let through. */
class Held {
  waiting = 0;
  #release: () => void = () => undefined;
  readonly #released: Promise<void>;
  readonly #command: "balance" | "postings";

  constructor(command: "balance" | "postings") {
    this.#command = command;
    this.#released = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  readonly wrap = (store: Store): Store => ({
    ...store,
    [this.#command]: async (input: never) => {
      this.waiting++;
      await this.#released;
      return store[this.#command](input);
    },
  });

  release(): void {
    this.#release();
  }
}

/** A client that keeps its connection, and what became of it. */
async function clientAt(host: string, port: number) {
  const socket = connectSocket({ host, port });
  const seen = { text: "", isEnded: false, failure: null as string | null };
  socket.setEncoding("latin1").on("data", (text: string) => {
    seen.text += text;
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    seen.failure = error.code ?? error.message;
  });
  socket.on("close", () => {
    seen.isEnded = true;
  });
  await once(socket, "connect");
  return {
    seen,
    ask: (path: string) =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${DEMO}\r\naccept: */*\r\n\r\n`),
    destroy: () => socket.destroy(),
  };
}

async function hasAddress(host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(0, host, () => server.close(() => resolve(true)));
  });
}

test("under the name localhost both its addresses are served, and a stop resets nobody at either", async (t) => {
  if (!(await hasAddress("::1"))) return t.skip("this machine has no ::1");
  const held = new Held("balance");
  const service = await startTestService(t, {
    edgeStore: held.wrap,
    settings: { server: { host: "localhost", stopGraceMs: 500, stopTimeoutMs: LONG_MS } },
  });
  const port = Number(new URL(service.url).port);
  const hosts = ["127.0.0.1", "::1"];
  const idle = await Promise.all(hosts.map((host) => clientAt(host, port)));
  const working = await Promise.all(hosts.map((host) => clientAt(host, port)));
  t.after(() => {
    for (const { destroy } of [...idle, ...working]) destroy();
  });
  for (const { ask } of idle) ask("/healthz");
  await eventually(async () => idle.every(({ seen }) => seen.text.startsWith("HTTP/1.1 200 ")));
  for (const { ask } of working) ask(BALANCE);
  await eventually(async () => held.waiting === 2);

  let isStopped = false;
  const stopped = service.stop().then(() => {
    isStopped = true;
  });
  await eventually(async () => idle.every(({ seen }) => seen.isEnded));
  const late = await Promise.all(hosts.map((host) => clientAt(host, port).catch(({ code }) => code)));
  assert.deepEqual(late, ["ECONNREFUSED", "ECONNREFUSED"]);
  assert.equal(isStopped, false, "what is under way is waited for");
  held.release();
  await eventually(async () => working.every(({ seen }) => seen.isEnded));
  for (const { seen } of working) {
    assert.match(seen.text, /^HTTP\/1\.1 200 [\s\S]*\r\nconnection: close\r\n[\s\S]*"currency":"EUR"\}$/i);
    assert.equal(seen.failure, null);
  }
  for (const { seen } of idle) assert.equal(seen.failure, null);
  await stopped;
});

test("a connection whose answer began before the stop, and so did not say that it is the last, ends the grace after it", async (t) => {
  const held = new Held("postings");
  const service = await startTestService(t, {
    edgeStore: held.wrap,
    settings: { server: { stopGraceMs: 200, stopTimeoutMs: 10 * LONG_MS } },
  });
  const { hostname, port } = new URL(service.url);
  const [idle, working] = [await clientAt(hostname, Number(port)), await clientAt(hostname, Number(port))];
  t.after(() => {
    idle.destroy();
    working.destroy();
  });
  working.ask("/account/1/statement?from=2020-01-01T00:00:00.000%2B0000&format=csv");
  await eventually(async () => held.waiting === 1 && working.seen.text.includes("opening"));
  assert.doesNotMatch(working.seen.text, /connection: close/i);
  const stopped = service.stop();
  await eventually(async () => idle.seen.isEnded);
  assert.equal(working.seen.isEnded, false);
  held.release();
  await eventually(async () => working.seen.isEnded);
  assert.match(working.seen.text, /closing[\s\S]*\r\n0\r\n\r\n$/);
  assert.equal(working.seen.failure, null);
  await stopped;
});
