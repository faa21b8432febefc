/** More than the service can take, clients that vanish, a store that fails, and a service that stops: 503 and 500. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Store } from "../../src/store/port/store.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { type Answer, basic, DEMO, errorObject, eventually, startTestService } from "../support/service.ts";

const BALANCE = "/account/1/balance";
const SINGLE = "/sms/1/text/single";
const MESSAGE = { from: "InfoSMS", to: "41793026727", text: "Hello" };

/** A store in which asking for a balance waits while the gate is closed. */
class Gate {
  waiting = 0;
  #open: Promise<void> = Promise.resolve();
  #opener: () => void = () => undefined;

  readonly wrap = (store: Store): Store => ({
    ...store,
    balance: async (input) => {
      this.waiting++;
      await this.#open;
      this.waiting--;
      return store.balance(input);
    },
  });

  close(): void {
    this.#open = new Promise((resolve) => {
      this.#opener = resolve;
    });
  }

  open(): void {
    this.#opener();
  }
}

const MAX_REQUESTS = 5;
const gate = new Gate();
const busy = await startTestService(
  { after },
  {
    settings: { server: { maxRequests: MAX_REQUESTS, headersTimeoutMs: 500, requestTimeoutMs: 1_000 } },
    edgeStore: gate.wrap,
  },
);
const TOO_MANY = errorObject("SERVICE_UNAVAILABLE", "Service unavailable", null, "Too many requests are in progress.");

/** As many requests at once as the service takes are taken, and one more is not. */
async function assertTakes(count: number): Promise<void> {
  gate.close();
  const taken = Array.from({ length: count }, () => busy.call("GET", BALANCE));
  await eventually(async () => gate.waiting === count);
  for (const more of [await busy.call("GET", BALANCE), await busy.call("POST", SINGLE, { body: MESSAGE })]) {
    assert.deepEqual([more.status, more.json], [503, TOO_MANY]);
    assert.equal(more.headers.get("retry-after"), "1");
    assert.equal(more.headers.get("content-type"), "application/json; charset=utf-8");
  }
  for (const path of ["/healthz", "/readyz", "/statusz", "/metrics"]) {
    assert.equal((await busy.call("GET", path)).status, 200, `${path}: being busy is not being down`);
  }
  gate.open();
  for (const { status } of await Promise.all(taken)) assert.equal(status, 200);
}

test("past its bound of requests the service says that it is busy, and takes more when some are answered", async () => {
  await assertTakes(MAX_REQUESTS);
  await assertTakes(MAX_REQUESTS);
});

test("clients that vanish at any point of a request leave no trace in the count", async () => {
  gate.close();
  const balance = rawRequestText("GET", BALANCE, { authorization: DEMO });
  const half = rawRequestText("POST", SINGLE, { authorization: DEMO, "content-length": "1000" });
  const wrong = rawRequestText("GET", BALANCE, { authorization: basic("demo", "wrong") });
  const stories: Readonly<Record<string, string>> = {
    "within the headers": balance.slice(0, -4),
    "before the body": half,
    "within the body": `${half}{"from": `,
    "while its password is checked": wrong,
    "while it waits for the answer": balance,
    "with several requests under way": balance + balance + balance,
    "with garbage at the end": `${balance}GARBAGE`,
    "within the body of an unknown path": half.replace(SINGLE, "/nothing"),
  };
  for (const [name, request] of Object.entries(stories)) {
    for (let time = 0; time < MAX_REQUESTS + 2; time++) {
      const client = await RawClient.connect(busy.url);
      await client.write(request);
      // Whether the service has seen anything of it yet differs from time to time, and must not matter.
      if (time % 2 === 1) await busy.call("GET", "/healthz");
      client.vanish();
    }
    gate.open();
    await eventually(async () => (await busy.call("GET", BALANCE)).status === 200);
    await assertTakes(MAX_REQUESTS);
    assert.equal(gate.waiting, 0, name);
    gate.close();
  }
  gate.open();
});

// --- The store fails -------------------------------------------------------------------------------------------------------------------

