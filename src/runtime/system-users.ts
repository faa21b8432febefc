/** Who this process is to the system, and to whom a file belongs, by name where the system knows one. */
import { readFileSync, type Stats } from "node:fs";
import { userInfo } from "node:os";
import { orElse } from "./or-else.ts";

const USERS = "/etc/passwd";

/** "heliograph", or "the user 1001" where it has no name here. */
export function userName(uid: number): string {
  return knownUserName(uid) ?? `the user ${uid}`;
}

/** Null where it has none here. */
export function knownUserName(uid: number): string | null {
  // Null for a user without an entry in the system's list, as in a container.
  const own = orElse(() => userInfo(), null);
  if (own?.uid === uid) return own.username;
  const lines = orElse(() => readFileSync(USERS, "utf8"), "").split("\n");
  const line = lines.find((text) => text.split(":")[2] === String(uid));
  return line?.split(":")[0] ?? null;
}

/** The user of this process; null on Windows, which has other rights. */
export function ownUser(): number | null {
  return process.geteuid?.() ?? null;
}

/** Whether a file is another user's than this process's. */
export function isForeign({ uid }: Pick<Stats, "uid">): boolean {
  const own = ownUser();
  return own !== null && uid !== own;
}
