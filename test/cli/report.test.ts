/** `heliograph report`: dead letters, seen and sent again; and `account rotate-secret`, with which reports are signed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { type Ended, runProgram } from "../support/child.ts";
import { onData, withDeadLetters } from "./dead-letters.ts";

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
  assert.equal(
    (await rotate("NOBODY")).stderr,
    'heliograph: there is no account NOBODY: "heliograph account list" shows them all\n',
  );
});
