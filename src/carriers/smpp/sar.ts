/** The place of a part in its message as the sar_ parameters say it (SMPP 3.4 §5.3.2.22 to 24). Pure. */
import type { Concatenation } from "../../sms/header.ts";
import { readTlv, type Tlv } from "./codec/tlvs.ts";

/** All that these numbers can be; carriers may write more octets. */
const MAX_REFERENCE = 0xffff;
const MAX_SEGMENTS = 0xff;

/** Null without them, and where they count from nothing or past their total: then they are ignored, as in a header. */
export function readSar(tlvs: readonly Tlv[]): Concatenation | null {
  if (tlvs.length === 0) return null;
  const reference = readTlv(tlvs, "sar_msg_ref_num");
  const total = readTlv(tlvs, "sar_total_segments");
  const sequence = readTlv(tlvs, "sar_segment_seqnum");
  if (reference === undefined || total === undefined || sequence === undefined) return null;
  if (sequence < 1 || sequence > total || total > MAX_SEGMENTS) return null;
  return { reference: reference & MAX_REFERENCE, total, sequence };
}
