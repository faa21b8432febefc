/** Whoever comes to the simulated network with bad manners costs it a bounded amount. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { statusName } from "../../src/carriers/smpp/codec/statuses.ts";
import { makeTlv } from "../../src/carriers/smpp/codec/tlvs.ts";
import { startControl } from "../../src/smsc/control.ts";
import { rawCall } from "../support/raw-http.ts";
import { eventually } from "../support/service.ts";
import { bindTo, startSmsc } from "../support/smsc.ts";

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });

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

test("silent connections keep nobody out: the oldest makes room, and those that are bound stay", async (t) => {
  // Nobody's time is over while this runs.
  const smsc = await startSmsc(t, { maxConnections: 3, session: { bindTimeoutMs: 600_000 } });
  const first = await bindTo(t, smsc);
  const silent = await Promise.all([1, 2, 3, 4].map(() => open(t, smsc.port)));
  const gone = silent.map(ended);
  for (const socket of silent) socket.resume();
  const second = await bindTo(t, smsc);
  assert.equal((await second.submit()).status, 0);
  const third = await bindTo(t, smsc);
  assert.equal((await third.submit()).status, 0);
  assert.equal((await first.submit()).status, 0);
  await Promise.all(gone);
  const tooMany = await open(t, smsc.port);
  const closed = ended(tooMany);
  tooMany.resume();
  await closed;
  assert.equal((await first.submit()).status, 0);
  assert.equal(smsc.connections.length, 3);
});

test("nor do they keep anybody from the controls", async (t) => {
  const smsc = await startSmsc(t);
  const control = await startControl(smsc, 0, { headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 });
  t.after(() => control.stop());
  const silent = await Promise.all(Array.from({ length: 120 }, () => open(t, control.port)));
  assert.equal((await fetch(`http://127.0.0.1:${control.port}/status`)).status, 200);
  assert.equal(silent.length, 120);
});

test("a request to the controls that could be read in two ways is refused", async (t) => {
  const smsc = await startSmsc(t);
  const control = await startControl(smsc, 0);
  t.after(() => control.stop());
  const url = `http://127.0.0.1:${control.port}`;
  const head = "PUT /faults HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  const body = "\r\n2\r\n{}\r\n0\r\n\r\n";
  const status = async (lines: string) => (await rawCall(url, `${head}${lines}${body}`)).status;
  assert.equal(await status("Host: localhost\r\nTransfer-Encoding: chunked\r\n"), 400);
  assert.equal(await status("Transfer-Encoding: gzip, chunked\r\n"), 501);
  assert.equal(await status("Transfer-Encoding: Chunked\r\n"), 200);
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
