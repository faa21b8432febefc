/** When nothing can be written, what is there is still read: right and whole, with what was accepted a moment before. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { type Child, startChild } from "../support/child.ts";
import { basic, callService, eventually, temporaryDirectory } from "../support/service.ts";

const OPERATOR = basic("operator", "operator-password");

/** The system's limit on the size of files, which a running process can be given: with 0 every write to a file fails. */
function limitFiles({ process }: Child, bytes: "0" | "unlimited"): void {
  execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);
}

function hasPrlimit(): boolean {
  try {
    execFileSync("prlimit", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

async function send(child: Child, messageId: string): Promise<number> {
  const destinations = [{ to: "41793026727", messageId }];
  const body = { messages: [{ from: "Sender", text: "Hello", destinations }] };
  return (await callService(child.url, "POST", "/sms/1/text/advanced", { body })).status;
}

test("with a disk that takes nothing reads are answered, and when it does again all goes on", {
  skip: hasPrlimit() ? false : "there is no prlimit",
  timeout: 600_000,
}, async (t) => {
  const data = await temporaryDirectory(t);
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  const get = async (path: string, authorization?: string) => {
    const answer = await callService(child.url, "GET", path, authorization === undefined ? {} : { authorization });
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.json;
  };
  const before = (await get("/account/1/balance")).balance;
  for (let count = 0; count < 5; count++) assert.equal(await send(child, `kept ${count}`), 200);
  limitFiles(child, "0");

  const look = async (): Promise<void> => {
    const logged = (await get("/sms/1/logs")).results.map(({ messageId }: { messageId: string }) => messageId);
    assert.deepEqual(logged.toSorted(), ["kept 0", "kept 1", "kept 2", "kept 3", "kept 4"]);
    assert.ok((await get("/account/1/balance")).balance < before);
    await get("/healthz");
    await get("/operator/1/routes", OPERATOR);
    await get("/operator/1/accounts", OPERATOR);
  };
  await look();
  for (let count = 0; count < 3; count++) {
    assert.equal(await send(child, `refused ${count}`), 503);
    assert.equal((await callService(child.url, "GET", "/readyz")).status, 503);
    await look();
  }

  limitFiles(child, "unlimited");
  await eventually(async () => (await callService(child.url, "GET", "/readyz")).status === 200);
  await eventually(async () => (await send(child, "kept 5")) === 200);
  await child.end("SIGKILL");
  const again = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  const { results } = (await callService(again.url, "GET", "/sms/1/logs")).json;
  const ids = results.map(({ messageId }: { messageId: string }) => messageId);
  assert.deepEqual(ids.filter((id: string) => id.startsWith("kept")).toSorted(), [
    "kept 0",
    "kept 1",
    "kept 2",
    "kept 3",
    "kept 4",
    "kept 5",
  ]);
});
