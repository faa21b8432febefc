/**
 * PDUs as thirteen foreign stacks sent them (foreign-pdus.json: the stack, whether it was the client or the server, the command, the octets). Each is
 * read as it was meant, and each is sent over a socket to the end of ours that it would meet: a client's to the simulated carrier, a server's
 * to a carrier of Heliograph's. A request gets the answer that is right, and a response settles the request that it answers.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isResponse, type PduName, type RequestName, responseTo } from "../../../src/carriers/smpp/codec/commands.ts";
import { decodePdu } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import { type CommandStatus, statusName } from "../../../src/carriers/smpp/codec/statuses.ts";
import { readTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import type { Smsc } from "../../../src/smsc/smsc.ts";
import { until } from "../../support/patience.ts";
import { startSmsc } from "../../support/smsc.ts";
import { hasTlv } from "../../support/tlvs.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { carrierAgainstPeer, submitHello } from "./carrier-support.ts";
import { MEANT } from "./foreign-meant.ts";
import { esmeAgainstPeer, makeSession, Peer, smscAgainstPeer, socketPair } from "./session-support.ts";

interface ForeignPdu {
  readonly stack: string;
  readonly role: "client" | "server";
  readonly command: PduName;
  readonly hex: string;
}

const ALL = JSON.parse(readFileSync(join(import.meta.dirname, "foreign-pdus.json"), "utf8")) as ForeignPdu[];
const octetsOf = ({ hex }: ForeignPdu) => Buffer.from(hex, "hex");
const nameOf = (foreign: ForeignPdu) =>
  `${foreign.stack} ${foreign.role} ${foreign.command} ${foreign.hex.slice(24, 32)}`;
const from = (role: ForeignPdu["role"]) => ALL.filter((foreign) => foreign.role === role);
const isMessage = ({ command }: ForeignPdu) => /^(submit_sm|submit_multi|deliver_sm|data_sm)$/.test(command);

function pduOf(foreign: ForeignPdu): Pdu {
  const decoded = decodePdu(octetsOf(foreign));
  assert.ok(decoded.kind === "pdu", nameOf(foreign));
  return decoded.pdu;
}

/** The absolute times in them were ahead of this moment, when they were sent. */
const SENT_AT_MS = Date.UTC(2026, 10, 15, 15);

// Reading them.

/** Those that are wrong by an octet or two: a NUL behind the message, and a length that counts characters. */
const MENDED = ["php-smpp client submit_sm 00000002", "ruby-smpp client submit_sm 6af9cdb4"];

test("each is read, with its command and sequence number, and says the same when it is written again", () => {
  assert.equal(ALL.length, 153);
  for (const foreign of ALL) {
    const pdu = pduOf(foreign);
    assert.equal(pdu.command, foreign.command);
    assert.equal(pdu.sequence, octetsOf(foreign).readUInt32BE(12));
    assert.deepEqual(decodePdu(encodePdu(pdu)), { kind: "pdu", pdu }, nameOf(foreign));
  }
});

test("only those that are wrong by an octet are put right", () => {
  const mended = ALL.filter((foreign) => "mended" in decodePdu(octetsOf(foreign)));
  assert.deepEqual(mended.map(nameOf), MENDED);
});

test("messages and receipts are read as they were meant: addresses, classes, octets and parameters", () => {
  const read = ALL.filter(isMessage).map((foreign) => {
    const pdu = pduOf(foreign) as Pdu<"submit_sm" | "deliver_sm"> | Pdu<"data_sm"> | Pdu<"submit_multi">;
    const to =
      pdu.command === "submit_multi"
        ? pdu.destinations.map((one) => (one.kind === "list" ? one.name : one.address)).join(" ")
        : pdu.destinationAddr;
    const others = pdu.tlvs.filter(({ tag }) => tag !== 0x0424);
    const tlvs = others.map(({ tag, value }) => `${hexOf(tag)}:${Buffer.from(value).toString("hex")}`).join(" ");
    return [
      foreign.stack,
      pdu.command,
      pdu.sequence,
      pdu.sourceAddr,
      to,
      pdu.esmClass,
      pdu.dataCoding,
      messageOf(pdu),
      tlvs,
    ];
  });
  assert.deepEqual(read, MEANT);
});

function hexOf(tag: number): string {
  return tag.toString(16).padStart(4, "0");
}

function messageOf(pdu: Pdu): string {
  const payload = readTlv(pdu.tlvs, "message_payload");
  return Buffer.from(payload ?? ("shortMessage" in pdu ? pdu.shortMessage : [])).toString("latin1");
}

