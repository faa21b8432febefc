/** From when and until when the network tries to deliver a message, by what its submit says. */
import { parseTime } from "../carriers/smpp/codec/times.ts";
import { readTlv } from "../carriers/smpp/codec/tlvs.ts";
import type { SubmitPdu } from "./part.ts";

/** Of a message that says nothing of it. */
const DEFAULT_VALIDITY_MS = 2 * 86_400_000;
const SECOND_MS = 1000;

/** schedule_delivery_time, or now. Null when it says what cannot be. */
export function startOf(pdu: SubmitPdu, nowMs: number): number | null {
  if (pdu.command === "data_sm" || pdu.scheduleDeliveryTime === "") return nowMs;
  const startMs = parseTime(pdu.scheduleDeliveryTime, nowMs);
  return startMs === null ? null : Math.max(startMs, nowMs);
}

/** validity_period; in data_sm qos_time_to_live. Null when it says what cannot be, or is over already. */
export function endOf(pdu: SubmitPdu, nowMs: number): number | null {
  if (pdu.command === "data_sm") {
    const seconds = readTlv(pdu.tlvs, "qos_time_to_live");
    return nowMs + (seconds === undefined ? DEFAULT_VALIDITY_MS : seconds * SECOND_MS);
  }
  if (pdu.validityPeriod === "") return nowMs + DEFAULT_VALIDITY_MS;
  const endMs = timeOf(pdu.validityPeriod, nowMs);
  return endMs !== null && endMs < nowMs ? null : endMs;
}

/** Without years and months, whose length depends on the day, a relative time is the same duration each time. */
const FIXED_DURATION = /^0000\d{11}R$/;
/** The last one that was read: a customer tends to say the same in each submit. */
let read = { text: "", durationMs: 0 };

function timeOf(text: string, nowMs: number): number | null {
  if (text === read.text) return nowMs + read.durationMs;
  const atMs = parseTime(text, nowMs);
  if (atMs !== null && FIXED_DURATION.test(text)) read = { text, durationMs: atMs - nowMs };
  return atMs;
}
