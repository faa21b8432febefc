/**
 * PDU to octets, written straight into one buffer. It is strict where decoding is lenient: a value that has no place in its field
 * is a mistake of the program's, and throws a RangeError that names the field.
 */
import { COMMANDS, type PduName, RESPONSE_BIT } from "./commands.ts";
import { HEADER_OCTETS } from "./decode.ts";
import type { FieldCodec } from "./fields.ts";
import { HOT, type WriteBody } from "./hot.ts";
import { Writer } from "./octets.ts";
import type { PduDraft } from "./pdu.ts";
import { NO_TLVS, tlvOctets, writeTlvs } from "./tlvs.ts";

interface Plan {
  readonly id: number;
  readonly write: WriteBody;
  readonly names: readonly string[];
  /** No PDU of this command is longer, but for its optional parameters. */
  readonly maxOctets: number;
}

const PLANS = Object.fromEntries(
  Object.entries(COMMANDS).map(([name, { id, fields }]): [string, Plan] => {
    const command = name as PduName;
    const maxOctets = fieldsOf(command).reduce((octets, [, field]) => octets + field.maxOctets, HEADER_OCTETS);
    const write = HOT[command]?.write ?? writeByTable(command);
    return [command, { id, write, names: Object.keys(fields), maxOctets }];
  }),
) as Record<PduName, Plan>;

/** So many octets are enough for it; usually it takes far fewer. */
export function boundOf(draft: PduDraft): number {
  const bound = PLANS[draft.command].maxOctets;
  return draft.tlvs === undefined ? bound : bound + tlvOctets(draft.tlvs);
}

/** Writes it where the writer stands, which must have room for `boundOf` it. If it throws, the writer stands where it stood. */
export function writePdu(writer: Writer, draft: PduDraft, sequence: number): void {
  const plan = PLANS[draft.command];
  const start = writer.offset;
  try {
    writer.offset = start + 4;
    writer.uint32(plan.id);
    writer.uint32(draft.status ?? 0);
    writer.uint32(sequence);
    if (hasBody(draft, plan)) {
      plan.write(writer, draft);
      if (draft.tlvs !== undefined) writeTlvs(writer, draft.tlvs);
    }
    const end = writer.offset;
    writer.offset = start;
    writer.uint32(end - start);
    writer.offset = end;
  } catch (cause) {
    writer.offset = start;
    throw new RangeError(`${draft.command}, ${culprit(draft)}: ${(cause as Error).message}`, { cause });
  }
}

/** How to write any command, from its fields in the table. */
export function writeByTable(command: PduName): WriteBody {
  const entries = fieldsOf(command);
  return (writer, draft) => {
    const values = draft as Readonly<Record<string, unknown>>;
    for (const [name, field] of entries) field.write(writer, values[name] ?? field.blank);
  };
}

/** Which part of a PDU could not be written, found by writing each alone. */
function culprit(draft: PduDraft): string {
  const values = draft as Readonly<Record<string, unknown>>;
  const wrong = fieldsOf(draft.command).find(([name, field]) => {
    try {
      field.write(new Writer(field.maxOctets), values[name] ?? field.blank);
      return false;
    } catch {
      return true;
    }
  });
  if (wrong !== undefined) return wrong[0];
  const { status = 0 } = draft;
  return status === status >>> 0 ? "tlvs" : "status";
}

function fieldsOf(command: PduName): [string, FieldCodec<unknown>][] {
  return Object.entries<FieldCodec<unknown>>(COMMANDS[command].fields);
}

/** A PDU alone in a buffer of its own size. */
export function encodePdu(draft: PduDraft): Buffer {
  const writer = new Writer(boundOf(draft));
  writePdu(writer, draft, draft.sequence ?? 0);
  return Buffer.from(writer.octets.subarray(0, writer.offset));
}

/** 3.4 §4.4.2 and elsewhere: the body of a response is not returned with an error; where it says something, it is. */
function hasBody(draft: PduDraft, { id, names }: Plan): boolean {
  if (!draft.status || id < RESPONSE_BIT || (draft.tlvs ?? NO_TLVS).length > 0) return true;
  const values = draft as Readonly<Record<string, unknown>>;
  return names.some((name) => values[name] !== undefined && !isBlank(values[name]));
}

function isBlank(value: unknown): boolean {
  return value === 0 || (value as { length?: number }).length === 0;
}
