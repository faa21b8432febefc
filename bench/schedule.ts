/**
 * What a million scheduled messages cost: `npm run bench -- schedule`. For a thousand and for a million messages in the store it
 * prints how long the service takes to start and how much memory it then has, and that due ones go out in order of their time.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { prepareSandbox } from "../src/cli/sandbox.ts";
import { RULES } from "../src/commands/table.ts";
import { carriedOf, usedOf } from "../src/message/fields.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { IdSource } from "../src/runtime/ids.ts";
import { localStore } from "../src/store/group.ts";
import { SqliteEngine } from "../src/store/sqlite/engine.ts";

const COUNTS = [1_000, 1_000_000];
const REQUEST = 10_000;
/** So many of them are due while we look; the others a day later. */
const DUE = 500;
const DAY_MS = 86_400_000;
const PROGRAM = join(import.meta.dirname, "../bin/heliograph.js");

async function fill(directory: string, count: number, dueAtMs: number): Promise<void> {
  const engine = new SqliteEngine({
    rules: RULES,
    directory,
    clock: systemClock,
    lanes: { lane: 0, total: 0 },
    mode: "tool",
  });
  const store = localStore(engine, () => undefined);
  await prepareSandbox(store);
  const { account } = (await store.findLogin({ username: "demo" }))!;
  const ids = new IdSource(systemClock, 0);
  for (let done = 0; done < count; done += REQUEST) {
    const size = Math.min(REQUEST, count - done);
    const due = Math.max(0, DUE - done);
    // Each due message has a time of its own, in an order that is not that of its key.
    const times = [
      ...Array.from({ length: Math.min(due, size) }, (_, index) => dueAtMs + ((index * 7) % DUE)),
      dueAtMs + DAY_MS,
    ];
    await store.accept({
      accountId: account.id,
      bulkId: `bulk-${done}`,
      replay: null,
      receivedAtMs: systemClock.now(),
      firstKey: ids.take(size),
      links: null,
      conversion: null,
      speedLimit: null,
      contents: times.map((time) => ({
        from: "Bench",
        text: "Hello",
        encoding: "gsm7",
        partCount: 1,
        ...usedOf({}),
        notifyUrl: null,
        reportForm: "application/json",
        regional: null,
        ...carriedOf({}),
        intermediateReport: false,
        sendAtMs: time,
        dueAtMs: time,
        window: null,
        expiresAtMs: time + 2 * DAY_MS,
      })),
      messages: Array.from({ length: size }, (_, index) => ({
        content: Math.min(index, times.length - 1),
        // Those that are due go to phones that never answer, so that their rows in `part` stay and show the order.
        to: done + index < DUE ? `4179${String(index).padStart(4, "0")}999008` : String(41_790_000_000 + done + index),
        clientMessageId: null,
        carrierId: "simulator",
        pricePerPartMicros: 0n,
        rejectedStatusId: null,
      })),
    });
    process.stdout.write(`\r  ${done + size} of ${count} scheduled`);
  }
  process.stdout.write("\n");
  engine.close();
}

async function measure(count: number): Promise<{ startMs: number; memoryMb: number; inOrder: boolean }> {
  const directory = mkdtempSync(join(tmpdir(), "heliograph-bench-"));
  try {
    await fill(directory, count, systemClock.now() - 1_000);
    const startedMs = performance.now();
    const child = spawn(process.execPath, [PROGRAM, "sandbox", "--quiet", "--port", "0", "--data", directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    await new Promise<void>((resolve) =>
      child.stdout.on("data", (data) => String(data).includes("listens on") && resolve()),
    );
    const startMs = performance.now() - startedMs;
    const db = new Database(join(directory, "heliograph.sqlite"), { readonly: true });
    // In the order in which the carrier took them.
    const sent = db.prepare<[], { due: number }>(
      "SELECT due_at_ms AS due FROM part JOIN message ON message.key = part.message_key ORDER BY part.id",
    );
    for (let look = 0; look < 300 && sent.all().length < DUE; look++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const times = sent.all().map(({ due }) => due);
    db.close();
    const inOrder = times.length === DUE && times.every((time, index) => index === 0 || times[index - 1]! <= time);
    const memoryMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1_024;
    child.kill("SIGTERM");
    await ended;
    return { startMs, memoryMb, inOrder };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const rows = [];
for (const count of COUNTS) {
  const { startMs, memoryMb, inOrder } = await measure(count);
  rows.push({
    scheduled: count,
    "start, ms": Math.round(startMs),
    "memory, MB": Math.round(memoryMb),
    "due ones in order": inOrder,
  });
}
console.table(rows);
