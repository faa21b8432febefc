/** Requests that are wrong by an octet, made at random: the message that is read is the one that was written, or none is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePdu } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { Writer } from "../../../src/carriers/smpp/codec/octets.ts";
import { TLVS, type Tlv, writeTlvs } from "../../../src/carriers/smpp/codec/tlvs.ts";
import fc, { cases } from "../../support/chance.ts";

const CASES = cases(2_000);

interface Written {
  readonly message: Uint8Array;
  readonly tlvs: readonly Tlv[];
  /** NULs behind the message, and behind the parameters. */
  readonly behind: number;
  readonly atEnd: number;
  /** What sm_length counts too many. */
  readonly lengthBy: number;
}

/** A deliver_sm with all that is wrong with it. */
function wireOf({ message, tlvs, behind, atEnd, lengthBy }: Written): Buffer {
  const front = encodePdu({
    command: "deliver_sm",
    sourceAddr: "4178",
    destinationAddr: "12345",
    shortMessage: message,
  });
  front[front.length - message.length - 1]! += lengthBy;
  const parameters = new Writer(tlvs.reduce((sum, { value }) => sum + 4 + value.length, 0));
  writeTlvs(parameters, tlvs);
  const wire = Buffer.concat([front, Buffer.alloc(behind), parameters.octets, Buffer.alloc(atEnd)]);
  wire.writeUInt32BE(wire.length, 0);
  return wire;
}

/** Texts in ASCII and in UCS-2, and octets as they are in tags and lengths: what is likeliest to be taken for something else. */
const anyMessage = fc.oneof(
  fc.string({ maxLength: 20 }).map((text) => Buffer.from(text, "latin1")),
  fc
    .string({ unit: fc.constantFrom(..."abАБЧя 019"), maxLength: 20 })
    .map((text) => Buffer.from(text, "utf16le").swap16()),
  fc
    .array(fc.constantFrom(0, 0, 1, 2, 3, 4, 5, 6, 0x12, 0x13, 0x14, 0x1e, 0x20, 0x27, 0x31), { maxLength: 8 })
    .map((octets) => Buffer.from(octets)),
);
const anyTag = fc.oneof(
  fc.constantFrom(...Object.values(TLVS).map(({ tag }) => tag)),
  fc.integer({ min: 0x1400, max: 0x3fff }),
  fc.constantFrom(0x1400, 0x1500, 0x2000, 0x2100, 0x2700, 0x3000, 0x3100),
);
const anyValue = fc.oneof(
  fc.constant(Buffer.of()),
  fc.uint8Array({ maxLength: 8 }).map((octets) => Buffer.from(octets)),
  fc.array(fc.constantFrom(0, 0, 1, 4, 0x27, 0x30), { maxLength: 6 }).map((octets) => Buffer.from(octets)),
);
const anyTlvs: fc.Arbitrary<Tlv[]> = fc.array(fc.record({ tag: anyTag, value: anyValue }), { maxLength: 4 });

const RIGHT = { behind: 0, atEnd: 0, lengthBy: 0 };
const MISTAKES: Readonly<Record<string, fc.Arbitrary<Omit<Written, "message" | "tlvs">>>> = {
  "NULs behind the message": fc.integer({ min: 1, max: 3 }).map((behind) => ({ ...RIGHT, behind })),
  "NULs behind the parameters": fc.integer({ min: 1, max: 3 }).map((atEnd) => ({ ...RIGHT, atEnd })),
  "an sm_length that is one too large": fc.constant({ ...RIGHT, lengthBy: 1 }),
  "an sm_length that is one too small": fc.constant({ ...RIGHT, lengthBy: -1 }),
};

for (const [name, mistake] of Object.entries(MISTAKES)) {
  test(`${name}: the message is the one that was written, or the request is not read`, () => {
    let mended = 0;
    fc.assert(
      fc.property(anyMessage, anyTlvs, mistake, (message, tlvs, wrong) => {
        // One that ends with a NUL which is not counted is the same as one with a NUL behind it.
        fc.pre(wrong.lengthBy >= 0 || (message.length > 0 && message.at(-1) !== 0));
        const decoded = decodePdu(wireOf({ message, tlvs, ...wrong }));
        // Octets that are right as they stand say what they say.
        if (decoded.kind === "malformed" || decoded.mended === undefined) return;
        mended++;
        assert.ok(decoded.pdu.command === "deliver_sm");
        assert.equal(Buffer.from(decoded.pdu.shortMessage).toString("hex"), message.toString("hex"));
      }),
      { numRuns: CASES },
    );
    assert.ok(mended > CASES / 3, `${mended} of ${CASES} are read`);
  });
}
