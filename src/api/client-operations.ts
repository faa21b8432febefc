/** Every operation of the API for clients, resellers and operators, and what they are made with. */
import type { Intake } from "../intake/intake.ts";
import type { Settings } from "../settings/settings.ts";
import type { AdmitNamed } from "./admission.ts";
import { type BulkParts, bulkOperations } from "./bulks.ts";
import { type CallbackTestParts, callbackTestOperations } from "./callback-test.ts";
import { type CarrierCallbackParts, carrierCallbacks } from "./carrier-callbacks.ts";
import { type ConsoleParts, consoleOperations } from "./console/operations.ts";
import { consolePages } from "./console/static.ts";
import { type ConversionParts, conversionOperations } from "./conversions.ts";
import { type CredentialParts, credentialOperations } from "./credentials.ts";
import { type DeadLetterParts, deadLetterOperations } from "./dead-letters.ts";
import { documentApi } from "./documentation.ts";
import { type InboxParts, inboxOperations, incomingFetcher } from "./inbox.ts";
import { inboxLogOperations } from "./inbox-logs.ts";
import { kannelOperations } from "./kannel/sendsms.ts";
import { type LinkParts, linkOperations } from "./links.ts";
import { type LiveEventParts, liveEventOperation } from "./live-events.ts";
import { type LogParts, logOperations, logSearcher } from "./logs.ts";
import { type MoneyParts, moneyOperations } from "./money.ts";
import { type OneApiParts, oneApiOperations } from "./oneapi/operations.ts";
import type { Api } from "./operation.ts";
import { type OperatorParts, operatorOperations } from "./operator/operations.ts";
import { type PinApplicationParts, pinApplicationOperations } from "./pin-applications.ts";
import { type PinParts, pinOperations } from "./pins.ts";
import { previewOperations } from "./previews.ts";
import type { RateLimits } from "./rate-limits.ts";
import { type ReportParts, reportFetcher, reportOperations } from "./reports.ts";
import { type SandboxParts, type SandboxPort, sandboxOperations } from "./sandbox.ts";
import { type SecondFactorParts, secondFactorOperations } from "./second-factor.ts";
import { sendingOperations } from "./sending.ts";
import { sessionOperations } from "./session.ts";
import { textQueryOperations } from "./text-query.ts";
import { tokenOperations } from "./tokens.ts";
import { tellingUncalled, uncalledBy } from "./uncalled.ts";
import { sendingOperationsV3 } from "./v3/sending.ts";

export interface ClientParts
  extends Omit<SecondFactorParts, "store">,
    MoneyParts,
    InboxParts,
    LogParts,
    LinkParts,
    ReportParts,
    DeadLetterParts,
    CallbackTestParts,
    Omit<ConsoleParts, "store" | "settings" | "catalogue" | "isSandbox"> {
  readonly store: SecondFactorParts["store"] &
    MoneyParts["store"] &
    InboxParts["store"] &
    PinApplicationParts["store"] &
    PinParts["store"] &
    BulkParts["store"] &
    LogParts["store"] &
    ReportParts["store"] &
    OneApiParts["store"] &
    LinkParts["store"] &
    CarrierCallbackParts["store"] &
    ConversionParts["store"] &
    DeadLetterParts["store"] &
    CredentialParts["store"] &
    LiveEventParts["store"] &
    SandboxParts["store"] &
    ConsoleParts["store"] &
    OperatorParts["store"];
  readonly settings: Settings;
  readonly intake: Pick<Intake, "send">;
  readonly rateLimits: RateLimits;
  readonly admitNamed: AdmitNamed;
  readonly liveHub: LiveEventParts["liveHub"];
  /** Tells delivery what a carrier said by calling us. */
  readonly carrierHeard: CarrierCallbackParts["heard"];
  /** Null outside the sandbox. */
  readonly sandbox: SandboxPort | null;
  /** Where the console was built. */
  readonly consoleFolder: string;
}

/** All that clients, resellers and operators ask for, and the page that says how. */
export async function clientOperations(api: Api, parts: ClientParts): Promise<void> {
  await documentApi(api, { clock: parts.clock, isSandbox: parts.sandbox !== null });
  const uncalled = uncalledBy(parts.settings, parts.sandbox !== null);
  const intake = parts.rateLimits.before(tellingUncalled(parts.intake, uncalled));
  sendingOperations(api, intake);
  textQueryOperations(api, intake);
  pinApplicationOperations(api, parts);
  pinOperations(api, { ...parts, intake });
  sendingOperationsV3(api, intake);
  if (parts.settings.kannel.enabled) kannelOperations(api, { ...parts, intake });
  previewOperations(api);
  const fetchIncoming = incomingFetcher(api, parts);
  const fetchReports = reportFetcher(api, parts);
  const logs = logSearcher(parts);
  inboxOperations(api, fetchIncoming);
  inboxLogOperations(api, parts);
  bulkOperations(api, parts);
  reportOperations(api, fetchReports);
  logOperations(api, parts, logs);
  oneApiOperations(api, { ...parts, intake, uncalled, fetchIncoming, fetchReports, logs });
  linkOperations(api, parts);
  carrierCallbacks(api, { ...parts, publicUrl: parts.settings.server.publicUrl, heard: parts.carrierHeard });
  conversionOperations(api, parts);
  deadLetterOperations(api, parts);
  operatorOperations(api, parts);
  if (parts.sandbox !== null) sandboxOperations(api, { ...parts.sandbox, store: parts.store });
  moneyOperations(api, parts);
  sessionOperations(api, parts);
  tokenOperations(api, parts);
  secondFactorOperations(api, parts);
  credentialOperations(api, parts);
  callbackTestOperations(api, parts);
  liveEventOperation(api, parts);
  if (!parts.settings.console.enabled) {
    api.get("/", { schema: { hide: true } }, async (_, reply) => reply.redirect("/docs"));
    return;
  }
  consoleOperations(api, {
    ...parts,
    isSandbox: parts.sandbox !== null,
    clockOffset: () => parts.sandbox?.travel?.offsetMs ?? 0,
  });
  await consolePages(api, parts.consoleFolder);
}
