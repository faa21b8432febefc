/** Delivery receipts as deliver_sm: in the standard's text, with the optional parameters, or as a fault wants them. Pure. */
import type { PduDraft } from "../carriers/smpp/codec/pdu.ts";
import { makeTlv, type Tlv } from "../carriers/smpp/codec/tlvs.ts";
import { ucs2Octets } from "../sms/userdata.ts";
import { type PartOutcome, type TakenPart, textOf } from "./part.ts";

/** A receipt to be written. */
export interface ReceiptToSend {
  readonly part: TakenPart;
  readonly outcome: PartOutcome;
  readonly errorId: number;
  readonly atMs: number;
  readonly manner: Manner;
}

/** How it is written. */
export interface Manner {
  readonly form: "both" | "text" | "ucs2 text" | "tlvs";
  /** esm_class says that it is a receipt. */
  readonly marked: boolean;
  readonly impossibleDates: boolean;
  /** In place of the outcome's own word and state. */
  readonly state: State | null;
}

interface State {
  readonly word: string;
  readonly state: number;
}

export const PLAIN: Manner = { form: "both", marked: true, impossibleDates: false, state: null };

/** esm_class (SMPP 3.4 §5.2.12): a receipt, an intermediate notification. */
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;

/** The words of SMPP 3.4 appendix B, and message_state (§5.2.28). */
export const STATES: Readonly<Record<PartOutcome, State>> = {
  held: { word: "ENROUTE", state: 1 },
  delivered: { word: "DELIVRD", state: 2 },
  expired: { word: "EXPIRED", state: 3 },
  deleted: { word: "DELETED", state: 4 },
  undeliverable: { word: "UNDELIV", state: 5 },
  lost: { word: "UNKNOWN", state: 7 },
  rejected: { word: "REJECTD", state: 8 },
};

/** registered_delivery (SMPP 3.4 §5.2.17, and 5.0 §4.7.21 for 3): which outcomes are to be told. */
const FINAL_MASK = 0x03;
const FINAL_BOTH = 0x01;
const FINAL_FAILURE = 0x02;
const FINAL_SUCCESS = 0x03;
const INTERMEDIATE_WANTED = 0x10;

export function isWanted(registeredDelivery: number, outcome: PartOutcome): boolean {
  if (outcome === "held") return (registeredDelivery & INTERMEDIATE_WANTED) !== 0;
  const final = registeredDelivery & FINAL_MASK;
  return final === FINAL_BOTH || final === (outcome === "delivered" ? FINAL_SUCCESS : FINAL_FAILURE);
}

/** From the phone to the message's sender. */
export function receiptPdu(receipt: ReceiptToSend): PduDraft<"deliver_sm"> {
  const { part, outcome, errorId, manner } = receipt;
  const { source, destination } = part;
  const { word, state } = manner.state ?? STATES[outcome];
  const type = outcome === "held" ? INTERMEDIATE : RECEIPT;
  return {
    command: "deliver_sm",
    sourceAddrTon: destination.ton,
    sourceAddrNpi: destination.npi,
    sourceAddr: destination.address,
    destAddrTon: source.ton,
    destAddrNpi: source.npi,
    destinationAddr: source.address,
    esmClass: manner.marked ? type : 0,
    ...(manner.form === "tlvs" ? {} : textField(text(receipt, word), manner.form)),
    ...(manner.form === "both" || manner.form === "tlvs" ? { tlvs: tlvs(part.ids.inReceipt, state, errorId) } : {}),
  };
}

const UCS2 = 8;

function textField(text: string, form: Manner["form"]): Partial<PduDraft<"deliver_sm">> {
  if (form !== "ucs2 text") return { shortMessage: Buffer.from(text, "latin1") };
  // Twice as many octets: too many for the short message.
  return { dataCoding: UCS2, tlvs: [makeTlv("message_payload", ucs2Octets(text))] };
}

const TEXT_CHARACTERS = 20;

/** SMPP 3.4 appendix B. */
function text({ part, outcome, errorId, atMs, manner }: ReceiptToSend, word: string): string {
  const delivered = outcome === "delivered" ? "001" : "000";
  const submitted = manner.impossibleDates ? IMPOSSIBLE_DATE : dateOf(part.takenAtMs);
  const done = manner.impossibleDates ? IMPOSSIBLE_DATE : dateOf(atMs);
  const excerpt = textOf(part)
    .slice(0, TEXT_CHARACTERS)
    .replace(/[^\x20-\x7e]/g, ".");
  return (
    `id:${part.ids.inReceipt} sub:001 dlvrd:${delivered} submit date:${submitted} done date:${done} ` +
    `stat:${word} err:${String(errorId).padStart(3, "0")} text:${excerpt}`
  );
}

/** The 31st of a month that has 30 days, at a quarter past the last hour. */
const IMPOSSIBLE_DATE = "2606312415";

const MINUTE_MS = 60_000;
/** The last minute that was written: under load all receipts are of the same one or two. */
let written = { minute: Number.NaN, date: "" };

/** YYMMDDhhmm, in UTC. */
function dateOf(atMs: number): string {
  const minute = Math.floor(atMs / MINUTE_MS);
  if (written.minute !== minute) {
    const digits = new Date(minute * MINUTE_MS).toISOString().replace(/[^0-9]/g, "");
    written = { minute, date: digits.slice(2, 12) };
  }
  return written.date;
}

const STATE_TLVS: readonly Tlv[] = Array.from({ length: 256 }, (_, state) => makeTlv("message_state", state));
/** network_error_code: the network's type, and its code in two octets (SMPP 3.4 §5.3.2.31). */
const GSM = 3;
const NO_NETWORK_ERROR = networkErrorTlv(0);

function tlvs(id: string, state: number, errorId: number): Tlv[] {
  const networkError = errorId === 0 ? NO_NETWORK_ERROR : networkErrorTlv(errorId);
  return [makeTlv("receipted_message_id", id), STATE_TLVS[state]!, networkError];
}

function networkErrorTlv(errorId: number): Tlv {
  return makeTlv("network_error_code", Uint8Array.of(GSM, errorId >> 8, errorId & 0xff));
}
