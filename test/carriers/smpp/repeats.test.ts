/** A carrier that did not hear that we have its receipts, and sends them again to the service that was started anew. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { ReportReceiver } from "../../support/report-receiver.ts";
import { eventually, startTestService, temporaryDirectory } from "../../support/service.ts";
import { startSmsc } from "../../support/smsc.ts";

const COUNT = 5;

/** A way to the carrier on which what we say can be lost. */
async function lossyWay(t: TestContext, port: number) {
  const sockets = new Set<Socket>();
  const state = { isDeaf: false, isCut: false };
  const server = createServer((near) => {
    if (state.isCut) {
      near.destroy();
      return;
    }
    const far = connect({ host: "127.0.0.1", port });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.on("data", (chunk) => state.isDeaf || far.write(chunk));
    far.on("data", (chunk) => near.write(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    state.isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  t.after(async () => {
    cut();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on the carrier hears nothing of what we say. */
    deafen: () => {
      state.isDeaf = true;
    },
    cut,
    mend: () => {
      state.isDeaf = false;
      state.isCut = false;
    },
  };
}

test("receipts that come again after a restart are acknowledged, counted, and not kept", async (t) => {
  // Receipts come when the carrier hears nothing any more.
  const smsc = await startSmsc(t, { answerAfterMs: 300 });
  const way = await lossyWay(t, smsc.port);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const options = {
    data: await temporaryDirectory(t),
    catalogue: `
[[carrier]]
id = "acme"
kind = "smpp"
hosts = ["127.0.0.1:${way.port}"]
systemId = "me"
password = "secret"
reconnectSeconds = 1
[[route]]
prefix = ""
carrier = "acme"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`,
  };
  const service = await startTestService(t, options);
  const destinations = Array.from({ length: COUNT }, (_, index) => ({ to: `4179000000${index}` }));
  const body = { messages: [{ from: "Sender", text: "Hello", destinations, notifyUrl: `${receiver.url}/` }] };
  assert.equal((await service.call("POST", "/sms/1/text/advanced", { body })).status, 200);
  await eventually(async () => smsc.parts.length === COUNT);
  way.deafen();
  await receiver.waitForItems(COUNT, 30_000);
  way.cut();
  await service.stop();

  way.mend();
  const restarted = await startTestService(t, options);
  const line = `heliograph_receipts_unapplied_total{reason="repeated"} ${COUNT}\n`;
  await eventually(async () => (await restarted.call("GET", "/metrics")).text.includes(line));
  await eventually(async () => smsc.counters.acknowledged === COUNT);
  assert.equal((await restarted.store.parkedReceipts({ limit: 1 })).count, 0);
  assert.equal(receiver.items.length, COUNT, "each message was reported once");
});
