/** Data with reports that nobody took, for the commands that tell of them. */

import type { TestContext } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { carriedOf, usedOf } from "../../src/message/fields.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { localStore } from "../../src/store/group.ts";
import type { Store } from "../../src/store/port/store.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { addAccount } from "../support/accounts.ts";
import { temporaryDirectory } from "../support/service.ts";

/** Works on the data as a process of its own would. */
export async function onData<Result>(directory: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const engine = new SqliteEngine({
    rules: RULES,
    directory,
    clock: systemClock,
    lanes: { lane: 1, total: 1 },
    mode: "deliver",
  });
  try {
    return await work(localStore(engine, () => undefined));
  } finally {
    engine.close();
  }
}

/** Data with an account ACME, and one dead letter for each URL; gives their ids. */
export async function withDeadLetters(
  t: TestContext,
  urls: readonly string[],
): Promise<{ data: string; ids: string[] }> {
  const data = await temporaryDirectory(t);
  await onData(data, async (store) => {
    const { id: accountId } = await addAccount(store, { key: "ACME", parentKey: null });
    for (const [index, notifyUrl] of urls.entries()) {
      await store.accept({
        accountId,
        bulkId: "bulk",
        replay: null,
        receivedAtMs: systemClock.now(),
        firstKey: String(10n ** 18n + BigInt(index) * 1024n),
        links: null,
        conversion: null,
        speedLimit: null,
        contents: [
          {
            from: "Sender",
            text: "Hello",
            encoding: "gsm7",
            partCount: 1,
            ...usedOf({}),
            notifyUrl,
            reportForm: "application/json",
            regional: null,
            ...carriedOf({}),
            intermediateReport: false,
            sendAtMs: null,
            dueAtMs: null,
            window: null,
            expiresAtMs: systemClock.now() + 60_000,
          },
        ],
        messages: [
          { content: 0, to: "1", clientMessageId: null, carrierId: null, pricePerPartMicros: 0n, rejectedStatusId: 52 },
        ],
      });
    }
  });
  const ids = await onData(data, async (store) => {
    const { batches } = await store.dueReports({ nowMs: systemClock.now(), limit: 10 });
    const attempt = {
      atMs: systemClock.now(),
      status: 500,
      durationMs: 3,
      reason: "answered 500",
      excerpt: "out of order",
    };
    const failures = batches.map(({ id }) => ({ id, attempts: 21, retryAtMs: null, reason: attempt.reason, attempt }));
    await store.reportsFailed({ failures });
    return batches.map(({ id }) => id);
  });
  return { data, ids };
}
