/** The README's commands, as pasted and in order, against the real program. Only the ports are other ones. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startChild } from "../support/child.ts";
import { closedPort } from "../support/ports.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";

const ROOT = join(import.meta.dirname, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const BLOCKS = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);
const WITH_NODE = { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}` };

function run(
  t: TestContext,
  script: string,
  more: Readonly<Record<string, string>> = {},
): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  // A group of its own, so that what the shell started ends with it.
  const child = spawn("sh", ["-ec", script], {
    cwd: ROOT,
    env: { ...WITH_NODE, ...more },
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

test("the steps to a real service work as pasted beside the sandbox, down to a delivered message and a doctor who is content", {
  timeout: 180_000,
}, async (t) => {
  const [serve, send, look] = BLOCKS.slice(BLOCKS.findIndex((block) => block.includes("heliograph init")));
  const home = await temporaryDirectory(t);
  const sandbox = await startChild(t, ["sandbox", "--port", "0", "--data", join(home, "data")]);
  const port = await closedPort();
  const paste = (block: string) => run(t, block.replaceAll("8090", String(port)), { HOME: home });
  const service = paste(serve!);
  await eventually(async () => service.output().includes(`listens on http://127.0.0.1:${port}`));

  const sending = paste(send!.replaceAll("curl ", "curl -sS --fail-with-body "));
  assert.equal(await sending.ended, 0, sending.output());
  assert.equal(JSON.parse(sending.output()).messages[0].status.name, "PENDING_ENROUTE");
  const exported = send!.split("\n")[0]!;
  const looking = async (): Promise<string> => {
    const { output, ended } = paste(`${exported}\n${look}`);
    assert.equal(await ended, 0, output());
    return output();
  };
  const said = await eventually(async () => {
    const output = await looking();
    return output.includes("DELIVERED_TO_HANDSET") && output;
  });
  assert.match(said, /it runs, and its store answers/);
  assert.doesNotMatch(said, /^\S* +(wrong|warning) /m);
  assert.equal((await fetch(`${sandbox.url}/readyz`)).status, 200, "the sandbox was not in the way");
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
