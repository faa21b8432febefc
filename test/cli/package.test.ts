/** The package that is installed: it runs from node_modules, on any Node that `engines` names, with what production installs and nothing more. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { startChild } from "../support/child.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const PACKAGE = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const LOCK: Record<string, { dev?: boolean; devOptional?: boolean }> = JSON.parse(
  readFileSync(join(ROOT, "package-lock.json"), "utf8"),
).packages;

/** Says that it is Node 20, which is what the command looks at. */
const OLD_NODE = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process.versions,"node",{value:"20.19.0"})')}`;

const installed = join(await temporaryDirectory({ after }), "node_modules/heliograph-sms");
mkdirSync(installed, { recursive: true });
for (const name of [
  "bin",
  "package.json",
  "heliograph.default.toml",
  "example.catalogue.toml",
  "sandbox.catalogue.toml",
])
  cpSync(join(ROOT, name), join(installed, name), { recursive: true });
await run(process.execPath, [join(ROOT, "scripts/build-package.ts"), join(installed, "lib")]);
symlinkSync(join(ROOT, "node_modules"), join(installed, "node_modules"));

test("what is installed starts from node_modules, where Node runs no TypeScript, and sends", {
  timeout: 600_000,
}, async (t) => {
  assert.deepEqual(globSync("**/*.ts", { cwd: installed, exclude: (name) => name === "node_modules" }), []);
  const data = await temporaryDirectory(t);
  const program = join(installed, PACKAGE.bin.heliograph);
  const service = await startChild(t, ["sandbox", "--port", "0", "--data", data], {}, null, program);
  const response = await fetch(`${service.url}/sms/1/text/single`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Basic ${btoa("demo:demo-password")}` },
    body: JSON.stringify({ from: "Heliograph", to: "41793026727", text: "From a package" }),
  });
  const { messages } = (await response.json()) as { messages: { status: { name: string } }[] };
  assert.equal(messages[0]?.status.name, "PENDING_ENROUTE");
});

test("an older Node hands over to the one that was installed, with arguments, output and exit code", async () => {
  const program = join(ROOT, "bin/heliograph.js");
  const old = (...args: string[]) => run(process.execPath, ["--import", OLD_NODE, program, ...args]);
  assert.match((await old("--help")).stdout, /Usage: heliograph/);
  await assert.rejects(old("message", "nonsense"), (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 2);
    assert.match(error.stderr, /nonsense/);
    return true;
  });
});

test("a signal to both, as a terminal and systemd send it, stops in order", { timeout: 600_000 }, async (t) => {
  const data = await temporaryDirectory(t);
  const args = [join(ROOT, "bin/heliograph.js"), "sandbox", "--quiet", "--port", "0", "--data", data];
  const child = spawn(process.execPath, ["--import", OLD_NODE, ...args], { detached: true });
  const ended = new Promise((resolve) => child.once("close", (...how) => resolve(how)));
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, "SIGKILL");
    await ended;
  });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  await eventually(async () => output.includes("Stop with Ctrl-C"));
  process.kill(-child.pid!, "SIGTERM");
  assert.deepEqual(await ended, [0, null]);
});

test("the launcher of a clone runs from anywhere, also over a link", async (t) => {
  const directory = await temporaryDirectory(t);
  const link = join(directory, "heliograph");
  symlinkSync(join(ROOT, "heliograph"), link);
  assert.match((await run(link, ["--help"], { cwd: directory })).stdout, /Usage: heliograph/);
});

test("production has every package that the program imports, and neither compilers nor a database server", () => {
  const packages = Object.entries(LOCK).filter(([path]) => path !== "");
  const production = packages
    .filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  assert.deepEqual(
    production.filter((name) =>
      /typescript|vite|rolldown|esbuild|biome|postgres$|embedded|chromium|playwright/.test(name),
    ),
    [],
  );
  const imported = globSync("{src,bin}/**/*.{ts,js}", { cwd: ROOT }).flatMap((name) =>
    [...readFileSync(join(ROOT, name), "utf8").matchAll(/^(?:import|export) (?!type )[^;]*?from "([^".][^"]*)"/gm)].map(
      ([, from]) =>
        from!
          .split("/")
          .slice(0, from!.startsWith("@") ? 2 : 1)
          .join("/"),
    ),
  );
  assert.ok(imported.length > 100);
  const missing = [...new Set(imported)].filter((name) => !isBuiltin(name) && !(name in PACKAGE.dependencies));
  assert.deepEqual(missing, []);
});

test("the package is called heliograph-sms, its command heliograph, and no page runs a stranger's package", () => {
  assert.equal(PACKAGE.name, "heliograph-sms");
  assert.deepEqual(Object.keys(PACKAGE.bin), ["heliograph"]);
  const pages = [
    ...globSync("*.md", { cwd: ROOT }),
    ...globSync("{docs,src,console/src,bin}/**/*.{md,ts,tsx,js}", { cwd: ROOT }),
  ];
  assert.deepEqual(
    pages.filter((page) => readFileSync(join(ROOT, page), "utf8").includes("npx heliograph")),
    [],
  );
});
