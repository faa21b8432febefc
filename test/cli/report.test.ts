/** `heliograph report`: dead letters, seen and sent again; and `account rotate-secret`, with which reports are signed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { type Ended, runProgram } from "../support/child.ts";
import { onData, withDeadLetters } from "./dead-letters.ts";

test("dead letters are shown with their last try, and go out again by id, by filter, or all", async (t) => {
  const { data, ids } = await withDeadLetters(t, [
    "http://a.test/",
    "http://b.test/",
    "http://c.test/",
    "http://d.test/x",
  ]);
  const report = (...args: string[]): Promise<Ended> => runProgram(["report", ...args, "--data", data]);
  const shown = await report("dead");
  assert.equal(shown.code, 0, shown.stderr);
  for (const [index, host] of ["a", "b", "c"].entries()) {
    assert.match(
      shown.stdout,
      new RegExp(`^${ids[index]}  \\S+  ACME +http://${host}\\.test/ +1 +21 {2}answered 500 +out of order$`, "m"),
    );
  }
  assert.match(shown.stdout, /^ *REPORT +DEAD SINCE +ACCOUNT +URL +ITEMS +TRIES +REASON +LAST ANSWER\n/);

  assert.deepEqual(await report("replay"), {
    code: 2,
    stdout: "",
    stderr:
      "heliograph: name the reports to send again by their ids, or with --account, --url, --host or --since, or say --all\n",
  });
  assert.equal((await report("replay", ids[0]!)).stdout, "1 report goes out again.\n");
  assert.equal((await report("replay", "--url", "http://b.test/")).stdout, "1 report goes out again.\n");
  assert.match((await report("dead", "--host", "http://d.test")).stdout, new RegExp(`^${ids[3]} `, "m"));
  // Nobody can know a host that is mistyped: those that there are are named.
  const mistyped = await report("replay", "--url", "http://d.tset/x");
  assert.deepEqual(
    [mistyped.code, mistyped.stdout, mistyped.stderr],
    [1, "", "heliograph: there are no dead letters for http://d.tset/x, only for http://c.test, http://d.test\n"],
  );
  assert.equal(
    (await report("dead", "--host", "http://d.tset")).stdout,
    "There are no dead letters for http://d.tset, only for http://c.test, http://d.test.\n",
  );
  const gone = await report("replay", "4711");
  assert.deepEqual([gone.code, /none of these is the id of a dead letter/.test(gone.stderr)], [1, true]);
  const future = new Date(systemClock.now() + 3_600_000).toISOString();
  assert.equal((await report("replay", "--since", future)).stdout, "0 reports go out again.\n");
  assert.match((await report("replay", "--since", "yesterday")).stderr, /--since is a date and time/);
  assert.equal((await report("replay", "--host", "http://d.test")).stdout, "1 report goes out again.\n");
  for (const command of ["replay", "dead"]) {
    const nobody = await report(command, "--account", "NOBODY");
    assert.deepEqual([nobody.code, /there is no account NOBODY/.test(nobody.stderr)], [1, true], command);
  }
  assert.equal((await report("replay", "--all")).stdout, "1 report goes out again.\n");
  assert.match((await report("dead")).stdout, /^There are no dead letters\. 4 reports wait for their next try, /);
  const due = await onData(data, (store) => store.dueReports({ nowMs: systemClock.now(), limit: 10 }));
  assert.deepEqual(
    due.batches.map(({ id, attempts }) => [id, attempts]).sort(),
    ids.map((id) => [id, 0]),
  );
});

test("where there is no dead letter, what failed and is still tried is told", async (t) => {
  const { data, ids } = await withDeadLetters(t, ["http://a.test/", "http://a.test/x", "http://b.test/"]);
  const report = (...args: string[]): Promise<Ended> => runProgram(["report", ...args, "--data", data]);
  assert.equal((await report("replay", "--all")).stdout, "3 reports go out again.\n");
  const retryAtMs = Date.UTC(2100, 0, 1);
  const attempt = { atMs: systemClock.now(), status: 500, durationMs: 3, reason: "answered 500", excerpt: "" };
  const failures = ids.map((id, index) => ({
    id,
    attempts: 1,
    retryAtMs: retryAtMs + 1_000 * index,
    reason: "answered 500",
    attempt,
  }));
  await onData(data, (store) => store.reportsFailed({ failures }));
  const some =
    "3 reports wait for their next try, the first at 2100-01-01T00:00:00.000+0000. The last one to http://a.test: answered 500.";
  const one =
    "One report waits for its next try, at 2100-01-01T00:00:02.000+0000. The last one to http://b.test: answered 500.";
  assert.equal((await report("dead")).stdout, `There are no dead letters. ${some}\n`);
  assert.equal((await report("dead", "--host", "http://b.test")).stdout, `There are no dead letters. ${one}\n`);
  assert.equal((await report("replay", "--all")).stdout, `0 reports go out again. ${some}\n`);
  assert.equal((await report("replay", "--url", "http://b.test/")).stdout, `0 reports go out again. ${one}\n`);
  assert.equal((await report("replay", "--url", "http://c.test/")).stdout, "0 reports go out again.\n");
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
  assert.equal(
    (await rotate("NOBODY")).stderr,
    'heliograph: there is no account NOBODY: "heliograph account list" shows them all\n',
  );
});
