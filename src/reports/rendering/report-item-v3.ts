/** One item of a report as clients of version 3 read it: pushed in JSON and XML, and fetched. */
import type { AsWritten, ReportFacts } from "../../message/message.ts";
import { type Body, isOctets } from "../../sms/body.ts";
import { STATUS_ACTIONS } from "../../sms/data/status-actions.ts";
import { type LogFacts, reportItem } from "./report-item.ts";

/** The order of the fields is the order on the wire. What has no value is left out: strict readers fail on a null. */
export function reportItemV3(facts: ReportFacts) {
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
    status: withAction(status),
    error,
    ...(platform === null ? {} : { platform }),
    ...(campaignReferenceId === null ? {} : { campaignReferenceId }),
  };
}

/** What whoever sent it can do about a rejection stands with the status. */
export function withAction<S extends { readonly id: number }>(status: S): S & { readonly action?: string } {
  const action = STATUS_ACTIONS[status.id];
  return action === undefined ? status : { ...status, action };
}

function platformOf({ entityId, applicationId }: Pick<ReportFacts, "entityId" | "applicationId">) {
  if (entityId === null && applicationId === null) return null;
  return { ...(entityId === null ? {} : { entityId }), ...(applicationId === null ? {} : { applicationId }) };
}

/** A message that is still on its way carries as doneAt what an intermediate report carries. */
export function logItemV3(facts: LogFacts & LoggedBody) {
  const { to, callbackData: _, ...item } = reportItemV3({ ...facts, doneAtMs: facts.doneAtMs ?? facts.sentAtMs });
  return { ...item, destination: to, content: contentOf(facts) };
}

interface LoggedBody extends Pick<Body, "text" | "encoding"> {
  readonly written: AsWritten | null;
}

/** Strict readers take exactly these fields, and either text or hex. The text is the client's own. */
function contentOf({ text, encoding, written }: LoggedBody) {
  return isOctets(encoding) ? { hex: text, ...encoding } : { text, ...written };
}
