/** The pages for engineers name files and folders of this repository: each of them is there. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");
const PAGES = [
  "CONTRIBUTING.md",
  ...globSync("docs/{architecture,durability,performance,security}.md", { cwd: ROOT }),
].concat(globSync("docs/{decisions,internals}/*.md", { cwd: ROOT }));

/** What stands in backticks and looks like a path (with a slash, of lower case, and with nothing to be filled in), and each source file of a picture. */
function pathsIn(text: string): string[] {
  const named = [...text.matchAll(/`([a-z][\w.-]*\/[\w./-]*)`/g)];
  const drawn = [...text.matchAll(/^```\n[\s\S]*?^```$/gm)].flatMap(([picture]) => [
    ...picture.matchAll(/(?<![\w./-])([a-z][\w-]*\/[\w/-]+\.ts)\b/g),
  ]);
  return [...named, ...drawn].map(([, path]) => path!);
}

/** Pages speak of files as one sees them from the root, from src, or, where the page is about a folder, from there. */
const FROM = ["", "src", "src/store", "src/carriers/smpp"];

for (const page of PAGES) {
  test(`every file that ${page} names is there`, () => {
    const missing = pathsIn(readFileSync(join(ROOT, page), "utf8")).filter(
      (path) => !FROM.some((folder) => existsSync(join(ROOT, folder, path))),
    );
    assert.deepEqual(missing, []);
  });
}

test("every link between pages leads to a page, and to a heading where it names one", () => {
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
  const wrong = [...globSync("*.md", { cwd: ROOT }), ...globSync("docs/**/*.md", { cwd: ROOT })].flatMap((page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    return [...text.matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)].flatMap(([, target, anchor]) => {
      const file = target === "" ? join(ROOT, page) : join(ROOT, page, "..", target!);
      if (!existsSync(file)) return [`${page}: ${target}`];
      if (anchor === undefined) return [];
      const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));
      return headings.includes(anchor) ? [] : [`${page}: ${target}#${anchor}`];
    });
  });
  assert.deepEqual(wrong, []);
});
