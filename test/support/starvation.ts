/** What the host of a virtual machine gives to others while this one has work to do: "steal" in proc(5). */
import { readFileSync } from "node:fs";

/** Of the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
const STEAL = 7;
const KINDS = 8;

/** From now on: the share of the processors' time, idle included. 0 where nothing is known of it. */
export function takenAway(): () => number {
  const before = times();
  return () => {
    const passed = times().map((time, kind) => time - before[kind]!);
    const total = passed.reduce((sum, time) => sum + time, 0);
    return total === 0 ? 0 : passed[STEAL]! / total;
  };
}

function times(): number[] {
  try {
    const [first = ""] = readFileSync("/proc/stat", "utf8").split("\n");
    return first
      .split(/ +/)
      .slice(1, 1 + KINDS)
      .map(Number);
  } catch {
    return Array(KINDS).fill(0);
  }
}
