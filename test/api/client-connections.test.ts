/** Connections of clients are looked at while there are any. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { ClientConnections } from "../../src/api/client-connections.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("without a connection no timer is set, and one that stays silent is closed", async (t) => {
  const clock = new VirtualClock();
  const bounds = {
    maxConnections: 10,
    connectionsPerAddress: 10,
    maxRequests: 10,
    requestsPerAddress: 10,
    headersTimeoutMs: 1_000,
    answerTimeoutMs: 1_000,
    tls: false,
    isProxy: () => false,
  };
  const connections = new ClientConnections(bounds, clock, () => undefined);
  assert.equal(clock.timersPending, 0);

  const server = createServer();
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as { port: number }).port, "127.0.0.1");
  client.on("error", () => undefined);
  t.after(() => client.destroy());
  const [socket] = (await once(server, "connection")) as [Socket];
  connections.open(socket);
  assert.equal(clock.timersPending, 1);
  const closed = once(socket, "close");
  await clock.advance(60_000);
  await closed;
  await clock.advance(1_000);
  assert.equal(clock.timersPending, 0);

  connections.stop();
});
