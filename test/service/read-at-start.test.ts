/** Somebody who reads the data for long, such as a backup, is in nobody's way. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Database from "better-sqlite3";
import { startChild } from "../support/child.ts";
import { callService, temporaryDirectory } from "../support/service.ts";

test("after a crash the service starts and accepts while somebody reads its data", async (t) => {
  const data = await temporaryDirectory(t);
  const args = ["sandbox", "--port", "0", "--data", data];
  const send = async (url: string): Promise<number> => {
    const body = { messages: [{ from: "Sender", text: "Hello", destinations: [{ to: "41793026727" }] }] };
    return (await callService(url, "POST", "/sms/1/text/advanced", { body })).status;
  };
  const first = await startChild(t, args);
  assert.equal(await send(first.url), 200);
  const reader = new Database(join(data, "heliograph.sqlite"), { readonly: true });
  t.after(() => reader.close());
  reader.exec("BEGIN");
  const accounts = reader.prepare("SELECT count(*) FROM account").pluck();
  const before = accounts.get();
  await first.end("SIGKILL");

  const second = await startChild(t, args);
  assert.equal(await send(second.url), 200);
  assert.equal(accounts.get(), before);
  assert.equal(await second.end("SIGTERM"), 0);
});
