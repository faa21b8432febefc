/** `heliograph receive`: it says whether reports are signed, and can be as bad as any receiver. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Program, runProgram, startProgram } from "../support/child.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";

const KEY = Buffer.from("a key of the right length, 32 oct");
const SECRET = `whsec_${KEY.toString("base64")}`;
const BODY = JSON.stringify({ results: [{ messageId: "1", text: "Grüße" }] });

async function receiverOf(t: TestContext, ...options: string[]): Promise<{ url: string; program: Program }> {
  const program = startProgram(t, ["receive", "--port", "0", ...options]);
  const [, url] = await eventually(async () => /(http:\/\/127\.0\.0\.1:\d+\/)[\s\S]*\n\n/.exec(program.output()));
  return { url: url!, program };
}

function signed(body: string, { key = KEY, seconds = Math.floor(Date.now() / 1000) } = {}): Record<string, string> {
  const signature = createHmac("sha256", key).update(`msg_1.${seconds}.${body}`).digest("base64");
  return { "webhook-id": "msg_1", "webhook-timestamp": String(seconds), "webhook-signature": `v1,${signature}` };
}

const post = (url: string, headers: Record<string, string>, body = BODY, signal: AbortSignal | null = null) =>
  fetch(url, { method: "POST", headers, body, signal });

const says = (program: Program, words: RegExp): Promise<unknown> =>
  eventually(async () => words.test(program.output()));

test("with a secret it says of each request whether its signature is valid, invalid or missing", async (t) => {
  const { url, program } = await receiverOf(t, "--secret", SECRET);
  const verdictOn = async (path: string, headers: Record<string, string>, body = BODY): Promise<string> => {
    assert.equal((await post(`${url}${path}`, headers, body)).status, 200);
    const [, verdict] = await eventually(async () =>
      new RegExp(`^POST /${path} .*\\nSignature: (.*)$`, "m").exec(program.output()),
    );
    return verdict!;
  };
  assert.equal(await verdictOn("good", signed(BODY)), "valid");
  const two = signed(BODY);
  const changing = {
    ...two,
    "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")} ${two["webhook-signature"]}`,
  };
  assert.equal(await verdictOn("two-secrets", changing), "valid");
  assert.match(await verdictOn("changed", signed(BODY), `${BODY} `), /^invalid: it was signed with another secret/);
  assert.match(await verdictOn("other-key", signed(BODY, { key: Buffer.alloc(32) })), /^invalid/);
  assert.match(
    await verdictOn("old", signed(BODY, { seconds: 1_000_000 })),
    /^invalid: its webhook-timestamp is \d+ seconds/,
  );
  assert.match(await verdictOn("unsigned", {}), /^missing/);
  assert.match(await verdictOn("no-id", { "webhook-signature": "v1,AAAA" }), /^invalid: webhook-id/);
  assert.match(await verdictOn("garbage", { ...two, "webhook-signature": "v1, v1,%%% v2,AAAA" }), /^invalid/);
  assert.ok(program.output().includes('"Grüße"'));
});

test("of several secrets any may have signed", async (t) => {
  const other = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const { url, program } = await receiverOf(t, "--secret", other, "--secret", SECRET);
  await says(program, /^Signatures are checked with 2 secrets\./m);
  assert.equal((await post(`${url}first`, signed(BODY))).status, 200);
  await says(program, /^POST \/first .*\nSignature: valid$/m);
  assert.equal((await post(`${url}third`, signed(BODY, { key: Buffer.alloc(32, 2) }))).status, 200);
  await says(program, /^POST \/third .*\nSignature: invalid: it was signed with another secret/m);
});

test("the secret may stand in a file, and without one nothing is said of signatures", async (t) => {
  const file = join(await temporaryDirectory(t), "secret");
  writeFileSync(file, `${SECRET}\n`, { mode: 0o600 });
  const { url, program } = await receiverOf(t, "--secret-file", file);
  await post(url, signed(BODY));
  await says(program, /^Signature: valid$/m);
  const plain = await receiverOf(t);
  await post(plain.url, signed(BODY));
  await says(plain.program, /^Answered 200\.$/m);
  assert.doesNotMatch(plain.program.output(), /^Signature: /m);
});

test("it answers 500 as often as it is told, says so, and then 200", async (t) => {
  const { url, program } = await receiverOf(t, "--answer", "500", "--times", "2");
  assert.match(program.output(), /Each of the first 2 requests is answered 500, and then all are answered 200\./);
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push((await post(url, {})).status);
  assert.deepEqual(statuses, [500, 500, 200]);
  await says(program, /Answered 500 \(1 of 2\)\.\n[\s\S]*Answered 500 \(2 of 2\)\.\n[\s\S]*Answered 200\.\n/);
});

test("it is slow when told so", async (t) => {
  const { url, program } = await receiverOf(t, "--slow", "300ms", "--answer", "503");
  const startedMs = performance.now();
  assert.equal((await post(url, {})).status, 503);
  assert.ok(performance.now() - startedMs >= 290, "it waited");
  await says(program, /Answered 503 after 300 ms\./);
  const impatient = new AbortController();
  const gaveUp = post(url, {}, BODY, impatient.signal).catch((error: Error) => error.name);
  await eventually(async () => program.output().split("POST /").length === 3);
  impatient.abort();
  assert.equal(await gaveUp, "AbortError");
});

test("it never answers when told to hang, and says when the sender gives up", async (t) => {
  const { url, program } = await receiverOf(t, "--hang", "--times", "1");
  const impatient = new AbortController();
  const gaveUp = post(url, {}, BODY, impatient.signal).catch((error: Error) => error.name);
  await says(program, /Gets no answer \(1 of 1\)\./);
  impatient.abort();
  assert.equal(await gaveUp, "AbortError");
  await says(program, /The sender gave up after \d+ ms without an answer\./);
  assert.equal((await post(url, {})).status, 200, "once was enough");
});

test("of a body that is too large the beginning is shown, and nothing is said of its signature", async (t) => {
  const { url, program } = await receiverOf(t, "--secret", SECRET);
  const large = "x".repeat(3 * 1024 * 1024);
  assert.equal((await post(url, signed(large), large)).status, 200);
  await says(program, /Signature: not checked, the body is too large/);
  await says(program, /… and 2097152 octets more\nAnswered 200\./);
});

test("options that make no sense are refused, a secret that cannot be one among them", async (t) => {
  const file = join(await temporaryDirectory(t), "secret");
  writeFileSync(file, "foo\n", { mode: 0o600 });
  const fromFile = await runProgram(["receive", "--port", "0", "--secret-file", file]);
  assert.match(fromFile.stderr, /--secret-file must be whsec_/);

  for (const [args, words] of [
    [["--answer", "99"], /--answer must be a whole number from 200 to 599/],
    [["--slow", "soon"], /--slow must be a time such as 500ms, 2s or 1m/],
    [["--slow", "11m"], /of at most 10m/],
    [["--times", "0"], /--times/],
    [["--hang", "--slow", "1s"], /--hang never answers/],
    [["--secret", "a", "--secret-file", "b"], /give one of them/],
    [["--secret-file", "/nowhere/secret"], /nowhere/],
    [["--secret", "foo"], /--secret must be whsec_ and at least 24 octets in base64/],
    [["--secret", SECRET.slice(0, -3)], /--secret must be whsec_/],
    [["--secret", SECRET.replace("whsec_", "")], /--secret must be whsec_/],
    [["--secret", `${SECRET}\u00fc`], /--secret must be whsec_/],
  ] as const) {
    const { code, stderr } = await runProgram(["receive", "--port", "0", ...args]);
    assert.notEqual(code, 0, args.join(" "));
    assert.match(stderr, words, args.join(" "));
  }
});
