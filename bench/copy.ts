/**
 * How fast `heliograph copy` is: `npm run bench -- copy [--messages 200000]` fills an embedded store through its own commands, and copies it into a
 * PostgreSQL server of its own, which flushes as in production.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RULES } from "../src/commands/table.ts";
import { carriedOf, usedOf } from "../src/message/fields.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { IdSource } from "../src/runtime/ids.ts";
import { localStore } from "../src/store/group.ts";
import type { Feed } from "../src/store/port/delivery.ts";
import { SqliteEngine } from "../src/store/sqlite/engine.ts";
import { startPostgres } from "../test/support/postgres-server.ts";

const { values } = parseArgs({ options: { messages: { type: "string", default: "200000" } } });
const total = Number(values.messages);
const PROGRAM = join(import.meta.dirname, "../bin/heliograph.js");
const BATCH = 1_000;
const ACCOUNTS = 10;
const DAY_MS = 86_400_000;
const DAYS = 7;

/** Of ten messages eight are delivered, one is on its way and one waits; every other one has a name of the client's. */
async function fill(directory: string): Promise<void> {
  let now = systemClock.now() - DAYS * DAY_MS;
  const clock = { ...systemClock, now: () => now };
  const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes: { lane: total, total }, mode: "deliver" });
  const fed: Feed["messages"][number][] = [];
  const store = localStore(engine, (feed) => fed.push(...feed.messages));
  const ids = new IdSource(clock, 0);
  const accounts: number[] = [];
  for (let number = 0; number < ACCOUNTS; number++) {
    const made = await store.createAccount({
      key: `ACCOUNT${number}`,
      kind: "client",
      parentKey: null,
      currency: "EUR",
      ratePlanId: "standard",
      defaultSender: null,
      creditLimitMicros: 0n,
      openingBalanceMicros: 1_000_000_000_000n,
      callbackSecret: `whsec_${number}`,
      username: `account${number}`,
      passwordHash: "x",
      atMs: now,
    });
    if (made.kind === "created") accounts.push(made.account.id);
  }
  for (let done = 0; done < total; done += BATCH) {
    const count = Math.min(BATCH, total - done);
    await store.accept({
      accountId: accounts[(done / BATCH) % ACCOUNTS]!,
      bulkId: `bulk-${done}`,
      replay: { key: `key-${done}`, bulk: false, bodyHash: "hash" },
      receivedAtMs: now,
      firstKey: ids.take(count),
      links: null,
      conversion: null,
      speedLimit: null,
      contents: [
        {
          from: "Sender",
          text: "Your code is 123456. It is good for ten minutes; tell it to nobody, not even to us.",
          encoding: "gsm7",
          partCount: 1,
          ...usedOf({}),
          notifyUrl: "https://example.com/reports",
          reportForm: "application/json",
          regional: null,
          ...carriedOf({ callbackData: "order 4711" }),
          intermediateReport: false,
          sendAtMs: null,
          dueAtMs: null,
          window: null,
          expiresAtMs: now + 2 * DAY_MS,
        },
      ],
      messages: Array.from({ length: count }, (_, index) => ({
        content: 0,
        to: `4179${String(done + index).padStart(7, "0")}`,
        clientMessageId: index % 2 === 0 ? `name-${done + index}` : null,
        carrierId: "carrier",
        pricePerPartMicros: 10_000n,
        rejectedStatusId: null,
      })),
    });
    const taken = fed.splice(0).slice(count / 10);
    await store.submitted({
      messages: taken.map(({ key }) => ({
        key,
        carrierId: "carrier",
        parts: [{ carrierMessageId: key, counts: true }],
        refusedErrorId: null,
        atMs: now,
      })),
    });
    const receipts = taken.slice(count / 10).map(({ key, to }) => {
      return { carrierMessageId: key, outcome: "delivered" as const, errorId: 0, atMs: now, mccMnc: "22801", to };
    });
    await store.received({ carrierId: "carrier", receipts });
    now += (DAYS * DAY_MS) / Math.ceil(total / BATCH);
  }
  engine.close();
}

const directory = await mkdtemp(join(tmpdir(), "heliograph-copy-"));
const server = await startPostgres({ durable: true });
try {
  await fill(directory);
  const { size } = await stat(join(directory, "heliograph.sqlite"));
  process.stdout.write(`${total} messages, ${Math.round(size / 1e6)} MB of SQLite\n`);
  const child = spawn(process.execPath, [PROGRAM, "copy", "--from", directory], {
    stdio: "inherit",
    env: { ...process.env, HELIOGRAPH_STORE_URL: server.url },
  });
  let memoryKb = 0;
  // Linux says how much memory a process had at most; elsewhere there is no such file.
  const look = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
    memoryKb = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? memoryKb);
  }, 50);
  await once(child, "close");
  clearInterval(look);
  if (memoryKb > 0) process.stdout.write(`It had at most ${Math.round(memoryKb / 1_000)} MB of memory.\n`);
} finally {
  await server.remove();
  await rm(directory, { recursive: true });
}
