/**
 * Callers that may do less than their account, or for a shorter time: an API key, which has scopes, an end and networks, and a token with scopes. What they
 * may do ends with them. A password would not, so they give nobody one, neither themselves nor others, unless they were made for just that.
 */
import { areWithin, storedNetwork } from "../runtime/networks.ts";
import type { Account } from "../store/port/accounts.ts";
import type { Manager } from "./manager.ts";
import { forbidden } from "./refusal.ts";

/** What it is called where it is refused; null for a password, a session, and the command line. */
export function boundedCaller({ account }: Pick<Manager, "account">): "an API key" | "a token with scopes" | null {
  if (account === null) return null;
  if (account.apiKey !== null) return "an API key";
  return account.scopes === null ? null : "a token with scopes";
}

/** A key without scopes is good for all but this. */
function mayGive({ scopes }: Account): boolean {
  return scopes?.includes("credentials") === true;
}

/** Whether the caller may give somebody a way in that outlasts it. */
export function givesCredentials(manager: Pick<Manager, "account">): boolean {
  return boundedCaller(manager) === null || mayGive(manager.account!);
}

export function checkGivesCredentials(manager: Pick<Manager, "account">, field: string | null = null): void {
  if (givesCredentials(manager)) return;
  throw forbidden(`${boundedCaller(manager)} gives nobody a password without the scope credentials`, field);
}

/** From where an account may be used: whoever may not give credentials does not let those that there are in from elsewhere. */
export function checkNoWider(
  manager: Pick<Manager, "account">,
  before: readonly string[] | null,
  after: readonly string[] | null,
): void {
  if (before === null || givesCredentials(manager)) return;
  const read = (texts: readonly string[]) => texts.map(storedNetwork).filter((network) => network !== null);
  if (after !== null && areWithin(read(after), read(before))) return;
  throw forbidden(
    `${boundedCaller(manager)} lets an account be used from no other networks without the scope credentials`,
    "allowedAddresses",
  );
}
