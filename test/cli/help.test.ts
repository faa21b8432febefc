/** Help that teaches, and completion by Tab: both are made from the commands that there are. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import type { Command } from "commander";
import { pathOf, programWith } from "../../src/cli/program.ts";
import { versionWords } from "../../src/runtime/version.ts";
import { runProgram } from "../support/child.ts";
import { temporaryDirectory } from "../support/service.ts";
import { runInProcess } from "./in-process.ts";

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

test("every command says what it does, with an example that it understands", async () => {
  const program = await programWith(() => true);
  const leaves = leavesOf(program);
  assert.ok(leaves.length > 45, `there are ${leaves.length}`);
  for (const leaf of leaves) {
    const path = pathOf(leaf);
    const { code, stdout } = await runInProcess([...path.split(" ").slice(1), "--help"]);
    assert.equal(code, 0, path);
    if (path === "heliograph copy") continue; // its help is the move, step by step
    const [, examples = ""] = /\nExamples?:\n([\s\S]*)$/.exec(stdout) ?? [];
    assert.ok(examples.includes(path), `${path} has an example`);
    assert.match(leaf.description(), /^[A-Z].*\.$/s, path);
  }
  const { stdout } = await runInProcess(["--help"]);
  assert.match(stdout, /^Exit codes: 0 done; 1 /m);
  for (const { name } of program.commands.map((command) => ({ name: command.name() })))
    assert.match(stdout, new RegExp(`^ {2}${name} +\\S`, "m"));
});

test("the program says which version it is, and of which commit where its package says so", async (t) => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, "../../package.json"), "utf8"));
  const own = versionWords();
  assert.ok(own === version || own.startsWith(`${version} (commit `), own);
  for (const option of ["--version", "-V"]) {
    const { code, stdout, stderr } = await runProgram([option]);
    assert.deepEqual([code, stdout, stderr], [0, `heliograph ${own}\n`, ""]);
  }
  const root = await temporaryDirectory(t);
  assert.equal(versionWords({ root }), version, "a checkout has no such file");
  await mkdir(join(root, "lib"));
  await writeFile(join(root, "lib/commit"), "0123abc4567\n");
  assert.equal(versionWords({ root }), `${version} (commit 0123abc4567)`);
  await writeFile(join(root, "lib/commit"), "\u001b[2Jwhatever\n");
  assert.equal(versionWords({ root }), version, "what is no commit is not shown");
});

test("a command line that is wrong ends with 2, and says where to read more", async () => {
  const unknown = await runInProcess(["acount"]);
  assert.deepEqual([unknown.code, unknown.stdout], [2, ""]);
  assert.match(unknown.stderr, /^error: unknown command 'acount'\n\(Did you mean account\?\)\n/);
  const missing = await runInProcess(["account", "show"]);
  assert.equal(missing.code, 2);
  assert.match(
    missing.stderr,
    /^error: missing required argument 'key'\n\(heliograph account show --help tells more\)/,
  );
  const group = await runInProcess(["account"]);
  assert.deepEqual([group.code, group.stdout], [2, ""]);
});

test("bash completes commands, options and their choices", async (t) => {
  const directory = await temporaryDirectory(t);
  const script = join(directory, "completion.bash");
  const { stdout } = await runInProcess(["completion", "bash"]);
  await writeFile(script, stdout);
  const asked: readonly (readonly [words: readonly string[], expects: readonly string[]])[] = [
    [["acc"], ["account"]],
    [["re"], ["report", "receipt", "receive"]],
    [
      ["account", "re"],
      ["resume", "retire"],
    ],
    [["account", "create", "--ki"], ["--kind"]],
    [
      ["account", "create", "--kind", ""],
      ["client", "reseller", "operator"],
    ],
    [["--data", "account", "account", "pass"], ["password"]],
    [
      ["account", "change", "ACME", "--no-s"],
      ["--no-sender", "--no-senders"],
    ],
    [["account", "create", "--key", ""], []],
    [["apply", "--dry"], ["--dry-run"]],
    [["completion", "f"], ["fish"]],
    [["doctor", "--no"], ["--no-connect"]],
  ];
  const questions = asked.map(
    ([words]) =>
      `COMP_WORDS=(heliograph ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _heliograph; echo "\${COMPREPLY[*]}"`,
  );
  const { stdout: answers } = await promisify(execFile)("bash", [
    "--norc",
    "-c",
    [`source '${script}'`, ...questions].join("\n"),
  ]);
  assert.deepEqual(
    answers.split("\n").slice(0, -1),
    asked.map(([, expects]) => expects.join(" ")),
  );
  await promisify(execFile)("bash", ["-n", script]);
});

test("the scripts for zsh and fish name the same commands", async () => {
  for (const shell of ["zsh", "fish"]) {
    const { code, stdout } = await runInProcess(["completion", shell]);
    assert.equal(code, 0);
    for (const word of ["rotate-secret", "dry-run", "no-connect"]) assert.ok(stdout.includes(word), `${shell} ${word}`);
  }
  assert.equal((await runInProcess(["completion", "csh"])).code, 2);
});
