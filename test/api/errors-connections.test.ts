/** What comes over a connection that is no decent request: too long, too slow, broken, or cut off. The client can read what is wrong. */
import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { after, test } from "node:test";
import { RawClient, rawCall, rawRequestText } from "../support/raw-http.ts";
import { basic, DEMO, errorObject, startTestService } from "../support/service.ts";

const BALANCE = "/account/1/balance";
const PREVIEW = "/sms/1/preview";
const { url } = await startTestService({ after });

const HEADERS_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 6_000;
let storeIsSlow: Promise<void> | null = null;
/** A service that does not wait long; for the tests that are about waiting, so that no other one fails on a busy machine. */
const impatient = await startTestService(
  { after },
  {
    settings: { server: { headersTimeoutMs: HEADERS_TIMEOUT_MS, requestTimeoutMs: REQUEST_TIMEOUT_MS } },
    edgeStore: (store) => ({
      ...store,
      balance: async (input) => {
        await storeIsSlow;
        return store.balance(input);
      },
    }),
  },
);

const balanceRequest = rawRequestText("GET", BALANCE, { authorization: DEMO });
const previewRequest = rawRequestText("POST", PREVIEW, { authorization: DEMO }, '{"text": "x"}');

const UNREADABLE = errorObject("BAD_REQUEST", "Bad request", null, "The request could not be read.");
const TOO_LARGE = errorObject("REQUEST_TOO_LARGE", "Request too large", null, "The request could not be read.");
const TOO_LATE = errorObject("REQUEST_TIMEOUT", "Request timeout", null, "The request did not come whole in time.");

/** The next answer, which is this error, and after which the service closes. */
async function assertLastAnswer(client: RawClient, status: number, object: object, about = ""): Promise<void> {
  const answer = await client.answer();
  assert.deepEqual([answer.status, JSON.parse(answer.body)], [status, object], about);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8", about);
  assert.equal(answer.headers.get("connection"), "close", about);
  assert.equal(await client.closed(), "", `${about}: nothing comes after the answer`);
  client.destroy();
}

// --- Too long ------------------------------------------------------------------------------------------------------------------------

const MEGABYTE = "a".repeat(1_000_000);

test("a header of 1 MB is too large, even for a client that writes it all before it reads", async () => {
  const request = rawRequestText("GET", BALANCE, { authorization: DEMO, "x-long": MEGABYTE });
  const reading = await RawClient.connect(url);
  await reading.write(request);
  await assertLastAnswer(reading, 431, TOO_LARGE, "reading while it writes");

  const writing = await RawClient.connect(url);
  writing.pause();
  for (let start = 0; start < request.length; start += 50_000)
    await writing.write(request.slice(start, start + 50_000));
  writing.resume();
  await assertLastAnswer(writing, 431, TOO_LARGE, "writing first");
});

