/**
 * Octets to PDU. What cannot be read is told apart by what can be done about it: a PDU that is malformed is answered, and the
 * connection goes on behind it; when it is no longer known where a PDU starts and ends, framing is lost and the connection
 * must close.
 *
 * A response that we refuse to understand leaves us not knowing whether a message was taken, and the phone may get it twice; a receipt
 * that we refuse is lost, for few carriers send it again. So whatever can be understood is taken:
 *
 *   response   everything may be missing but its header, and what cannot be read is blank
 *   request    it is read strictly; if that fails, once more with what is wrong by an octet put right (mend.ts). One that has no fields
 *              (enquire_link, unbind) says all with its header, whatever is behind
 *   strings    may lack the NUL at the end of the PDU, and be longer than the standard allows, up to MAX_STRING_OCTETS
 *
 * Refused is a request whose fixed fields break off, that has an endless string or a wrong dest_flag, whose message or parameters
 * run past its end by more than one octet, or of which nobody can tell where its message ends. It is malformed, and comes with its octets.
 */
import { COMMANDS, commandOf, isRequest, type PduName, RESPONSE_BIT, responseTo } from "./commands.ts";
import type { FieldCodec } from "./fields.ts";
import { HOT, type ReadBody } from "./hot.ts";
import { type Mended, type Mending, mend } from "./mend.ts";
import { Reader } from "./octets.ts";
import type { Pdu, PduDraft } from "./pdu.ts";
import { type CommandStatus, statusCode } from "./statuses.ts";
import { NO_TLVS, readTlvs } from "./tlvs.ts";

export const HEADER_OCTETS = 16;

export interface Malformed {
  readonly kind: "malformed";
  readonly commandId: number;
  readonly sequence: number;
  readonly fault: CommandStatus;
  /** What its sender should be told; null for a response, which is never answered. */
  readonly answer: PduDraft | null;
  /** All of it, its header too: a view into what was received. */
  readonly octets: Buffer;
}

export interface FramingLost {
  readonly kind: "lost";
  /** What command_length said. */
  readonly claimedOctets: number;
  /** What its sender may be told before the connection closes; null when not even its header is there. */
  readonly answer: PduDraft<"generic_nack"> | null;
}

/** `mended` says what had to be put right. */
export type Decoded = { readonly kind: "pdu"; readonly pdu: Pdu; readonly mended?: Mending } | Malformed;

interface Plan {
  readonly read: ReadBody;
  /** A response: whatever is missing is blank. */
  readonly lenient: boolean;
  readonly hasFields: boolean;
  /** Its fields but for the short message, which is the last of those that have one. */
  readonly fixed: readonly FieldCodec<unknown>[];
  readonly hasMessage: boolean;
}

const PLANS = new Map<number, Plan>(
  Object.entries(COMMANDS).map(([name, { id, fields }]) => {
    const command = name as PduName;
    const read = HOT[command]?.read ?? readByTable(command);
    const all: Readonly<Record<string, FieldCodec<unknown>>> = fields;
    const { shortMessage, ...fixed } = all;
    return [
      id,
      {
        read,
        lenient: id >= RESPONSE_BIT,
        hasFields: Object.keys(fields).length > 0,
        fixed: Object.values(fixed),
        hasMessage: shortMessage !== undefined,
      },
    ];
  }),
);

/** One for all PDUs: what is read is copied out of it, or is a view of its own. It holds on to the last chunk that was read. */
const reader = new Reader(Buffer.alloc(0), 0, 0);

/** Reads the PDU that lies from `start` to `end`, its header included. The caller has seen to it that its length is right. */
export function decodePdu(octets: Buffer, start = 0, end = octets.length): Decoded {
  const commandId = octets.readUInt32BE(start + 4);
  const status = octets.readUInt32BE(start + 8);
  const sequence = octets.readUInt32BE(start + 12);
  const plan = PLANS.get(commandId);
  if (plan === undefined) return malformed(octets.subarray(start, end), "ESME_RINVCMDID");
  reader.begin(octets, start + HEADER_OCTETS, end);
  if (plan.hasFields && reader.left === 0) reader.fail("ESME_RINVCMDLEN");
  const pdu = plan.read(reader, status, sequence);
  if (reader.fault !== null && !plan.lenient) return readMended(octets.subarray(start, end), plan, reader.fault);
  return { kind: "pdu", pdu };
}

/** A request that cannot be read as it is. */
function readMended(octets: Buffer, plan: Plan, fault: CommandStatus): Decoded {
  const mended = plan.hasFields ? mendBody(octets, plan) : withoutBody(octets);
  if (mended === null) return malformed(octets, fault);
  const reader = new Reader(mended.octets, HEADER_OCTETS, mended.octets.length);
  const pdu = plan.read(reader, octets.readUInt32BE(8), octets.readUInt32BE(12));
  return reader.fault === null ? { kind: "pdu", pdu, mended: mended.how } : malformed(octets, fault);
}

function mendBody(octets: Buffer, { fixed, hasMessage }: Plan): Mended | null {
  const reader = new Reader(octets, HEADER_OCTETS, octets.length);
  for (const field of fixed) field.read(reader);
  return reader.fault === null && reader.offset > HEADER_OCTETS ? mend(octets, reader.offset, hasMessage) : null;
}

function withoutBody(octets: Buffer): Mended {
  return { octets: octets.subarray(0, HEADER_OCTETS), how: "octets after the parameters" };
}

/** How to read any command, from its fields in the table. */
export function readByTable(command: PduName): ReadBody {
  const entries = Object.entries<FieldCodec<unknown>>(COMMANDS[command].fields);
  const names = entries.map(([name]) => name);
  const fields = entries.map(([, field]) => field);
  const body = Object.fromEntries(entries.map(([name, field]) => [name, field.blank]));
  // Copied for each PDU and then set, so that all have one shape.
  const blank = { command, status: 0, sequence: 0, ...body, tlvs: NO_TLVS };
  return (reader, status, sequence) => {
    const pdu: Record<string, unknown> = { ...blank, status, sequence };
    for (let index = 0; index < fields.length; index++) pdu[names[index]!] = fields[index]!.read(reader);
    pdu.tlvs = readTlvs(reader);
    return pdu as unknown as Pdu;
  };
}

function malformed(octets: Buffer, fault: CommandStatus): Malformed {
  const commandId = octets.readUInt32BE(4);
  const sequence = octets.readUInt32BE(12);
  return { kind: "malformed", commandId, sequence, fault, answer: answerTo(commandId, sequence, fault), octets };
}

function answerTo(commandId: number, sequence: number, fault: CommandStatus): PduDraft | null {
  if (commandId >= RESPONSE_BIT) return null;
  const command: PduName | undefined = commandOf(commandId);
  const status = statusCode(fault);
  if (command === undefined || !isRequest(command)) return { command: "generic_nack", status, sequence };
  return { command: responseTo(command), status, sequence };
}
