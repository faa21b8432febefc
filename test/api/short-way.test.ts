/** The short way of the operations that send (api/short-way.ts): whatever comes is answered as on the long way, and most goes the short one. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { ShortWay } from "../../src/api/short-way.ts";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { type RawAnswer, RawClient, rawRequestText } from "../support/raw-http.ts";
import { eventually, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

let isStoreAway = false;
const service = await startTestService(
  { after },
  {
    // It stands: in real time what is remembered of a key is forgotten soon after one was made.
    clock: new VirtualClock(Date.UTC(2026, 0, 5, 12)),
    edgeStore: (store) => ({
      ...store,
      accept: async (input) => {
        if (isStoreAway) throw new StoreUnavailable("away");
        return store.accept(input);
      },
    }),
  },
);
const { url, store } = service;

async function newKey(scopes: "send"[] | "track"[] | null = null): Promise<string> {
  const key = newApiKey();
  const stored = {
    ...storedForm(key),
    accountKey: "DEMO0001",
    name: null,
    atMs: 0,
    ...(scopes === null ? {} : { scopes }),
  };
  assert.equal(await store.createApiKey(stored), "created");
  return `App ${key}`;
}

const ADVANCED = "/sms/1/text/advanced";
const SINGLE = "/sms/1/text/single";
const TO = "41793026727";
const JSON_TYPE = { "content-type": "application/json" };
const PLAIN = JSON.stringify({ messages: [{ from: "InfoSMS", destinations: [{ to: TO }], text: "Hello" }] });

/** Whether each request that came during the test went the short way. */
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
  readonly isShort: boolean;
}

const CASES: readonly Case[] = [
  { says: "a plain request", body: PLAIN, status: 200, isShort: true },
  {
    says: "one with Accept and others' headers",
    headers: { accept: "*/*", "user-agent": "x", traceparent: "y" },
    body: PLAIN,
    status: 200,
    isShort: true,
  },
  {
    says: "one with a charset",
    headers: { "content-type": "application/json; charset=utf-8" },
    body: PLAIN,
    status: 200,
    isShort: true,
  },
  {
    says: "a field that looks mistyped",
    body: PLAIN.replace('"text"', '"flsh":true,"text"'),
    status: 200,
    isShort: true,
  },
  {
    says: "a number that looks national",
    path: SINGLE,
    body: JSON.stringify({ from: "InfoSMS", to: "0793026727", text: "x" }),
    status: 200,
    isShort: true,
  },
  {
    says: "a number that is none",
    path: SINGLE,
    body: JSON.stringify({ from: "InfoSMS", to: "nobody", text: "x" }),
    status: 200,
    isShort: true,
  },
  {
    says: "days as numbers",
    body: PLAIN.replace('"text"', '"deliveryTimeWindow":{"days":[0,1]},"text"'),
    status: 200,
    isShort: true,
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
    isShort: true,
  },
  {
    says: "a binary message",
    path: "/sms/1/binary/single",
    body: JSON.stringify({ from: "a", to: TO, binary: { hex: "00 ff" } }),
    status: 200,
    isShort: true,
  },
  { says: "a body that its schema refuses", body: '{"messages":[{"from":5}]}', status: 400, isShort: true },
  {
    says: "a body that intake refuses",
    body: PLAIN.replace('"text"', '"sendAt":"soon","text"'),
    status: 400,
    isShort: true,
  },
  {
    says: "links that cannot be tracked so",
    body: PLAIN.replace('"messages"', '"tracking":{"track":"URL"},"messages"'),
    status: 400,
    isShort: true,
  },
  { says: "no JSON", body: "{", status: 400, isShort: true },
  { says: "no UTF-8, a NUL", body: PLAIN.replace("Hello", "\\u0000"), status: 400, isShort: true },
  { says: "an empty body", body: "", status: 400, isShort: false },
  { says: "a large body", body: PLAIN.replace("Hello", "x".repeat(5_000)), status: 200, isShort: false },
  { says: "another type", headers: { "content-type": "text/plain" }, body: PLAIN, status: 415, isShort: false },
  { says: "another answer wanted", headers: { accept: "text/html" }, body: PLAIN, status: 406, isShort: false },
  {
    says: "a key of idempotency",
    headers: { "idempotency-key": "short-way-1" },
    body: PLAIN,
    status: 200,
    isShort: false,
  },
  { says: "a bad Host", headers: { host: "a b" }, body: PLAIN, status: 400, isShort: false },
  { says: "a foreign Host, in a sandbox", headers: { host: "example.com" }, body: PLAIN, status: 403, isShort: true },
  {
    says: "a page of another site",
    headers: { origin: "https://example.com" },
    body: PLAIN,
    status: 403,
    isShort: false,
  },
  { says: "an id of its own", headers: { "x-request-id": "mine" }, body: PLAIN, status: 200, isShort: false },
  { says: "a query", path: `${ADVANCED}?x=1`, body: PLAIN, status: 200, isShort: false },
  { says: "another path", path: "/sms/1/text/nothing", body: PLAIN, status: 404, isShort: false },
];

const key = await newKey();
for (const { says, path = ADVANCED, headers = {}, body, status, isShort } of CASES) {
  test(`the same answer on both ways: ${says}`, async (t) => {
    const ways = watch(t);
    const [long, short] = await bothWays(
      rawRequestText("POST", path, { authorization: key, ...JSON_TYPE, ...headers }, body),
      key,
    );
    assert.equal(short.status, status, short.body);
    // Whoever may not come in is sent the long way by what admits.
    assert.deepEqual(ways(), [false, false, isShort && status !== 403]);
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
  assert.ok(ways().every((isShort) => !isShort));
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
  assert.deepEqual(ways(), [false, false, true, false, false, true]);
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

test("a body that comes in pieces is read whole, and of one whose client goes away nothing stays under way", async (t) => {
  const ways = watch(t);
  const request = rawRequestText(
    "POST",
    SINGLE,
    { authorization: key, ...JSON_TYPE },
    JSON.stringify({ from: "a", to: TO, text: "in pieces" }),
  );
  const client = await RawClient.connect(url);
  await client.write(request);
  await client.answer();
  for (const piece of [request.slice(0, -10), request.slice(-10)]) {
    await client.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await client.answer()).status, 200);
  await client.write(request.slice(0, -10));
  await eventually(async () => ways().length === 3);
  assert.deepEqual(ways(), [false, true, true]);
  client.destroy();
  const underWay = async (): Promise<boolean> => {
    const { text } = await service.call("GET", "/metrics");
    return /^heliograph_http_callers [^0]/m.test(text);
  };
  await eventually(async () => !(await underWay()));
});