test("many headers, or a path, of more than 16 kB are too large too; what is less is read", async () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x-${index}`, "some value"]));
  for (const request of [rawRequestText("GET", BALANCE, many), rawRequestText("GET", `/${"p".repeat(20_000)}`, {})]) {
    const client = await RawClient.connect(url);
    await client.write(request);
    await assertLastAnswer(client, 431, TOO_LARGE);
  }
  const long = rawRequestText("GET", BALANCE, { authorization: DEMO, "x-long": "a".repeat(15_000) });
  assert.equal((await rawCall(url, long)).status, 200);
});

// --- Broken --------------------------------------------------------------------------------------------------------------------------

const chunkedHead = rawRequestText("POST", PREVIEW, { authorization: DEMO, "transfer-encoding": "chunked" });
const withLength = (length: string): string =>
  rawRequestText("POST", PREVIEW, { authorization: DEMO, "content-length": length });

const GARBAGE: Readonly<Record<string, string | Buffer>> = {
  "a greeting of TLS": Buffer.from("16030100c8010000c40303", "hex"),
  "bytes by chance": Buffer.from("8f3c0d0a0d0a00ff17", "hex"),
  "a message of SMTP": "EHLO sms.example\r\n\r\n",
  "a method that does not exist": "SEND /sms/1/text/single HTTP/1.1\r\nHost: x\r\n\r\n",
  "a method in small letters": "get / HTTP/1.1\r\nHost: x\r\n\r\n",
  "a request line without a path": "GET\r\n\r\n",
  "a version that does not exist": "GET / HTTP/7.3\r\nHost: x\r\n\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "a header without a colon": "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n",
  "a header with a space in its name": "GET / HTTP/1.1\r\nHost: x\r\nx y: z\r\n\r\n",
  "a header with a NUL": "GET / HTTP/1.1\r\nHost: x\r\nx: \0\r\n\r\n",
  "a length that is no number": withLength("ten"),
  "a negative length": withLength("-1"),
  "a length beyond all numbers": withLength("9".repeat(30)),
  "two lengths": withLength("3\r\ncontent-length: 4"),
  "a length and chunks": withLength("3\r\ntransfer-encoding: chunked"),
  "an encoding that nobody knows": withLength("3\r\ntransfer-encoding: zip"),
  "a chunk whose length is no number": `${chunkedHead}xyz\r\n`,
  "a chunk that is longer than it says": `${chunkedHead}2\r\nabcdef\r\n0\r\n\r\n`,
};

test("what is no HTTP is told so, and the connection ends:", async (t) => {
  for (const [name, request] of Object.entries(GARBAGE)) {
    await t.test(name, async () => {
      const client = await RawClient.connect(url);
      await client.write(request);
      await assertLastAnswer(client, 400, UNREADABLE, name);
    });
  }
});

test("a request that could be read in two ways is refused", async (t) => {
  const ok = previewRequest.replace("\r\n", "\r\nHost: elsewhere.example\r\n");
  await t.test("two Host headers", async () => {
    const answer = await rawCall(url, ok);
    const once = errorObject("BAD_REQUEST", "Bad request", null, "The Host header must be given once.");
    assert.deepEqual([answer.status, JSON.parse(answer.body)], [400, once]);
  });
  const chunks = 'd\r\n{"text": "x"}\r\n0\r\n\r\n';
  const UNKNOWN = errorObject(
    "NOT_IMPLEMENTED",
    "Not implemented",
    null,
    "Of the transfer codings only chunked is known.",
  );
  for (const coding of ["gzip, chunked", "identity, chunked", "gzip\r\ntransfer-encoding: chunked"]) {
    await t.test(JSON.stringify(coding), async () => {
      for (const [method, path] of [
        ["POST", PREVIEW],
        ["GET", BALANCE],
        ["GET", "/healthz"],
      ] as const) {
        const client = await RawClient.connect(url);
        const head = rawRequestText(method, path, { authorization: DEMO, "transfer-encoding": coding });
        await client.write(head + chunks);
        await assertLastAnswer(client, 501, UNKNOWN, `${method} ${path}`);
      }
    });
  }
  await t.test("and one in chunks is read, in whatever letters it says so", async () => {
    const head = rawRequestText("POST", PREVIEW, { authorization: DEMO, "transfer-encoding": "Chunked" });
    assert.equal((await rawCall(url, head + chunks)).status, 200);
  });
});

test("garbage without end is read to no end, and the client that closes nothing is closed on", async () => {
  const client = await RawClient.connect(impatient.url, { stubborn: true });
  await client.write(Buffer.alloc(100_000, 0xff));
  const { status, body } = await client.answer();
  assert.deepEqual([status, JSON.parse(body)], [400, UNREADABLE]);
  // For a while it may go on writing; then the time for a request is over, and writing fails.
  await assert.rejects(async () => {
    for (;;) await client.write(Buffer.alloc(10_000, 0xff));
  }, /EPIPE|ECONNRESET/);
  client.destroy();
});

test("a request without Host is told so, and one of HTTP/1.0 needs none", async () => {
  const { status, body, headers } = await rawCall(url, `GET ${BALANCE} HTTP/1.1\r\nauthorization: ${DEMO}\r\n\r\n`);
  const object = errorObject("BAD_REQUEST", "Bad request", null, "The Host header is missing.");
  assert.deepEqual([status, JSON.parse(body)], [400, object]);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");

  const old = await RawClient.connect(url);
  await old.write(`GET ${BALANCE} HTTP/1.0\r\nauthorization: ${DEMO}\r\n\r\n`);
  assert.equal((await old.answer()).status, 200);
  assert.equal(await old.closed(), "");
});

test("whoever waits to be told to go on is told, and other expectations are ignored", async () => {
  const client = await RawClient.connect(url);
  const [head, body] = rawRequestText(
    "POST",
    PREVIEW,
    { authorization: DEMO, expect: "100-continue" },
    '{"text":"x"}',
  ).split(/(?<=\r\n\r\n)/);
  await client.write(head!);
  assert.equal((await client.answer()).status, 100);
  await client.write(body!);
  assert.equal((await client.answer()).status, 200);
  await client.write(rawRequestText("GET", BALANCE, { authorization: DEMO, expect: "a-miracle" }));
  assert.equal((await client.answer()).status, 200);
  client.destroy();
});

// --- Too slow ------------------------------------------------------------------------------------------------------------------------

/** Long after the time-out; how much longer the machine may take is not what is tested. */
const IN_TIME_MS = 60_000;

async function assertCutOff(client: RawClient, startedMs: number, notBeforeMs: number): Promise<void> {
  await assertLastAnswer(client, 408, TOO_LATE);
  const elapsedMs = performance.now() - startedMs;
  assert.ok(elapsedMs >= notBeforeMs && elapsedMs < IN_TIME_MS, `closed after ${elapsedMs} ms`);
}

test("half a request and silence: the client is told that it was too slow, and the connection is closed in time", {
  concurrency: true,
}, async (t) => {
  const requests: Readonly<Record<string, string>> = {
    "not a word": "",
    "half a request line": "POST /sms/1/te",
    "half of the headers": "POST /sms/1/text/single HTTP/1.1\r\nHost: x\r\nAuthorization: Ba",
    "all headers but the empty line": balanceRequest.slice(0, -2),
    "headers and no body": withLength("100"),
    "half a body": `${withLength("100")}{"text": `,
    "half a chunk": `${chunkedHead}10\r\n{"te`,
    "chunks without the last": `${chunkedHead}1\r\n{\r\n`,
  };
  await Promise.all(
    Object.entries(requests).map(([name, request]) =>
      t.test(name, async () => {
        const startedMs = performance.now();
        const client = await RawClient.connect(impatient.url);
        if (request !== "") await client.write(request);
        const whole = request.includes("\r\n\r\n");
        await assertCutOff(client, startedMs, whole ? REQUEST_TIMEOUT_MS : HEADERS_TIMEOUT_MS);
      }),
    ),
  );
});

