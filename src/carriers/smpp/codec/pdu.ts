/**
 * What a PDU is to the program: its command, status and sequence number, the fields of that command, and its optional
 * parameters. `Pdu` is any of them, `Pdu<"submit_sm">` that one; `pdu.command` tells them apart.
 */
import type { COMMANDS, PduName, RequestName } from "./commands.ts";
import type { FieldCodec } from "./fields.ts";
import type { Tlv } from "./tlvs.ts";

type Fields<Name extends PduName> = (typeof COMMANDS)[Name]["fields"];

/** The mandatory fields of a command. */
export type PduBody<Name extends PduName> = {
  readonly [Key in keyof Fields<Name>]: Fields<Name>[Key] extends FieldCodec<infer Value> ? Value : never;
};

interface Header<Name extends PduName> {
  readonly command: Name;
  /** command_status: how a request was received, in its response. 0 is well; requests have 0. */
  readonly status: number;
  /** Ties a response to its request. */
  readonly sequence: number;
  readonly tlvs: readonly Tlv[];
}

export type Pdu<Name extends PduName = PduName> = Name extends PduName ? Header<Name> & PduBody<Name> : never;

/** A PDU to be sent: what is left out is 0 or empty. */
export type PduDraft<Name extends PduName = PduName> = Name extends PduName
  ? { readonly command: Name } & Partial<Omit<Header<Name>, "command"> & PduBody<Name>>
  : never;

/** The response to a request of that name, or the answer that the peer could not even make one. */
export type ResponseTo<Name extends RequestName> = Pdu<`${Name}_resp`> | Pdu<"generic_nack">;
