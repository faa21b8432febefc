/** `heliograph api-key`: keys are made, listed and revoked beside a running service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runProgram, startChild } from "../support/child.ts";
import { callService, eventually, temporaryDirectory } from "../support/service.ts";

const BALANCE = "/account/1/balance";

test("a key is shown once, works on the running service, is listed without its secret, and ends when it is revoked", {
  timeout: 600_000,
}, async (t) => {
  const data = await temporaryDirectory(t);
  const service = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  const command = (...args: string[]) => runProgram(["api-key", ...args, "--data", data]);

  const made = await command("create", "--account", "DEMO0001", "--name", "the shop");
  assert.equal(made.code, 0, made.stderr);
  const [, key = "", id = ""] = /\n(hgk_([0-9a-f]{12})_[A-Za-z0-9_-]{43})\n$/.exec(made.stdout) ?? [];
  assert.notEqual(key, "", made.stdout);
  const statusWith = async (authorization: string) =>
    (await callService(service.url, "GET", BALANCE, { authorization })).status;

  const unused = await command("list", "--account", "DEMO0001");
  assert.match(
    unused.stdout,
    new RegExp(`^${id}  DEMO0001  all     any       never    \\S+  never      the shop$`, "m"),
  );
  assert.equal(await statusWith(`App ${key}`), 200);
  const listed = await command("list");
  assert.match(
    listed.stdout,
    new RegExp(`^${id}  DEMO0001  all     any       never    \\S+  \\S+\\+0000  the shop$`, "m"),
  );
  assert.match(listed.stdout, /^demo {10}DEMO0001 /m, "the sandbox's own");
  assert.match(listed.stdout, /^2 keys\.$/m);
  assert.ok(!listed.stdout.includes(key));

  const revoked = await command("revoke", id);
  assert.deepEqual([revoked.code, revoked.stdout], [0, `The key ${id} is good for nothing any more.\n`]);
  await eventually(async () => (await statusWith(`App ${key}`)) === 401);
  assert.equal(await statusWith("App demo-api-key"), 200);
  assert.ok(!service.output().includes(key));
});

test("what cannot be done is told in a line", async (t) => {
  const data = await temporaryDirectory(t);
  const init = await runProgram(["init", "--data", data]);
  assert.equal(init.code, 0, init.stderr);
  const refusal = async (...args: string[]) => {
    const { code, stderr } = await runProgram(["api-key", ...args, "--data", data]);
    return [code, stderr];
  };
  assert.deepEqual(await refusal("create", "--account", "NOBODY"), [
    1,
    'heliograph: there is no account NOBODY: "heliograph account list" shows them all\n',
  ]);
  assert.deepEqual(await refusal("revoke", "abc"), [1, "heliograph: there is no key abc\n"]);
  const badName = "heliograph: --name must be 1 to 100 characters that can be printed\n";
  assert.deepEqual(await refusal("create", "--account", "OPERATOR1", "--name", "two\nlines"), [2, badName]);
});

test("a service that is set up for real has no key that everybody knows", async (t) => {
  const data = await temporaryDirectory(t);
  const init = await runProgram(["init", "--data", data]);
  assert.equal(init.code, 0, init.stderr);
  const { stdout } = await runProgram(["api-key", "list", "--data", data]);
  assert.equal(stdout, "There are no keys.\n");
});
