/**
 * PDU to octets, written straight into one buffer. It is strict where decoding is lenient: a value that has no place in its field
 * is a mistake of the program's, and throws a RangeError that names the field.
 */
import { COMMANDS, type CommandName, RESPONSE_BIT } from "./commands.ts";
import { HEADER_OCTETS } from "./decode.ts";
import type { Field } from "./fields.ts";
import { Writer } from "./octets.ts";
import type { PduDraft } from "./pdu.ts";
import { NO_TLVS, tlvOctets, writeTlvs } from "./tlvs.ts";

interface Plan {
  readonly id: number;
  readonly names: readonly string[];
  readonly fields: readonly Field<unknown>[];
  /** No PDU of this command is longer, but for its optional parameters. */
  readonly maxOctets: number;
}

const PLANS = Object.fromEntries(
  Object.entries(COMMANDS).map(([command, { id, fields }]): [string, Plan] => {
    const entries = Object.entries<Field<unknown>>(fields);
    const maxOctets = entries.reduce((octets, [, field]) => octets + field.maxOctets, HEADER_OCTETS);
    return [
      command,
      { id, names: entries.map(([name]) => name), fields: entries.map(([, field]) => field), maxOctets },
    ];
  }),
) as Record<CommandName, Plan>;

/** So many octets are enough for it; usually it takes far fewer. */
export function boundOf(draft: PduDraft): number {
  const bound = PLANS[draft.command].maxOctets;
  return draft.tlvs === undefined ? bound : bound + tlvOctets(draft.tlvs);
}

/** Writes it where the writer stands, which must have room for `boundOf` it. If it throws, the writer stands where it stood. */
export function writePdu(writer: Writer, draft: PduDraft, sequence: number): void {
  const { id, names, fields } = PLANS[draft.command];
  const values = draft as Readonly<Record<string, unknown>>;
  const start = writer.offset;
  const tlvs = draft.tlvs ?? NO_TLVS;
  const status = draft.status ?? 0;
  let writing = "header";
  try {
    writer.offset = start + 4;
    writer.uint32(id);
    writer.uint32(status);
    writer.uint32(sequence);
    if (!hasNoBody(id, status, names, values, tlvs.length)) {
      for (let index = 0; index < fields.length; index++) {
        writing = names[index]!;
        const field = fields[index]!;
        field.write(writer, values[writing] ?? field.blank);
      }
      writing = "tlvs";
      if (tlvs.length > 0) writeTlvs(writer, tlvs);
    }
    const end = writer.offset;
    writer.offset = start;
    writer.uint32(end - start);
    writer.offset = end;
  } catch (cause) {
    writer.offset = start;
    throw new RangeError(`${draft.command}, ${writing}: ${(cause as Error).message}`, { cause });
  }
}

/** A PDU alone in a buffer of its own size. */
export function encodePdu(draft: PduDraft): Buffer {
  const writer = new Writer(boundOf(draft));
  writePdu(writer, draft, draft.sequence ?? 0);
  return Buffer.from(writer.octets.subarray(0, writer.offset));
}

/** 3.4 §4.4.2 and elsewhere: the body of a response is not returned with an error; where it says something, it is. */
function hasNoBody(
  id: number,
  status: number,
  names: readonly string[],
  values: Readonly<Record<string, unknown>>,
  tlvCount: number,
): boolean {
  if (status === 0 || id < RESPONSE_BIT || tlvCount > 0) return false;
  return names.every((name) => values[name] === undefined || isEmpty(values[name]));
}

function isEmpty(value: unknown): boolean {
  return value === 0 || (value as { length?: number }).length === 0;
}
