/** What the pages of the console ask for and do, beside the API that everybody has. Each page's part is a file of its own. */
import type { Api } from "../operation.ts";
import { type AccountViewParts, accountViews } from "./accounts.ts";
import { type LimitViewParts, limitViews } from "./limits.ts";
import { type Live, liveOperation } from "./live.ts";
import { type MeParts, meViews } from "./me.ts";
import { type MessageParts, messageOperations, messageViews } from "./message.ts";
import { type MessagesParts, messagesViews } from "./messages.ts";
import { type MoneyViewParts, moneyViews } from "./money.ts";
import { type OperatingParts, operatingOperations, operatingViews } from "./operating.ts";
import { type PhoneViewParts, phoneViews } from "./phones.ts";
import { type QuoteParts, quoteViews } from "./quote.ts";
import type { RequestLogParts } from "./request-log.ts";
import { type RequestParts, requestViews } from "./requests.ts";
import { type ConsoleSessionParts, consoleSessionOperations } from "./session.ts";
import { type TrackingParts, trackingViews } from "./tracking.ts";
import { type View, viewOperations } from "./view.ts";

export type ConsoleParts = ConsoleSessionParts &
  MeParts &
  MessagesParts &
  MessageParts &
  OperatingParts &
  QuoteParts &
  TrackingParts &
  MoneyViewParts &
  AccountViewParts &
  LimitViewParts &
  PhoneViewParts &
  RequestParts & { readonly live: Live; readonly store: RequestLogParts["store"] };

export function consoleOperations(api: Api, parts: ConsoleParts): void {
  const views: readonly View[] = [
    ...meViews(parts),
    ...messagesViews(parts),
    ...messageViews(parts),
    ...operatingViews(parts),
    ...quoteViews(parts),
    ...trackingViews(parts),
    ...moneyViews(parts),
    ...accountViews(parts),
    ...limitViews(parts),
    ...phoneViews(parts),
    ...requestViews(parts),
  ];
  consoleSessionOperations(api, parts);
  viewOperations(api, views);
  messageOperations(api, parts);
  operatingOperations(api, parts);
  liveOperation(api, parts.live, parts, views);
}
