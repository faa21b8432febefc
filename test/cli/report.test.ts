/** `heliograph report`: dead letters, seen and sent again; and `account rotate-secret`, with which reports are signed. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { localStore } from "../../src/store/group.ts";
import type { Store } from "../../src/store/port.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { addAccount } from "../support/accounts.ts";
import { type Ended, runProgram } from "../support/child.ts";
import { temporaryDirectory } from "../support/service.ts";

/** Works on the data as a process of its own would. */
async function onData<Result>(directory: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const engine = new SqliteEngine({ directory, clock: systemClock, lanes: { lane: 1, total: 1 }, mode: "deliver" });
  try {
    return await work(localStore(engine, () => undefined));
  } finally {
    engine.close();
  }
}

/** Data with an account ACME, and one dead letter for each URL; gives their ids. */
async function withDeadLetters(t: TestContext, urls: readonly string[]): Promise<{ data: string; ids: string[] }> {
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
        contents: [
          {
            from: "Sender",
            text: "Hello",
            encoding: "gsm7",
            partCount: 1,
            flash: false,
            notifyUrl,
            notifyContentType: "application/json",
            callbackData: null,
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

test("dead letters are shown with their last try, and go out again by id, by filter, or all", async (t) => {
  const { data, ids } = await withDeadLetters(t, ["http://a.test/", "http://b.test/", "http://c.test/"]);
  const report = (...args: string[]): Promise<Ended> => runProgram(["report", ...args, "--data", data]);
  const shown = await report("dead");
  assert.equal(shown.code, 0, shown.stderr);
  for (const [index, host] of ["a", "b", "c"].entries()) {
    assert.match(
      shown.stdout,
      new RegExp(`^${ids[index]}  \\S+  ACME  http://${host}\\.test/  1 items, 21 tries: answered 500$`, "m"),
    );
  }
  assert.match(shown.stdout, /^ {4}out of order$/m);

  assert.deepEqual(await report("replay"), {
    code: 2,
    stdout: "",
    stderr: "heliograph: name the reports to send again by their ids, or with --account or --url, or say --all\n",
  });
  assert.equal((await report("replay", ids[0]!)).stdout, "1 report goes out again.\n");
  assert.equal((await report("replay", "--url", "http://b.test/")).stdout, "1 report goes out again.\n");
  assert.equal((await report("replay", "--account", "NOBODY")).stdout, "0 reports go out again.\n");
  assert.equal((await report("replay", "--all")).stdout, "1 report goes out again.\n");
  assert.equal((await report("dead")).stdout, "There are no dead letters.\n");
  const due = await onData(data, (store) => store.dueReports({ nowMs: systemClock.now(), limit: 10 }));
  assert.deepEqual(
    due.batches.map(({ id, attempts }) => [id, attempts]).sort(),
    ids.map((id) => [id, 0]),
  );
});

test("a secret is changed in two steps, with both good in between", async (t) => {
  const { data } = await withDeadLetters(t, []);
  const rotate = (...args: string[]): Promise<Ended> =>
    runProgram(["account", "rotate-secret", ...args, "--data", data]);
  const secrets = () =>
    onData(data, async (store) => {
      const { account } = (await store.findLogin({ username: "ACME" }))!;
      return (await store.callbackPolicy({ accountId: account.id })).secrets;
    });
  const [old] = await secrets();
  const fresh = /^whsec_\S+$/m.exec((await rotate("ACME")).stdout)?.[0];
  assert.deepEqual(await secrets(), [fresh, old]);
  assert.equal((await rotate("ACME", "--finish")).code, 0);
  assert.deepEqual(await secrets(), [fresh]);
  assert.equal((await rotate("NOBODY")).stderr, "heliograph: there is no account NOBODY\n");
});
