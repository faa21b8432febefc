/** One item of a report as clients of version 3 read it: pushed in JSON and XML, and fetched. */
import type { ReportFacts } from "../../message/message.ts";
import { type Body, isOctets } from "../../sms/body.ts";
import { type ErrorOfItem, type LogFacts, reportItem, type StatusOfItem } from "./report-item.ts";

export interface ReportItemV3 {
  readonly bulkId?: string;
  readonly messageId: string;
  readonly to: string;
  readonly sender: string;
  readonly sentAt: string;
  readonly doneAt: string;
  readonly messageCount: number;
  readonly mccMnc?: string;
  readonly callbackData?: string;
  readonly price: { readonly pricePerMessage: number; readonly currency: string };
  readonly status: StatusOfItem;
  readonly error: ErrorOfItem;
  readonly platform?: Platform;
  readonly campaignReferenceId?: string;
}

interface Platform {
  readonly entityId?: string;
  readonly applicationId?: string;
}

/** The order of the fields is the order on the wire. What has no value is left out: strict readers fail on a null. */
export function reportItemV3(facts: ReportFacts): ReportItemV3 {
  const { messageId, to, from, sentAt, doneAt, smsCount, price, status, error } = reportItem(facts);
  const { bulkId, mccMnc, callbackData, campaignReferenceId } = facts;
  const platform = platformOf(facts);
  return {
    ...(bulkId === null ? {} : { bulkId }),
    messageId,
    to,
    sender: from,
    sentAt,
    doneAt,
    messageCount: smsCount,
    ...(mccMnc === null ? {} : { mccMnc }),
    ...(callbackData === null ? {} : { callbackData }),
    price,
    status,
    error,
    ...(platform === null ? {} : { platform }),
    ...(campaignReferenceId === null ? {} : { campaignReferenceId }),
  };
}

function platformOf({ entityId, applicationId }: Pick<ReportFacts, "entityId" | "applicationId">): Platform | null {
  if (entityId === null && applicationId === null) return null;
  return { ...(entityId === null ? {} : { entityId }), ...(applicationId === null ? {} : { applicationId }) };
}

/** What a message says. Strict readers take exactly these fields, and either text or hex. */
type ContentV3 =
  | { readonly text: string }
  | { readonly hex: string; readonly dataCoding: number; readonly esmClass: number };

export interface LogItemV3 extends Omit<ReportItemV3, "to" | "callbackData"> {
  readonly destination: string;
  readonly content: ContentV3;
}

/** A message that is still on its way carries as doneAt what an intermediate report carries. */
export function logItemV3(facts: LogFacts & Pick<Body, "encoding">): LogItemV3 {
  const { to, callbackData: _, ...item } = reportItemV3({ ...facts, doneAtMs: facts.doneAtMs ?? facts.sentAtMs });
  return { ...item, destination: to, content: contentOf(facts) };
}

function contentOf({ text, encoding }: Pick<Body, "text" | "encoding">): ContentV3 {
  return isOctets(encoding) ? { hex: text, ...encoding } : { text };
}
