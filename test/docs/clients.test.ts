/** The page on client libraries: what it says runs in our tests does, and its commands work as pasted. Only the ports are other ones. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { startTestService, temporaryDirectory } from "../support/service.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/clients.md"), "utf8");
const service = await startTestService({ after });

/** The blocks of a language, with the service's own address in them. */
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block]) =>
    block!.replaceAll("http://127.0.0.1:8080", service.url),
  );

/** What a program prints; it must end well. */
function output(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (data) => {
    text += data;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(text) : reject(new Error(`${code}: ${text}`))));
  });
}

test("the first messages by curl are taken", async () => {
  const commands = blocks("sh").filter((block) => block.startsWith("curl"));
  const statuses = [];
  for (const command of commands) {
    const answer = await output("sh", ["-ec", command.replace("curl ", "curl -sS --fail-with-body ")]);
    statuses.push(JSON.parse(answer).messages[0].status.name);
  }
  assert.deepEqual(statuses, ["PENDING_ACCEPTED", "PENDING_ENROUTE"]);
});

test("the first message of Node is taken", async (t) => {
  const directory = await temporaryDirectory(t);
  await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
  const [program] = blocks("js");
  await writeFile(join(directory, "hello.mjs"), program!);
  assert.equal(await output(process.execPath, [join(directory, "hello.mjs")]), "PENDING_ACCEPTED\n");
});

test("a library that is said to run in our tests is installed for them, in that version", () => {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const rows = [...PAGE.matchAll(/^\| npm `([^`]+)`[^|]*\| ([\d.]+) \|.*\*\*in our tests\*\*/gm)];
  assert.equal(rows.length, 2);
  for (const [, name, version] of rows) assert.ok(devDependencies[name!]?.startsWith(`^${version}`), name);
});

test("the first message of Node says which package it needs", () => {
  const [, node] = /### Node\n([\s\S]*?)\n### /.exec(PAGE)!;
  const [, imported] = /from "([^"]+)"/.exec(node!)!;
  assert.match(node!, new RegExp(`^npm install ${imported}$`, "m"));
});

test("every language has a first message, and each of them names the service's own address", () => {
  for (const language of ["sh", "js", "python", "php", "go", "java", "csharp", "ruby"]) {
    const [first] = blocks(language);
    assert.ok(first?.includes(service.url), language);
  }
});
