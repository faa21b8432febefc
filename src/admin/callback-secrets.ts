/**
 * The secrets that sign an account's reports: a new one stands beside the one before until that is dropped. That is for the operator, and for
 * the account itself.
 */
import { webhookSecret } from "../runtime/random.ts";
import type { Store } from "../store/port/store.ts";
import { livingAccount, type Manager, signed } from "./manager.ts";
import { unknownAccount } from "./refusal.ts";

type SecretStore = Pick<Store, "account" | "rotateCallbackSecret" | "dropOldCallbackSecret">;

const ANY_ACCOUNT = { account: null };

export async function rotateCallbackSecret(store: SecretStore, manager: Manager, accountKey: string): Promise<string> {
  await livingAccount(store, ANY_ACCOUNT, accountKey);
  const secret = webhookSecret();
  const done = await store.rotateCallbackSecret({ accountKey, secret, ...signed(manager) });
  if (done === "unknown account") throw unknownAccount(accountKey);
  return secret;
}

export async function dropOldCallbackSecret(store: SecretStore, manager: Manager, accountKey: string): Promise<void> {
  await livingAccount(store, ANY_ACCOUNT, accountKey);
  const done = await store.dropOldCallbackSecret({ accountKey, ...signed(manager) });
  if (done === "unknown account") throw unknownAccount(accountKey);
}
