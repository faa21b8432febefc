/** What the commands say of input that is wrong: one line, with what to do, and an exit code: 2 for the command line, 1 for all else. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { CommandFault, withStore } from "../../src/cli/support.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { SENDER_FORM } from "../../src/sms/addresses.ts";
import { openData } from "../support/accounts.ts";
import { type Ended, runProgram, startChild } from "../support/child.ts";
import { callService, temporaryDirectory } from "../support/service.ts";
import { commandsOn, SANDBOX_CATALOGUE } from "./in-process.ts";

const directory = await temporaryDirectory({ after });
const data = join(directory, "data");
const setUp = await runProgram(["init", "--data", data]);
const run = (...args: string[]) => runProgram([...args, "--data", data]);

function assertRefused({ code, stdout, stderr }: Ended, says: string, exitCode = 1): void {
  assert.deepEqual([code, stdout, stderr], [exitCode, "", `heliograph: ${says}\n`]);
}

test("a node's roles must be known ones, and less than all need a store that nodes can share", async () => {
  assertRefused(
    await run("serve", "--roles", "api,send"),
    '[node] roles must name some of api, dispatch, reports, not "api,send"',
  );
  assertRefused(
    await run("serve", "--roles", "api"),
    '[node] roles are "api", and the embedded store has one node that must do everything: set [store] url, or leave roles alone',
  );
});

test("init makes the data for its owner alone, and tells what comes next", async () => {
  assert.equal(setUp.code, 0, setUp.stderr);
  assert.match(setUp.stdout, /^Account OPERATOR1 \(operator\) is made\. Log in as operator with this password/m);
  assert.match(
    setUp.stdout,
    /^Next:\n {2}heliograph apply FILE .*\n {2}heliograph account create .*\n {2}heliograph serve/m,
  );
  assert.equal((await stat(data)).mode & 0o077, 0, "nobody else may look into it");
});

test("help lists the commands, and so does a command that does not exist", async () => {
  const help = await runProgram(["--help"]);
  assert.equal(help.code, 0);
  for (const name of ["sandbox", "serve", "init", "migrate", "apply", "account", "opt-out"]) {
    assert.match(help.stdout, new RegExp(`^ {2}${name}\\b`, "m"));
  }
  const unknown = await runProgram(["serv"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /^error: unknown command 'serv'/);
  assert.match(unknown.stderr, /heliograph --help lists the commands/);
});

test("init is done once; migrate as often as one likes", async () => {
  assertRefused(await run("init"), `${data} is set up already; "heliograph account create" makes more accounts`);
  assert.deepEqual(await run("migrate"), { code: 0, stdout: "The store is up to date.\n", stderr: "" });
});

test("apply says what is wrong with the file", async () => {
  const file = join(directory, "wrong.toml");
  await writeFile(file, "[[route]]\nprefix = ''\ncarrier = 'x'\n");
  assertRefused(
    await run("apply", file),
    `${file}:3:1: route "": carrier names "x", which is not a carrier of this file`,
  );
  const missing = join(directory, "missing.toml");
  assertRefused(await run("apply", missing), `${missing} cannot be read`);
});

// --- The same code without a process of its own, where there is much to try -----------------------------------------------------

const inProcess = readSettings({ environment: {}, flags: { store: { data } } });
const settingsFor = (place: string) => readSettings({ environment: {}, flags: { store: { data: place } } });

const KEY = "--key must be 1 to 64 letters and digits, with dashes between them if you like";
const NAME = "--username must be 1 to 64 characters without spaces and colons";
const SENDER = `--sender must be ${SENDER_FORM}`;
const CURRENCY = "--currency must be an ISO 4217 code such as EUR";
const money = (option: string, text: string) =>
  `${option} must be a decimal number of 0 or more with at most 6 places, not "${text}"`;
const WRONG_ACCOUNTS: readonly (readonly [options: Readonly<Record<string, string>>, says: string])[] = [
  [{ key: "" }, KEY],
  [{ key: "A-" }, KEY],
  [{ key: "A--1" }, KEY],
  [{ key: "Ä" }, KEY],
  [{ key: "A".repeat(65) }, KEY],
  [{ username: "" }, NAME],
  [{ username: "a:b" }, NAME],
  [{ username: "a b" }, NAME],
  [{ username: "a".repeat(65) }, NAME],
  [{ currency: "euro" }, CURRENCY],
  [{ currency: "eur" }, CURRENCY],
  [{ sender: "" }, `${SENDER}, not ""`],
  [{ sender: "++4179" }, `${SENDER}, not "++4179"`],
  [{ sender: "ALongerNameThanFits" }, `${SENDER}, not "ALongerNameThanFits"`],
  [{ funds: "-5" }, money("--funds", "-5")],
  [{ funds: "five" }, money("--funds", "five")],
  [{ funds: "1000000000.000001" }, "--funds is too large"],
  [{ "credit-limit": "0.0000001" }, money("--credit-limit", "0.0000001")],
  [{ parent: "NOBODY" }, '--parent names no reseller: there is no "NOBODY"'],
  [{ parent: "OPERATOR1" }, '--parent names "OPERATOR1", which is no reseller'],
  [{ "rate-plan": "gold" }, '--rate-plan names no rate plan: there is no "gold"'],
  [{ currency: "CHF" }, "--rate-plan has prices in EUR, and the account is in CHF"],
  [{ kind: "reseller", parent: "OPERATOR1" }, "--parent is for clients: only they belong to a reseller"],
  [{ key: "OPERATOR1" }, "--key: there is an account OPERATOR1 already"],
  [{ username: "operator" }, "--username: the username operator is taken"],
];

test("account create before any catalogue says that apply comes first, and blames no option that nobody typed", async (t) => {
  const { done, refused } = commandsOn("--data", join(await temporaryDirectory(t), "data"));
  await done("init");
  assert.deepEqual(await refused("account", "create", "--key", "ACME", "--username", "acme"), [
    1,
    'there is no rate plan yet: "heliograph apply FILE" sets carriers, routes and prices, and comes first',
  ]);
});

test("account create says what is wrong with an option, and makes nothing", async () => {
  const { done, refused } = commandsOn("--data", data);
  await done("apply", SANDBOX_CATALOGUE);
  for (const [options, says] of WRONG_ACCOUNTS) {
    const given = Object.entries({ key: "NEW", username: "new", ...options }).map(
      ([name, value]) => `--${name}=${value}`,
    );
    assert.equal((await refused("account", "create", ...given))[1], says);
  }
  await withStore(inProcess, async (store) => {
    assert.deepEqual(
      await Promise.all((["client", "reseller", "operator"] as const).map((kind) => store.countAccounts({ kind }))),
      [0, 0, 1],
    );
  });
});

test("data that cannot be opened is told in a sentence", async () => {
  const file = join(directory, "file");
  await writeFile(file, "");
  const junk = join(directory, "junk");
  await mkdir(junk);
  await writeFile(join(junk, "heliograph.sqlite"), "this is no database, but it is long enough to look at".repeat(100));
  const newer = join(directory, "newer");
  await withStore(settingsFor(newer), async () => undefined);
  const db = openData(newer);
  db.pragma("user_version = 9999");
  db.close();
  for (const [place, says] of [
    [join(file, "data"), /^the data in .*file.data cannot be opened: ENOTDIR/],
    [junk, /^the data in .*junk cannot be opened: file is not a database: name the directory of the data with --data/],
    [newer, /^the data in .*newer cannot be opened: the data is from a newer Heliograph than this one$/],
  ] as const) {
    await assert.rejects(
      withStore(settingsFor(place), async () => assert.fail("it was opened")),
      (error: Error) => error instanceof CommandFault && says.test(error.message),
      place,
    );
  }
});

test("settings that are wrong are told before anything is touched", async () => {
  const untouched = join(directory, "untouched");
  const start = ["sandbox", "--data", untouched];
  assertRefused(
    await runProgram([...start, "--port", "http"]),
    '--port must be a number from 0 to 65535, not "http"',
    2,
  );
  assertRefused(
    await runProgram(start, { HELIOGRAPH_SERVER_PROT: "1" }),
    "HELIOGRAPH_SERVER_PROT is not a setting; heliograph.default.toml lists them all",
  );
  assert.ok(!existsSync(untouched));
});

test("a service listens where the file, the environment and the command line say, the last one first", async (t) => {
  const config = join(directory, "settings.toml");
  await writeFile(
    config,
    `[server]\nport = 1\nhost = "127.0.0.3"\n[limits]\nbodyBytes = 100\n[store]\ndata = "/nowhere"\n`,
  );
  const settings = {
    HELIOGRAPH_SERVER_PORT: "2",
    HELIOGRAPH_SERVER_HOST: "127.0.0.1",
    HELIOGRAPH_STORE_DATA: join(directory, "configured"),
  };
  const { url } = await startChild(t, ["sandbox", "--config", config, "--port", "0"], settings);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d{2,5}$/);
  assert.ok(existsSync(join(directory, "configured", "heliograph.sqlite")));
  const large = await callService(url, "POST", "/sms/1/preview", { body: { text: "x".repeat(100) } });
  assert.equal(large.status, 413, "the limit of the file is in force");
});

test("on an older Node of this machine it runs on the Node that came with it", async (t) => {
  const nodes = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "node"));
  const old = nodes.find((node) => {
    const version = existsSync(node) ? spawnSync(node, ["--version"]).stdout.toString() : "";
    return Number(/^v(\d+)\./.exec(version)?.[1] ?? 99) < 24;
  });
  if (old === undefined) {
    t.skip("this machine has no older Node");
    return;
  }
  const { code, stdout } = await runProgram(["--help"], {}, old);
  assert.equal(code, 0);
  assert.match(stdout, /^Usage: heliograph/);
});
