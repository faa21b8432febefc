/** Our session and the npm library `smpp` at the two ends of a connection, each in both roles. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import smpp from "smpp";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import { makeTlv, readTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import { connectSocket } from "../../../src/carriers/smpp/session/connect.ts";
import type { MessageRequestName } from "../../../src/carriers/smpp/session/contract.ts";
import type { SmppSession } from "../../../src/carriers/smpp/session/session.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { until } from "../../support/patience.ts";
import { listen, makeSession, type Options } from "./session-support.ts";

type TheirSession = ReturnType<typeof smpp.connect>;
type TheirPdu = InstanceType<typeof smpp.PDU>;

/** The library as the carrier, and our ESME connected to it. */
async function ourEsme(
  t: TestContext,
  serve: (session: TheirSession) => void,
  options: Options = {},
): Promise<SmppSession> {
  const server = smpp.createServer((session) => {
    session.on("error", () => {});
    t.after(() => session.destroy());
    serve(session);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const connection = await connectSocket({ place: `127.0.0.1:${port}`, timeoutMs: 10_000 }, systemClock);
  assert.ok(connection.kind === "connected");
  return makeSession(t, connection.socket, { role: "esme", clock: systemClock, ...options });
}

/** Our SMSC, and the library connected to it. */
async function theirEsme(t: TestContext, options: Options): Promise<{ them: TheirSession; us: SmppSession }> {
  const accepted = Promise.withResolvers<SmppSession>();
  const port = await listen(t, (socket) => {
    accepted.resolve(makeSession(t, socket, { role: "smsc", clock: systemClock, ...options }));
  });
  const them = smpp.connect({ host: "127.0.0.1", port });
  them.on("error", () => {});
  t.after(() => them.destroy());
  return { them, us: await accepted.promise };
}

function theirRequest(
  session: TheirSession,
  command: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<TheirPdu> {
  return new Promise((resolve) => session.send(new smpp.PDU(command, fields), resolve));
}

test("the library as the carrier: bind, a hundred submits, their receipts, enquire_link both ways, unbind", async (t) => {
  const submits: TheirPdu[] = [];
  const acknowledged: TheirPdu[] = [];
  const receipts: Pdu<"deliver_sm">[] = [];
  const serve = (session: TheirSession) => {
    session.on("bind_transceiver", (pdu: TheirPdu) => {
      session.send(
        pdu.response({ system_id: `hello ${pdu.system_id}`, command_status: pdu.password === "secret" ? 0 : 0x0e }),
      );
    });
    session.on("submit_sm", (pdu: TheirPdu) => {
      submits.push(pdu);
      const id = `m${submits.length}`;
      session.send(pdu.response({ message_id: id }));
      const receipt = { esm_class: 4, source_addr: pdu.destination_addr, short_message: Buffer.from(`id:${id}`) };
      const parameters = { receipted_message_id: id, message_state: 2 };
      session.send(new smpp.PDU("deliver_sm", { ...receipt, ...parameters }), (response) =>
        acknowledged.push(response),
      );
    });
    session.on("enquire_link", (pdu: TheirPdu) => session.send(pdu.response()));
    session.on("unbind", (pdu: TheirPdu) => {
      session.send(pdu.response());
      session.close();
    });
  };
  const us = await ourEsme(t, serve, {
    window: 100,
    onRequest: (pdu) => {
      assert.ok(pdu.command === "deliver_sm");
      receipts.push(pdu);
      return { command: "deliver_sm_resp" };
    },
  });
  const bound = await us.bind("transceiver", { systemId: "helio", password: "secret" });
  assert.ok(bound.kind === "answered" && bound.pdu.command === "bind_transceiver_resp");
  assert.equal(bound.pdu.systemId, "hello helio");
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      us.request({
        command: "submit_sm",
        sourceAddrTon: 5,
        sourceAddr: "Helio",
        destAddrTon: 1,
        destAddrNpi: 1,
        destinationAddr: `4179${index}`,
        registeredDelivery: 1,
        dataCoding: 4,
        shortMessage: Buffer.from(`text ${index}`),
        tlvs: [makeTlv("user_message_reference", index)],
      }),
    ),
  );
  const ids = answers.map((answer) => {
    assert.ok(answer.kind === "answered" && answer.pdu.command === "submit_sm_resp");
    return answer.pdu.messageId;
  });
  assert.deepEqual(
    ids,
    Array.from({ length: 100 }, (_, index) => `m${index + 1}`),
  );
  for (const [index, pdu] of submits.entries()) {
    assert.deepEqual(
      [pdu.source_addr, pdu.destination_addr, pdu.user_message_reference, pdu.registered_delivery],
      ["Helio", `4179${index}`, index, 1],
    );
    assert.deepEqual(pdu.short_message, { message: Buffer.from(`text ${index}`) });
  }
  await until(() => acknowledged.length === 100);
  assert.deepEqual(
    receipts.map(({ tlvs }) => readTlv(tlvs, "receipted_message_id")),
    ids,
  );
  assert.deepEqual(new Set(receipts.map(({ tlvs }) => readTlv(tlvs, "message_state"))), new Set([2]));
  assert.equal((await us.request({ command: "enquire_link" })).kind, "answered");
  assert.deepEqual(await us.unbind(), { why: "unbound" });
});

test("the library refuses a bind, and we see its status", async (t) => {
  const us = await ourEsme(t, (session) => {
    session.on("bind_transmitter", (pdu: TheirPdu) => session.send(pdu.response({ command_status: 0x0e })));
  });
  const answer = await us.bind("transmitter", { systemId: "helio", password: "wrong" });
  assert.ok(answer.kind === "answered" && answer.pdu.status === 0x0e);
  assert.equal(us.state, "open");
});

test("the library disappears in mid-window, and every request without an answer is unknown", async (t) => {
  let seen = 0;
  const us = await ourEsme(
    t,
    (session) => {
      session.on("bind_transceiver", (pdu: TheirPdu) => session.send(pdu.response()));
      session.on("submit_sm", () => {
        if (++seen === 50) session.socket.resetAndDestroy();
      });
    },
    { window: 50 },
  );
  await us.bind("transceiver", {});
  const answers = await Promise.all(Array.from({ length: 50 }, () => us.request({ command: "submit_sm" })));
  assert.deepEqual(new Set(answers.map(({ kind }) => kind)), new Set(["unknown"]));
});

test("the library as the client: bind, a hundred submits, their receipts, enquire_link both ways, unbind", async (t) => {
  const requests: Pdu<MessageRequestName>[] = [];
  const receipts: TheirPdu[] = [];
  const { them, us } = await theirEsme(t, {
    window: 100,
    onBind: ({ systemId, password }) =>
      password === "secret" ? { kind: "accept", systemId: `hello ${systemId}` } : { kind: "refuse", status: 0x0e },
    onRequest: async (pdu) => {
      requests.push(pdu);
      assert.ok(pdu.command === "submit_sm");
      return { command: "submit_sm_resp", messageId: `m${requests.length}` };
    },
  });
  them.on("deliver_sm", (pdu: TheirPdu) => {
    receipts.push(pdu);
    them.send(pdu.response());
  });
  them.on("enquire_link", (pdu: TheirPdu) => them.send(pdu.response()));
  const bound = await theirRequest(them, "bind_transceiver", { system_id: "them", password: "secret" });
  assert.deepEqual([bound.command_status, bound.system_id, bound.sc_interface_version], [0, "hello them", 0x34]);
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      theirRequest(them, "submit_sm", {
        destination_addr: `4179${index}`,
        short_message: Buffer.from(`text ${index}`),
      }),
    ),
  );
  assert.deepEqual(
    responses.map(({ message_id }) => message_id),
    Array.from({ length: 100 }, (_, index) => `m${index + 1}`),
  );
  for (const [index, pdu] of requests.entries()) {
    assert.ok(pdu.command === "submit_sm");
    assert.deepEqual(
      [pdu.destinationAddr, Buffer.from(pdu.shortMessage).toString()],
      [`4179${index}`, `text ${index}`],
    );
  }
  const delivered = await Promise.all(
    responses.map(({ message_id }) =>
      us.request({
        command: "deliver_sm",
        esmClass: 4,
        shortMessage: Buffer.from(`id:${message_id}`),
        tlvs: [makeTlv("receipted_message_id", String(message_id)), makeTlv("message_state", 2)],
      }),
    ),
  );
  assert.deepEqual(new Set(delivered.map(({ kind }) => kind)), new Set(["answered"]));
  assert.deepEqual(
    receipts.map(({ receipted_message_id }) => receipted_message_id),
    responses.map(({ message_id }) => message_id),
  );
  assert.deepEqual(new Set(receipts.map(({ message_state }) => message_state)), new Set([2]));
  assert.equal((await theirRequest(them, "enquire_link", {})).command, "enquire_link_resp");
  assert.equal((await us.request({ command: "enquire_link" })).kind, "answered");
  assert.equal((await theirRequest(them, "unbind", {})).command, "unbind_resp");
  assert.deepEqual(await us.closed, { why: "peer unbound" });
});

test("the library is refused a bind, sees the status, and the connection ends", async (t) => {
  const { them, us } = await theirEsme(t, { onBind: () => ({ kind: "refuse", status: 0x0e }) });
  const ended = once(them, "close");
  assert.equal((await theirRequest(them, "bind_transmitter", { password: "wrong" })).command_status, 0x0e);
  await ended;
  assert.deepEqual(await us.closed, { why: "bind refused" });
});

test("we say goodbye to the library, and it goes", async (t) => {
  const { them, us } = await theirEsme(t, { onBind: () => ({ kind: "accept", systemId: "smsc" }) });
  them.on("unbind", (pdu: TheirPdu) => {
    them.send(pdu.response());
    them.close();
  });
  await theirRequest(them, "bind_receiver", {});
  assert.deepEqual(await us.unbind(), { why: "unbound" });
});
