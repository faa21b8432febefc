/** Every operation of the API for clients, resellers and operators, and what they are made with. */
import type { Intake } from "../intake/intake.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Settings } from "../runtime/settings.ts";
import { type BulkParts, bulkOperations } from "./bulks.ts";
import { type CredentialParts, credentialOperations } from "./credentials.ts";
import { type DeadLetterParts, deadLetterOperations } from "./dead-letters.ts";
import { documentApi } from "./documentation.ts";
import { type InboxParts, inboxOperations } from "./inbox.ts";
import { type LogParts, logOperations } from "./logs.ts";
import { type MoneyParts, moneyOperations } from "./money.ts";
import type { Api } from "./operation.ts";
import { type OperatorParts, operatorOperations } from "./operator/operations.ts";
import { previewOperations } from "./previews.ts";
import type { RateLimits } from "./rate-limits.ts";
import { type ReportParts, reportOperations } from "./reports.ts";
import { type SandboxParts, sandboxOperations } from "./sandbox.ts";
import { type SecondFactorParts, secondFactorOperations } from "./second-factor.ts";
import { sendingOperations } from "./sending.ts";
import { sessionOperations } from "./session.ts";
import { textQueryOperations } from "./text-query.ts";

export interface ClientParts
  extends Omit<SecondFactorParts, "store">,
    MoneyParts,
    InboxParts,
    LogParts,
    ReportParts,
    DeadLetterParts {
  readonly store: SecondFactorParts["store"] &
    MoneyParts["store"] &
    InboxParts["store"] &
    BulkParts["store"] &
    LogParts["store"] &
    ReportParts["store"] &
    DeadLetterParts["store"] &
    CredentialParts["store"] &
    OperatorParts["store"];
  readonly settings: Settings;
  readonly intake: Pick<Intake, "send">;
  readonly rateLimits: RateLimits;
  /** Null outside the sandbox. */
  readonly write: SandboxParts["write"] | null;
}

/** All that clients, resellers and operators ask for, and the page that says how. */
export async function clientOperations(api: Api, parts: ClientParts): Promise<void> {
  await documentApi(api, systemClock);
  const intake = parts.rateLimits.before(parts.intake);
  sendingOperations(api, intake);
  textQueryOperations(api, intake);
  previewOperations(api);
  inboxOperations(api, parts);
  bulkOperations(api, parts);
  reportOperations(api, parts);
  logOperations(api, parts);
  deadLetterOperations(api, parts);
  operatorOperations(api, parts);
  if (parts.write !== null) sandboxOperations(api, { write: parts.write });
  moneyOperations(api, parts);
  sessionOperations(api, parts);
  secondFactorOperations(api, parts);
  credentialOperations(api, parts);
  api.get("/", { schema: { hide: true } }, async (_, reply) => reply.redirect("/docs"));
}
