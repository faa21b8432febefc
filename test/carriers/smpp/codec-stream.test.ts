/** The stream decoder's bounds: where framing is lost, and what it holds on to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { StreamDecoder } from "../../../src/carriers/smpp/codec/stream.ts";
import { makeTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import { octets } from "./codec-octets.ts";

const SUBMIT = encodePdu({ command: "submit_sm", sequence: 1, shortMessage: Buffer.from("hello") });

test("a length shorter than a header, or longer than the bound, loses framing for good", () => {
  for (const length of ["00000000", "0000000f", "00000401", "ffffffff"]) {
    const decoder = new StreamDecoder(1024);
    decoder.push(octets(`${length} 00000004 00000000 0000002a`));
    const lost = decoder.next();
    assert.deepEqual(lost, {
      kind: "lost",
      claimedOctets: Number.parseInt(length, 16),
      answer: { command: "generic_nack", status: 2, sequence: 42 },
    });
    decoder.push(SUBMIT);
    assert.equal(decoder.next(), lost, "what follows is not guessed at");
  }
});

test("a wrong length is noticed in a torn header too", () => {
  const decoder = new StreamDecoder();
  decoder.push(octets("00000001 0000"));
  assert.equal(decoder.next(), null);
  decoder.push(octets("0004 00000000 0000002a ffff"));
  assert.equal(decoder.next()?.kind, "lost");
});

test("the longest PDU that is allowed is read", () => {
  const decoder = new StreamDecoder();
  const payload = Buffer.alloc(0xffff, 0x61);
  const wire = encodePdu({ command: "deliver_sm", tlvs: [makeTlv("message_payload", payload)] });
  decoder.push(wire.subarray(0, 40_000));
  assert.equal(decoder.next(), null);
  assert.equal(decoder.pendingOctets, 40_000);
  decoder.push(wire.subarray(40_000));
  const decoded = decoder.next();
  assert.ok(decoded?.kind === "pdu");
  assert.deepEqual(decoded.pdu.tlvs, [makeTlv("message_payload", payload)]);
});

test("a PDU that lies whole in its chunk is not copied", () => {
  const decoder = new StreamDecoder();
  const chunk = Buffer.concat([SUBMIT, SUBMIT]);
  decoder.push(chunk);
  for (const from of [0, SUBMIT.length]) {
    const decoded = decoder.next();
    assert.ok(decoded?.kind === "pdu" && decoded.pdu.command === "submit_sm");
    assert.equal(decoded.pdu.shortMessage.buffer, chunk.buffer);
    assert.equal(decoded.pdu.shortMessage.byteOffset, chunk.byteOffset + from + SUBMIT.length - 5);
  }
});

test("of a PDU torn between chunks only that one is copied", () => {
  const decoder = new StreamDecoder();
  const second = Buffer.concat([SUBMIT.subarray(20), SUBMIT]);
  decoder.push(SUBMIT.subarray(0, 20));
  assert.equal(decoder.next(), null);
  decoder.push(second);
  const buffers = [decoder.next(), decoder.next()].map((decoded) => {
    assert.ok(decoded?.kind === "pdu" && decoded.pdu.command === "submit_sm");
    assert.equal(Buffer.from(decoded.pdu.shortMessage).toString(), "hello");
    return decoded.pdu.shortMessage.buffer;
  });
  assert.notEqual(buffers[0], second.buffer);
  assert.equal(buffers[0]!.byteLength, SUBMIT.length);
  assert.equal(buffers[1], second.buffer);
});

test("to push a chunk before the last is read is a bug, and is told", () => {
  const decoder = new StreamDecoder();
  decoder.push(SUBMIT);
  assert.throws(() => decoder.push(SUBMIT), /not read to its end/);
});