const SECRET = "SQLITE_IOERR: disk I/O error in INSERT INTO message at /var/lib/heliograph/data/heliograph.sqlite:5";

/** A store whose commands, once it is broken, fail like this. */
function breakable(makeError: () => Error) {
  const state = { broken: false };
  const wrap = (store: Store): Store => {
    const commands = Object.entries(store) as [string, (input: unknown) => Promise<unknown>][];
    const broken = commands.map(([name, command]) => [
      name,
      (input: unknown) => (state.broken ? Promise.reject(makeError()) : command(input)),
    ]);
    return Object.fromEntries(broken);
  };
  return { state, wrap };
}

/** A good request for each operation that needs the store. */
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["POST", "/sms/1/text/advanced", { messages: [{ from: "a1", destinations: [{ to: MESSAGE.to }], text: "x" }] }],
  ["POST", "/sms/2/text/advanced", { messages: [{ from: "a1", destinations: [{ to: MESSAGE.to }], text: "x" }] }],
  ["POST", "/sms/1/text/multi", { messages: [MESSAGE] }],
  ["POST", SINGLE, MESSAGE],
  ["POST", "/sms/1/binary/single", { from: "a1", to: MESSAGE.to, binary: { hex: "0f" } }],
  ["GET", "/sms/1/text/query?from=a1&to=41793026727&text=x"],
  ["GET", BALANCE],
  ["POST", "/1/customerProfile/login", { username: "operator", password: "operator-password" }],
  ["POST", "/1/customerProfile/payments/funds", { accountKey: "DEMO0001", ammount: 1, description: "x" }],
  ["POST", "/1/customerProfile/logout"],
  ["POST", "/auth/1/session", { username: "operator", password: "operator-password" }],
  ["DELETE", "/auth/1/session"],
  ["GET", "/sms/1/bulks?bulkId=B"],
  ["GET", "/sms/1/bulks/status?bulkId=B"],
  ["GET", "/sms/1/inbox/reports"],
  ["GET", "/readyz"],
];

function assertSaysNothing({ text, headers }: Answer, about: string): void {
  const everything = text + JSON.stringify([...headers]);
  for (const word of [
    /sqlite/i,
    /insert/i,
    /heliograph\.sqlite/,
    /\/var/,
    /at .*\.ts/,
    /node_modules/,
    /Error:/,
    /stack/,
  ]) {
    assert.doesNotMatch(everything, word, about);
  }
}

test("503: while the store is out of reach every operation says so, without a word of why", async (t) => {
  const { state, wrap } = breakable(() => new StoreUnavailable(SECRET));
  const service = await startTestService(t, { edgeStore: wrap });
  const login = await service.call("POST", "/1/customerProfile/login", {
    authorization: basic("reseller", "reseller-password"),
  });
  const token = `IBSSO ${login.json.login.ibAuthCookie}`;
  assert.equal((await service.call("GET", BALANCE)).status, 200);

  state.broken = true;
  for (const [method, path, body] of REQUESTS) {
    const authorization = /customerProfile|session/.test(path) ? token : DEMO;
    const answer = await service.call(method, path, { authorization, body });
    const says = path === "/readyz" ? "The store does not answer." : null;
    const object = errorObject("SERVICE_UNAVAILABLE", "Service unavailable", null, says);
    assert.deepEqual([answer.status, answer.json], [503, object], path);
    assert.equal(answer.headers.get("retry-after"), "1", path);
    assertSaysNothing(answer, path);
  }
  const unknown = await service.call("GET", BALANCE, { authorization: basic("somebody", "else") });
  assert.equal(unknown.status, 503, "nobody is called a stranger because the store does not answer");
  assert.equal((await service.call("GET", "/healthz")).status, 200);

  state.broken = false;
  assert.equal((await service.call("GET", "/readyz")).status, 200);
  assert.equal((await service.call("POST", SINGLE, { body: MESSAGE })).status, 200);
});