// A client's requests, to the simulated carrier.

/** What answers each. About ids of another carrier's messages nothing is known here, and a deliver_sm is not a client's to send. */
const TO_SMSC: Partial<Record<PduName, CommandStatus>> = {
  bind_receiver: "ESME_ROK",
  bind_transmitter: "ESME_ROK",
  bind_transceiver: "ESME_ROK",
  submit_sm: "ESME_ROK",
  data_sm: "ESME_ROK",
  submit_multi: "ESME_ROK",
  enquire_link: "ESME_ROK",
  unbind: "ESME_ROK",
  query_sm: "ESME_RQUERYFAIL",
  cancel_sm: "ESME_RCANCELFAIL",
  replace_sm: "ESME_RREPLACEFAIL",
  deliver_sm: "ESME_RINVBNDSTS",
};

/** Of submit_multi: who was refused, and why. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "go-smpp": [],
  jSMPP: ["abc ESME_RINVDSTADR"],
  "node-smpp": ["notanumber ESME_RINVDSTADR", "list ESME_RINVDLNAME"],
};

async function customerOf(t: TestContext, smsc: Smsc): Promise<Peer> {
  const socket = connect({ host: "127.0.0.1", port: smsc.port });
  socket.on("error", () => undefined);
  t.after(() => socket.destroy());
  return new Peer(socket);
}

test("the simulated carrier answers every request of a client as it should", async (t) => {
  const smsc = await startSmsc(t, {}, new VirtualClock(SENT_AT_MS));
  const requests = from("client").filter(({ command }) => !isResponse(command));
  assert.equal(requests.length, 101);
  for (const foreign of requests) {
    const command = foreign.command as RequestName;
    const peer = await customerOf(t, smsc);
    if (!command.startsWith("bind_")) {
      peer.send({ command: "bind_transceiver", sequence: 0x7fffffff, systemId: "foreign", interfaceVersion: 0x34 });
      assert.equal((await peer.take("bind_transceiver_resp")).status, 0);
    }
    const arrival = smsc.counters.taken;
    peer.socket.write(octetsOf(foreign));
    const answer = await peer.take(responseTo(command));
    assert.equal(answer.sequence, octetsOf(foreign).readUInt32BE(12), nameOf(foreign));
    assert.equal(statusName(answer.status), TO_SMSC[command], nameOf(foreign));
    checkEffect(foreign, answer, smsc, arrival);
    if (command === "unbind") await until(() => peer.ended);
    peer.socket.destroy();
  }
  await until(() => smsc.connections.length === 0);
});

/** What the answer says beyond its status, and what the phones got. */
function checkEffect(foreign: ForeignPdu, answer: Pdu, smsc: Smsc, arrival: number): void {
  const pdu = pduOf(foreign);
  if ("interfaceVersion" in pdu) {
    // 3.4 §3.4: a peer of an older version gets no optional parameters.
    assert.equal(hasTlv(answer.tlvs, "sc_interface_version"), pdu.interfaceVersion >= 0x34, nameOf(foreign));
  }
  const parts = smsc.find({ after: arrival });
  if (answer.command === "submit_multi_resp") {
    const refused = answer.unsuccessful.map(({ address, status }) => `${address} ${statusName(status)}`);
    assert.deepEqual(refused, REFUSED[foreign.stack]);
    assert.ok(pdu.command === "submit_multi" && parts.length + refused.length === pdu.destinations.length);
  } else if (answer.command === "submit_sm_resp" || answer.command === "data_sm_resp") {
    assert.deepEqual(
      parts.map(({ id, to }) => [id, to]),
      [[answer.messageId, (pdu as Pdu<"submit_sm">).destinationAddr]],
    );
  } else assert.deepEqual(parts, [], nameOf(foreign));
  for (const { octets } of parts) assert.equal(Buffer.from(octets).toString("latin1"), messageOf(pdu), nameOf(foreign));
}

// A server's requests, to a carrier of ours.

/** What each deliver_sm is: the receipt's id, as ids are kept (in small letters, without zeros in front), and its outcome; or the message's sender and text. */
const DELIVERED: Readonly<Record<string, readonly [string, string]>> = {
  "Net::SMPP 1": ["41791112233", "MO from perl €"],
  "OpenSMPP 107": ["smsc2107", "delivered"],
  "OpenSMPP 1": ["smsc2001", "delivered"],
  "SMPPSim 2.6.11 6": ["5", "undeliverable"],
  "SMPPSim 2.6.11 11": ["10", "delivered"],
  "cloudhopper 2": ["7f000004", "delivered"],
  "jSMPP 2": ["2087781889", "delivered"],
  "jSMPP 1": ["555", "Hello World"],
  "jSMPP 5": ["2114193167", "delivered"],
  "larvitsmpp 1": ["17947563405732527", "delivered"],
  "opensmppbox 0": ["625e8950-deff-4423-a4cd-d8719b3f4325", "delivered"],
};

