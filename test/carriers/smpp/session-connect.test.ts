/** Making the socket: in time or not at all, and with TLS only to whom the certificate says. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import {
  type ConnectTarget,
  connectSocket,
  contextOf,
  type TlsSettings,
} from "../../../src/carriers/smpp/session/connect.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { until } from "../../support/patience.ts";
import { closedPort } from "../../support/ports.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { CERTIFICATE, KEY } from "./session-certificate.ts";
import { ACCEPT, listen, makeSession } from "./session-support.ts";

const context = contextOf([CERTIFICATE]);

function target(port: number, more: Partial<ConnectTarget> = {}): ConnectTarget {
  return { place: `127.0.0.1:${port}`, timeoutMs: 10_000, ...more };
}

async function failure(port: number, more: Partial<ConnectTarget> = {}): Promise<string> {
  const connection = await connectSocket(target(port, more), systemClock);
  assert.ok(connection.kind === "failed");
  return connection.error.message;
}

/** An SMSC behind TLS; gives its port. */
async function tlsSmsc(t: TestContext): Promise<number> {
  const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, (socket) => {
    makeSession(t, socket, { role: "smsc", clock: systemClock, onBind: ACCEPT });
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test("a port where nobody listens is a failure with its reason, not an exception", async () => {
  assert.match(await failure(await closedPort()), /ECONNREFUSED/);
});

test("a peer that accepts and then says nothing of TLS is given up in time, and its socket closed", async (t) => {
  let closed = false;
  const port = await listen(t, (socket) => {
    socket.resume();
    socket.on("close", () => {
      closed = true;
    });
  });
  const clock = new VirtualClock();
  const connecting = connectSocket(target(port, { tls: {} }), clock);
  await clock.advance(10_000);
  const connection = await connecting;
  assert.ok(connection.kind === "failed");
  assert.match(connection.error.message, /within 10000 ms/);
  assert.equal(clock.timersPending, 0);
  await until(() => closed);
});

test("a try can be given up, before it has begun too", async (t) => {
  const port = await listen(t, (socket) => socket.resume());
  const giveUp = new AbortController();
  const trying = failure(port, { tls: {}, signal: giveUp.signal });
  giveUp.abort();
  assert.match(await trying, /given up/);
  assert.match(await failure(port, { signal: giveUp.signal }), /given up/);
});

test("a socket that breaks before a session is on it does not end the process", async (t) => {
  const port = await listen(t, (socket) => socket.resetAndDestroy());
  const connection = await connectSocket(target(port), systemClock);
  if (connection.kind === "failed") return;
  connection.socket.resume();
  await until(() => connection.socket.closed);
  const session = makeSession(t, connection.socket, { role: "esme", clock: systemClock });
  assert.deepEqual(await session.closed, { why: "peer closed" });
});

test("a session runs over TLS with a certificate that is trusted, and ends in peace", async (t) => {
  const port = await tlsSmsc(t);
  for (const tls of [{ context }, { context, serverName: "smsc.test" }]) {
    const connection = await connectSocket(target(port, { tls }), systemClock);
    assert.ok(connection.kind === "connected");
    const session = makeSession(t, connection.socket, { role: "esme", clock: systemClock, window: 100 });
    assert.equal((await session.bind("transmitter", { systemId: "us" })).kind, "answered");
    const answers = Array.from({ length: 100 }, () => session.request({ command: "submit_sm" }));
    for (const { kind } of await Promise.all(answers)) assert.equal(kind, "answered");
    assert.deepEqual(await session.unbind(), { why: "unbound" });
  }
});

test("a certificate that nobody vouches for, or one for another name, is refused", async (t) => {
  const port = await tlsSmsc(t);
  const refused: readonly [TlsSettings, RegExp][] = [
    [{}, /self-signed/],
    [{ context, serverName: "other.test" }, /does not match/],
  ];
  for (const [tls, reason] of refused) assert.match(await failure(port, { tls }), reason);
});
