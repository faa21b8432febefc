/**
 * Who sees more than its own account. Operators and resellers do, on the same pages on which everybody sees what is its own. An API key of theirs
 * does if it is good for managing: one that is good for tracking alone tracks its own account's messages.
 */
import type { Account } from "../store/port/accounts.ts";
import { ApiError } from "./errors.ts";

export function mayLookBeyond({ kind, scopes }: Pick<Account, "kind" | "scopes">): boolean {
  return kind !== "client" && (scopes === null || scopes.includes("manage"));
}

/** Whether the caller sees everybody's. */
export function seesAll(caller: Pick<Account, "kind" | "scopes">): boolean {
  return caller.kind === "operator" && mayLookBeyond(caller);
}

/** For a key of an operator or a reseller that names what is another's. */
export function notBeyond(): ApiError {
  return new ApiError(
    "forbidden",
    "The API key sees its own account only: for what is others' it needs the scope manage.",
  );
}
