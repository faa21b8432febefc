/** The sandbox shows that it lives: its messages and reports line by line, its signing secret, how to begin anew, and what leaves the machine. */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { SandboxLife } from "../../src/cli/sandbox-life.ts";
import { LiveHub } from "../../src/events/live.ts";
import { type Child, runProgram, startChild, startProgram } from "../support/child.ts";
import { callService, eventually, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const MESSAGE = { from: "Heliograph", to: "41793026727", text: "Hello from my own phone network" };

type Cleanup = Pick<TestContext, "after"> | { after(cleanup: () => unknown): void };

/** For all tests that leave it as it was: a start takes long on a busy machine. */
let sandbox: Child;
const cleanups: (() => unknown)[] = [];
before(async () => {
  const t = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) };
  sandbox = await sandboxOn(t, await temporaryDirectory(t));
});
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function sandboxOn(t: Cleanup, data: string, ...options: string[]): Promise<Child> {
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data, ...options]);
  await eventually(async () => child.output().includes("Stop with Ctrl-C."));
  return child;
}

/** A receiver that takes every report. */
async function receiver(t: TestContext): Promise<{ readonly url: string; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      bodies.push(body);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/reports`, bodies };
}

async function sendOne(url: string, fields: object = {}): Promise<string> {
  const { status, json } = await callService(url, "POST", "/sms/1/text/single", { body: { ...MESSAGE, ...fields } });
  assert.equal(status, 200);
  return json.messages[0].messageId;
}

const secretIn = (output: string): string => /signed with (whsec_\S+)/.exec(output)![1]!;

test("each message has a line when it is accepted, when it ends, and when its report is answered", async (t) => {
  const { url, output } = sandbox;
  const { url: notifyUrl } = await receiver(t);
  const id = await sendOne(url, { notifyUrl });
  await eventually(async () => output().includes("answered 200"));
  const lines = output()
    .split("\n")
    .filter((line) => line.endsWith(` · ${id}`));
  assert.equal(lines.length, 3, output());
  assert.match(
    lines[0]!,
    /^\d\d:\d\d:\d\d accepted {2}to 41793026727 from Heliograph · "Hello from my own phone network" · /,
  );
  assert.match(lines[1]!, /^\d\d:\d\d:\d\d delivered to 41793026727 · /);
  assert.match(
    lines[2]!,
    /^\d\d:\d\d:\d\d report +about 41793026727 · to http:\/\/127\.0\.0\.1:\d+\/reports · answered 200 in \d+ ms · /,
  );

  const failed = await sendOne(url, {
    to: "41793999003",
    text: "\u001b[2J".padEnd(500, "x"),
    notifyUrl: "http://127.0.0.1:1/",
  });
  await eventually(async () => output().includes(`try 2 at`));
  const other = output()
    .split("\n")
    .filter((line) => line.endsWith(` · ${failed}`));
  assert.match(other[0]!, /"\\u001b\[2Jx{40,60}…"/, "the beginning of a text, and nothing that a terminal obeys");
  assert.match(other[1]!, /failed +to 41793999003 · UNDELIVERABLE_NOT_DELIVERED \(EC_UNKNOWN_SUBSCRIBER\)/);
  assert.match(other[2]!, /report .*not taken: .+ · try 2 at \d\d:\d\d:\d\d/);

  const secretive = `${notifyUrl.replace("//", "//me:s3cret@")}?token=t0ken`;
  const masked = await sendOne(url, { notifyUrl: secretive });
  await eventually(
    async () =>
      output()
        .split("\n")
        .filter((line) => line.endsWith(` · ${masked}`)).length === 3,
  );
  assert.doesNotMatch(output(), /s3cret|t0ken/);

  const refused = await sendOne(url, { to: "41793026727", text: "x".repeat(20_000) });
  await eventually(async () => /rejected +to 41793026727 .* · REJECTED_\w+ · /.test(output()));
  assert.ok(output().includes(refused));
  const body = { from: "41793026727", to: "12345", text: "Hello back" };
  assert.equal((await callService(url, "POST", "/sandbox/1/incoming", { body })).status, 204);
  await eventually(async () => /incoming +from 41793026727 to 12345 · "Hello back"/.test(output()));
});

test("a reader that does not read gets no lines kept for it, and is told how many there were", async () => {
  const clock = new VirtualClock();
  const live = new LiveHub(clock);
  const lines: string[] = [];
  let hasRoom = false;
  new SandboxLife({ live, clock, say: (line) => void lines.push(line), hasRoom: () => hasRoom });
  const tell = async (count: number): Promise<void> => {
    const event = { kind: "delivered", accountId: 1, atMs: 0, to: "41793026727", messageId: "1" } as const;
    live.take({ events: new Array(count).fill(event), missed: new Map() });
    await clock.advance(2_000);
  };
  await tell(10);
  await tell(5);
  assert.deepEqual(lines, []);
  hasRoom = true;
  await tell(1);
  assert.deepEqual(lines, ["00:00:00 delivered to 41793026727 · 1", "… and 15 more"]);
});

test("the greeting has the secret with which reports are signed, what leaves the machine, and how to begin anew", async (t) => {
  const { url, output } = sandbox;
  assert.match(
    output(),
    /nothing leaves this machine but the reports and messages that it posts to URLs that you give it/,
  );
  assert.match(output(), /heliograph sandbox --data \S+ --port 0 --fresh +begins anew/);
  const receive = startProgram(t, ["receive", "--port", "0", "--secret", secretIn(output())]);
  const [, port] = await eventually(async () => /127\.0\.0\.1:(\d+)/.exec(receive.output()));
  await sendOne(url, { notifyUrl: `http://127.0.0.1:${port}/` });
  await eventually(async () => /Signature: valid[\s\S]*DELIVERED_TO_HANDSET[\s\S]*Answered 200/.test(receive.output()));
});

