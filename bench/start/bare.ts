/** What `node -e 0` costs, just before a start: what the speed of the machine does to one it does to the other. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Milliseconds of CPU, user and system, of a process that does nothing, from its start to its end. Node does not say what a child has used; bash does.
 * Null where there is none.
 */
export async function bareNodeCpuMs(node: string): Promise<number | null> {
  const env = { ...process.env, LC_ALL: "C", TIMEFORMAT: "%3U %3S" };
  const told = await run("bash", ["-c", 'time "$0" -e 0', node], { env }).catch(() => null);
  return told === null ? null : cpuMsOf(told.stderr);
}

/** Of what bash's `time` says: seconds of user and system. */
export function cpuMsOf(text: string): number | null {
  const [, user, system] = /^(\d+\.\d+) (\d+\.\d+)$/m.exec(text) ?? [];
  return user === undefined ? null : Math.round((Number(user) + Number(system)) * 1_000);
}
