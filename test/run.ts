/**
 * Runs tests.
 *   node test/run.ts                   the short run, which is `npm test`
 *   node test/run.ts --long [PART…]    parts of the long run, all of them without a name: `npm run test:long`
 *   node test/run.ts --long --list     names them
 *   node test/run.ts --changed [BASE]  the parts that the files changed since BASE (main) call for: `npm run test:changed`
 *   node test/run.ts FILE…             just these files; of a folder, what the short run has of it
 * Other options go on to node: `node test/run.ts --test-name-pattern=…`.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { filesOfPart, LONG_PARTS, type Plan, partsForChange, planOfPart, shortPlan } from "./runner/parts.ts";
import { openRoom } from "./runner/room.ts";
import { runAll } from "./runner/run-all.ts";
import { SHARED_URL, startPostgres } from "./support/postgres-server.ts";
import { makeSqliteTemplate, SHARED_TEMPLATE } from "./support/sqlite-template.ts";

const OURS = ["--long", "--list", "--changed"];
/** Of a process with its file or files. Only the tests of the runner itself have another. */
const LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? 300_000);
/** What the test files load is compiled once, and stays so between runs. */
const COMPILED = join(import.meta.dirname, "../node_modules/.cache/heliograph-tests");

const given = process.argv.slice(2);
const names = given.filter((argument) => !argument.startsWith("-"));
const has = (option: string): boolean => given.includes(option);

function changedSince(base: string): string[] {
  const git = (...args: string[]): string[] => execFileSync("git", args, { encoding: "utf8" }).split("\n");
  return [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")].filter(Boolean);
}

function plans(): Plan[] {
  if (has("--changed")) return partsForChange(changedSince(names[0] ?? "main")).map(planOfPart);
  if (has("--long")) return (names.length > 0 ? names : Object.keys(LONG_PARTS)).map(planOfPart);
  if (names.length === 0) return [shortPlan()];
  const store = process.env.TEST_STORE === "postgres" ? "postgres" : "sqlite";
  const short = shortPlan();
  const jobs = names.flatMap((name) =>
    name.endsWith(".ts")
      ? [{ files: [name], store } as const]
      : short.jobs.filter(({ files }) => files[0]!.startsWith(join(name, "/"))),
  );
  return [{ ...short, name: "these files", jobs }];
}

if (has("--list")) {
  for (const [name, { about }] of Object.entries(LONG_PARTS))
    console.log(`${name.padEnd(12)}${String(filesOfPart(name).length).padStart(3)} files  ${about}`);
  process.exit(0);
}

const chosen = plans();
const room = openRoom();
process.env.TMPDIR = room.directory;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => void room.close().then(() => process.exit(1)));

// Files that are named start one of their own, if they need one.
const postgres =
  has("--long") || has("--changed") || names.length === 0 ? await startPostgres({ durable: false }) : null;
const template = makeSqliteTemplate(room.directory);
const shared = { [SHARED_TEMPLATE]: template.directory, ...(postgres === null ? {} : { [SHARED_URL]: postgres.url }) };
const failed: string[] = [];
for (const plan of chosen) {
  if (chosen.length > 1) console.log(`\n== ${plan.name}`);
  const isGood = await runAll(plan, {
    room,
    limitMs: LIMIT_MS,
    nodeArguments: given.filter((argument) => argument.startsWith("-") && !OURS.includes(argument)),
    environment: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...shared, ...plan.environment },
  });
  if (!isGood) failed.push(plan.name);
}
await postgres?.remove();
await room.close();
if (chosen.length > 1)
  console.log(failed.length > 0 ? `\nfailed: ${failed.join(", ")}` : `\nall ${chosen.length} parts are good`);
process.exit(failed.length > 0 ? 1 : 0);
