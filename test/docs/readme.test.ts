/** The README's commands, as pasted and in order, against the real program. Only the ports are other ones. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startChild } from "../support/child.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";

const ROOT = join(import.meta.dirname, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const BLOCKS = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);
const WITH_NODE = { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}` };

function run(
  t: TestContext,
  script: string,
): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  // A group of its own, so that what the shell started ends with it.
  const child = spawn("sh", ["-ec", script], {
    cwd: ROOT,
    env: WITH_NODE,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  child.stderr.on("data", (data) => {
    output += data;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  t.after(async () => {
    if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL");
    await ended;
  });
  return { child, output: () => output, ended };
}

test("the first steps work as pasted: a delivered report arrives, the balance goes down, and up again", {
  timeout: 600_000,
}, async (t) => {
  const [start, receive, send, balance, sendToNobody, funds] = BLOCKS;
  assert.equal(start, "npm ci && npm start\n");
  const data = await temporaryDirectory(t);
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.equal(scripts.start, "node bin/heliograph.js sandbox");
  const service = await startChild(t, ["sandbox", "--port", "0", "--data", data]);

  const receiver = run(t, receive!.replace("9000", "0"));
  const receiverUrl = await eventually(async () => /on (http:\S+)\/ /.exec(receiver.output())?.[1]);
  const paste = async (block: string): Promise<string> => {
    const script = block
      .replaceAll("http://127.0.0.1:8080", service.url)
      .replaceAll("http://127.0.0.1:9000", receiverUrl);
    const { output, ended } = run(t, script.replaceAll("curl ", "curl -sS --fail-with-body "));
    assert.equal(await ended, 0, output());
    return output();
  };

  assert.equal(JSON.parse(await paste(send!)).messages[0].status.name, "PENDING_ENROUTE");
  await eventually(async () => receiver.output().includes("DELIVERED_TO_HANDSET"));
  assert.match(receiver.output(), /"callbackData": "my first message"/);
  assert.deepEqual(JSON.parse(await paste(balance!)), { balance: 99.99, currency: "EUR" });
  await paste(sendToNobody!);
  await eventually(async () => receiver.output().includes("EC_UNKNOWN_SUBSCRIBER"));
  assert.equal(typeof JSON.parse(await paste(funds!)).transactionId, "number");
  assert.deepEqual(JSON.parse(await paste(balance!)), { balance: 124.98, currency: "EUR" });
});

test("the steps to a real service work as pasted, down to a sent message", { timeout: 180_000 }, async (t) => {
  const real = BLOCKS.find((block) => block.includes("heliograph init"))!;
  const data = join(await temporaryDirectory(t), "heliograph");
  const script = real.replaceAll("/var/lib/heliograph", data).replace(/serve .*/, "$& --port 0");
  const service = run(t, script);
  const url = await eventually(async () => /listens on (\S+)/.exec(service.output())?.[1]);
  const password = /Log in as acme with this password[^\n]*\n(\S+)/.exec(service.output())?.[1];
  const response = await fetch(`${url}/sms/1/text/single`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Basic ${btoa(`acme:${password}`)}` },
    body: JSON.stringify({ from: "Acme", to: "41793026727", text: "For real" }),
  });
  const { messages } = (await response.json()) as { messages: { status: { id: number } }[] };
  assert.equal(messages[0]?.status.id, 7);
});

test("every page that the README and the docs link to is there", () => {
  for (const page of [
    "README.md",
    "CONTRIBUTING.md",
    "docs/api.md",
    "docs/backup.md",
    "docs/operating.md",
    "docs/scaling.md",
    "docs/reselling.md",
    "docs/limits.md",
    "docs/security.md",
    "docs/sandbox.md",
    "docs/reports.md",
    "docs/incoming.md",
    "docs/architecture.md",
    "docs/powercuts.md",
  ]) {
    const text = readFileSync(join(ROOT, page), "utf8");
    for (const [, target] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      assert.ok(readFileSync(join(ROOT, page, "..", target!)).length > 0, `${page} links to ${target}`);
    }
  }
});
