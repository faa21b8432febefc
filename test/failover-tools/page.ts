/** The configuration files of docs/scaling.md, as the page has them: what is run here is what operators read. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/scaling.md"), "utf8");

/** The block that begins with this line, with the page's addresses, names and folders replaced by ours. */
export function fromPage(firstLine: string, replacements: Readonly<Record<string, string>>): string {
  const block = PAGE.split(/^```\w*\n/m).find((text) => text.startsWith(firstLine));
  if (block === undefined) throw new Error(`docs/scaling.md has no block that begins with ${firstLine}`);
  return Object.entries(replacements).reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), block);
}
