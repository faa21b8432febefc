/** How many files and connections the system lets this process have open. Only Linux tells; null elsewhere. */
import { readFileSync } from "node:fs";
import { orElse } from "./or-else.ts";

export function maxOpenFiles(): number | null {
  const limits = orElse(() => readFileSync("/proc/self/limits", "utf8"), "");
  const [, soft] = /^Max open files +(\d+) /m.exec(limits) ?? [];
  return soft === undefined ? null : Number(soft);
}
