/** What holds for all PDUs and all cuts of a stream. */
import assert from "node:assert/strict";
import { test } from "node:test";
import smpp from "smpp";
import type { PduName } from "../../../src/carriers/smpp/codec/commands.ts";
import { type Decoded, decodePdu, type FramingLost, readByTable } from "../../../src/carriers/smpp/codec/decode.ts";
import { boundOf, encodePdu, writeByTable } from "../../../src/carriers/smpp/codec/encode.ts";
import { HOT } from "../../../src/carriers/smpp/codec/hot.ts";
import { Reader, Writer } from "../../../src/carriers/smpp/codec/octets.ts";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import { StreamDecoder } from "../../../src/carriers/smpp/codec/stream.ts";
import { makeTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import fc, { cases } from "../../support/chance.ts";
import { anyPdu, commandName, pduOf } from "./codec-arbitraries.ts";
import { octets } from "./codec-octets.ts";

function decodeChunks(chunks: readonly Buffer[]): (Decoded | FramingLost)[] {
  const decoder = new StreamDecoder();
  const all: (Decoded | FramingLost)[] = [];
  for (const chunk of chunks) {
    decoder.push(chunk);
    for (let decoded = decoder.next(); decoded !== null; decoded = decoder.next()) all.push(decoded);
  }
  assert.equal(decoder.pendingOctets, 0);
  return all;
}

function asRead(pdus: readonly Pdu[]): Decoded[] {
  return pdus.map((pdu) => ({ kind: "pdu", pdu }));
}

test("every PDU that can be written is read as it was, and is no longer than its bound", () => {
  fc.assert(
    fc.property(anyPdu, (pdu) => {
      const wire = encodePdu(pdu);
      assert.ok(wire.length <= boundOf(pdu));
      assert.equal(wire.readUInt32BE(0), wire.length);
      assert.deepEqual(decodePdu(wire), { kind: "pdu", pdu });
    }),
    { numRuns: cases(2000) },
  );
});

test("the shapes that are written out do as the table says: the same octets, the same PDU, the same faults", () => {
  const hot = fc.constantFrom(...(Object.keys(HOT) as PduName[])).chain((command) => pduOf(command));
  fc.assert(
    fc.property(hot, fc.nat(400), (pdu, cut) => {
      const { read, write } = HOT[pdu.command]!;
      const [written, expected] = [new Writer(1024), new Writer(1024)];
      write(written, pdu);
      writeByTable(pdu.command)(expected, pdu);
      const octets = expected.octets.subarray(0, expected.offset);
      assert.deepEqual(written.octets.subarray(0, written.offset), octets);
      const broken = octets.subarray(0, cut);
      const [reader, expectedReader] = [new Reader(broken, 0, broken.length), new Reader(broken, 0, broken.length)];
      assert.deepEqual(read(reader, 1, 2), readByTable(pdu.command)(expectedReader, 1, 2));
      assert.equal(reader.fault, expectedReader.fault);
    }),
    { numRuns: cases(1000) },
  );
});

test("PDUs come out of a stream as they went in, however it was cut", () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.array(anyPdu, { minLength: 1, maxLength: 8 }), cuts, (pdus, lengths) => {
      const stream = Buffer.concat(pdus.map((pdu) => encodePdu(pdu)));
      const chunks: Buffer[] = [];
      for (let at = 0, index = 0; at < stream.length; index++) {
        const length = lengths[index % lengths.length]!;
        chunks.push(stream.subarray(at, at + length));
        at += length;
      }
      assert.deepEqual(decodeChunks(chunks), asRead(pdus));
    }),
    { numRuns: cases(500) },
  );
});

test("a stream may be cut in two at any place", () => {
  const [pdus] = fc.sample(fc.array(anyPdu, { minLength: 6, maxLength: 6 }), { seed: 7, numRuns: 1 });
  const stream = Buffer.concat(pdus!.map((pdu) => encodePdu(pdu)));
  for (let at = 0; at <= stream.length; at++) {
    assert.deepEqual(decodeChunks([stream.subarray(0, at), stream.subarray(at)]), asRead(pdus!), `cut at ${at}`);
  }
});

test("a stream may come one octet at a time", () => {
  const pdus = fc.sample(anyPdu, { seed: 8, numRuns: 30 });
  const stream = Buffer.concat(pdus.map((pdu) => encodePdu(pdu)));
  assert.deepEqual(decodeChunks([...stream].map((octet) => Buffer.from([octet]))), asRead(pdus));
});

