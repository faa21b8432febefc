/**
 * The description is good enough for machines: two validators find nothing in it, and a library that a generator from npm makes of it, without a warning,
 * is what a program is checked against and then sends with, reads reports with and manages a bulk with.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { eventually, startTestService, temporaryDirectory } from "../support/service.ts";

const ROOT = join(import.meta.dirname, "../..");
const service = await startTestService({ after });
const text = (await service.call("GET", "/openapi.json", { authorization: null })).text;
const outside = await startTestService({ after }, { sandbox: false });

test("the document is valid OpenAPI, in the sandbox and outside of it", async () => {
  for (const { call } of [service, outside]) {
    const { json } = await call("GET", "/openapi.json", { authorization: null });
    const { valid, errors } = await new Validator().validate(json);
    assert.ok(valid, JSON.stringify(errors));
  }
});

test("Redocly's recommended rules find no error in it and no warning", async () => {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: text, absoluteRef: "openapi.json", config });
  const said = problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
  // The oldest family has these paths: a sender could be called "subscriptions". A fixed step comes before a name, and a test has both.
  const isOfOneApi = (text: string): boolean => text.startsWith("no-ambiguous-paths #/paths/~11~1smsmessaging~1");
  assert.deepEqual(
    said.filter((text) => !isOfOneApi(text)),
    [],
  );
});

const TSCONFIG = {
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable"],
    types: [],
    module: "nodenext",
    strict: true,
    noEmit: true,
    erasableSyntaxOnly: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
  },
  files: ["program.ts"],
};

/** Runs a program of node_modules; its output. */
function run(file: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, file), ...args], {
    encoding: "utf8",
    cwd: ROOT,
  });
  assert.equal(status, 0, stdout + stderr);
  return stdout + stderr;
}

test("a generated library sends, reads reports and logs, manages a bulk, and reads errors", {
  timeout: 600_000,
}, async (t) => {
  const directory = join(await temporaryDirectory(t), "program");
  await mkdir(directory);
  await writeFile(join(directory, "openapi.json"), text);
  const said = run("node_modules/swagger-typescript-api/dist/cli.mjs", [
    "generate",
    ...["--path", join(directory, "openapi.json"), "--output", directory, "--name", "client.ts"],
    ...["--api-class-name", "Heliograph", "--enum-style", "union", "--module-name-first-tag"],
  ]);
  assert.doesNotMatch(said, /warn|error/i);
  await copyFile(join(import.meta.dirname, "program/program.ts"), join(directory, "program.ts"));
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(TSCONFIG));
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }));
  assert.equal(run("node_modules/typescript/bin/tsc", ["-p", directory]), "", "the program fits the library's types");
  assert.match(await readFile(join(directory, "client.ts"), "utf8"), /export interface Report \{/);

  const { Program } = await import(pathToFileURL(join(directory, "program.ts")).href);
  const program = new Program(service.url, "demo", "demo-password");
  const before = await program.balance();
  const { messageId, status } = await program.send("41793026727", "Hello");
  assert.equal(status.name, "PENDING_ENROUTE");
  assert.deepEqual(await program.send("41793026727", "Hello"), { to: "41793026727", status, smsCount: 1, messageId });
  const [report] = await eventually(async () => {
    const reports = await program.reports(messageId);
    return reports.length > 0 ? reports : undefined;
  });
  assert.deepEqual([report.status.name, report.error.permanent], ["DELIVERED_TO_HANDSET", false]);
  assert.deepEqual(
    (await program.logs(messageId)).map((log: { text: string }) => log.text),
    ["Hello"],
  );
  assert.equal(Math.round((before - (await program.balance())) * 100), 1, "sent and charged once");

  const [sendAt, movedTo] = [1, 2].map((days) =>
    new Date(Date.now() + days * 86_400_000).toISOString().replace("Z", "+0000"),
  );
  assert.deepEqual(await program.manageBulk("generated", sendAt, movedTo), [
    "PENDING_ACCEPTED",
    sendAt,
    movedTo,
    "PAUSED",
    "PENDING",
    "CANCELED",
    "CANCELED",
  ]);
  const { requestError } = await program.missingBulk("nothing");
  assert.equal(requestError.serviceException.text, "Bulk not found");
  assert.deepEqual(await program.session("demo", "demo-password"), [200, 204]);
});
