/**
 * Which store a service works on, as it tells whoever may ask for its status: so that the doctor does not take the answer of another service on the same
 * port for that of the one it looks at. A directory has its number in the file system, which is the same from within a container; its name is not.
 */
import { statSync } from "node:fs";
import type { Settings } from "../settings/settings.ts";

/** Empty where there is no such directory. */
export function storeMark({ url, data }: Settings["store"]): string {
  if (url !== "") return "database";
  const found = statSync(data, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "" : `directory ${found.ino}`;
}
