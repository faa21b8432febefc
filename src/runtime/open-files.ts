/** How many files and connections the system lets this process have open. Only Linux tells; null elsewhere. */
import { readFileSync } from "node:fs";

export function maxOpenFiles(): number | null {
  try {
    const [, soft] = /^Max open files +(\d+) /m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
