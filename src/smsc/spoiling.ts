/** Octets that no encoder would write: what is delivered to a customer, spoilt on its way to the socket as the faults want it. Pure. */
import { decodePdu, HEADER_OCTETS } from "../carriers/smpp/codec/decode.ts";
import { encodePdu } from "../carriers/smpp/codec/encode.ts";
import type { Pdu } from "../carriers/smpp/codec/pdu.ts";
import type { ActiveFaults, StrayOctet } from "./faults.ts";

type Spoiling = Pick<ActiveFaults, "strayOctet" | "unreadableReceipt">;

const DELIVER_SM = 0x00000005;
/** esm_class, bits 5 to 2: it is a receipt of some kind. */
const RECEIPT_MASK = 0x3c;
/** Of a body: the phone's number is there, or most of it, and nothing of the text. */
const BROKEN_OFF_OCTETS = 16;

/** The chunk as it goes to the socket; a session writes whole PDUs. */
export function spoilt(chunk: Buffer, faults: Spoiling): Buffer {
  if (faults.strayOctet === null && faults.unreadableReceipt === null) return chunk;
  const pdus: Buffer[] = [];
  for (let at = 0; at < chunk.length; ) {
    const left = chunk.length - at;
    // A length that cannot be is a fault of its own.
    const length = left < HEADER_OCTETS ? left : Math.max(Math.min(chunk.readUInt32BE(at), left), HEADER_OCTETS);
    pdus.push(spoiltPdu(chunk.subarray(at, at + length), faults));
    at += length;
  }
  return Buffer.concat(pdus);
}

function spoiltPdu(octets: Buffer, { strayOctet, unreadableReceipt }: Spoiling): Buffer {
  if (octets.length <= HEADER_OCTETS || octets.readUInt32BE(4) !== DELIVER_SM) return octets;
  const decoded = decodePdu(octets);
  if (decoded.kind !== "pdu" || decoded.pdu.command !== "deliver_sm") return octets;
  const { esmClass, sourceAddr } = decoded.pdu;
  if ((esmClass & RECEIPT_MASK) !== 0 && unreadableReceipt?.strikes(sourceAddr)) {
    return withItsLength(octets.subarray(0, HEADER_OCTETS + BROKEN_OFF_OCTETS));
  }
  if (!strayOctet?.strikes(sourceAddr)) return octets;
  return withItsLength(STRAY[strayOctet.settings.as ?? "after message"](octets, lengthPlace(decoded.pdu)));
}

/** How a PDU is wrong by an octet; its sm_length stands at `at`. */
const STRAY: Readonly<Record<StrayOctet, (octets: Buffer, at: number) => Buffer>> = {
  "after message": (octets, at) => {
    const behind = at + 1 + octets[at]!;
    return Buffer.concat([octets.subarray(0, behind), Buffer.alloc(1), octets.subarray(behind)]);
  },
  "after parameters": (octets) => Buffer.concat([octets, Buffer.alloc(1)]),
  "length too large": (octets, at) => {
    const copy = Buffer.from(octets);
    copy[at] = copy[at]! + 1;
    return copy;
  },
};

/** It is the last octet of the same PDU without a message and without parameters. */
function lengthPlace(pdu: Pdu<"deliver_sm">): number {
  return encodePdu({ ...pdu, shortMessage: new Uint8Array(), tlvs: [] }).length - 1;
}

function withItsLength(octets: Buffer): Buffer {
  const copy = Buffer.from(octets);
  copy.writeUInt32BE(copy.length, 0);
  return copy;
}