test("a malformed PDU between two good ones harms neither", () => {
  const good = encodePdu({ command: "enquire_link", sequence: 1 });
  const bad = octets("00000012 00000004 00000000 00000002 0000");
  const kinds = decodeChunks([Buffer.concat([good, bad, good])]).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["pdu", "malformed", "pdu"]);
});

/** Ways to be wrong by an octet, of a deliver_sm whose sm_length stands at `at`. */
const SPOILS: Readonly<Record<string, (wire: Buffer, at: number) => Buffer>> = {
  "a NUL behind the message": (wire, at) => {
    const behind = at + 1 + wire[at]!;
    return Buffer.concat([wire.subarray(0, behind), Buffer.alloc(1), wire.subarray(behind)]);
  },
  "sm_length one too large": (wire, at) => Buffer.from(wire).fill(wire[at]! + 1, at, at + 1),
  "sm_length one too small": (wire, at) => Buffer.from(wire).fill(wire[at]! - 1, at, at + 1),
  "a NUL behind the parameters": (wire) => Buffer.concat([wire, Buffer.alloc(1)]),
  "three octets behind the parameters": (wire) => Buffer.concat([wire, octets("04 27 00")]),
};

for (const [name, spoil] of Object.entries(SPOILS)) {
  test(`every receipt is read as it was meant with ${name}`, () => {
    const printable = fc.integer({ min: 0x20, max: 0x7e });
    const text = fc.array(printable, { minLength: 1, maxLength: 200 });
    const id = fc.stringMatching(/^[0-9a-f]{1,64}$/);
    fc.assert(
      fc.property(text, id, fc.integer({ min: 0, max: 9 }), fc.boolean(), (characters, messageId, state, marked) => {
        const pdu = {
          command: "deliver_sm",
          sequence: 7,
          sourceAddr: "41790000001",
          destinationAddr: "12345",
          esmClass: 4,
          shortMessage: Buffer.from(characters),
          tlvs: marked ? [makeTlv("receipted_message_id", messageId), makeTlv("message_state", state)] : [],
        } as const;
        const wire = encodePdu(pdu);
        const at = encodePdu({ ...pdu, shortMessage: Buffer.alloc(0), tlvs: [] }).length - 1;
        const decoded = decodePdu(spoil(wire, at));
        assert.ok(decoded.kind === "pdu" && decoded.mended !== undefined);
        assert.equal(encodePdu(decoded.pdu).toString("hex"), wire.toString("hex"));
      }),
      { numRuns: cases(300) },
    );
  });
}

test("the library smpp writes the same octets", () => {
  const printable = { min: 0x20, max: 0x7e };
  const comparable = commandName.chain((command) => pduOf(command, printable)).map(forLibrary);
  fc.assert(
    fc.property(comparable, ({ pdu, theirs }) => {
      assert.equal(encodePdu(pdu).toString("hex"), theirs.toBuffer().toString("hex"));
    }),
    { numRuns: cases(1000) },
  );
});

/** Both sides of a comparison. The library has its own idea of short times, and no body or parameters with an error. */
function forLibrary(pdu: Pdu) {
  const plain = Object.fromEntries(Object.entries(pdu).map(([name, value]) => [name, isTime(name) ? "" : value]));
  const ours = { ...plain, status: 0, tlvs: [] } as unknown as Pdu;
  const theirs: Record<string, unknown> = { sequence_number: pdu.sequence };
  for (const [name, value] of Object.entries(ours)) theirs[snake(name)] = value;
  theirs.dest_address = (theirs.destinations as Address[] | undefined)?.map(libraryAddress);
  theirs.unsuccess_sme = (theirs.unsuccessful as Address[] | undefined)?.map(libraryAddress);
  return { pdu: ours, theirs: new smpp.PDU(pdu.command, theirs) };
}

function isTime(name: string): boolean {
  return /Time|Period|finalDate/.test(name);
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

interface Address {
  readonly ton?: number;
  readonly npi?: number;
  readonly address?: string;
  readonly status?: number;
  readonly name?: string;
}

function libraryAddress(address: Address) {
  if (address.name !== undefined) return { dl_name: address.name };
  return {
    dest_addr_ton: address.ton,
    dest_addr_npi: address.npi,
    destination_addr: address.address,
    error_status_code: address.status,
  };
}
