/**
 * The examination in a process of its own. A disk or a database that hangs takes whoever asks it along: a call to the system that does not come back
 * cannot be given up, and not even a signal ends it. So another process asks, and this one waits for it as long as a step may take.
 */
import { fork } from "node:child_process";
import module from "node:module";
import { dirname } from "node:path";
import type { Finding } from "../../doctor/finding.ts";
import { systemClock, type Timer } from "../../runtime/clock.ts";
import type { ExamineOptions, Progress } from "./examine.ts";
import { died, unended } from "./steps.ts";

const EXAMINER = new URL("./examiner.ts", import.meta.url);
/** Of what it complains of, the end is told. */
const MAX_COMPLAINT = 2_000;
/** A busy machine takes a while to start a process. */
const START_MS = 60_000;

/** With what was compiled for this process, where that is kept (bin/heliograph.js). */
function environment(): NodeJS.ProcessEnv {
  const kept = module.getCompileCacheDir();
  return kept === undefined ? process.env : { NODE_COMPILE_CACHE: dirname(kept), ...process.env };
}

export function examineApart(options: ExamineOptions, timeoutMs: number): Promise<Finding[]> {
  const child = fork(EXAMINER, { execArgv: [], env: environment(), stdio: ["ignore", "ignore", "pipe", "ipc"] });
  const findings: Finding[] = [];
  let complaint = "";
  let step = "start";
  return new Promise((resolve) => {
    let timer: Timer | null = null;
    const end = (last: Finding | null): void => {
      timer?.cancel();
      if (last !== null) findings.push(last);
      // It may hang where no signal reaches it: nobody waits for its end.
      child.removeAllListeners();
      child.on("error", () => undefined);
      child.kill("SIGKILL");
      if (child.connected) child.disconnect();
      child.stderr?.destroy();
      child.unref();
      resolve(findings);
    };
    const begin = (name: string, limitMs = timeoutMs): void => {
      step = name;
      timer?.cancel();
      timer = systemClock.after(limitMs, () => end(unended(step, limitMs)));
    };
    child.stderr?.on("data", (piece: Buffer) => {
      complaint = (complaint + piece).slice(-MAX_COMPLAINT);
    });
    child.on("message", (message) => {
      const told = message as Progress;
      if (told === "done") end(null);
      else if ("step" in told) begin(told.step);
      else findings.push(...told.findings);
    });
    child.on("error", (error) => end(died(step, error.message)));
    child.on("close", (code, signal) =>
      end(died(step, `${signal ?? `code ${code}`}${complaint === "" ? "" : `: ${complaint.trim()}`}`)),
    );
    begin(step, Math.max(START_MS, timeoutMs));
    child.send(options);
  });
}
