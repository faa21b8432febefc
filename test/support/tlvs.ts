/** Whether a PDU has an optional parameter, whatever its value. */
import { TLVS, type Tlv, type TlvName } from "../../src/carriers/smpp/codec/tlvs.ts";

export function hasTlv(tlvs: readonly Tlv[], name: TlvName): boolean {
  return tlvs.some(({ tag }) => tag === TLVS[name].tag);
}
