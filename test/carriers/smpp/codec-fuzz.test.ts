/**
 * A million PDUs that nobody should send: noise, and good PDUs with octets changed, cut out, put in or lengths that lie. None crashes the
 * codec, none makes it hang, and nothing of them stays in memory. `SMPP_FUZZ_PDUS` sets another count, `SMPP_FUZZ_SEED` another
 * seed; a failure names the seed and the octets.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Decoded, decodePdu, type FramingLost, HEADER_OCTETS } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { NO_OCTETS } from "../../../src/carriers/smpp/codec/octets.ts";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import { StreamDecoder } from "../../../src/carriers/smpp/codec/stream.ts";
import { tlvOctets } from "../../../src/carriers/smpp/codec/tlvs.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import fc, { isLong } from "../../support/chance.ts";
import { anyPdu } from "./codec-arbitraries.ts";

const PDU_COUNT = Number(process.env.SMPP_FUZZ_PDUS ?? (isLong ? 1_000_000 : 20_000));
const SEED = Number(process.env.SMPP_FUZZ_SEED ?? 20_260_105);
const MAX_PDU_OCTETS = 2048;
/** What a million PDUs may leave behind, after a collection: nothing but the noise of the measurement. */
const MAX_GROWTH_OCTETS = 8 * 1024 * 1024;

const random = seededRandom(SEED);
const below = (bound: number) => Math.floor(random.next() * bound);
const CORPUS = fc.sample(anyPdu, { seed: SEED, numRuns: 500 }).map((pdu) => encodePdu(pdu));

/** Lengths, counts and terminators are where it goes wrong: octets that mean something are more likely than others. */
const TELLING = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff];

const MUTATIONS: readonly ((pdu: Buffer) => Buffer)[] = [
  // An octet changed.
  (pdu) => {
    pdu[below(pdu.length)] = random.next() < 0.5 ? TELLING[below(TELLING.length)]! : below(256);
    return pdu;
  },
  // Cut short.
  (pdu) => pdu.subarray(0, Math.max(HEADER_OCTETS, below(pdu.length))),
  // Something cut out.
  (pdu) => {
    const from = HEADER_OCTETS + below(Math.max(1, pdu.length - HEADER_OCTETS));
    return Buffer.concat([pdu.subarray(0, from), pdu.subarray(from + below(8))]);
  },
  // Something put in.
  (pdu) => {
    const at = HEADER_OCTETS + below(pdu.length - HEADER_OCTETS + 1);
    return Buffer.concat([
      pdu.subarray(0, at),
      Buffer.alloc(below(16), TELLING[below(TELLING.length)]),
      pdu.subarray(at),
    ]);
  },
  // The body of another.
  (pdu) => Buffer.concat([pdu.subarray(0, HEADER_OCTETS), CORPUS[below(CORPUS.length)]!.subarray(HEADER_OCTETS)]),
  // Noise.
  () => {
    const noise = Buffer.allocUnsafe(HEADER_OCTETS + below(120));
    for (let index = 0; index < noise.length; index++) noise[index] = below(256);
    return noise;
  },
];

function mutant(): Buffer {
  let pdu: Buffer = Buffer.from(CORPUS[below(CORPUS.length)]!);
  for (let count = 1 + below(3); count > 0; count--) pdu = MUTATIONS[below(MUTATIONS.length)]!(pdu);
  return pdu;
}

/** What comes out is one of three things, none is larger than what went in, and whatever we would answer can be written. */
function check(decoded: Decoded | FramingLost, octets = MAX_PDU_OCTETS): void {
  if (decoded.kind === "pdu") {
    const { tlvs, shortMessage = NO_OCTETS } = decoded.pdu as Partial<Pdu<"deliver_sm">>;
    assert.ok(tlvOctets(tlvs!) + shortMessage.length <= octets - HEADER_OCTETS);
  } else if (decoded.answer !== null) encodePdu(decoded.answer);
}

function collectedOctets(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test(`${PDU_COUNT} random and mutated PDUs: no crash, no hang, nothing kept (seed ${SEED})`, () => {
  const kinds = { pdu: 0, mended: 0, malformed: 0, lost: 0 };
  let decoder = new StreamDecoder(MAX_PDU_OCTETS);
  const before = collectedOctets();
  for (let count = 0; count < PDU_COUNT; count++) {
    const pdu = mutant();
    try {
      // Alone, as if its length were right, so that its fields are tried.
      const decoded = decodePdu(pdu);
      check(decoded, pdu.length);
      kinds[decoded.kind === "pdu" && decoded.mended !== undefined ? "mended" : decoded.kind]++;
      // In a stream, torn in two, with the length that it claims.
      const cut = below(pdu.length);
      for (const chunk of [pdu.subarray(0, cut), pdu.subarray(cut)]) {
        decoder.push(chunk);
        for (let next = decoder.next(); next !== null; next = decoder.next()) {
          check(next);
          if (next.kind !== "lost") continue;
          kinds.lost++;
          decoder = new StreamDecoder(MAX_PDU_OCTETS);
          break;
        }
        assert.ok(decoder.pendingOctets <= MAX_PDU_OCTETS);
      }
    } catch (cause) {
      throw new Error(`seed ${SEED}, PDU ${count}: ${pdu.toString("hex")}`, { cause });
    }
  }
  const grown = collectedOctets() - before;
  // In the short run others share the process, and its memory.
  if (isLong) assert.ok(grown < MAX_GROWTH_OCTETS, `${grown} octets are still there`);
  // The fuzz is worth something only while it reaches all four.
  for (const [kind, seen] of Object.entries(kinds)) assert.ok(seen > PDU_COUNT / 100, `${kind}: ${seen}`);
});
