/** What the pages of the console ask for and do, beside the API that everybody has. Each page's part is a file of its own. */
import type { Api } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { accountViews } from "./accounts.ts";
import { carrierOperations, carrierViews } from "./carriers.ts";
import { limitViews } from "./limits.ts";
import { liveOperation } from "./live.ts";
import { meViews } from "./me.ts";
import { messageOperations, messageViews } from "./message.ts";
import { messagesViews } from "./messages.ts";
import { moneyViews } from "./money.ts";
import { nodeViews } from "./nodes.ts";
import { overviewOperations, overviewViews } from "./overview.ts";
import { phoneViews } from "./phones.ts";
import { quoteViews } from "./quote.ts";
import { requestViews } from "./requests.ts";
import { consoleSessionOperations } from "./session.ts";
import { trackingViews } from "./tracking.ts";
import { unmatchedOperations, unmatchedViews } from "./unmatched.ts";
import { type View, viewOperations } from "./view.ts";

export function consoleOperations(api: Api, parts: ApiParts): void {
  const views: readonly View[] = [
    ...meViews(parts),
    ...messagesViews(parts),
    ...messageViews(parts),
    ...overviewViews(parts),
    ...carrierViews(parts),
    ...unmatchedViews(parts),
    ...nodeViews(parts),
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
  overviewOperations(api, parts);
  carrierOperations(api, parts);
  unmatchedOperations(api, parts);
  liveOperation(api, parts.live, parts, views);
}