test("a request that comes drop by drop is cut off too, in its headers and in its body", async () => {
  for (const [start, notBeforeMs] of [
    [`GET ${BALANCE} HTTP/1.1\r\nHost: `, HEADERS_TIMEOUT_MS],
    [withLength("100000"), REQUEST_TIMEOUT_MS],
  ] as const) {
    const startedMs = performance.now();
    const client = await RawClient.connect(impatient.url);
    await client.write(start);
    const drip = setInterval(() => void client.write("x").catch(() => undefined), 20);
    try {
      await assertCutOff(client, startedMs, notBeforeMs);
    } finally {
      clearInterval(drip);
    }
  }
});

test("the time-outs are for the client's part: an answer may take longer", async () => {
  let finish = () => {};
  storeIsSlow = new Promise((resolve) => {
    finish = resolve;
  });
  const client = await RawClient.connect(impatient.url);
  await client.write(balanceRequest);
  // Another connection is cut off in the meantime, so we know that the time for a request is over.
  const slow = await RawClient.connect(impatient.url);
  await slow.write(withLength("100"));
  await assertLastAnswer(slow, 408, TOO_LATE);
  finish();
  assert.equal((await client.answer()).status, 200);
  client.destroy();
});

// --- Cut off, and one after the other ---------------------------------------------------------------------------------------------------

