/** Which version of Heliograph this is, as package.json says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "./or-else.ts";

const ROOT = join(import.meta.dirname, "../..");

export const VERSION: string = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string })
  .version;

/** How the command is called: a checkout has a launcher, and an installed package is on the PATH. */
export const PROGRAM: string = import.meta.filename.endsWith(".ts") ? "./heliograph" : "heliograph";

const COMMIT = /^[0-9a-f]{7,64}$/;

/** The commit that a package was made from stands in a file of it; a checkout has no such file, and what is no commit is not shown. */
function commitOf(root: string): string | null {
  const [first = ""] = orElse(() => readFileSync(join(root, "lib/commit"), "utf8"), "").split("\n");
  return COMMIT.test(first.trim()) ? first.trim() : null;
}

/** "1.2.0", or "1.2.0 (commit 0123abc)" */
export function versionWords({ root = ROOT }: { readonly root?: string } = {}): string {
  const commit = commitOf(root);
  return commit === null ? VERSION : `${VERSION} (commit ${commit})`;
}
