/** The pictures in docs/pictures are those that `npm run pictures` draws, and each stands on a page. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DOMParser } from "@xmldom/xmldom";
import { PICTURES } from "../../scripts/pictures/pictures.ts";

const ROOT = join(import.meta.dirname, "../..");

for (const [name, draw] of Object.entries(PICTURES)) {
  const drawn = draw().toString();

  test(`${name}.svg is drawn from the source as it is now`, () => {
    const kept = readFileSync(join(ROOT, `docs/pictures/${name}.svg`), "utf8");
    assert.equal(kept, drawn, "`npm run pictures` draws them anew");
  });

  test(`${name}.svg is well formed, and says what it shows`, () => {
    const { documentElement } = new DOMParser({ onError: assert.fail }).parseFromString(drawn, "image/svg+xml");
    assert.equal(documentElement?.tagName, "svg");
    assert.match(documentElement?.getAttribute("aria-label") ?? "", /\w{4}/);
  });
}

test("there is no other picture, and every one stands on a page", () => {
  const files = globSync("*.svg", { cwd: join(ROOT, "docs/pictures") });
  assert.deepEqual(
    files.toSorted(),
    Object.keys(PICTURES)
      .map((name) => `${name}.svg`)
      .toSorted(),
  );
  const pages = globSync(["README.md", "docs/*.md"], { cwd: ROOT }).map((page) =>
    readFileSync(join(ROOT, page), "utf8"),
  );
  for (const file of files)
    assert.ok(
      pages.some((page) => page.includes(`pictures/${file}`)),
      file,
    );
});
