/** PDUs of every command with any values that fit, for fast-check. */

import { COMMANDS, type PduName } from "../../../src/carriers/smpp/codec/commands.ts";
import type { FieldCodec, PduDestination, UnsuccessfulDestination } from "../../../src/carriers/smpp/codec/fields.ts";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import type { Tlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import fc from "../../support/chance.ts";

const octet = fc.integer({ min: 0, max: 0xff });
const uint32 = fc.integer({ min: 0, max: 0xffffffff });

/** Objects like those of the program: with a prototype. */
const PLAIN = { noNullPrototype: true } as const;

function characters(min: number, max: number, maxLength: number): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.integer({ min, max }).map((code) => String.fromCharCode(code)),
    maxLength,
  });
}

function octetsUpTo(maxLength: number): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ maxLength }).map((value) => Buffer.from(value));
}

const tlvs: fc.Arbitrary<Tlv[]> = fc.array(
  fc.record({ tag: fc.integer({ min: 0, max: 0xffff }), value: octetsUpTo(40) }, PLAIN),
  { maxLength: 4 },
);

interface Range {
  /** The characters of strings, by their codes. */
  readonly min: number;
  readonly max: number;
}
const LATIN_1: Range = { min: 1, max: 0xff };

function valuesOf(name: string, field: FieldCodec<unknown>, { min, max }: Range): fc.Arbitrary<unknown> {
  const address = { ton: octet, npi: octet, address: characters(min, max, 20) };
  const destination: fc.Arbitrary<PduDestination> = fc.oneof(
    fc.record({ kind: fc.constant("address" as const), ...address }, PLAIN),
    fc.record({ kind: fc.constant("list" as const), name: characters(min, max, 20) }, PLAIN),
  );
  const unsuccessful: fc.Arbitrary<UnsuccessfulDestination> = fc.record({ ...address, status: uint32 }, PLAIN);
  if (name === "destinations") return fc.array(destination, { maxLength: 5 });
  if (name === "unsuccessful") return fc.array(unsuccessful, { maxLength: 5 });
  if (typeof field.blank === "number") return octet;
  if (typeof field.blank === "string") return characters(min, max, field.maxOctets - 1);
  return octetsUpTo(254);
}

export function pduOf(command: PduName, range: Range = LATIN_1): fc.Arbitrary<Pdu> {
  const { fields } = COMMANDS[command];
  const body = Object.entries<FieldCodec<unknown>>(fields).map(([name, field]) => [name, valuesOf(name, field, range)]);
  const record = {
    command: fc.constant(command),
    status: command.endsWith("_resp") ? fc.oneof(fc.constant(0), uint32) : fc.constant(0),
    sequence: uint32,
    ...Object.fromEntries(body),
    tlvs,
  };
  return fc.record(record, PLAIN) as unknown as fc.Arbitrary<Pdu>;
}

export const commandName = fc.constantFrom(...(Object.keys(COMMANDS) as PduName[]));

export const anyPdu: fc.Arbitrary<Pdu> = commandName.chain((command) => pduOf(command));