test("500: a bug is told as nothing but that something went wrong", async (t) => {
  const { state, wrap } = breakable(() => new TypeError(SECRET));
  const service = await startTestService(t, { edgeStore: wrap });
  assert.equal((await service.call("GET", BALANCE)).status, 200);
  state.broken = true;
  for (const answer of [await service.call("GET", BALANCE), await service.call("POST", SINGLE, { body: MESSAGE })]) {
    assert.deepEqual([answer.status, answer.json], [500, errorObject("GENERAL_ERROR", "Something went wrong")]);
    assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
    assertSaysNothing(answer, "500");
  }
});

// --- The service stops -------------------------------------------------------------------------------------------------------------------

test("503: while the service stops, what is in flight is answered, and what comes then is told to come again", async (t) => {
  const held = new Gate();
  const service = await startTestService(t, { edgeStore: held.wrap });
  const request = rawRequestText("GET", BALANCE, { authorization: DEMO });
  const [idle, working] = [await RawClient.connect(service.url), await RawClient.connect(service.url)];
  await idle.write(request);
  assert.equal((await idle.answer()).status, 200);
  held.close();
  await working.write(request);
  await eventually(async () => held.waiting === 1);

  const stopped = service.stop();
  assert.equal(await idle.closed(), "", "a connection that waits for nothing is closed");
  const late = await RawClient.connect(service.url).then(
    () => "connected",
    () => "refused",
  );
  assert.equal(late, "refused");
  held.open();
  const first = await working.answer();
  assert.deepEqual([first.status, first.body], [200, '{"balance":100,"currency":"EUR"}']);
  assert.equal(first.headers.get("connection"), "close");
  await working.closed();
  await stopped;
});

test("a request that comes on an open connection while the service stops is answered, as the last one there", async (t) => {
  const held = new Gate();
  const service = await startTestService(t, { edgeStore: held.wrap, settings: { server: { stopGraceMs: 60_000 } } });
  held.close();
  const client = await RawClient.connect(service.url);
  const half = rawRequestText("GET", BALANCE, { authorization: DEMO });
  await client.write(half.slice(0, -4));
  const working = service.call("GET", BALANCE);
  await eventually(async () => held.waiting === 1);
  const stopped = service.stop();
  await client.write(half.slice(-4));
  await eventually(async () => held.waiting === 2);
  held.open();
  const { status, headers, body } = await client.answer();
  assert.deepEqual([status, body], [200, '{"balance":100,"currency":"EUR"}']);
  assert.equal(headers.get("connection"), "close");
  await client.closed();
  assert.equal((await working).status, 200);
  await stopped;
});

test("a stop waits for requests in flight as long as it is told to, and no longer", async (t) => {
  const held = new Gate();
  const service = await startTestService(t, { edgeStore: held.wrap, settings: { server: { stopTimeoutMs: 100 } } });
  held.close();
  const client = await RawClient.connect(service.url);
  await client.write(rawRequestText("GET", BALANCE, { authorization: DEMO }));
  await eventually(async () => held.waiting === 1);
  await service.stop();
  assert.equal(await client.closed(), "");
});

test("past the bound of connections one that is idle makes room, and one that is at work does not", async (t) => {
  const held = new Gate();
  const service = await startTestService(t, {
    edgeStore: held.wrap,
    settings: { server: { maxConnections: 2 } },
  });
  const health = rawRequestText("GET", "/healthz", {});
  const [idle, working] = [await RawClient.connect(service.url), await RawClient.connect(service.url)];
  await idle.write(health);
  assert.equal((await idle.answer()).status, 200);
  held.close();
  await working.write(rawRequestText("GET", BALANCE, { authorization: DEMO }));
  await eventually(async () => held.waiting === 1);

  const third = await RawClient.connect(service.url);
  assert.equal(await idle.closed(), "", "the idle one makes room");
  await third.write(rawRequestText("GET", BALANCE, { authorization: DEMO }));
  await eventually(async () => held.waiting === 2);
  const fourth = await RawClient.connect(service.url);
  assert.equal(await fourth.closed(), "", "where all are at work there is no room");
  held.open();
  for (const client of [working, third]) {
    assert.equal((await client.answer()).status, 200);
    client.destroy();
  }
});
