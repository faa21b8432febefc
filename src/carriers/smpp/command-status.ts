/** What a carrier's answer to a submit means: taken, later, or never. One table for all carriers. Pure. */
import { errorByName } from "../../sms/errors.ts";

export type Meaning =
  | { kind: "throttled" } // the carrier as a whole is busy
  | { kind: "later" } // this message, or its phone, later
  | { kind: "refused"; errorId: number };

const never = (error: string): Meaning => ({ kind: "refused", errorId: errorByName(error).id });

const REJECTED = never("EC_SMS_REJECTED_BY_MOBILE_OPERATOR");
const BAD_SOURCE = never("EC_INVALID_SOURCE_ADDRESS");
const BAD_DESTINATION = never("EC_INVALID_DESTINATION_ADDRESS");
const BAD_PDU = never("EC_INVALID_PDU_FORMAT");
const LATER: Meaning = { kind: "later" };

/** command_status (SMPP 3.4 §5.1.3). What is not here is a refusal: a carrier's own codes say "no" far more often than "later". */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  1: never("EC_MSG_TEXT_TOO_LONG"), // ESME_RINVMSGLEN
  2: BAD_PDU, // ESME_RINVCMDLEN
  4: LATER, // ESME_RINVBNDSTS: the bind is not what it should be; a new one will be
  8: LATER, // ESME_RSYSERR
  10: BAD_SOURCE, // ESME_RINVSRCADR
  11: BAD_DESTINATION, // ESME_RINVDSTADR
  20: LATER, // ESME_RMSGQFUL: as a rule the queue of messages for this phone
  72: BAD_SOURCE, // ESME_RINVSRCTON
  73: BAD_SOURCE, // ESME_RINVSRCNPI
  80: BAD_DESTINATION, // ESME_RINVDSTTON
  81: BAD_DESTINATION, // ESME_RINVDSTNPI
  88: { kind: "throttled" }, // ESME_RTHROTTLED
  98: never("EC_VALIDITY_EXPIRED"), // ESME_RINVEXPIRY
  100: LATER, // ESME_RX_T_APPN
};

export function meaningOf(commandStatus: number): Meaning {
  return MEANINGS[commandStatus] ?? REJECTED;
}