test("a flood of messages is no flood of lines: what is too much in a second is counted", async () => {
  const { url, output } = sandbox;
  const destinations = Array.from({ length: 1_000 }, (_, index) => ({ to: String(41_790_000_000 + index) }));
  const body = { messages: [{ from: "Heliograph", text: "Hello", destinations }] };
  assert.equal((await callService(url, "POST", "/sms/1/text/advanced", { body })).status, 200);
  const more = await eventually(async () => /^… and ([\d,]+) more$/m.exec(output())?.[1]);
  assert.ok(Number(more.replaceAll(",", "")) > 900, more);
  assert.ok(output().split(" accepted  to 41790000").length <= 21, "twenty lines in that second");
});

test("--quiet prints nothing of messages, --fresh begins with empty data, and without it everything is kept", async (t) => {
  const data = await temporaryDirectory(t);
  const first = await sandboxOn(t, data, "--quiet");
  const { url: notifyUrl, bodies } = await receiver(t);
  const id = await sendOne(first.url, { notifyUrl });
  await eventually(async () => bodies.length === 1);
  assert.equal((await callService(first.url, "PUT", "/sandbox/1/clock", { body: { by: "1d" } })).status, 200);
  const balance = async ({ url }: Child): Promise<number> =>
    (await callService(url, "GET", "/account/1/balance")).json.balance;
  assert.equal(await balance(first), 99.99);

  const inUse = await runProgram(["sandbox", "--fresh", "--port", "0", "--data", data]);
  assert.deepEqual([inUse.code, inUse.stdout], [1, ""]);
  assert.match(inUse.stderr, /another Heliograph already runs on/);
  assert.equal(await balance(first), 99.99, "the one that runs goes on");
  assert.equal(await first.end("SIGTERM"), 0);
  assert.ok(!first.output().includes(id), "with --quiet nothing is printed of messages");

  const second = await sandboxOn(t, data);
  assert.equal(await balance(second), 99.99);
  assert.equal(secretIn(second.output()), secretIn(first.output()));
  await second.end("SIGTERM");

  const other = join(data, "notes.txt");
  writeFileSync(other, "not the sandbox's");
  const third = await sandboxOn(t, data, "--fresh");
  assert.equal(await balance(third), 100);
  assert.notEqual(secretIn(third.output()), secretIn(first.output()));
  assert.match(third.output(), /signed with whsec_\S+\n.*--fresh has made a new secret/);
  assert.doesNotMatch(second.output(), /has made a new secret/);
  assert.ok(existsSync(other), "what is not the sandbox's is left alone");
  assert.ok(!existsSync(join(data, "clock-offset")), "its clock shows the real time");
});

