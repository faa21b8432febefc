/** Accepted is durable, charged exactly once, and reaches its end: whatever moment the process is killed at. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Database from "better-sqlite3";
import { RULES } from "../../src/commands/table.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { isLong, seed } from "../support/chance.ts";
import { type Child, startChild } from "../support/child.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { callService, eventually, temporaryDirectory } from "../support/service.ts";

const KILLS = isLong ? 12 : 1;
const SENDERS = 4;
const SEED = Number(process.env.SEED ?? seed);

test(`killed at ${KILLS} random moments under load, nothing accepted is lost or charged twice (SEED=${SEED})`, {
  timeout: 600_000,
}, async (t) => {
  const random = seededRandom(SEED);
  const data = await temporaryDirectory(t);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const acknowledged = new Set<string>();
  let sent = 0;

  /** Sends requests one after the other until the service is gone. */
  const sendUntilKilled = async (child: Child): Promise<void> => {
    while (sent < 9_000) {
      const messageIds = Array.from({ length: 1 + Math.floor(random.next() * 5) }, () => `m${++sent}`);
      const body = {
        messages: [
          {
            from: "Sender",
            text: "Hello",
            notifyUrl: `${receiver.url}/reports`,
            destinations: messageIds.map((messageId, index) => ({
              to: `4179${String(sent + index).padStart(7, "0")}`,
              messageId,
            })),
          },
        ],
      };
      const answer = await callService(child.url, "POST", "/sms/1/text/advanced", { body }).catch(() => null);
      if (answer === null) return;
      assert.equal(answer.status, 200, answer.text);
      for (const { messageId, status } of answer.json.messages) {
        assert.equal(status.id, 7);
        acknowledged.add(messageId);
      }
    }
  };

  for (let kill = 0; kill < KILLS; kill++) {
    const child = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
    const before = acknowledged.size;
    const sending = Promise.all(Array.from({ length: SENDERS }, () => sendUntilKilled(child)));
    const enough = Math.floor(random.next() * 150);
    await eventually(async () => acknowledged.size - before >= enough || sent >= 9_000);
    await new Promise((resolve) => setTimeout(resolve, random.next() * 50));
    await child.end("SIGKILL");
    await sending;
  }

  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  const db = new Database(join(data, "heliograph.sqlite"), { readonly: true });
  const count = (sql: string): number => (db.prepare(sql).get() as { count: number }).count;
  await eventually(async () => count("SELECT count(*) AS count FROM message WHERE state <> 4") === 0);
  await eventually(async () => count("SELECT count(*) AS count FROM report") === 0);

  const stored = db.prepare("SELECT client_message_id AS id, status_id AS status FROM message").all() as {
    id: string;
    status: number;
  }[];
  const delivered = new Set(stored.filter(({ status }) => status === 5).map(({ id }) => id));
  assert.equal(delivered.size, stored.length, "every message is there once and was delivered");
  assert.deepEqual(
    [...acknowledged].filter((id) => !delivered.has(id)),
    [],
    "no acknowledged message is missing",
  );
  const balance = await callService(child.url, "GET", "/account/1/balance");
  assert.equal(balance.json.balance, Number((100 - stored.length / 100).toFixed(2)), "each was charged once");
  const reported = new Set(receiver.items.map((item) => (item as { messageId: string }).messageId));
  assert.deepEqual(
    [...delivered].filter((id) => !reported.has(id)),
    [],
    "each was reported",
  );
  const idsOf = new Map<string, Set<unknown>>();
  for (const { headers, items } of receiver.requests) {
    for (const { messageId } of items)
      idsOf.set(messageId, (idsOf.get(messageId) ?? new Set()).add(headers["webhook-id"]));
  }
  assert.ok(
    [...idsOf.values()].every((ids) => ids.size === 1),
    "a report that came twice came under one id",
  );
  assert.ok(acknowledged.size > KILLS, `there was load: ${acknowledged.size} acknowledged, ${stored.length} stored`);
  db.close();

  assert.equal(await child.end("SIGTERM"), 0);
  const engine = new SqliteEngine({
    rules: RULES,
    directory: data,
    clock: systemClock,
    lanes: { lane: 0, total: 0 },
    mode: "tool",
  });
  assert.deepEqual(await localStore(engine, () => undefined).verifyLedger(), []);
  engine.close();
});
