/** `heliograph listen`: what happens to an account's messages, while it happens, and across a restart of the service. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { formatDateTime, parseDateTime } from "../../src/schedule/date-time.ts";
import { type Child, type Program, runProgram, startChild, startProgram } from "../support/child.ts";
import { closedPort } from "../support/ports.ts";
import { callService, eventually, temporaryDirectory } from "../support/service.ts";

const MESSAGE = { from: "Heliograph", to: "41793026727", text: "Hello" };

/** For all tests that leave it as it was: a start takes long on a busy machine. */
let url: string;
const cleanups: (() => unknown)[] = [];
before(async () => {
  const t = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) };
  ({ url } = await sandboxOf(t, await temporaryDirectory(t)));
});
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

type Cleanup = Pick<TestContext, "after"> | { after(cleanup: () => unknown): void };

async function sandboxOf(t: Cleanup, data: string, port = "0"): Promise<Child> {
  return startChild(t, ["sandbox", "--quiet", "--port", port, "--data", data]);
}

async function listening(t: TestContext, url: string, args: readonly string[] = [], settings = {}): Promise<Program> {
  const program = startProgram(t, ["listen", "--url", url, ...args], settings);
  await eventually(async () => program.output().includes("Listening to"));
  return program;
}

async function send(url: string, fields: object = {}): Promise<string> {
  const { status, json } = await callService(url, "POST", "/sms/1/text/single", { body: { ...MESSAGE, ...fields } });
  assert.equal(status, 200);
  return json.messages[0].messageId;
}

const linesAbout = (program: Program, id: string): string[] =>
  program
    .output()
    .split("\n")
    .filter((line) => line.includes(id));

test("an account's events are printed as they happen: accepted, sent, delivered, the report, an incoming message, a warning", async (t) => {
  const own = await listening(t, url);
  const id = await send(url, { notifyUrl: "http://127.0.0.1:1/reports?token=hidden", sendat: "x" });
  await eventually(async () => linesAbout(own, id).length >= 4);
  assert.deepEqual(
    linesAbout(own, id)
      .slice(0, 4)
      .map((line) => line.replace(/^\S+ +/, "").replace(/ +.*$/, "")),
    ["accepted", "sent", "delivered", "report"],
  );
  assert.match(own.output(), /sent +to 41793026727 · carrier simulator took it/);
  assert.match(
    own.output(),
    /report +about 41793026727 · to http:\/\/127\.0\.0\.1:1\/reports\?token=\*\*\* · not taken: /,
  );
  assert.match(own.output(), /warning +POST \/sms\/1\/text\/single: sendat is not known here; did you mean sendAt\?/);
  const body = { from: "41793026727", to: "12345", text: "Hello back" };
  assert.equal((await callService(url, "POST", "/sandbox/1/incoming", { body })).status, 204);
  await eventually(async () => /incoming +from 41793026727 to 12345 · "Hello back"/.test(own.output()));
});

test("an operator listens to one account or to all; one account's events are nobody else's", async (t) => {
  const one = await listening(t, url, ["DEMO0001"]);
  const other = await listening(t, url, ["RESELLER1"]);
  const file = join(await temporaryDirectory(t), "password");
  writeFileSync(file, "operator-password\n", { mode: 0o600 });
  const all = await listening(t, url, ["--user", "operator", "--password-file", file]);
  const asReseller = await listening(t, url, ["--user", "reseller"], { HG_PASSWORD: "reseller-password" });
  const id = await send(url);
  for (const program of [one, all]) await eventually(async () => linesAbout(program, id).length === 3);
  assert.ok(
    linesAbout(all, id).every((line) => line.includes(" DEMO0001 · ")),
    all.output(),
  );
  for (const program of [other, asReseller]) {
    await program.end("SIGTERM");
    assert.deepEqual(linesAbout(program, id), []);
  }
});

