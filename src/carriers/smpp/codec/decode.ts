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
  readonly names: readonly string[];
  readonly fields: readonly Field<unknown>[];
  /** A PDU of this command in which nothing is set: copied for each, so that all have one shape, which is fast. */
  readonly blank: Readonly<Record<string, unknown>>;
  readonly lenient: boolean;
}

const PLANS = new Map<number, Plan>(
  Object.entries(COMMANDS).map(([command, { id, fields }]) => {
    const entries = Object.entries<Field<unknown>>(fields);
    const body = Object.fromEntries(entries.map(([name, field]) => [name, field.blank]));
    return [
      id,
      {
        names: entries.map(([name]) => name),
        fields: entries.map(([, field]) => field),
        blank: { command, status: 0, sequence: 0, ...body, tlvs: NO_TLVS },
        lenient: id >= RESPONSE_BIT,
      },
    ];
  }),
);

/** Reads the PDU that lies from `start` to `end`, its header included. The caller has seen to it that its length is right. */
export function decodePdu(octets: Buffer, start = 0, end = octets.length): Decoded {
  const commandId = octets.readUInt32BE(start + 4);
  const status = octets.readUInt32BE(start + 8);
  const sequence = octets.readUInt32BE(start + 12);
  const plan = PLANS.get(commandId);
  if (plan === undefined) return malformed(commandId, sequence, "ESME_RINVCMDID");
  const { names, fields, lenient } = plan;
  const pdu: Record<string, unknown> = { ...plan.blank };
  pdu.status = status;
  pdu.sequence = sequence;
  if (end > start + HEADER_OCTETS) {
    const reader = new Reader(octets, start + HEADER_OCTETS, end);
    for (let index = 0; index < fields.length; index++) pdu[names[index]!] = fields[index]!.read(reader);
    pdu.tlvs = readTlvs(reader);
    if (reader.fault !== null && !lenient) return malformed(commandId, sequence, reader.fault);
  } else if (fields.length > 0 && !lenient) {
    return malformed(commandId, sequence, "ESME_RINVCMDLEN");
  }
  return { kind: "pdu", pdu: pdu as unknown as Pdu };
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
