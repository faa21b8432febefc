/** `heliograph sandbox`: what it prints, where it listens, and what it refuses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Ended, runProgram, startChild } from "../support/child.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { basic, callService, DEMO, eventually, temporaryDirectory } from "../support/service.ts";

test("it says where it listens, in one line, and can be used at once with the accounts that it names", async (t) => {
  const data = await temporaryDirectory(t);
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  await eventually(async () => child.output().includes("Stop with Ctrl-C."));
  const [first, ...more] = child.output().split("\n");
  const port = /^Heliograph listens on http:\/\/127\.0\.0\.1:(\d+)$/.exec(first!)?.[1];
  assert.ok(Number(port) > 0, first);
  assert.equal(child.url, `http://127.0.0.1:${port}`);
  const greeting = more.join("\n");
  for (const [kind, name] of [
    ["client", "demo"],
    ["reseller", "reseller"],
    ["operator", "operator"],
  ] as const) {
    assert.match(greeting, new RegExp(`^ +${kind} +${name} / ${name}-password$`, "m"));
    const authorization = basic(name, `${name}-password`);
    assert.equal((await callService(child.url, "GET", "/account/1/balance", { authorization })).status, 200, name);
  }
  assert.ok(greeting.includes("curl -u demo:demo-password"), greeting);
  assert.ok(greeting.includes(`${child.url}/docs`), greeting);
  const body = { from: "Heliograph", to: "41793026727", text: "Hello from my own phone network" };
  const { json } = await callService(child.url, "POST", "/sms/1/text/single", { body });
  assert.equal(json.messages[0].status.name, "PENDING_ENROUTE");

  await t.test("a message without a sender of its own is delivered, as Heliograph", async () => {
    const { from: _, ...nameless } = body;
    await callService(child.url, "POST", "/sms/1/text/single", { body: nameless });
    const sent = (from: string, to: string) => `accepted  to ${to} from ${from} `;
    await eventually(async () => child.output().split(sent("Heliograph", body.to)).length === 3);
    await eventually(async () => child.output().split(`delivered to ${body.to}`).length === 3);
  });

  await t.test("a second one on the same data is refused, and told what to do", async () => {
    const says = `another Heliograph already runs on ${data}: stop it first, or name another directory with --data`;
    assertRefused(await runProgram(["sandbox", "--port", "0", "--data", data]), says);
    assert.equal((await callService(child.url, "GET", "/readyz")).status, 200, "the first goes on");
  });

  await t.test("a port that is taken is told so, with what to do", async () => {
    const says = `127.0.0.1:${port} is already in use: name another port with --port (0 takes any free one)`;
    assertRefused(await runProgram(["sandbox", "--port", port!, "--data", await temporaryDirectory(t)]), says);
  });

  await t.test("however it ends, the next one goes on with its data", async () => {
    assert.equal(await child.end("SIGKILL"), "SIGKILL");
    const next = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
    assert.equal((await callService(next.url, "GET", "/account/1/balance")).json.balance, 99.98);
    assert.equal(await next.end("SIGTERM"), 0);
  });

  await t.test("`serve` refuses its data", async () => {
    const says = `${data} is a sandbox's, with passwords that everybody knows: name another directory with --data`;
    assertRefused(
      await runProgram(["serve", "--port", "0", "--data", data]),
      `${says}, and set it up with "heliograph init"`,
    );
    assertRefused(await runProgram(["init", "--data", data]), says);
  });
});

/** It ends at once, with one line that says why. */
function assertRefused({ code, stdout, stderr }: Ended, says: string): void {
  assert.deepEqual([code, stdout, stderr], [1, "", `heliograph: ${says}\n`]);
}

test("it listens where others can reach it only when told so in as many words", async (t) => {
  const data = await temporaryDirectory(t);
  const args = ["sandbox", "--port", "0", "--data", data];
  const says = (host: string) =>
    `the sandbox has passwords that everybody knows, and ${host} can be reached by others: use 127.0.0.1, or say --dangerous-expose-sandbox if you mean it`;
  for (const host of ["::", "127.0.0.1.sms.example"]) {
    assertRefused(await runProgram([...args, "--host", host]), says(host));
  }
  assertRefused(await runProgram(args, { HELIOGRAPH_SERVER_HOST: "0.0.0.0" }), says("0.0.0.0"));

  const exposed = await startChild(t, [...args, "--host", "0.0.0.0", "--dangerous-expose-sandbox"]);
  assert.match(exposed.url, /^http:\/\/0\.0\.0\.0:\d+$/);
  const { port } = new URL(exposed.url);
  assert.equal((await callService(`http://127.0.0.1:${port}`, "GET", "/healthz")).status, 200);
});

test("localhost is this machine too, and --allow-host names others", async (t) => {
  const data = await temporaryDirectory(t);
  const args = ["sandbox", "--port", "0", "--host", "localhost", "--data", data];
  const child = await startChild(t, [...args, "--allow-host", "sms.example", "--allow-host", "SMS.team.example"]);
  assert.equal((await callService(child.url, "GET", "/healthz")).status, 200);
  await eventually(async () =>
    child.output().includes("--allow-host sms.example --allow-host SMS.team.example --fresh"),
  );
  const under = async (host: string) =>
    (await rawCall(child.url, rawRequestText("GET", "/account/1/balance", { authorization: DEMO, host }))).status;
  assert.deepEqual(
    [await under("sms.example:8080"), await under("sms.team.example"), await under("x.example")],
    [200, 200, 403],
  );
  const wrong = await runProgram([...args, "--allow-host", "https://sms.example"]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /allowHosts must be names such as sandbox\.example\.com, without scheme and port/);
});

test("it refuses the data of a real service, to which it would add known passwords", async (t) => {
  const data = await temporaryDirectory(t);
  assert.equal((await runProgram(["init", "--data", data])).code, 0);
  const says = "this data is a real service's, and the sandbox would add passwords that everybody knows";
  assertRefused(
    await runProgram(["sandbox", "--port", "0", "--data", data]),
    `${says}: name another directory with --data`,
  );
});