test("with --json each event is a line for scripts, and --events chooses among them", async (t) => {
  const settings = { HG_API_KEY: "demo-api-key" };
  const program = await listening(t, url, ["--json", "--events", "accepted,failed"], settings);
  const id = await send(url, { to: "41793999003", sendAt: "2000-01-01T00:00:00.000+0000" });
  const events = await eventually(async () => {
    const lines = linesAbout(program, id);
    return lines.length === 2 && lines.map((line) => JSON.parse(line));
  });
  const about = { account: "DEMO0001", messageId: id, from: "Heliograph", to: "41793999003" };
  const [{ at, ...accepted }, { at: endedAt, ...failed }] = events;
  assert.deepEqual(accepted, { ...about, kind: "accepted", text: "Hello", status: "PENDING_ENROUTE" });
  assert.deepEqual(failed, {
    ...about,
    kind: "failed",
    status: "UNDELIVERABLE_NOT_DELIVERED",
    error: "EC_UNKNOWN_SUBSCRIBER",
  });
  for (const moment of [at, endedAt]) assert.equal(moment, formatDateTime(parseDateTime(moment)!));
  assert.ok(at <= endedAt);
});

test("it outlives a service that stops, and one that is killed, and says so", async (t) => {
  const data = await temporaryDirectory(t);
  let service = await sandboxOf(t, data);
  const program = await listening(t, service.url);
  for (const [place, signal] of (["SIGTERM", "SIGKILL"] as const).entries()) {
    const id = await send(service.url);
    await eventually(async () => linesAbout(program, id).length === 3);
    await service.end(signal);
    await eventually(async () => program.output().split("; trying again").length >= place + 2);
    service = await sandboxOf(t, data, new URL(service.url).port);
    await eventually(async () => program.output().split("Connected again.").length === place + 2);
  }
  const last = await send(service.url);
  await eventually(async () => linesAbout(program, last).length === 3);
});

test("who may not listen is told so, and a service that is not there is waited for", async (t) => {
  const at = ["listen", "--url", url];
  const wrong = await runProgram([...at, "--user", "demo"], { HG_PASSWORD: "wrong" });
  assert.deepEqual([wrong.code, wrong.stderr.includes("the user or the password is wrong")], [1, true]);
  const demo = { HG_PASSWORD: "demo-password" };
  const beyond = await runProgram([...at, "OPERATOR1", "--user", "demo"], demo);
  assert.deepEqual([beyond.code, /account is for operators and resellers/.test(beyond.stderr)], [1, true]);
  const nobody = await runProgram([...at, "NOBODY"]);
  assert.deepEqual([nobody.code, /no such account/.test(nobody.stderr)], [1, true]);
  const kinds = await runProgram([...at, "--events", "nonsense"]);
  assert.deepEqual([kinds.code, /events must be some of accepted,/.test(kinds.stderr)], [1, true]);
  for (const [args, words] of [
    [["--url", "nonsense"], /--url must be an absolute http or https URL/],
    [["--url", "https://sms.example"], /say who listens/],
    [["--user", "demo"], /--user needs --password-file/],
  ] as const)
    assert.match((await runProgram(["listen", ...args])).stderr, words);
  const waiting = startProgram(t, ["listen", "--url", `http://127.0.0.1:${await closedPort()}`]);
  await eventually(async () =>
    /cannot be reached \(ECONNREFUSED\); trying again \(--url names another address\)/.test(waiting.output()),
  );
});

test("a listener whose right is taken away hears no more", async (t) => {
  const made = await callService(url, "POST", "/account/1/api-keys", { body: { name: "for listening" } });
  assert.equal(made.status, 200);
  const program = await listening(t, url, [], { HG_API_KEY: made.json.key });
  assert.equal((await callService(url, "DELETE", `/account/1/api-keys/${made.json.id}`)).status, 204);
  assert.equal(await program.ended, 1);
  assert.match(program.output(), /lets this user listen no more|user or the password is wrong/);
});
