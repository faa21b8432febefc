/** The house rules that a machine can check: who imports whom, and who may read the clock. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = globSync("src/**/*.ts", { cwd: ROOT });

/** The table of docs/architecture.md: folder → folders and files that it may import. */
function readMap(): Map<string, Set<string>> {
  const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)\/` \|[^|]*\|([^|]*)\|$/gm)];
  return new Map(
    rows.map(([, folder, imports]) => [
      folder!,
      new Set(imports!.match(/[a-z]+(\.ts)?/g)?.filter((word) => word !== "and")),
    ]),
  );
}

/** The folder of a file below src, or its own name for a file that stands in src itself. */
function roomOf(path: string): string {
  const [first = "", ...rest] = path.split("/").slice(1);
  return rest.length === 0 ? first : first.replace(/\/$/, "");
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:from|import) "(\.[^"]+)"/g)].map(([, target]) =>
    relative(ROOT, join(ROOT, dirname(file), target!)),
  );
}

test("every folder imports only what the map in docs/architecture.md allows", () => {
  const map = readMap();
  const folders = new Set(SOURCES.map(roomOf).filter((room) => !room.endsWith(".ts")));
  assert.deepEqual([...map.keys()].sort(), [...folders].sort(), "the map names the folders that there are");
  const strays = SOURCES.flatMap((file) => {
    const room = roomOf(file);
    if (room.endsWith(".ts")) return []; // main, service, edge and delivery put the parts together
    return importsOf(file)
      .filter((target) => target.startsWith("src/"))
      .filter((target) => roomOf(target) !== room && !map.get(room)!.has(roomOf(target)))
      .map((target) => `${file} imports ${target}`);
  });
  assert.deepEqual(strays, []);
});

test("no folder is named in the map that it does not need", () => {
  const needed = new Map<string, Set<string>>();
  for (const file of SOURCES) {
    const rooms = needed.get(roomOf(file)) ?? new Set();
    for (const target of importsOf(file)) rooms.add(roomOf(target));
    needed.set(roomOf(file), rooms);
  }
  const idle = [...readMap()].flatMap(([room, allowed]) =>
    [...allowed].filter((other) => !needed.get(room)?.has(other)).map((other) => `${room} → ${other}`),
  );
  assert.deepEqual(idle, []);
});

/** The rooms of the store, and what each imports of the others. "files" are those that stand in src/store itself. */
const STORE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  schema: [],
  port: ["schema"],
  files: ["port", "schema"],
  commands: ["files", "port", "schema"],
  sqlite: ["commands", "files", "port", "schema"],
  postgres: ["commands", "files", "port", "schema"],
  "open.ts": ["postgres", "sqlite", "files", "port"],
};

test("inside the store, commands know no engine, and no engine knows the other", () => {
  const storeRoom = (file: string): string => {
    const [first = "", ...rest] = file.split("/").slice(2);
    if (rest.length > 0) return first;
    return first in STORE_ROOMS ? first : "files";
  };
  const strays = SOURCES.filter((file) => file.startsWith("src/store/")).flatMap((file) => {
    const room = storeRoom(file);
    return importsOf(file)
      .filter((target) => target.startsWith("src/store/") && storeRoom(target) !== room)
      .filter((target) => !STORE_ROOMS[room]?.includes(storeRoom(target)))
      .map((target) => `${file} imports ${target}`);
  });
  assert.deepEqual(strays, []);
});

test("the clock and chance are read in src/runtime only", () => {
  const READS =
    /\bDate\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|\bset(Timeout|Interval)\(|process\.hrtime/;
  const strays = SOURCES.filter((file) => roomOf(file) !== "runtime").flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line, index) => (READS.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );
  assert.deepEqual(strays, []);
});

test("every source file opens with what it is for", () => {
  const silent = SOURCES.filter((file) => !/^(\/\*\*|\/\/|#!)/.test(readFileSync(join(ROOT, file), "utf8")));
  assert.deepEqual(silent, []);
});
