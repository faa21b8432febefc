/** Every operation of the API for clients, resellers and operators, and what they are made with. */
import { bulkOperations } from "./bulks.ts";
import { callbackTestOperations } from "./callback-test.ts";
import { carrierCallbacks } from "./carrier-callbacks.ts";
import { consoleOperations } from "./console/operations.ts";
import { consolePages, type PageForNone } from "./console/static.ts";
import { conversionOperations } from "./conversions.ts";
import { credentialOperations } from "./credentials.ts";
import { deadLetterOperations } from "./dead-letters.ts";
import { documentApi } from "./documentation.ts";
import { inboxOperations, incomingFetcher } from "./inbox.ts";
import { inboxLogOperations } from "./inbox-logs.ts";
import { kannelOperations } from "./kannel/sendsms.ts";
import { linkOperations } from "./links.ts";
import { liveEventOperation } from "./live-events.ts";
import { logOperations, logSearcher } from "./logs.ts";
import { moneyOperations } from "./money.ts";
import { deliveryInfoOperations } from "./oneapi/delivery-infos.ts";
import { inboundOperations } from "./oneapi/inbound.ts";
import { logOperation } from "./oneapi/log.ts";
import { profileOperations } from "./oneapi/profile.ts";
import { sendingOperation } from "./oneapi/sending.ts";
import { subscriptionOperations } from "./oneapi/subscriptions.ts";
import type { Api } from "./operation.ts";
import { operatorOperations } from "./operator/operations.ts";
import type { ApiParts } from "./parts.ts";
import { pinApplicationOperations } from "./pin-applications.ts";
import { pinOperations } from "./pins.ts";
import { previewOperations } from "./previews.ts";
import { reportFetcher, reportOperations } from "./reports.ts";
import { sandboxOperations } from "./sandbox.ts";
import { secondFactorOperations } from "./second-factor.ts";
import { seenAtOnce } from "./seen-at-once.ts";
import { sendingOperations } from "./sending.ts";
import { sessionOperations } from "./session.ts";
import { textQueryOperations } from "./text-query.ts";
import { tokenOperations } from "./tokens.ts";
import { tellingUncalled, uncalledBy } from "./uncalled.ts";
import { sendingOperationsV3 } from "./v3/sending.ts";

/** All that clients, resellers and operators ask for, and the page that says how. What it returns shows a page where there is none. */
export async function clientOperations(api: Api, given: ApiParts): Promise<PageForNone | null> {
  const { settings, sandbox, catalogue } = given;
  await documentApi(api, given);
  const uncalled = uncalledBy(settings, sandbox !== null);
  const intake = given.rateLimits.before(tellingUncalled(given.intake, uncalled));
  const parts = { ...given, intake, store: seenAtOnce(given.store, catalogue) };
  sendingOperations(api, intake);
  textQueryOperations(api, intake);
  pinApplicationOperations(api, parts);
  pinOperations(api, parts);
  sendingOperationsV3(api, intake);
  if (settings.kannel.enabled) kannelOperations(api, parts);
  previewOperations(api);
  const fetchIncoming = incomingFetcher(api, parts);
  const fetchReports = reportFetcher(api, parts);
  const logs = logSearcher(parts);
  inboxOperations(api, fetchIncoming);
  inboxLogOperations(api, parts);
  bulkOperations(api, parts);
  reportOperations(api, fetchReports);
  logOperations(api, parts, logs);
  // The OneAPI, the older family, stands over the same intake, reports, inbox and logs.
  sendingOperation(api, intake);
  deliveryInfoOperations(api, parts, logs, fetchReports);
  inboundOperations(api, fetchIncoming);
  subscriptionOperations(api, parts, uncalled);
  profileOperations(api, parts);
  logOperation(api, parts, logs);
  linkOperations(api, parts);
  carrierCallbacks(api, parts);
  conversionOperations(api, parts);
  deadLetterOperations(api, parts);
  operatorOperations(api, parts);
  if (sandbox !== null) sandboxOperations(api, parts, sandbox);
  moneyOperations(api, parts);
  sessionOperations(api, parts);
  tokenOperations(api, parts);
  secondFactorOperations(api, parts);
  credentialOperations(api, parts);
  callbackTestOperations(api, parts);
  liveEventOperation(api, parts);
  if (!settings.console.enabled) {
    api.get("/", { schema: { hide: true } }, async (_, reply) => reply.redirect("/docs"));
    return null;
  }
  consoleOperations(api, parts);
  return consolePages(api, parts.consoleFolder);
}
