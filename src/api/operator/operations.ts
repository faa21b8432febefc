/** All that operators do over the API, and what resellers do about their clients. */
import type { Api } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { accountOperations } from "./accounts.ts";
import { apiKeyOperations } from "./api-keys.ts";
import { auditOperations } from "./audit.ts";
import { carrierOperations } from "./carriers.ts";
import { catalogueOperations } from "./catalogue.ts";
import { failureOperations } from "./failures.ts";
import { fundsOperations } from "./funds.ts";
import { messageOperations } from "./messages.ts";
import { optOutOperations } from "./opt-outs.ts";
import { passwordOperations } from "./passwords.ts";
import { planOperations } from "./plans.ts";
import { statementOperations } from "./statements.ts";
import { unmatchedOperations } from "./unmatched.ts";

export function operatorOperations(api: Api, parts: ApiParts): void {
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
