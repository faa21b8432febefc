/** The short way of the operations that send (api/short-way.ts): whatever comes is answered as on the long way, and most goes the short one. */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import type { Socket } from "node:net";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { ShortWay } from "../../src/api/short-way.ts";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { CERTIFICATE } from "../support/certificate.ts";
import { type RawAnswer, RawClient, rawRequestText } from "../support/raw-http.ts";
import { eventually, startTestService, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

let isStoreAway = false;
/** Acceptances wait for it. */
let hold: Promise<void> | null = null;
const service = await startTestService(
  { after },
  {
    // It stands: in real time what is remembered of a key is forgotten soon after one was made.
    clock: new VirtualClock(Date.UTC(2026, 0, 5, 12)),
    edgeStore: (store) => ({
      ...store,
      accept: async (input) => {
        if (isStoreAway) throw new StoreUnavailable("away");
        await hold;
        return store.accept(input);
      },
    }),
  },
);
const { url, store } = service;

async function newKey(scopes: "send"[] | "track"[] | null = null, of = store): Promise<string> {
  const key = newApiKey();
  const stored = {
    ...storedForm(key),
    accountKey: "DEMO0001",
    name: null,
    atMs: 0,
    ...(scopes === null ? {} : { scopes }),
  };
  assert.equal(await of.createApiKey(stored), "created");
  return `App ${key}`;
}

const ADVANCED = "/sms/1/text/advanced";
const SINGLE = "/sms/1/text/single";
const TO = "41793026727";
const JSON_TYPE = { "content-type": "application/json" };
const PLAIN = JSON.stringify({ messages: [{ from: "InfoSMS", destinations: [{ to: TO }], text: "Hello" }] });

/** Of each request during the test that could go the short way, whether it did. */
function watch(t: TestContext): () => boolean[] {
  const taken = t.mock.method(ShortWay.prototype, "take");
  return () => taken.mock.calls.map(({ result }) => result === true);
}

/** The answers to a request on a connection that does not know its caller, and on one that does. */
async function bothWays(request: string, authorization: string): Promise<[long: RawAnswer, short: RawAnswer]> {
  const client = await RawClient.connect(url);
  try {
    const answers: RawAnswer[] = [];
    for (const text of [request, rawRequestText("GET", "/account/1/balance", { authorization }), request]) {
      await client.write(text);
      answers.push(await client.answer());
    }
    return [answers[0]!, answers[2]!];
  } finally {
    client.destroy();
  }
}

/** An answer without what differs from one to the next: ids, times, and the order of headers. */
function comparable({ status, headers, body }: RawAnswer): object {
  const text = body.replaceAll(/"(messageId|bulkId|trackingProcessKey)":"\w+"/g, '"$1":"…"');
  const others = [...headers].filter(([name]) => !["date", "content-length"].includes(name)).sort();
  return { status, headers: others, text };
}

interface Case {
  readonly says: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly way: keyof typeof WAYS;
}

const WAYS = { short: [true], "turned back": [false], long: [] } as const;

const CASES: readonly Case[] = [
  { says: "a plain request", body: PLAIN, status: 200, way: "short" },
  {
    says: "one with Accept and others' headers",
    headers: { accept: "*/*", "user-agent": "x", traceparent: "y" },
    body: PLAIN,
    status: 200,
    way: "short",
  },
  {
    says: "one with a charset",
    headers: { "content-type": "application/json; charset=utf-8" },
    body: PLAIN,
    status: 200,
    way: "short",
  },
  {
    says: "a field that looks mistyped",
    body: PLAIN.replace('"text"', '"flsh":true,"text"'),
    status: 200,
    way: "short",
  },
  {
    says: "a number that looks national",
    path: SINGLE,
    body: JSON.stringify({ from: "InfoSMS", to: "0793026727", text: "x" }),
    status: 200,
    way: "short",
  },
  {
    says: "a number that is none",
    path: SINGLE,
    body: JSON.stringify({ from: "InfoSMS", to: "nobody", text: "x" }),
    status: 200,
    way: "short",
  },
  {
    says: "days as numbers",
    body: PLAIN.replace('"text"', '"deliveryTimeWindow":{"days":[0,1]},"text"'),
    status: 200,
    way: "short",
  },
  {
    says: "many destinations",
    path: SINGLE,
    body: JSON.stringify({
      from: "a",
      to: Array.from({ length: 250 }, (_, index) => `4179${1_000_000 + index}`),
      text: "x",
    }),
    status: 200,
    way: "short",
  },
  {
    says: "a binary message",
    path: "/sms/1/binary/single",
    body: JSON.stringify({ from: "a", to: TO, binary: { hex: "00 ff" } }),
    status: 200,
    way: "short",
  },
  { says: "a body that its schema refuses", body: '{"messages":[{"from":5}]}', status: 400, way: "turned back" },
  {
    says: "a body that intake refuses",
    body: PLAIN.replace('"text"', '"sendAt":"soon","text"'),
    status: 400,
    way: "short",
  },
  {
    says: "links that cannot be tracked so",
    body: PLAIN.replace('"messages"', '"tracking":{"track":"URL"},"messages"'),
    status: 400,
    way: "short",
  },
  { says: "no JSON", body: "{", status: 400, way: "turned back" },
  { says: "no UTF-8, a NUL", body: PLAIN.replace("Hello", "\\u0000"), status: 400, way: "turned back" },
  { says: "an empty body", body: "", status: 400, way: "long" },
  { says: "a large body", body: PLAIN.replace("Hello", "x".repeat(5_000)), status: 200, way: "long" },
  { says: "another type", headers: { "content-type": "text/plain" }, body: PLAIN, status: 415, way: "long" },
  { says: "another answer wanted", headers: { accept: "text/html" }, body: PLAIN, status: 406, way: "long" },
  {
    says: "a key of idempotency",
    headers: { "idempotency-key": "short-way-1" },
    body: PLAIN,
    status: 200,
    way: "long",
  },
  { says: "a bad Host", headers: { host: "a b" }, body: PLAIN, status: 400, way: "long" },
  {
    says: "a foreign Host, in a sandbox",
    headers: { host: "example.com" },
    body: PLAIN,
    status: 403,
    way: "turned back",
  },
  {
    says: "a page of another site",
    headers: { origin: "https://example.com" },
    body: PLAIN,
    status: 403,
    way: "long",
  },
  { says: "an id of its own", headers: { "x-request-id": "mine" }, body: PLAIN, status: 200, way: "long" },
  { says: "a query", path: `${ADVANCED}?x=1`, body: PLAIN, status: 200, way: "long" },
  { says: "another path", path: "/sms/1/text/nothing", body: PLAIN, status: 404, way: "long" },
];

const key = await newKey();
for (const { says, path = ADVANCED, headers = {}, body, status, way } of CASES) {
  test(`the same answer on both ways: ${says}`, async (t) => {
    const ways = watch(t);
    const [long, short] = await bothWays(
      rawRequestText("POST", path, { authorization: key, ...JSON_TYPE, ...headers }, body),
      key,
    );
    assert.equal(short.status, status, short.body);
    assert.deepEqual(ways(), WAYS[way]);
    assert.deepEqual(comparable(short), comparable(long));
  });
}

test("a key that is not good for sending, or is gone, is refused alike", async (t) => {
  const ways = watch(t);
  const tracking = await newKey(["track"]);
  const request = rawRequestText("POST", ADVANCED, { authorization: tracking, ...JSON_TYPE }, PLAIN);
  const [long, short] = await bothWays(request, tracking);
  assert.deepEqual([short.status, comparable(short)], [403, comparable(long)]);
  const other = rawRequestText("POST", ADVANCED, { authorization: `${key}x`, ...JSON_TYPE }, PLAIN);
  const [, wrong] = await bothWays(other, key);
  assert.equal(wrong.status, 401);
  assert.deepEqual(ways(), [false, false]);
});

test("while the store is away the answer is 503, and the message of the next request goes", async (t) => {
  const ways = watch(t);
  isStoreAway = true;
  t.after(() => {
    isStoreAway = false;
  });
  const request = rawRequestText("POST", ADVANCED, { authorization: key, ...JSON_TYPE }, PLAIN);
  const [long, short] = await bothWays(request, key);
  assert.deepEqual([short.status, short.headers.get("retry-after")], [503, long.headers.get("retry-after")]);
  assert.deepEqual(comparable(short), comparable(long));
  isStoreAway = false;
  assert.equal((await bothWays(request, key))[1].status, 200);
  assert.deepEqual(ways(), [true, true]);
});

test("requests that do not wait for their answers get them in order", async () => {
  const client = await RawClient.connect(url);
  const send = (text: string) =>
    rawRequestText(
      "POST",
      SINGLE,
      { authorization: key, ...JSON_TYPE },
      JSON.stringify({ from: "a", to: TO, text, messageId: `pipelined-${text}` }),
    );
  await client.write(send("0"));
  await client.answer();
  await client.write([1, 2, 3, 4, 5].map((number) => send(String(number))).join(""));
  for (const number of [1, 2, 3, 4, 5]) {
    const { status, body } = await client.answer();
    assert.deepEqual([status, JSON.parse(body).messages[0].messageId], [200, `pipelined-${number}`]);
  }
  client.destroy();
});

/** A plain request with this text as the name of its message. */
function named(name: string, more: Readonly<Record<string, string>> = {}): string {
  const body = JSON.stringify({ from: "a", to: TO, text: "x", messageId: name });
  return rawRequestText("POST", SINGLE, { authorization: key, ...JSON_TYPE, ...more }, body);
}

/** A connection that knows its caller. */
async function knownClient(at = url, authorization = key): Promise<RawClient> {
  const client = await RawClient.connect(at);
  await client.write(rawRequestText("GET", "/account/1/balance", { authorization }));
  assert.equal((await client.answer()).status, 200);
  return client;
}

async function answeredName(client: RawClient): Promise<string> {
  const { status, body } = await client.answer();
  return status === 200 ? (JSON.parse(body).messages?.[0].messageId ?? "another") : String(status);
}

/** How many requests of callers are under way, and of whoever else. */
async function underWay(): Promise<number> {
  const { text } = await service.call("GET", "/metrics");
  const counts = [...text.matchAll(/^heliograph_http_(?:callers|strangers) (\d+)/gm)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}

test("of what came in one piece each request is answered in its turn, whichever way it goes", async (t) => {
  const ways = watch(t);
  const client = await knownClient();
  const balance = rawRequestText("GET", "/account/1/balance", { authorization: key });
  const broken = rawRequestText("POST", SINGLE, { authorization: key, ...JSON_TYPE }, "{");
  await client.write([named("mixed-1"), balance, named("mixed-2"), broken, named("mixed-3")].join(""));
  const answers: string[] = [];
  for (let count = 0; count < 5; count++) answers.push(await answeredName(client));
  assert.deepEqual(answers, ["mixed-1", "another", "mixed-2", "400", "mixed-3"]);
  assert.equal(ways()[0], true);
  client.destroy();
});

test("octets that look like a request and stand within another are none", async (t) => {
  const ways = watch(t);
  /** The service's ends of connections. */
  const sockets: Socket[] = [];
  const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe("net.server.socket", note);
  t.after(() => unsubscribe("net.server.socket", note));
  // One whose body is a request; one whose head has not ended where a request seems to begin; one in chunks.
  const inBody = rawRequestText("POST", SINGLE, { authorization: key, ...JSON_TYPE }, named("hidden-1"));
  const chunks = rawRequestText("POST", SINGLE, {
    authorization: key,
    ...JSON_TYPE,
    "transfer-encoding": "chunked",
  }).replace(/content-length: 0\r\n/i, "");
  const inChunk = `${Buffer.byteLength(named("hidden-3")).toString(16)}\r\n`;
  for (const [first, then, statuses] of [
    [inBody.slice(0, -named("hidden-1").length), named("hidden-1"), ["400"]],
    [`GET /account/1/balance HTTP/1.1\r\nhost: x\r\nauthorization: ${key}\r\nx-more: `, named("hidden-2"), []],
    [`${chunks}${inChunk}`, `${named("hidden-3")}\r\n0\r\n\r\n`, ["400"]],
  ] as const) {
    const client = await knownClient();
    const socket = sockets.at(-1)!;
    const before = socket.bytesRead;
    await client.write(first);
    await eventually(async () => socket.bytesRead - before === Buffer.byteLength(first));
    await client.write(then);
    for (const status of statuses) assert.equal(await answeredName(client), status);
    client.destroy();
  }
  await eventually(async () => (await underWay()) === 0);
  // The first is whole, and its body is no JSON.
  assert.deepEqual(ways(), [false]);
  const { json } = await service.call("GET", "/sms/1/logs?messageId=hidden-1,hidden-2,hidden-3", {
    headers: { authorization: key },
  });
  assert.deepEqual(json.results, []);
});

test("heads that could be read in two ways are left to Node, and so is what follows on their connection", async (t) => {
  for (const more of [
    "content-length: 1\r\nx: y",
    "x: y\r\n z",
    "x: \u0001",
    "x : y",
    "transfer-encoding: identity",
    "x: y\nx: y",
  ]) {
    const ways = watch(t);
    const client = await knownClient();
    await client.write(named("odd").replace("\r\n\r\n", `\r\n${more}\r\n\r\n`));
    const { status } = await client.answer();
    assert.ok(status >= 400 && status <= 501, `${JSON.stringify(more)}: ${status}`);
    assert.deepEqual(ways(), []);
    client.destroy();
    t.mock.reset();
  }
});

test("a body that comes in pieces is read whole, and of one whose client goes away nothing stays under way", async (t) => {
  const ways = watch(t);
  const client = await knownClient();
  for (const name of ["pieces-1", "pieces-2"]) {
    const request = named(name);
    for (const piece of [request.slice(0, -20), request.slice(-20, -10), request.slice(-10)]) {
      await client.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await answeredName(client), name);
  }
  assert.deepEqual(ways(), [true, true]);
  await client.write(named("pieces-3").slice(0, -10));
  client.destroy();
  await eventually(async () => (await underWay()) === 0);
  assert.deepEqual(ways(), [true, true]);
});

test("of one whose rest does not come Node's deadlines count, and a rest that comes late is taken", async (t) => {
  const ways = watch(t);
  const client = await knownClient();
  const request = named("late-1");
  await client.write(request.slice(0, -10));
  // From then on it is a request under way, which is no candidate any more.
  await eventually(async () => (await underWay()) === 1);
  await client.write(request.slice(-10));
  assert.equal(await answeredName(client), "late-1");
  await client.write(named("late-2"));
  assert.equal(await answeredName(client), "late-2");
  assert.deepEqual(ways(), [true]);
  client.destroy();
});

test("what comes while a request is under way waits within a bound, and is answered afterwards", async (t) => {
  const ways = watch(t);
  const client = await knownClient();
  let letGo = (): void => undefined;
  hold = new Promise((resolve) => {
    letGo = resolve;
  });
  t.after(() => {
    hold = null;
  });
  const names = Array.from({ length: 1_000 }, (_, index) => `waits-${index}`);
  const sent = client.write(names.map((name) => named(name)).join(""));
  await eventually(async () => (await underWay()) === 1);
  letGo();
  await sent;
  for (const name of names) assert.equal(await answeredName(client), name);
  assert.ok(ways().every((isShort) => isShort));
  client.destroy();
});

test("a client that goes away before its answer leaves nothing behind", async (t) => {
  const client = await knownClient();
  let letGo = (): void => undefined;
  hold = new Promise((resolve) => {
    letGo = resolve;
  });
  t.after(() => {
    hold = null;
  });
  await client.write(named("gone-1") + named("gone-2"));
  await eventually(async () => (await underWay()) === 1);
  client.vanish();
  await eventually(async () => (await underWay()) === 0);
  letGo();
  const other = await knownClient();
  await other.write(named("gone-3"));
  assert.equal(await answeredName(other), "gone-3");
  other.destroy();
});

test("a service that stops answers what is under way, and says that it is the last answer", async (t) => {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const leaving = await startTestService(t, {
    clock: new VirtualClock(Date.UTC(2026, 0, 5, 12)),
    settings: { server: { stopTimeoutMs: 60_000 } },
    edgeStore: (other) => ({ ...other, accept: (input) => held.then(() => other.accept(input)) }),
  });
  const ways = watch(t);
  const authorization = await newKey(null, leaving.store);
  const client = await knownClient(leaving.url, authorization);
  await client.write(named("last-1", { authorization }).replace(key, authorization));
  await eventually(async () => ways().length === 1);
  const stopped = leaving.stop();
  await client.write("and whatever comes behind it is dropped");
  await eventually(() =>
    RawClient.connect(leaving.url).then(
      (other) => {
        other.destroy();
        return false;
      },
      () => true,
    ),
  );
  letGo();
  const { status, headers } = await client.answer();
  assert.deepEqual([status, headers.get("connection"), headers.get("keep-alive")], [200, "close", undefined]);
  client.end();
  await stopped;
  assert.equal(client.failure, null);
});

test("over TLS the short way is the same", async (t) => {
  const directory = await temporaryDirectory(t);
  const [tlsCertificate, tlsKey] = [join(directory, "server.crt"), join(directory, "server.key")];
  await writeFile(tlsCertificate, CERTIFICATE.cert);
  await writeFile(tlsKey, CERTIFICATE.key);
  const secure = await startTestService(t, {
    clock: new VirtualClock(Date.UTC(2026, 0, 5, 12)),
    settings: { server: { tlsCertificate, tlsKey } },
  });
  const ways = watch(t);
  const authorization = await newKey(null, secure.store);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  t.after(() => agent.destroy());
  const send = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(secure.url);
      const headers = { authorization, ...JSON_TYPE, accept: "application/json" };
      const asked = request({ hostname, port, path: SINGLE, method: "POST", agent, headers }, (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (piece) => {
          body += piece;
        });
        answer.on("end", () => resolve(body));
      });
      asked.on("error", reject).end(JSON.stringify({ from: "a", to: TO, text, messageId: text }));
    });
  for (const text of ["first", "second", "third"]) assert.match(await send(text), new RegExp(`"messageId":"${text}"`));
  assert.deepEqual(ways(), [true, true]);
});
