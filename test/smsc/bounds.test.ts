/** Whoever comes to the simulated network with bad manners costs it a bounded amount. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { statusName } from "../../src/carriers/smpp/codec/statuses.ts";
import { makeTlv } from "../../src/carriers/smpp/codec/tlvs.ts";
import { startControl } from "../../src/smsc/control.ts";
import { eventually } from "../support/service.ts";
import { bindTo, startSmsc } from "../support/smsc.ts";

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const ended = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once("close", () => resolve()));

test("a connection that does not bind in time is ended, whether it says nothing or an octet now and then", async (t) => {
  const smsc = await startSmsc(t, { session: { bindTimeoutMs: 200 } });
  const silent = await open(t, smsc.port);
  const slow = await open(t, smsc.port);
  slow.resume();
  silent.resume();
  const trickle = setInterval(() => slow.write(Buffer.of(0)), 50);
  t.after(() => clearInterval(trickle));
  await Promise.all([ended(silent), ended(slow)]);
  await eventually(async () => smsc.counters.connections === 2 && smsc.connections.length === 0);
});

test("a part larger than any message is refused, and not kept", async (t) => {
  const smsc = await startSmsc(t);
  const customer = await bindTo(t, smsc);
  const submit = (octets: number) =>
    customer.submit({ shortMessage: Buffer.of(), tlvs: [makeTlv("message_payload", Buffer.alloc(octets, 97))] });
  assert.equal((await submit(4_096)).status, 0);
  assert.equal(statusName((await submit(60_000)).status), "ESME_RINVMSGLEN");
  assert.equal(smsc.parts.length, 1);
});

test("a request to the controls that does not come to its end is ended, and one that never ends too", async (t) => {
  const smsc = await startSmsc(t);
  const control = await startControl(smsc, 0, { headersTimeoutMs: 300, requestTimeoutMs: 600 });
  t.after(() => control.stop());
  const head = "PUT /faults HTTP/1.1\r\nHost: localhost\r\n";
  const unfinished = await open(t, control.port);
  unfinished.resume().write(head);
  const endless = await open(t, control.port);
  endless.resume().write(`${head}Content-Length: 1000000000\r\n\r\n`);
  const more = (): void => {
    if (!endless.destroyed) endless.write(Buffer.alloc(65_536), () => setImmediate(more));
  };
  more();
  await Promise.all([ended(unfinished), ended(endless)]);
  const { status } = await fetch(`http://127.0.0.1:${control.port}/status`);
  assert.equal(status, 200);
});
