/** The disk that power cuts are replayed on keeps what a real one promises, and no more. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../src/runtime/random.ts";
import { Disk, MANNERS, type Manner } from "./disk.ts";
import type { Entry } from "./trace.ts";

const FILE = 1n;
const PAGE = 4_096;
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

const write = (offset: number, text: string): Entry => {
  return { kind: "written", atNs: 0n, file: FILE, offset, data: Buffer.from(text) };
};
let flushes = 0;
function flush(end: "flushed" | "flush failed" = "flushed", what: "commit" | "directory" = "commit"): Entry[] {
  const entry = { atNs: 0n, file: FILE, flush: what, number: ++flushes };
  return [
    { kind: "flush begun", ...entry },
    { kind: end, ...entry },
  ];
}
const CREATED: Entry[] = [{ kind: "created", atNs: 0n, file: FILE, name: "log" }, ...flush("flushed", "directory")];

function diskAfter(seed: number, ...entries: Entry[]): Disk {
  const disk = new Disk(seededRandom(seed));
  for (const entry of [...CREATED, ...entries]) disk.apply(entry);
  return disk;
}

const left = (disk: Disk, manner: Manner, seed: number): string =>
  disk.afterCut(manner, seededRandom(seed)).get("log")!.toString();

test("what was flushed is there, however the power goes", () => {
  for (const manner of MANNERS) {
    for (const seed of SEEDS) {
      const disk = diskAfter(seed, write(0, "first"), ...flush(), write(PAGE, "second"));
      assert.match(left(disk, manner, seed), /^first/);
    }
  }
});

test("what was not flushed is there, or not, and what came later without what came before", () => {
  const disk = diskAfter(1, write(0, "one"), ...flush(), write(PAGE, "two"), write(2 * PAGE, "three"));
  assert.equal(left(disk, "none", 1), "one");
  assert.match(left(disk, "all", 1), /^one\0+two\0+three$/);
  for (const manner of ["pages", "sectors", "last"] as const)
    assert.ok(
      SEEDS.some((seed) => /^one\0+three$/.test(left(disk, manner, seed))),
      manner,
    );
});

test("a write is torn between sectors", () => {
  const disk = diskAfter(1, write(0, "a".repeat(PAGE)), ...flush(), write(0, "b".repeat(PAGE)));
  const torn = SEEDS.map((seed) => left(disk, "sectors", seed)).filter((text) => /ab|ba/.test(text));
  assert.ok(torn.length > 0);
  for (const text of torn) assert.match(text, /^(a{512}|b{512}){8}$/);
});

test("what a failed flush took is on disk only when its page is written again", () => {
  for (const seed of SEEDS) {
    const lost = [write(0, "one"), write(PAGE, "two"), ...flush("flush failed")];
    const later = diskAfter(seed, ...lost, write(2 * PAGE, "three"), ...flush());
    const again = diskAfter(seed, ...lost, write(PAGE, "T"), ...flush());
    assert.match(left(later, "all", seed), /three$/);
    assert.match(left(again, "none", seed), /Two$/);
  }
  assert.ok(
    SEEDS.some((seed) => {
      const disk = diskAfter(seed, write(0, "one"), ...flush("flush failed"), write(PAGE, "two"), ...flush());
      return /^\0+two$/.test(left(disk, "all", seed));
    }),
  );
});

test("a name is there for good when its directory was flushed", () => {
  const disk = new Disk(seededRandom(1));
  const [created, ...flushed] = CREATED as [Entry, ...Entry[]];
  disk.apply(created);
  assert.equal(disk.afterCut("none", seededRandom(1)).size, 0);
  assert.equal(disk.afterCut("all", seededRandom(1)).size, 1);
  for (const entry of flushed) disk.apply(entry);
  assert.equal(disk.afterCut("none", seededRandom(1)).size, 1);
});
