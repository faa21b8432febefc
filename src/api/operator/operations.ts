/** All that operators do over the API, and what resellers do about their clients. */
import type { Store } from "../../store/port.ts";
import type { Api } from "../operation.ts";
import { type AccountParts, accountOperations } from "./accounts.ts";
import { type ApiKeyParts, apiKeyOperations } from "./api-keys.ts";
import { type AuditParts, auditOperations } from "./audit.ts";
import { type CatalogueParts, catalogueOperations } from "./catalogue.ts";
import { type OptOutParts, optOutOperations } from "./opt-outs.ts";
import { NewPasswords, type PasswordParts, passwordOperations } from "./passwords.ts";
import { type StatementParts, statementOperations } from "./statements.ts";
import { type StrayParts, strayOperations } from "./strays.ts";

export interface OperatorParts extends Omit<AccountParts, "store" | "passwords"> {
  readonly store: AccountParts["store"] &
    ApiKeyParts["store"] &
    AuditParts["store"] &
    CatalogueParts["store"] &
    OptOutParts["store"] &
    PasswordParts["store"] &
    StatementParts["store"] &
    StrayParts["store"];
}

export function operatorOperations(api: Api, given: OperatorParts): void {
  const parts = { ...given, store: seenAtOnce(given), passwords: new NewPasswords() };
  accountOperations(api, parts);
  passwordOperations(api, parts);
  apiKeyOperations(api, parts);
  catalogueOperations(api, parts);
  optOutOperations(api, parts);
  statementOperations(api, parts);
  auditOperations(api, parts);
  strayOperations(api, parts);
}

/**
 * The store, whose changes this node follows before they are answered: whoever made one and goes on here finds it in force. Other nodes
 * follow with their next look.
 */
function seenAtOnce({ store, catalogue }: OperatorParts): OperatorParts["store"] {
  const after =
    <Input, Output>(command: (input: Input) => Promise<Output>) =>
    async (input: Input): Promise<Output> => {
      const output = await command(input);
      // The change is made, whether or not this look succeeds; the next one is on its way.
      await catalogue.look().catch(() => undefined);
      return output;
    };
  const changing = {
    createAccount: after(store.createAccount),
    changeAccount: after(store.changeAccount),
    setPassword: after(store.setPassword),
    endSessions: after(store.endSessions),
    createApiKey: after(store.createApiKey),
    revokeApiKey: after(store.revokeApiKey),
    putItem: after(store.putItem),
    deleteItem: after(store.deleteItem),
  } satisfies Partial<Store>;
  return { ...store, ...changing };
}
