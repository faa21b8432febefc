/** What an operator sees of a carrier that goes and comes back, and what he can do about it, beside the real program. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runProgram, startChild } from "../support/child.ts";
import { eventually } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";
import { newService } from "./in-process.ts";

const OWN = { systemId: "heliograph", password: "secret" };

test("a carrier that goes away says why, comes back by itself, and a refused one is tried when it is told to", async (t) => {
  const { data, run, done, json, refused } = await newService(t);
  const smsc = await startSmsc(t, OWN);
  const { port } = smsc;
  const fields = [`hosts=127.0.0.1:${port}`, "systemId=heliograph", "reconnectSeconds=3600"];
  const made = await run(["carrier", "set", "acme", "kind=smpp", ...fields, "--password-stdin"], { input: "secret" });
  assert.equal(made.code, 0, made.stderr);
  assert.match(await done("carrier", "list"), /^acme .* not served +- +no running service serves it$/m);

  const child = await startChild(t, ["serve", "--port", "0", "--data", data]);
  const stateIs = (state: string) =>
    eventually(async () => {
      const { states } = await json("carrier", "show", "acme");
      return states.length === 1 && states[0].state === state && states[0];
    });
  const bound = await stateIs("bound");
  assert.deepEqual([bound.reason, bound.nextTryAt, bound.bound, bound.connections], [null, null, 1, 1]);
  assert.match(bound.node, new RegExp(` ${child.process.pid}$`));
  assert.match(await done("carrier", "list"), /^acme .* bound +\d{4}-\d\d-\d\dT\S+ +-$/m);
  assert.match(await done("carrier", "show", "acme"), /^On \S+ \d+: bound, since \S+$/m);

  smsc.disconnect();
  await smsc.stop();
  const away = await stateIs("waiting");
  assert.match(away.reason, new RegExp(`^127\\.0\\.0\\.1:${port}: `));
  assert.equal(typeof away.nextTryAt, "string");
  // Through a process of its own, as an operator runs it.
  const shown = await eventually(async () => {
    const { stdout } = await runProgram(["carrier", "list", "--data", data]);
    return /^acme .* waiting until \S+ .*nobody listens there/m.test(stdout) && stdout;
  });
  assert.match(shown, /STATE +SINCE +REASON$/m);
  const back = await startSmsc(t, { ...OWN, port });
  await stateIs("bound");

  // Another password: it waits half an hour at least, unless somebody says that it is right now.
  back.disconnect();
  await back.stop();
  const strict = await startSmsc(t, { ...OWN, password: "another", port });
  const told = await stateIs("refused");
  assert.equal(told.reason, `127.0.0.1:${port}: the bind was refused: ESME_RINVPASWD`);
  assert.ok(Date.parse(told.nextTryAt) - Date.now() > 600_000);
  await strict.stop();
  await startSmsc(t, { ...OWN, port });
  const { code, stdout, stderr } = await runProgram(["carrier", "reconnect", "acme", "--data", data]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(stdout, "Every node that runs and serves the carrier acme tries its connections within a second.\n");
  await stateIs("bound");
  const [newest] = await json("audit", "--kind", "carrier");
  assert.deepEqual([newest.action, newest.subject, newest.actor], ["reconnect", "acme", "command line"]);
  assert.deepEqual(await refused("carrier", "reconnect", "nobody"), [1, "there is no carrier nobody"]);

  assert.equal(await child.end("SIGTERM"), 0);
  assert.deepEqual((await json("carrier", "show", "acme")).states, []);
});
