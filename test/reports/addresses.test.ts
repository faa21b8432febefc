/** A callback URL cannot be used to reach inside: whatever it says, the connection goes to a checked address or nowhere. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import tls from "node:tls";
import { guardedLookup, resolveName } from "../../src/http/connector.ts";
import { PRIVATE_CALLBACKS } from "../../src/http/guard.ts";
import { CERTIFICATE } from "../support/certificate.ts";
import { until } from "../support/patience.ts";
import { batchFor, startPush, startReceiver } from "./fixtures.ts";

const strict = { allowLoopback: false, allowPrivate: false };
const sandbox = { allowLoopback: true, allowPrivate: false };

test("every spelling of a loopback address is refused", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t, { policy: strict });
  const hosts = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "localhost",
    "LOCALHOST",
    "0",
    "0.0.0.0",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
  ];
  for (const host of hosts) send(batchFor(`http://${host}:${receiver.port}/`));
  await until(() => store.failures.length === hosts.length, "all have failed");
  for (const { id, reason } of store.failures) assert.match(reason, /^address not allowed: /, id);
  assert.equal(receiver.connectionsMade, 0);
});

test("a private address is refused before a connection is tried", async (t) => {
  const { store, push, send } = startPush(t, { policy: sandbox });
  const hosts = [
    "10.0.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "[fd00::1]",
    "[fe80::1]",
    "100.64.0.1",
    "172.16.0.1",
    "167772161",
  ];
  send(...hosts.map((host) => batchFor(`http://${host}/latest/meta-data/`)));
  await until(() => store.failures.length === hosts.length, "all have failed");
  for (const { id, reason } of store.failures) assert.match(reason, /^address not allowed: /, id);
  assert.equal(push.counters.unreachable, hosts.length);
});

test("a name that leads to a private address is refused, and its reason does not tell the address", async (t) => {
  const { store, send } = startPush(t, { policy: sandbox, resolve: async () => [{ address: "10.1.2.3", family: 4 }] });
  send(batchFor("http://inside.example/"));
  await until(() => store.failures.length === 1, "the try has failed");
  assert.equal(store.failures[0]?.reason, `address not allowed: private network (${PRIVATE_CALLBACKS} allows it)`);
});

test("one private address among public ones is enough to refuse the name", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t, {
    policy: sandbox,
    resolve: async () => [
      { address: "127.0.0.1", family: 4 },
      { address: "fd00::1", family: 6 },
    ],
  });
  send(batchFor(`http://both.example:${receiver.port}/`));
  await until(() => store.failures.length === 1, "the try has failed");
  assert.match(store.failures[0]!.reason, /^address not allowed/);
  assert.equal(receiver.connectionsMade, 0);
});

test("a name is resolved once for a connection, and the connection goes to what was checked", async (t) => {
  const receiver = await startReceiver(t);
  const asked: string[] = [];
  const { store, send } = startPush(t, {
    policy: sandbox,
    resolve: async (name) => {
      asked.push(name);
      return [{ address: "127.0.0.1", family: 4 }];
    },
  });
  send(batchFor(`http://receiver.example:${receiver.port}/`));
  await until(() => store.delivered.length === 1, "the report is delivered");
  assert.deepEqual(asked, ["receiver.example"]);
  assert.equal(receiver.requests[0]?.headers.host, `receiver.example:${receiver.port}`);
});

test("a name that moves to a private address on the second look-up is refused on the second connection", async (t) => {
  const receiver = await startReceiver(t);
  let lookups = 0;
  const { clock, store, push, send } = startPush(t, {
    policy: sandbox,
    resolve: async () => [{ address: lookups++ === 0 ? "127.0.0.1" : "10.0.0.1", family: 4 }],
  });
  push.start();
  receiver.answer((_request, response) => response.writeHead(500, { connection: "close" }).end());
  send(batchFor(`http://moving.example:${receiver.port}/`));
  await until(() => store.failures.length === 1, "the first try has failed");
  await clock.advance(61_000);
  await until(() => store.failures.length === 2, "the second try has failed");
  assert.deepEqual(
    store.failures.map(({ reason }) => reason),
    ["answered 500", `address not allowed: private network (${PRIVATE_CALLBACKS} allows it)`],
  );
  assert.equal(receiver.requests.length, 1);
});

test("a name that nobody knows is a failure", async (t) => {
  const { store, send } = startPush(t, {
    resolve: () => Promise.reject(Object.assign(new Error("queryA ENOTFOUND"), { code: "ENOTFOUND" })),
  });
  send(batchFor("http://nobody.example/"));
  await until(() => store.failures.length === 1, "the try has failed");
  assert.equal(store.failures[0]?.reason, "name not found");
});

test("a name server that never answers is given up by the time-out for connecting", async (t) => {
  const { store, send } = startPush(t, { resolve: () => new Promise(() => {}), settings: { connectTimeoutMs: 50 } });
  send(batchFor("http://silent.example/"));
  await until(() => store.failures.length === 1, "the try has failed");
  assert.equal(store.failures[0]?.reason, "no connection in time");
});

test("a look-up answers with one address or with all, as it is asked, and with none it fails", async () => {
  const addresses = [
    { address: "1.1.1.1", family: 4 },
    { address: "8.8.8.8", family: 4 },
  ];
  const lookup = (found: typeof addresses, all: boolean) =>
    new Promise((resolve) => {
      const guarded = guardedLookup({ policy: strict, resolve: async () => found, timeoutMs: 0 });
      guarded("name.example", { all }, (error, address, family) => resolve([error?.message ?? null, address, family]));
    });
  assert.deepEqual(await lookup(addresses, false), [null, "1.1.1.1", 4]);
  assert.deepEqual(await lookup(addresses, true), [null, addresses, undefined]);
  assert.deepEqual(await lookup([], true), ["the name has no address", "", undefined]);
});

test("localhost needs no name server", async () => {
  const addresses = await resolveName("localhost");
  assert.ok(addresses.some(({ address }) => address === "127.0.0.1" || address === "::1"));
});

test("a certificate that nobody vouches for is refused", async (t) => {
  const receiver = await startReceiver(t, CERTIFICATE);
  const { store, send } = startPush(t, { resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
  send(batchFor(`https://receiver.test:${receiver.port}/`));
  await until(() => store.failures.length === 1, "the try has failed");
  assert.equal(store.failures[0]?.reason, "certificate not trusted");
  assert.equal(receiver.requests.length, 0);
});

test("over https: a trusted certificate is accepted for its own name only", async (t) => {
  const trusted = tls.getCACertificates("default");
  tls.setDefaultCACertificates([...trusted, CERTIFICATE.cert]);
  t.after(() => tls.setDefaultCACertificates(trusted));
  const receiver = await startReceiver(t, CERTIFICATE);
  const { store, send } = startPush(t, { resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
  send(batchFor(`https://receiver.test:${receiver.port}/`), batchFor(`https://other.test:${receiver.port}/`));
  await until(() => store.delivered.length === 1 && store.failures.length === 1, "one is delivered, one refused");
  assert.equal(store.failures[0]?.reason, "certificate of another name");
  assert.equal(receiver.requests.length, 1);
});

test("a TLS handshake that never ends is given up by the time-out for connecting", async (t) => {
  const silent = createServer((socket) => {
    socket.on("error", () => {});
    t.after(() => socket.destroy());
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => silent.close());
  const { port } = silent.address() as { port: number };
  const { store, send } = startPush(t, { settings: { connectTimeoutMs: 50 } });
  send(batchFor(`https://127.0.0.1:${port}/`));
  await until(() => store.failures.length === 1, "the try has failed");
  assert.equal(store.failures[0]?.reason, "no connection in time");
});
