/**
 * A thread that asks for /healthz again and again, and sends a message after each, on a connection of its own each time, and notes how long each answer
 * took. It is a thread because whoever attacks is busy.
 */
import { connect } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

export interface WatcherData {
  readonly host: string;
  readonly port: number;
  /** Who sends messages. */
  readonly authorization: string;
  /** An answer that takes longer has not come. */
  readonly patienceMs: number;
}

export interface Watched {
  /** Milliseconds, in order; of messages too. */
  readonly tookMs: number[];
  readonly sendsMs: number[];
  /** What became of those that were not answered in time. */
  readonly failures: string[];
}

const PAUSE_MS = 20;
const { host, port, authorization, patienceMs } = workerData as WatcherData;

const HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const MESSAGE = JSON.stringify({ from: "Watcher", to: "41793026727", text: "Hello" });
const SEND =
  `POST /sms/1/text/single HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: ${authorization}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${MESSAGE.length}\r\n\r\n${MESSAGE}`;

function askOnce(request: string, expected: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let answer = "";
    const end = (outcome: string): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(patienceMs, () => end("no answer in time"));
    socket.on("error", (error) => end(error.message));
    socket.on("close", () => end("closed"));
    socket.on("data", (data) => {
      answer += data;
      if (answer.includes(expected)) end("ok");
    });
    socket.write(request);
  });
}

let tookMs: number[] = [];
let sendsMs: number[] = [];
let failures: string[] = [];
parentPort!.on("message", () => {
  parentPort!.postMessage({ tookMs, sendsMs, failures } satisfies Watched);
  tookMs = [];
  sendsMs = [];
  failures = [];
});
for (;;) {
  for (const [request, expected, times] of [
    [HEALTH, '{"status":"ok"}', () => tookMs],
    [SEND, '"groupName":"PENDING"', () => sendsMs],
  ] as const) {
    const startedMs = performance.now();
    const outcome = await askOnce(request, expected);
    if (outcome === "ok") times().push(performance.now() - startedMs);
    else failures.push(`${request.slice(0, 20)}: ${outcome}`);
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
