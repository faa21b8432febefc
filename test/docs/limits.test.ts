/** docs/limits.md has every setting that is a number, with its default, and none that there is not. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "smol-toml";

const ROOT = join(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const DEFAULTS = parse(read("heliograph.default.toml")) as Record<string, Record<string, unknown>>;
/** A number that bounds nothing. */
const NO_LIMITS = new Set(["server.port"]);

/** The rows of the page that name a setting: its name and what the default begins with. */
const ROWS = [...read("docs/limits.md").matchAll(/^\|[^|]+\| *([^|]+?) *\| *`(\w+\.\w+)` *\|[^|]*\|$/gm)].map(
  ([, value, name]) => ({ name: name!, value: value! }),
);

const NUMBERS = Object.entries(DEFAULTS)
  .flatMap(([section, values]) => Object.entries(values).map(([name, value]) => [`${section}.${name}`, value] as const))
  .filter(([name, value]) => typeof value === "number" && !NO_LIMITS.has(name));

for (const [name, value] of NUMBERS) {
  test(`${name} is on the page, and its default is ${value}`, () => {
    const [row] = ROWS.filter((one) => one.name === name);
    assert.ok(row !== undefined, "docs/limits.md has no row for it");
    assert.equal(Number(/^[\d,]+/.exec(row.value)?.[0].replaceAll(",", "")), value, row.value);
  });
}

test("every setting that the page names is there", () => {
  const known = new Set<string>(NUMBERS.map(([name]) => name));
  assert.deepEqual(
    ROWS.filter(({ name }) => !known.has(name)),
    [],
  );
});