test("half a request and goodbye is told so", async () => {
  for (const request of ["GET /acc", balanceRequest.slice(0, -2), `${withLength("100")}{"text"`]) {
    const client = await RawClient.connect(url);
    await client.write(request);
    client.end();
    await assertLastAnswer(client, 400, UNREADABLE, request);
  }
});

test("whoever says goodbye right after the request gets the answer", async () => {
  const client = await RawClient.connect(url, { stubborn: true });
  await client.write(previewRequest);
  client.end();
  assert.equal((await client.answer()).status, 200);
  assert.equal(await client.closed(), "");
});

test("requests that follow without waiting are answered in their order", async () => {
  const client = await RawClient.connect(url);
  // The first takes longest: its password is checked.
  const wrong = rawRequestText("GET", BALANCE, { authorization: basic("demo", "pipelined") });
  const unknown = rawRequestText("GET", "/nothing", {});
  await client.write(wrong + previewRequest + unknown + balanceRequest + previewRequest);
  const statuses: number[] = [];
  for (let count = 0; count < 5; count++) statuses.push((await client.answer()).status);
  assert.deepEqual(statuses, [401, 200, 404, 200, 200]);
  client.destroy();
});

test("garbage behind good requests does not take their answers away: what was done is told", async () => {
  const client = await RawClient.connect(url);
  const slow = rawRequestText("GET", BALANCE, { authorization: basic("demo", "before garbage") });
  await client.write(`${slow}${previewRequest}GARBAGE\r\n\r\n`);
  assert.equal((await client.answer()).status, 401);
  assert.equal((await client.answer()).status, 200);
  await assertLastAnswer(client, 400, UNREADABLE);
});

test("whoever has been answered is not told again that the rest of its body is late or broken", async () => {
  const head = rawRequestText("POST", PREVIEW, { "transfer-encoding": "chunked" });
  for (const rest of ["5\r\nabc", "5\r\nabcdefgh\r\n"]) {
    const client = await RawClient.connect(impatient.url);
    await client.write(head);
    assert.equal((await client.answer()).status, 401);
    await client.write(rest);
    assert.equal(await client.closed(), "");
  }
});

test("nothing is said in the middle of a stream: the connection ends", async () => {
  for (const broken of [
    "GARBAGE\r\n\r\n",
    `${rawRequestText("POST", PREVIEW, { "transfer-encoding": "chunked" })}x\r\n`,
  ]) {
    const client = await RawClient.connect(url);
    await client.write(rawRequestText("GET", "/events/1/live", { authorization: DEMO }));
    assert.equal((await client.answer({ head: true })).status, 200);
    await client.write(broken);
    assert.doesNotMatch(await client.closed(), /HTTP|BAD_REQUEST/);
  }
});

test("HEAD answers without a body, and the connection goes on", async () => {
  const client = await RawClient.connect(url);
  for (const [path, status, length] of [
    [BALANCE, 200, "32"],
    ["/healthz", 200, "15"],
    ["/nothing", 404, null],
    [PREVIEW, 405, null],
  ] as const) {
    await client.write(rawRequestText("HEAD", path, { authorization: DEMO }));
    const answer = await client.answer({ head: true });
    assert.equal(answer.status, status, path);
    if (length !== null) assert.equal(answer.headers.get("content-length"), length, path);
  }
  await client.write(balanceRequest);
  assert.deepEqual(JSON.parse((await client.answer()).body), { balance: 100, currency: "EUR" });
  client.destroy();
});

