/** What an account is told that asks for what is an operator's, or a reseller's: which account it is, and which operation it has in place of this one. */
import type { Account } from "../store/port/accounts.ts";
import { ApiError } from "./errors.ts";

type Hints = readonly (readonly [part: string, hint: string])[];

/** By what stands in the path of the operation; the first counts. */
const FOR_RESELLERS: Hints = [
  ["/funds", "a reseller gives and takes its clients' funds with POST /1/customerProfile/payments/funds"],
  ["/rate-plans", "a reseller sees the rate plans and their prices with GET /operator/1/plans"],
  ["/reports", "a reseller has GET /sms/1/reports/dead and POST /sms/1/reports/replay for its own reports"],
  ["/messages", "a reseller sees why its clients' messages fail with GET /operator/1/accounts/{key}/failures"],
  ["/opt-outs", "a reseller has GET /operator/1/accounts/{key}/opt-outs for a client's"],
  ["/ledger", "a reseller has GET /operator/1/statement for the money of all its clients"],
];
const OF_RESELLERS = "a reseller manages its clients at /operator/1/accounts, and sends like any account";

const FOR_CLIENTS: Hints = [
  ["/statement", "a client has GET /account/1/statement"],
  ["/opt-outs", "a client has GET /account/1/opt-outs"],
  ["/api-keys", "a client has GET and POST /account/1/api-keys"],
  ["/password", "a client has PUT /account/1/password"],
  ["/reports", "a client has GET /sms/1/reports/dead and POST /sms/1/reports/replay"],
  ["/failures", "a client has GET /sms/1/logs"],
  ["/messages", "a client has GET /sms/1/logs"],
  ["/funds", "a client's funds are its reseller's or the operator's to move; it has GET /account/1/balance"],
];
const OF_CLIENTS = "a client has the operations below /account/1 and /sms";

/** `route` is the path of the operation, where it is known. */
export function wrongAccount(whose: string, { key, kind }: Account, route = ""): ApiError {
  const isReseller = kind === "reseller";
  const hints = isReseller ? FOR_RESELLERS : FOR_CLIENTS;
  const hint = hints.find(([part]) => route.includes(part))?.[1] ?? (isReseller ? OF_RESELLERS : OF_CLIENTS);
  return new ApiError("forbidden", `This is for ${whose}, and ${key} is the account of a ${kind}: ${hint}.`);
}
