/** The simulated network with the npm library `smpp` as its customer: an independent reader of what it writes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import smpp from "smpp";
import type { Smsc } from "../../src/smsc/smsc.ts";
import { until } from "../support/patience.ts";
import { startSmsc } from "../support/smsc.ts";

type TheirSession = ReturnType<typeof smpp.connect>;
type TheirPdu = InstanceType<typeof smpp.PDU>;
type Fields = Readonly<Record<string, unknown>>;

interface Library {
  readonly session: TheirSession;
  /** The deliver_sm that came; each is acknowledged. */
  readonly delivered: TheirPdu[];
  request(command: string, fields?: Fields): Promise<TheirPdu>;
}

async function libraryBound(t: TestContext, smsc: Smsc, command = "bind_transceiver"): Promise<Library> {
  const session = smpp.connect({ host: "127.0.0.1", port: smsc.port });
  const delivered: TheirPdu[] = [];
  session.on("error", () => {});
  t.after(() => session.destroy());
  session.on("deliver_sm", (pdu: TheirPdu) => {
    delivered.push(pdu);
    session.send(pdu.response());
  });
  session.on("unbind", (pdu: TheirPdu) => {
    session.send(pdu.response());
    session.close();
  });
  const request = (name: string, fields: Fields = {}) =>
    new Promise<TheirPdu>((resolve) => session.send(new smpp.PDU(name, fields), resolve));
  const answer = await request(command, { system_id: "library", password: "secret" });
  assert.equal(answer.command_status, 0);
  assert.equal(answer.system_id, "heliograph");
  return { session, delivered, request };
}

const SUBMIT: Fields = { source_addr: "Heliograph", destination_addr: "385991234567", registered_delivery: 1 };

/** The library makes an object of a short message. */
function textOf(pdu: TheirPdu): string {
  return (pdu.short_message as { message: string }).message;
}

test("it binds, submits, reads the receipt, asks for it and says goodbye", async (t) => {
  const smsc = await startSmsc(t);
  const { session, delivered, request } = await libraryBound(t, smsc);
  const answer = await request("submit_sm", { ...SUBMIT, data_coding: 0, short_message: "Grüße @ 5 €" });
  assert.equal(answer.command_status, 0);
  await until(() => delivered.length === 1);
  const [receipt] = delivered;
  assert.ok(textOf(receipt!).startsWith(`id:${answer.message_id} sub:001 dlvrd:001 submit date:`));
  assert.equal(receipt!.esm_class, 4);
  assert.equal(receipt!.receipted_message_id, answer.message_id);
  assert.equal(receipt!.message_state, 2);
  assert.equal(smsc.parts[0]?.text, "Grüße @ 5 €");

  const state = await request("query_sm", { message_id: answer.message_id, source_addr: "Heliograph" });
  assert.equal(state.message_state, 2);
  assert.equal((await request("enquire_link")).command_status, 0);
  assert.equal((await request("unbind")).command_status, 0);
  await until(() => smsc.connections.length === 0);
  assert.equal(session.socket.destroyed || session.socket.readableEnded, true);
});

test("a transmitter and a receiver: submits on one, receipts and messages from phones on the other", async (t) => {
  const smsc = await startSmsc(t);
  const transmitter = await libraryBound(t, smsc, "bind_transmitter");
  const receiver = await libraryBound(t, smsc, "bind_receiver");
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      transmitter.request("submit_sm", {
        ...SUBMIT,
        short_message: `Message ${n}`,
        destination_addr: `3859900000${n}`,
      }),
    ),
  );
  assert.equal(new Set(answers.map((answer) => answer.message_id)).size, 50);
  await until(() => receiver.delivered.length === 50);
  assert.deepEqual(transmitter.delivered, []);

  const sent = smsc.incoming({ from: "385991234567", to: "12345", text: "Ответ из телефона" });
  assert.equal(await sent.acknowledged, true);
  assert.equal(textOf(receiver.delivered[50]!), "Ответ из телефона");
});

test("statuses, double answers, torn and glued PDUs reach it as they should", async (t) => {
  const smsc = await startSmsc(t);
  const { session, delivered, request } = await libraryBound(t, smsc);
  smsc.faults = { queueFull: 1, tornPdus: { octets: 3 } };
  assert.equal((await request("submit_sm", { ...SUBMIT, short_message: "Hello" })).command_status, 0x14);
  let answers = 0;
  session.on("submit_sm_resp", () => answers++);
  smsc.faults = { doubleAnswer: 1, gluedPdus: { ms: 10 }, congestion: { state: 75 } };
  const answer = await request("submit_sm", { ...SUBMIT, short_message: "Hello" });
  assert.deepEqual([answer.command_status, answer.congestion_state], [0, 75]);
  await until(() => answers === 2 && delivered.length === 1);
});

test("stopping says goodbye to it", async (t) => {
  const smsc = await startSmsc(t);
  const { session } = await libraryBound(t, smsc);
  let told = false;
  session.on("unbind", () => {
    told = true;
  });
  await smsc.stop();
  assert.equal(told, true);
});

test("the optional parameters that are the carriers' own are in the record, and no others", async (t) => {
  // For this process: the library writes those only that it knows.
  smpp.addTLV("pe_id", { id: 0x1400, type: smpp.types.tlv.string });
  smpp.addTLV("template_id", { id: 0x1401, type: smpp.types.tlv.cstring });
  smpp.addTLV("other", { id: 0x4000, type: smpp.types.tlv.string });
  const smsc = await startSmsc(t);
  const { request } = await libraryBound(t, smsc);
  const own = { pe_id: "1201159100000000001", template_id: "1207161", other: "x", user_message_reference: 7 };
  await request("submit_sm", { ...SUBMIT, short_message: "Hello", ...own });
  await request("submit_sm", { ...SUBMIT, short_message: "Hello", pe_id: "x".repeat(5_000), template_id: "1" });
  await request("submit_sm", { ...SUBMIT, short_message: "Hello" });
  assert.deepEqual(
    smsc.parts.map(({ tlvs }) => tlvs.map(({ tag, value }) => [tag, Buffer.from(value).toString("latin1")])),
    [
      [
        [0x1400, "1201159100000000001"],
        [0x1401, "1207161\0"],
      ],
      // The record is bounded.
      [],
      [],
    ],
  );
});