test("after an error the connection is as good as before", async () => {
  const client = await RawClient.connect(url);
  const authorization = DEMO;
  const errors: readonly (readonly [status: number, request: string])[] = [
    [400, rawRequestText("POST", PREVIEW, { authorization }, "{")],
    [400, rawRequestText("POST", PREVIEW, { authorization }, '{"text": 5}')],
    [401, rawRequestText("POST", PREVIEW, {}, '{"text": "a body that nobody reads"}')],
    [404, rawRequestText("POST", "/nothing", {}, "a body that nobody reads")],
    [405, rawRequestText("PUT", PREVIEW, {}, "a body that nobody reads")],
    [406, rawRequestText("POST", PREVIEW, { authorization, accept: "text/html" }, '{"text": "x"}')],
    [415, rawRequestText("POST", PREVIEW, { authorization, "content-type": "text/plain" }, "x".repeat(100_000))],
  ];
  for (const [status, request] of errors) {
    await client.write(request);
    assert.equal((await client.answer()).status, status);
    await client.write(balanceRequest);
    assert.equal((await client.answer()).status, 200, `after ${status}`);
  }
  client.destroy();
});

/** What Node's own client gets, which keeps its connection unless it is told otherwise. */
function ask(agent: Agent, method: string, path: string, headers: Record<string, string>, body: string) {
  const { hostname, port } = new URL(url);
  return new Promise<[status: number | undefined, connection: string | undefined]>((resolve, reject) => {
    const asked = request({ hostname, port, path, method, agent, headers }, (answer) => {
      answer.resume().on("end", () => resolve([answer.statusCode, answer.headers.connection]));
    });
    asked.on("error", reject).end(body);
  });
}

test("whoever asks for the end of the connection is told of it with every answer, and so loses no request behind it", async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const json = { "content-type": "application/json" };
  const send = JSON.stringify({ to: "41793026727", text: "x" });
  const answers: readonly (readonly [number, string, string, Record<string, string>, string])[] = [
    [200, "POST", PREVIEW, { authorization: DEMO, ...json }, '{"text":"x"}'],
    [200, "POST", "/sms/1/text/single", { authorization: "App demo-api-key", ...json }, send],
    [400, "POST", PREVIEW, { authorization: DEMO, ...json }, "{"],
    [401, "POST", PREVIEW, json, "{}"],
    [404, "POST", "/nothing", {}, "a body that nobody reads"],
    [405, "PUT", PREVIEW, {}, "a body that nobody reads"],
    [413, "POST", "/auth/1/session", json, "x".repeat(5_000)],
    [415, "POST", PREVIEW, { authorization: DEMO, "content-type": "text/plain" }, "x".repeat(100_000)],
  ];
  for (const end of [{ connection: "close" }, { "proxy-connection": "close" }])
    for (const [status, method, path, headers, body] of answers) {
      const about = `${JSON.stringify(end)} ${method} ${path}: ${status}`;
      // The connection knows its caller, so that the next request could go the short way.
      const known = await ask(agent, "GET", BALANCE, { authorization: "App demo-api-key" }, "");
      assert.deepEqual(known, [200, "keep-alive"], about);
      assert.deepEqual(await ask(agent, method, path, { ...headers, ...end }, body), [status, "close"], about);
    }
});

test("behind an answer to a body that is too large to be dropped, the connection ends, and the answer says so", async () => {
  const large = "x".repeat(8_000_000);
  for (const [status, request] of [
    [401, rawRequestText("POST", PREVIEW, {}, large)],
    [413, rawRequestText("POST", "/auth/1/session", { "content-type": "application/json" }, large)],
    [200, rawRequestText("GET", "/healthz", {}, large)],
    [401, `${rawRequestText("POST", PREVIEW, { "transfer-encoding": "chunked" })}7a1200\r\n${large}`],
    [400, `GARBAGE\r\n\r\n${large}`],
  ] as const) {
    const client = await RawClient.connect(url);
    void client.write(request).catch(() => undefined);
    const answer = await client.answer();
    assert.deepEqual([answer.status, answer.headers.get("connection")], [status, "close"]);
    assert.equal(await client.closed(), "");
  }
});

test("time for the headers may be longer than that for a request, and than Node's own", async (t) => {
  for (const [headersTimeoutMs, requestTimeoutMs] of [
    [600_000, 30_000],
    [400_000, 400_000],
  ] as const) {
    const patient = await startTestService(t, { settings: { server: { headersTimeoutMs, requestTimeoutMs } } });
    assert.equal((await patient.call("GET", "/account/1/balance")).status, 200);
  }
});