test("a carrier of ours answers every request of a server, and keeps what it says", async (t) => {
  const { peer, receipts, messages, counts } = await carrierAgainstPeer(t);
  const requests = from("server").filter(({ command }) => !isResponse(command));
  const kept: Record<string, readonly [string, string]> = {};
  for (const foreign of requests) {
    const { sequence } = pduOf(foreign);
    peer.socket.write(octetsOf(foreign));
    const answer = await peer.take(responseTo(foreign.command as RequestName));
    assert.deepEqual([answer.sequence, answer.status], [sequence, 0], nameOf(foreign));
    for (const { carrierMessageId, outcome } of receipts.splice(0)) {
      kept[`${foreign.stack} ${sequence}`] = [carrierMessageId, outcome];
    }
    for (const part of messages.splice(0)) kept[`${foreign.stack} ${sequence}`] = [part.from, part.text];
  }
  assert.deepEqual(kept, DELIVERED);
  assert.deepEqual([counts.problems, counts.mended], [0, 0]);
});

// Responses, to whoever asked.

/** The same PDU as the answer to a request of ours. */
function answering(foreign: ForeignPdu, sequence: number): Buffer {
  const octets = octetsOf(foreign);
  octets.writeUInt32BE(sequence, 12);
  return octets;
}

test("every response settles the request that it answers", async (t) => {
  const responses = ALL.filter(({ command }) => isResponse(command));
  assert.equal(responses.length, 40);
  for (const foreign of responses) {
    const request = foreign.command.replace(/_resp$/, "") as "bind_transceiver" | "unbind" | "submit_sm";
    if (request === "bind_transceiver") {
      const [ours, theirs] = await socketPair(t);
      const session = makeSession(t, ours, { role: "esme", clock: new VirtualClock() });
      const peer = new Peer(theirs);
      const bind = session.bind("transceiver", { systemId: "us" });
      peer.socket.write(answering(foreign, (await peer.take(request)).sequence));
      assert.equal((await bind).kind, "answered", nameOf(foreign));
      assert.equal(session.state, "bound_trx", nameOf(foreign));
      continue;
    }
    const { session, peer } = await (foreign.role === "server" ? esmeAgainstPeer : smscAgainstPeer)(t);
    if (request === "unbind") {
      const closed = session.unbind();
      peer.socket.write(answering(foreign, (await peer.take(request)).sequence));
      assert.deepEqual(await closed, { why: "unbound" }, nameOf(foreign));
      continue;
    }
    const answer = session.request({ command: request });
    peer.socket.write(answering(foreign, (await peer.take(request)).sequence));
    const settled = await answer;
    assert.ok(settled.kind === "answered", nameOf(foreign));
    assert.deepEqual(settled.pdu, { ...pduOf(foreign), sequence: settled.pdu.sequence });
  }
});

/** Under which id, as ids are kept, each stack's answer leaves a part: one that gives none leaves it to its phone. */
const IDS: Readonly<Record<string, string>> = {
  "Net::SMPP": "500000",
  OpenSMPP: "smsc2006",
  "SMPPSim 2.6.11": "0",
  cloudhopper: "7f000001",
  jSMPP: "5d887f8",
  larvitsmpp: "17947563407411688-1",
  opensmppbox: "f9eb3d30-a1a4-4ab6-962b-f723f0532768",
  "ruby-smpp": "unknown:41790000001",
};

test("a carrier of ours binds to each server, and its submit is taken under the id that the server gives", async (t) => {
  const binds = from("server").filter(({ command }) => command === "bind_transceiver_resp");
  assert.deepEqual(binds.map(({ stack }) => stack).sort(), Object.keys(IDS).sort());
  for (const bind of binds) {
    const answerBind = (peer: Peer, sequence: number) => void peer.socket.write(answering(bind, sequence));
    const { carrier, peer } = await carrierAgainstPeer(t, { answerBind });
    const submission = submitHello(carrier);
    const { sequence } = await peer.take("submit_sm");
    const response = from("server").find(({ stack, command }) => stack === bind.stack && command === "submit_sm_resp")!;
    peer.socket.write(answering(response, sequence));
    assert.deepEqual(await submission, { kind: "accepted", carrierMessageId: IDS[bind.stack] });
    peer.socket.destroy();
  }
});
