/** Pushes that never were, rendered as real ones are: what the API's description shows of them. */
import { carriedOf } from "../../message/fields.ts";
import type { ReportBatch } from "../../message/message.ts";
import type { PushedForm } from "../../message/report-form.ts";
import { STATUS } from "../../sms/statuses.ts";
import { bodyOf } from "./report-body.ts";

const AT_MS = Date.UTC(2026, 1, 12, 9, 58, 20, 323);

const SAMPLES: { readonly [Kind in ReportBatch["kind"]]: Extract<ReportBatch, { kind: Kind }>["items"] } = {
  delivery: [
    {
      ...carriedOf({ callbackData: "my first message" }),
      bulkId: "example-bulk",
      messageId: "3763870000000000022",
      to: "41793026727",
      from: "InfoSMS",
      sentAtMs: AT_MS,
      doneAtMs: AT_MS + 1_000,
      smsCount: 1,
      mccMnc: "22801",
      pricePerPartMicros: 10_000n,
      currency: "EUR",
      statusId: STATUS.DELIVERED_TO_HANDSET.id,
      errorId: 0,
    },
  ],
  incoming: [
    {
      messageId: "3763870000000000023",
      from: "41793026727",
      to: "12345",
      text: "Hello",
      keyword: null,
      receivedAtMs: AT_MS,
      smsCount: 1,
      currency: "EUR",
    },
  ],
  click: [
    {
      ...carriedOf({ callbackData: "my first message" }),
      messageId: "3763870000000000022",
      bulkId: "example-bulk",
      to: "41793026727",
      url: "https://example.com/offers",
      atMs: AT_MS,
      deviceType: "Phone",
      os: "Android",
      deviceName: null,
    },
  ],
  alert: [{ accountKey: "DEMO0001", balanceMicros: 4_990_000n, belowMicros: 5_000_000n, currency: "EUR", atMs: AT_MS }],
};

/** The body of a push of this kind, in this form. */
export function sampleBody(kind: ReportBatch["kind"], form: PushedForm): string {
  const items = SAMPLES[kind];
  return bodyOf({ kind, items, form, id: "sample", accountId: 0, url: "", attempts: 0 } as ReportBatch);
}
