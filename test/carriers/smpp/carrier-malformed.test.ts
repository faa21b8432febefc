/** What a carrier of ours does with PDUs that are wrong: what it keeps, what it counts, and what it says in the log and what not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import type { PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { statusCode } from "../../../src/carriers/smpp/codec/statuses.ts";
import { eventually } from "../../support/service.ts";
import { carrierAgainstPeer, submitHello } from "./carrier-support.ts";
import { octets } from "./codec-octets.ts";

/** One that breaks off behind its header and the beginning of an address, of so many octets in all. */
function broken(sequence: number, command = "00000005", length = 40): Buffer {
  const wire = Buffer.alloc(length, 0x34);
  octets(`00000000 ${command} 00000000 00000000 00 0101`).copy(wire);
  wire.writeUInt32BE(length, 0);
  wire.writeUInt32BE(sequence, 12);
  return wire;
}

/** A deliver_sm with a NUL behind its message. */
function withStray(draft: Omit<PduDraft<"deliver_sm">, "command">): Buffer {
  const wire = Buffer.concat([encodePdu({ command: "deliver_sm", ...draft }), Buffer.alloc(1)]);
  wire.writeUInt32BE(wire.length, 0);
  return wire;
}

test("a request that cannot be read is kept with its octets, and acknowledged when it is safe", async (t) => {
  const { peer, receipts, messages, counts } = await carrierAgainstPeer(t);
  for (const [command, response] of [
    ["00000005", "deliver_sm_resp"],
    ["00000103", "data_sm_resp"],
  ] as const) {
    peer.socket.write(broken(9, command));
    const { sequence, status } = await peer.take(response);
    assert.deepEqual([sequence, status], [9, 0]);
  }
  assert.deepEqual(
    receipts.map(({ atMs: _atMs, ...receipt }) => receipt),
    ["00000005", "00000103"].map((command) => ({
      carrierMessageId: "",
      outcome: "held",
      errorId: 0,
      mccMnc: null,
      to: null,
      octets: broken(9, command).toString("hex"),
    })),
  );
  assert.deepEqual(messages, []);
  assert.equal(counts.problems, 2);
});

test("of a huge request that cannot be read the first 1,024 octets are kept", async (t) => {
  const { peer, receipts } = await carrierAgainstPeer(t);
  const huge = broken(9, "00000005", 60_000);
  peer.socket.write(huge);
  assert.equal((await peer.take("deliver_sm_resp")).status, 0);
  assert.equal(receipts[0]!.octets, huge.subarray(0, 1_024).toString("hex"));
});

test("one that cannot be stored is not acknowledged, and the log says that it is our own doing", async (t) => {
  const { peer, receipts, lines } = await carrierAgainstPeer(t, {
    keep: () => Promise.reject(Object.assign(new Error("no room for Hello"), { code: "ENOSPC" })),
  });
  peer.socket.write(broken(9));
  assert.equal((await peer.take("deliver_sm_resp")).status, statusCode("ESME_RSYSERR"));
  assert.deepEqual(receipts, []);
  const told = lines.filter(({ level }) => level === "warn").map(({ facts, says }) => [says.split(";")[0], facts]);
  const host = lines[0]!.facts.host;
  assert.deepEqual(told, [
    [
      "the carrier sent a PDU that cannot be read",
      {
        carrier: "acme",
        host,
        problem: "malformed",
        command: "deliver_sm",
        sequence: 9,
        fault: "ESME_RINVCMDLEN",
        octets: 40,
      },
    ],
    [
      "what the carrier sent could not be dealt with here",
      { carrier: "acme", host, problem: "handler", command: "deliver_sm", sequence: 9, error: "Error ENOSPC" },
    ],
  ]);
});

test("a PDU of our own that cannot be written is not blamed on the carrier", async (t) => {
  const { carrier, lines, counts } = await carrierAgainstPeer(t);
  assert.equal((await submitHello(carrier, "4".repeat(30))).kind, "refused");
  const { facts, says } = lines.at(-1)!;
  assert.match(says, /^a PDU for the carrier could not be written/);
  assert.deepEqual([facts.command, facts.problem], ["submit_sm", "unencodable"]);
  assert.match(String(facts.error), /^submit_sm, destinationAddr: /);
  assert.equal(counts.problems, 0, "the carrier sent nothing wrong");
});

test("receipts that are wrong by an octet have one line a connection, and none has one each", async (t) => {
  const { peer, receipts, counts, lines, nextPeer } = await carrierAgainstPeer(t);
  const told = () => lines.filter(({ facts }) => facts.how !== undefined);
  const receipt = { esmClass: 4, shortMessage: Buffer.from("id:7 stat:DELIVRD") };
  for (let sequence = 1; sequence <= 5; sequence++) {
    peer.socket.write(withStray({ ...receipt, sequence }));
    assert.equal((await peer.take("deliver_sm_resp")).status, 0);
  }
  assert.deepEqual(
    receipts.map(({ carrierMessageId, outcome }) => [carrierMessageId, outcome]),
    Array(5).fill(["7", "delivered"]),
  );
  assert.equal(counts.mended, 5);
  assert.deepEqual(
    told().map(({ facts: { command, sequence, how } }) => [command, sequence, how]),
    [["deliver_sm", 1, "octets after the message"]],
  );
  peer.socket.destroy();
  const second = await nextPeer();
  second.socket.write(withStray({ ...receipt, sequence: 1 }));
  await second.take("deliver_sm_resp");
  assert.equal(told().length, 2);
});

test("a connection whose framing is lost leaves its submits unknown, is made anew, and the log says why", async (t) => {
  const { carrier, peer, lines, nextPeer } = await carrierAgainstPeer(t);
  const submission = submitHello(carrier);
  await peer.take("submit_sm");
  peer.socket.write(octets("00000005 00000005 00000000 00000007"));
  assert.deepEqual(await submission, { kind: "unknown" });
  await eventually(async () => lines.some(({ facts }) => facts.why === "framing lost"));
  assert.equal(
    lines.find(({ facts }) => facts.why === "framing lost")!.facts.error,
    "the peer sent a command_length of 5",
  );
  await nextPeer();
});

test("no line of the log holds a message's text or the password", async (t) => {
  const { peer, lines } = await carrierAgainstPeer(t, { keep: () => Promise.reject(new Error("Hello secret")) });
  peer.socket.write(
    Buffer.concat([broken(1), withStray({ sequence: 2, esmClass: 4, shortMessage: Buffer.from("Hello") })]),
  );
  await peer.takeMany(2, "deliver_sm_resp");
  assert.doesNotMatch(JSON.stringify(lines), /Hello|secret/);
});
