/** A number may be written as people write it, +41…: in every family of the API, in a query also unescaped, and on the command line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runProgram, startChild } from "../support/child.ts";
import { callService, DEMO, eventually, temporaryDirectory } from "../support/service.ts";

const WRITTEN = "+41793026727";
const PLAIN = "41793026727";

interface Way {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
  readonly status?: number;
}

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const QUERY = `text=Hello&from=Sender`;
const advanced = { messages: [{ from: "Sender", destinations: [{ to: WRITTEN }], text: "Hello" }] };
const several = { messages: [{ from: "Sender", to: [WRITTEN, `00${PLAIN}`], text: "Hello" }] };

const WAYS: readonly Way[] = [
  { path: "/sms/1/text/single", body: { from: "Sender", to: WRITTEN, text: "Hello" } },
  { path: "/sms/1/text/multi", body: several },
  { path: "/sms/1/text/advanced", body: advanced },
  { path: "/sms/2/text/advanced", body: advanced },
  { path: "/sms/1/binary/single", body: { from: "Sender", to: WRITTEN, binary: { hex: "00 01" } } },
  {
    path: "/sms/3/messages",
    body: { messages: [{ sender: "Sender", destinations: [{ to: WRITTEN }], content: { text: "Hello" } }] },
  },
  { method: "GET", path: `/sms/1/text/query?to=${encodeURIComponent(WRITTEN)}&${QUERY}` },
  { method: "GET", path: `/sms/1/text/query?to=${WRITTEN}&${QUERY}` },
  { method: "GET", path: `/sms/3/text/query?to=${WRITTEN}&${QUERY}` },
  {
    path: "/1/smsmessaging/outbound/Sender/requests",
    body: { address: `tel:${WRITTEN}`, message: "Hello" },
    status: 201,
  },
  {
    path: "/1/smsmessaging/outbound/Sender/requests",
    body: `address=${WRITTEN}&message=Hello`,
    headers: FORM,
    status: 201,
  },
  { method: "GET", path: `/cgi-bin/sendsms?to=${WRITTEN}&${QUERY}`, status: 202 },
  { method: "GET", path: `/cgi-bin/sendsms?to=${encodeURIComponent(WRITTEN)}&${QUERY}`, status: 202 },
  { path: "/cgi-bin/sendsms", body: `to=${encodeURIComponent(WRITTEN)}&${QUERY}`, headers: FORM, status: 202 },
  { path: "/sandbox/1/incoming", body: { from: WRITTEN, to: "12345", text: "Hello" }, status: 204 },
];

test("+41… is a number in every family, and the one that is kept has no plus", async (t) => {
  const data = await temporaryDirectory(t);
  const { url } = await startChild(t, ["sandbox", "--quiet", "--port", "0", "--data", data]);
  for (const { method = "POST", path, body, headers = {}, status = 200 } of WAYS) {
    const options = { authorization: DEMO, headers, ...(body === undefined ? {} : { body }) };
    const answer = await callService(url, method, path, options);
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    assert.doesNotMatch(answer.text, /REJECTED/, path);
  }
  const sent = WAYS.length; // One way sends twice, and one is a phone's.
  const logs = await eventually(async () => {
    const { json } = await callService(url, "GET", `/sms/1/logs?to=${WRITTEN}&limit=100`);
    return json.results.length === sent && json.results;
  });
  assert.deepEqual([...new Set(logs.map(({ to }: { to: string }) => to))], [PLAIN]);
  const phone = await callService(url, "GET", `/console/1/phone?number=${encodeURIComponent(WRITTEN)}`);
  assert.equal(phone.json.number, PLAIN);

  const listed = await runProgram([
    "message",
    "list",
    "--account",
    "DEMO0001",
    "--to",
    WRITTEN,
    "--json",
    "--data",
    data,
  ]);
  assert.equal(JSON.parse(listed.stdout).length, sent, listed.stderr);
  const quoted = await runProgram(["rate", "quote", WRITTEN, "--account", "DEMO0001", "--data", data]);
  assert.equal(quoted.code, 0, quoted.stderr);

  const number = ["number", "set", "+41790000099", "account=DEMO0001", "--data", data];
  assert.equal((await runProgram(number)).code, 0);
  const write = { body: { from: PLAIN, to: "41790000099", text: "To a number with a plus" } };
  await eventually(async () => {
    await callService(url, "POST", "/sandbox/1/incoming", write);
    return (await callService(url, "GET", "/sms/1/inbox/logs")).text.includes("To a number with a plus");
  });

  assert.equal((await runProgram(["opt-out", "add", WRITTEN, "--account", "DEMO0001", "--data", data])).code, 0);
  const { json } = await callService(url, "POST", "/sms/1/text/single", {
    body: { from: "Sender", to: PLAIN, text: "Hello" },
  });
  assert.equal(
    json.messages[0].status.name,
    "REJECTED_DESTINATION_BLOCKLISTED",
    "the same number, however it is written",
  );
});
