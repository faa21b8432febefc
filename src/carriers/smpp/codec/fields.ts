/**
 * The kinds of mandatory fields that PDUs are made of. A PDU's definition is a list of these (commands.ts), from which come its
 * type, its reading and its writing.
 */
import { NO_OCTETS, type Reader, SHORT_MESSAGE_MAX, type Writer } from "./octets.ts";

export interface FieldCodec<Value> {
  /** The value where nothing was said or sent. */
  readonly blank: Value;
  /** At most so many octets when written: what a writer must have room for. */
  readonly maxOctets: number;
  read(reader: Reader): Value;
  write(writer: Writer, value: Value): void;
}

export const uint8: FieldCodec<number> = {
  blank: 0,
  maxOctets: 1,
  read: (reader) => reader.uint8(),
  write: (writer, value) => writer.uint8(value),
};

/** A string that ends with a NUL; `maxOctets` counts it, as the standard does. Its characters are octets (Latin-1). */
export function cString(maxOctets: number): FieldCodec<string> {
  return {
    blank: "",
    maxOctets,
    read: (reader) => reader.cString(),
    write: (writer, value) => writer.cString(value, maxOctets),
  };
}

/** sm_length and short_message. In a received PDU a view into what was received: copy it (`Buffer.from`) to keep it. */
export const shortMessage: FieldCodec<Uint8Array> = {
  blank: NO_OCTETS,
  maxOctets: 1 + SHORT_MESSAGE_MAX,
  read: (reader) => reader.shortMessage(),
  write: (writer, value) => writer.shortMessage(value),
};

const ADDRESS_OCTETS = 21;
const LIST_NAME_OCTETS = 21;
/** 3.4 §4.5.1: number_of_dests and no_unsuccess are an octet each, and at most 254. */
const DESTINATIONS_MAX = 254;

export type PduDestination =
  | { readonly kind: "address"; readonly ton: number; readonly npi: number; readonly address: string }
  | { readonly kind: "list"; readonly name: string };

const DEST_FLAG = { address: 1, list: 2 } as const;

/** number_of_dests and dest_address(es) of submit_multi. */
export const destinations: FieldCodec<readonly PduDestination[]> = {
  blank: [],
  maxOctets: 1 + DESTINATIONS_MAX * (3 + ADDRESS_OCTETS),
  read: (reader) => readMany(reader, readDestination),
  write(writer, all) {
    writeCount(writer, all.length);
    for (const destination of all) {
      writer.uint8(DEST_FLAG[destination.kind]);
      if (destination.kind === "list") {
        writer.cString(destination.name, LIST_NAME_OCTETS);
      } else {
        writer.uint8(destination.ton);
        writer.uint8(destination.npi);
        writer.cString(destination.address, ADDRESS_OCTETS);
      }
    }
  },
};

function readDestination(reader: Reader): PduDestination {
  const flag = reader.uint8();
  if (flag === DEST_FLAG.list) return { kind: "list", name: reader.cString() };
  if (flag !== DEST_FLAG.address) reader.fail("ESME_RINVDESTFLAG");
  return { kind: "address", ton: reader.uint8(), npi: reader.uint8(), address: reader.cString() };
}

/** A destination of submit_multi that was not taken, and why. */
export interface UnsuccessfulDestination {
  readonly ton: number;
  readonly npi: number;
  readonly address: string;
  readonly status: number;
}

/** no_unsuccess and unsuccess_sme(s) of submit_multi_resp. */
export const unsuccessful: FieldCodec<readonly UnsuccessfulDestination[]> = {
  blank: [],
  maxOctets: 1 + DESTINATIONS_MAX * (6 + ADDRESS_OCTETS),
  read: (reader) =>
    readMany(reader, () => ({
      ton: reader.uint8(),
      npi: reader.uint8(),
      address: reader.cString(),
      status: reader.uint32(),
    })),
  write(writer, all) {
    writeCount(writer, all.length);
    for (const { ton, npi, address, status } of all) {
      writer.uint8(ton);
      writer.uint8(npi);
      writer.cString(address, ADDRESS_OCTETS);
      writer.uint32(status);
    }
  },
};

/** What the count promises, as far as the octets go: what was cut off in the middle is not given. */
function readMany<Value>(reader: Reader, readOne: (reader: Reader) => Value): Value[] {
  const values: Value[] = [];
  for (let count = reader.uint8(); count > 0; count--) {
    const value = readOne(reader);
    if (reader.fault !== null) break;
    values.push(value);
  }
  return values;
}

function writeCount(writer: Writer, count: number): void {
  if (count > DESTINATIONS_MAX) throw new RangeError(`${count} destinations are more than ${DESTINATIONS_MAX}`);
  writer.uint8(count);
}
