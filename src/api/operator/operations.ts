/** All that operators do over the API, and what resellers do about their clients. */
import type { Api } from "../operation.ts";
import { seenAtOnce } from "../seen-at-once.ts";
import { type AccountParts, accountOperations } from "./accounts.ts";
import { type ApiKeyParts, apiKeyOperations } from "./api-keys.ts";
import { type AuditParts, auditOperations } from "./audit.ts";
import { type CarrierParts, carrierOperations } from "./carriers.ts";
import { type CatalogueParts, catalogueOperations } from "./catalogue.ts";
import { type FailureParts, failureOperations } from "./failures.ts";
import { type FundsParts, fundsOperations } from "./funds.ts";
import { type MessageParts, messageOperations } from "./messages.ts";
import { type OptOutParts, optOutOperations } from "./opt-outs.ts";
import { NewPasswords, type PasswordParts, passwordOperations } from "./passwords.ts";
import { planOperations } from "./plans.ts";
import { type StatementParts, statementOperations } from "./statements.ts";
import { type UnmatchedParts, unmatchedOperations } from "./unmatched.ts";

export interface OperatorParts extends Omit<AccountParts, "store" | "passwords" | "settings"> {
  readonly settings: AccountParts["settings"] & MessageParts["settings"];
  readonly sandbox: MessageParts["sandbox"];
  readonly store: AccountParts["store"] &
    ApiKeyParts["store"] &
    AuditParts["store"] &
    CarrierParts["store"] &
    CatalogueParts["store"] &
    FailureParts["store"] &
    FundsParts["store"] &
    MessageParts["store"] &
    OptOutParts["store"] &
    PasswordParts["store"] &
    StatementParts["store"] &
    UnmatchedParts["store"];
}

export function operatorOperations(api: Api, given: OperatorParts): void {
  const parts = { ...given, store: seenAtOnce(given.store, given.catalogue), passwords: new NewPasswords() };
  accountOperations(api, parts);
  fundsOperations(api, parts);
  passwordOperations(api, parts);
  apiKeyOperations(api, parts);
  catalogueOperations(api, parts);
  carrierOperations(api, parts);
  planOperations(api, parts);
  messageOperations(api, parts);
  failureOperations(api, parts);
  optOutOperations(api, parts);
  statementOperations(api, parts);
  auditOperations(api, parts);
  unmatchedOperations(api, parts);
}
