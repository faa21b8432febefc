/**
 * Octets to PDU. What cannot be read is told apart by what can be done about it: a PDU that is malformed is answered, and the
 * connection goes on behind it; when it is no longer known where a PDU starts and ends, framing is lost and the connection
 * must close.
 *
 * Requests are read strictly, responses leniently. Where a request is refused its sender learns of it; a response that we refuse
 * to understand leaves us not knowing whether a message was taken, and the phone may get it twice. So of a response
 * everything may be missing but its header.
 */
import { COMMANDS, type CommandName, commandOf, isRequest, RESPONSE_BIT, responseTo } from "./commands.ts";
import type { Field } from "./fields.ts";
import { HOT, type ReadBody } from "./hot.ts";
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
}

export interface FramingLost {
  readonly kind: "lost";
  /** What command_length said. */
  readonly claimedOctets: number;
  /** What its sender may be told before the connection closes; null when not even its header is there. */
  readonly answer: PduDraft<"generic_nack"> | null;
}

export type Decoded = { readonly kind: "pdu"; readonly pdu: Pdu } | Malformed;

interface Plan {
  readonly read: ReadBody;
  /** A response: whatever is missing is blank. */
  readonly lenient: boolean;
  readonly hasFields: boolean;
}

const PLANS = new Map<number, Plan>(
  Object.entries(COMMANDS).map(([name, { id, fields }]) => {
    const command = name as CommandName;
    const read = HOT[command]?.read ?? readByTable(command);
    return [id, { read, lenient: id >= RESPONSE_BIT, hasFields: Object.keys(fields).length > 0 }];
  }),
);

/** Reads the PDU that lies from `start` to `end`, its header included. The caller has seen to it that its length is right. */
export function decodePdu(octets: Buffer, start = 0, end = octets.length): Decoded {
  const commandId = octets.readUInt32BE(start + 4);
  const status = octets.readUInt32BE(start + 8);
  const sequence = octets.readUInt32BE(start + 12);
  const plan = PLANS.get(commandId);
  if (plan === undefined) return malformed(commandId, sequence, "ESME_RINVCMDID");
  const reader = new Reader(octets, start + HEADER_OCTETS, end);
  if (plan.hasFields && reader.left === 0) reader.fail("ESME_RINVCMDLEN");
  const pdu = plan.read(reader, status, sequence);
  if (reader.fault !== null && !plan.lenient) return malformed(commandId, sequence, reader.fault);
  return { kind: "pdu", pdu };
}

/** How to read any command, from its fields in the table. */
export function readByTable(command: CommandName): ReadBody {
  const entries = Object.entries<Field<unknown>>(COMMANDS[command].fields);
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

function malformed(commandId: number, sequence: number, fault: CommandStatus): Malformed {
  return { kind: "malformed", commandId, sequence, fault, answer: answerTo(commandId, sequence, fault) };
}

function answerTo(commandId: number, sequence: number, fault: CommandStatus): PduDraft | null {
  if (commandId >= RESPONSE_BIT) return null;
  const command: CommandName | undefined = commandOf(commandId);
  const status = statusCode(fault);
  if (command === undefined || !isRequest(command)) return { command: "generic_nack", status, sequence };
  return { command: responseTo(command), status, sequence };
}