test("after a jump of its clock every time is of that clock, and a missed window changes nothing of what was before", async (t) => {
  const { url, output } = await sandboxOn(t, await temporaryDirectory(t));
  const DAY_MS = 86_400_000;
  const HOUR_MS = 3_600_000;
  const jump = async (by: string): Promise<number> => {
    const { status, json } = await callService(url, "PUT", "/sandbox/1/clock", { body: { by } });
    assert.equal(status, 200);
    return Date.parse(json.now.replace("+0000", "Z"));
  };
  const startMs = await jump("5h");

  // A window that opens an hour or two from then, for an hour, on every day.
  const opensMs = Math.ceil(startMs / HOUR_MS) * HOUR_MS + HOUR_MS;
  const hour = new Date(opensMs).getUTCHours();
  const days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
  const deliveryTimeWindow = { days, from: { hour, minute: 0 }, to: { hour: (hour + 1) % 24, minute: 0 } };
  const id = await sendOne(url, { deliveryTimeWindow, validityPeriod: 600 });
  const opens = new Date(opensMs).toISOString();
  const dueAt = opens.replace("Z", "+0000");
  const [, time] = await eventually(async () =>
    new RegExp(`^(\\S+) accepted .* goes at ${dueAt.replace("+", "\\+")} · ${id}$`, "m").exec(output()),
  );
  const [hours, minutes, seconds] = time!.split(":").map(Number) as [number, number, number];
  const sinceMs = ((hours * 60 + minutes) * 60 + seconds) * 1_000 - (startMs % DAY_MS);
  assert.ok((sinceMs + 2_000 + DAY_MS) % DAY_MS < 30 * 60_000, `${time} is of the clock that says ${opens}`);
  await sendOne(url, { notifyURL: "http://127.0.0.1:9/" });
  const [, warned] = await eventually(async () => /^(\d\d):.* warning /m.exec(output()));
  assert.ok(Number(warned) === hours || Number(warned) === (hours + 1) % 24, "a warning has the same clock");

  const life = async () => {
    const authorization = `Basic ${btoa("operator:operator-password")}`;
    const path = `/operator/1/accounts/DEMO0001/messages/${id}`;
    const { json } = await callService(url, "GET", path, { authorization });
    const console = await callService(url, "GET", `/console/1/message?id=${json.results[0].id}`);
    return { facts: json.results[0], page: console.json };
  };
  const first = await life();
  assert.deepEqual([first.facts.dueAt, first.facts.nextTryAt, first.page.heldBy], [dueAt, dueAt, "window"]);
  // Past its window, which opens again after the message's end.
  await jump("4h");
  const tells = ({ facts }: typeof first) =>
    facts.events
      .filter(({ what }: { what: string }) => what === "held")
      .map(({ until, detail }: { until: string; detail: string }) => [until, detail]);
  const held = await eventually(async () => {
    const now = await life();
    return now.page.heldBy === "missed window" && tells(now).length === 2 ? now : null;
  });
  assert.deepEqual([held.facts.dueAt, held.facts.nextTryAt, held.page.dueAt], [dueAt, null, opens]);
  const expiresAt = new Date(opensMs + 10 * HOUR_MS).toISOString().replace("Z", "+0000");
  const missed = [
    [dueAt, "by its time window"],
    [expiresAt, "its time window closed before it could go · it does not open again before the message expires"],
  ];
  assert.deepEqual(tells(held), missed);
  await jump("12h");
  const ended = await eventually(async () => {
    const now = await life();
    return now.facts.final ? now : null;
  });
  assert.deepEqual([ended.facts.status, ended.facts.dueAt], ["EXPIRED_EXPIRED", dueAt]);
  assert.deepEqual(tells(ended), missed, "what was told before stays told");
});

test("--fresh deletes nothing but a sandbox", async (t) => {
  const data = await temporaryDirectory(t);
  assert.equal((await runProgram(["init", "--data", data])).code, 0);
  const { code, stderr } = await runProgram(["sandbox", "--fresh", "--port", "0", "--data", data]);
  assert.deepEqual(
    [code, stderr],
    [1, `heliograph: --fresh deletes nothing but a sandbox, and ${data} is none: name another directory with --data\n`],
  );
  assert.equal((await runProgram(["account", "list", "--data", data])).code, 0, "the data is still there");
  const elsewhere = await runProgram(["sandbox", "--fresh", "--store", "postgres://nobody@127.0.0.1:1/none"]);
  assert.equal(elsewhere.code, 1);
  assert.match(elsewhere.stderr, /--fresh is for the embedded store/);
});
