/** The house rules that a machine can check: who imports whom, how large a file may be, what may be exported, and who may read the clock. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = globSync("src/**/*.ts", { cwd: ROOT });

const MAP = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");

/** A table of docs/architecture.md whose first column is `folder/`, or `prefix/room/`: folder → folders and files that it may import. */
function readMap(prefix = ""): Map<string, Set<string>> {
  const rows = [...MAP.matchAll(new RegExp(`^\\| \`${prefix}(\\w+/|\\*\\.ts)\` \\|[^|]*\\|([^|]*)\\|$`, "gm"))];
  return new Map(
    rows.map(([, folder, imports]) => [
      folder === "*.ts" ? "files" : folder!.slice(0, -1),
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
  return [...text.matchAll(/(?:from |import |import\()"(\.[^"]+)"/g)].map(([, target]) =>
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

/** The room of a file below src/store: its folder, or "files" for one that stands in src/store itself. */
function roomInStore(path: string): string {
  const [first = "", ...rest] = path.split("/").slice(2);
  return rest.length === 0 ? "files" : first;
}

test("inside the store every room imports only what the second map allows", () => {
  const map = readMap("store/");
  const files = SOURCES.filter((file) => file.startsWith("src/store/"));
  for (const room of new Set(files.map(roomInStore))) assert.ok(map.has(room), `the map has store/${room}`);
  const strays = files.flatMap((file) => {
    const room = roomInStore(file);
    if (file === "src/store/open.ts") return []; // it chooses an engine, and puts the parts together
    return importsOf(file)
      .filter((target) => target.startsWith("src/store/"))
      .filter((target) => roomInStore(target) !== room && !map.get(room)!.has(roomInStore(target)))
      .map((target) => `${file} imports ${target}`);
  });
  assert.deepEqual(strays, []);
});

test("a command knows tables, and never an engine", () => {
  const strays = SOURCES.filter((file) => file.startsWith("src/commands/")).flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith("src/store/") && !["files", "port", "schema"].includes(roomInStore(target)))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(strays, []);
});

/**
 * Tarjan's search. Each file is visited once and gets a number; `reach` is the lowest number on the trail that can be reached from it. A file that
 * reaches nothing before itself ends a group, and a group of several files is a circle.
 */
function circlesIn(importsOfFile: ReadonlyMap<string, readonly string[]>): string[][] {
  const numbers = new Map<string, number>();
  const trail: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    const number = numbers.size;
    numbers.set(file, number);
    trail.push(file);
    let reach = number;
    for (const target of importsOfFile.get(file)!) {
      if (!numbers.has(target)) reach = Math.min(reach, visit(target));
      else if (trail.includes(target)) reach = Math.min(reach, numbers.get(target)!);
    }
    if (reach === number) {
      const group = trail.splice(trail.indexOf(file));
      if (group.length > 1) circles.push(group.sort());
    }
    return reach;
  };
  for (const file of importsOfFile.keys()) if (!numbers.has(file)) visit(file);
  return circles;
}

test("no circle of imports is in src, types included", () => {
  const imports = new Map(SOURCES.map((file) => [file, importsOf(file).filter((target) => SOURCES.includes(target))]));
  assert.deepEqual(circlesIn(imports), []);
});

test("no file of src is longer than 450 lines", () => {
  const MAX_LINES = 450;
  const lines = (file: string): number => readFileSync(join(ROOT, file), "utf8").split("\n").length - 1;
  const long = SOURCES.filter((file) => lines(file) > MAX_LINES).map((file) => `${file}: ${lines(file)} lines`);
  assert.deepEqual(long, []);
});

/** What no file of src imports from another, and why it is exported all the same. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  seededRandom: "the chance of tests and benchmarks; it stands beside the other one",
  speakingTo: "commands run in the process of a test and speak to it",
  SOURCE_ONLY: "with it a test sees that a copy forgets no table",
  TARGET_ONLY: "with it a test sees that a copy forgets no table",
};

/** The names that a file imports, or exports again, as "src/file.ts name"; "src/file.ts *" where all of it is exported again, or imported when it is needed. */
function namesImportedBy(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const lists = [...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)];
  const named = lists.flatMap(([, names, target]) =>
    names!.match(/(?<!\bas )\b(?!type\b|as\b)\w+/g)!.map((name) => [target!, name] as const),
  );
  const whole = [...text.matchAll(/^import (?:type )?\* as (\w+) from "(\.[^"]+)"/gm)].flatMap(([, all, target]) =>
    [...text.matchAll(new RegExp(`\\b${all}\\.(\\w+)`, "g"))].map(([, name]) => [target!, name!] as const),
  );
  const all = [...text.matchAll(/(?:\bimport\(|^export \* from )"(\.[^"]+)"/gm)].map(
    ([, target]) => [target!, "*"] as const,
  );
  return [...named, ...whole, ...all].map(
    ([target, name]) => `${relative(ROOT, join(ROOT, dirname(file), target))} ${name}`,
  );
}

/** The names that a text exports, those of lists too. The types that it declares are left out: one that stands in a signature may be named by whoever calls. */
function namesExportedBy(text: string): string[] {
  const declared = [...text.matchAll(/^export (?:async )?(?:abstract )?(?:class|const|function\*?) (\w+)/gm)];
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list!.split(","));
  const wholes = [...text.matchAll(/^export \* as (\w+) from/gm)];
  // Of "type A as B" the last word is what others import.
  return [...declared, ...lists.flatMap((item) => [...item.matchAll(/(\w+)\s*$/g)]), ...wholes].map(
    ([, name]) => name!,
  );
}

test("names that a file exports again are seen as exported", () => {
  const text = [
    "export const one = 1;",
    'export { two, type Three, four as five } from "./a.ts";',
    'export type { Six } from "./b.ts";',
    "export {\n  seven,\n  eight as nine,\n};",
    'export * as ten from "./c.ts";',
  ].join("\n");
  assert.deepEqual(namesExportedBy(text), ["one", "two", "Three", "five", "Six", "seven", "nine", "ten"]);
});

test("what is exported is imported: by another file of src, by a page of the console, or by a test that looks at a part of what its file does", () => {
  const users = (pattern: string) => new Set(globSync(pattern, { cwd: ROOT }).flatMap(namesImportedBy));
  // The pages of the console and the pictures of the docs use some of it too.
  const inSource = users("{src,console/src,scripts}/**/*.{ts,tsx}");
  const elsewhere = users("{test,bench}/**/*.ts");
  const idle = SOURCES.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), "utf8");
    return namesExportedBy(text).flatMap((name) => {
      const isUsedHere = text.match(new RegExp(`\\b${name}\\b`, "g"))!.length > 1;
      const known = `${file} ${name}`;
      const isFine =
        inSource.has(known) ||
        inSource.has(`${file} *`) ||
        (elsewhere.has(known) && (isUsedHere || Object.hasOwn(FOR_TESTS, name)));
      return isFine ? [] : [known];
    });
  });
  assert.deepEqual(idle, []);
});

test("TypeBox is imported for its types alone: what it makes is made by src/runtime/type.ts, and loads no seven hundred files", () => {
  const strays = SOURCES.flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line) => (/^(import|export) (?!type )[^"]*"typebox(\/\w+)?"/.test(line) ? [`${file}: ${line}`] : [])),
  );
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
