/** A thread that asks for /healthz again and again, on a connection of its own each time, and notes how long each answer took. */
import { connect } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

export interface WatcherData {
  readonly host: string;
  readonly port: number;
  /** An answer that takes longer has not come. */
  readonly patienceMs: number;
}

export interface Watched {
  /** Milliseconds, in order. */
  readonly tookMs: number[];
  /** What became of those that were not answered in time. */
  readonly failures: string[];
}

const PAUSE_MS = 20;
const { host, port, patienceMs } = workerData as WatcherData;

function askOnce(): Promise<string> {
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
      if (answer.includes('{"status":"ok"}')) end("ok");
    });
    socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  });
}

let tookMs: number[] = [];
let failures: string[] = [];
parentPort!.on("message", () => {
  parentPort!.postMessage({ tookMs, failures } satisfies Watched);
  tookMs = [];
  failures = [];
});
for (;;) {
  const startedMs = performance.now();
  const outcome = await askOnce();
  if (outcome === "ok") tookMs.push(performance.now() - startedMs);
  else failures.push(outcome);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
