/**
 * The log of what an account sent, by the OneAPI, newest first. Whoever wants more asks again with the time of the last message, so messages of one
 * millisecond are never told in part: those that do not fit as a whole come with the next request.
 */
import { ALL_MESSAGES } from "../../admin/messages.ts";
import { unitsOf } from "../../reports/rendering/report-item.ts";
import { once } from "../../runtime/lazy.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { countryPrefixOf } from "../../sms/countries.ts";
import { errorById } from "../../sms/errors.ts";
import { statusById } from "../../sms/statuses.ts";
import type { LoggedMessage } from "../../store/port/tracking.ts";
import { ApiError } from "../errors.ts";
import type { LogSearcher } from "../logs.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readIds, readMoment } from "../query.ts";
import { ONE_API } from "./fields.ts";
import * as schemas from "./schemas.ts";

const LOG_MS = 48 * 3_600_000;
const PAGE = 1_000;
/** Where more messages than a page has are of one millisecond. */
const MAX_PAGE = 10_000;
const NOTHING_WRONG = 0;

const countryNames = once(() => new Intl.DisplayNames(["en"], { type: "region", fallback: "code" }));

function networkOf({ to, mccMnc }: LoggedMessage) {
  const found = countryPrefixOf(to);
  return {
    id: mccMnc === null ? 0 : Number(mccMnc),
    name: mccMnc ?? "",
    country: {
      id: Number(found?.prefix ?? 0),
      code: found?.country ?? "",
      prefix: found?.prefix ?? "",
      name: found === null ? "" : (countryNames().of(found.country) ?? ""),
      locale: "",
    },
  };
}

function logOf(message: LoggedMessage) {
  const { statusId, errorId, doneAtMs, smsCount, pricePerPartMicros } = message;
  const { id, name, description } = statusById(statusId);
  return {
    sendDateTime: formatDateTime(message.sentAtMs),
    messageId: message.messageId,
    smsCount,
    destinationAddress: message.to,
    sender: message.from,
    clientMetadata: message.callbackData,
    messageText: message.text,
    status: {
      id,
      status: name,
      description,
      failureReason: errorId === NOTHING_WRONG ? null : errorById(errorId).description,
    },
    bulkId: message.bulkId,
    deliveryReportTime: doneAtMs === null ? null : formatDateTime(doneAtMs),
    ported: false,
    pricePerMessage: { price: unitsOf(pricePerPartMicros * BigInt(smsCount)), currency: message.currency },
    destinationNetwork: networkOf(message),
  };
}

/** As many as fit without cutting a millisecond in two; null where not even the first does. */
function wholeMoments(found: readonly LoggedMessage[], limit: number): readonly LoggedMessage[] | null {
  const next = found[limit];
  if (next === undefined) return found;
  const shown = found.slice(0, limit).filter(({ sentAtMs }) => sentAtMs > next.sentAtMs);
  return shown.length === 0 ? null : shown;
}

export function logOperation(api: Api, { clock }: ApiParts, logs: LogSearcher): void {
  api.get(
    "/2/messaging/outbound/logs",
    operation({
      ...ONE_API,
      id: "oneApiLogs",
      summary: "Look up what was sent, newest first",
      query: schemas.LogQuery,
      answer: schemas.LogList,
    }),
    async (request) => {
      // A client writes all of its fields, those that its user left out as empty ones.
      const fields = Object.fromEntries(Object.entries(fieldsOf(request.query)).filter(([, value]) => value !== ""));
      const sinceMs = readMoment(fields, "from") ?? clock.now() - LOG_MS;
      const toMs = readMoment(fields, "to");
      const filter = {
        ...ALL_MESSAGES,
        messageIds: readIds(fields, "messageId"),
        sinceMs,
        untilMs: toMs === null ? ALL_MESSAGES.untilMs : toMs - 1,
      };
      let found = await logs.newest(request, { ...filter, limit: PAGE + 1 }, ["from", "to"]);
      let shown = wholeMoments(found, PAGE);
      if (shown === null) {
        found = await logs.newest(request, { ...filter, limit: MAX_PAGE + 1 }, ["from", "to"]);
        shown = wholeMoments(found, MAX_PAGE);
      }
      if (shown === null)
        throw new ApiError("badRequest", {
          variables: ["to"],
          description: `More than ${MAX_PAGE} messages were sent within one millisecond: ask for them with GET /sms/1/logs, by bulkId.`,
        });
      return {
        logs: shown.map(logOf),
        from: formatDateTime(sinceMs),
        to: toMs === null ? null : formatDateTime(toMs),
        hasMoreLogs: shown.length < found.length,
      };
    },
  );
}
