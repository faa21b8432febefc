/** What of an account can be set at its start and changed later, within which bounds. */
import { parseNetwork } from "../runtime/networks.ts";
import { urlProblem } from "../runtime/urls.ts";
import { isSender, plainSender, SENDER_FORM } from "../sms/addresses.ts";
import type { AccountChange, AccountLimits, ManagedAccount } from "../store/port/accounts.ts";
import { amountIn, checkText } from "./manager.ts";
import { invalid } from "./refusal.ts";

/** Senders or networks in a list. */
export const MAX_ENTRIES = 1_000;
/** Characters: more than any network is written in. */
export const MAX_NETWORK_LENGTH = 64;
export const MAX_ACCOUNT_LIMIT = 1_000_000_000;
export const MAX_RETRIES = 50;
/** A week. */
export const MAX_RETRY_MINUTES = 10_080;

/** The least that each limit can be. 0 is no limit; a request has one destination at least. */
export const MIN_LIMITS = {
  requestsPerSecond: 0,
  messagesPerSecond: 0,
  connections: 0,
  destinationsPerRequest: 1,
} as const satisfies Required<AccountLimits>;

/** Null takes away. */
export interface AccountSettings {
  readonly defaultSender?: string | null;
  readonly allowedSenders?: readonly string[] | null;
  readonly allowedAddresses?: readonly string[] | null;
  readonly limits?: AccountLimits | null;
  readonly alert?: { readonly below: number | string; readonly url: string } | null;
  readonly retryMinutes?: readonly number[] | null;
  readonly creditLimit?: number | string;
}

type Checked = Pick<AccountChange, Exclude<keyof AccountSettings, "creditLimit"> | "creditLimitMicros">;

/** What is set, as the store takes it; what is not named is not there. */
export function checkedSettings(settings: AccountSettings): Checked {
  const { defaultSender, allowedSenders, allowedAddresses, limits, alert, retryMinutes, creditLimit } = settings;
  return {
    ...(defaultSender === undefined
      ? {}
      : { defaultSender: defaultSender === null ? null : checkedSender(defaultSender, "defaultSender") }),
    ...(allowedSenders === undefined
      ? {}
      : { allowedSenders: checkedList(allowedSenders, "allowedSenders", MAX_ENTRIES, checkedSender) }),
    ...(allowedAddresses === undefined ? {} : { allowedAddresses: checkedNetworks(allowedAddresses, MAX_ENTRIES) }),
    ...(limits === undefined ? {} : { limits: checkedLimits(limits ?? {}) }),
    ...(alert === undefined ? {} : { alert: checkedAlert(alert) }),
    ...(retryMinutes === undefined ? {} : { retryMinutes: checkedMinutes(retryMinutes) }),
    ...(creditLimit === undefined ? {} : { creditLimitMicros: amountIn(creditLimit, "creditLimit") }),
  };
}

function checkedSender(written: string, field: string): string {
  const sender = plainSender(written);
  if (!isSender(sender)) throw invalid(field, `must be ${SENDER_FORM}`, sender);
  return sender;
}

/** Each is there once. An empty list would shut out everybody; to take a bound away is null. */
function checkedList(
  texts: readonly string[] | null,
  field: string,
  most: number,
  check: (text: string, field: string) => string,
): readonly string[] | null {
  if (texts === null) return null;
  if (texts.length === 0) throw invalid(field, "must not be empty");
  if (texts.length > most) throw invalid(field, `must have at most ${most} items`);
  return [...new Set(texts.map((text, index) => check(text, `${field}[${index}]`)))];
}

/** Networks from which an account or a key may be used: only such as `Networks` can find an address in. */
export function checkedNetworks(texts: readonly string[] | null, most: number): readonly string[] | null {
  return checkedList(texts, "allowedAddresses", most, (text, field) => {
    if (parseNetwork(text) === null)
      throw invalid(field, "must be an address, or a network such as 192.0.2.0/24", text);
    return text;
  });
}

function checkedLimits(limits: AccountLimits): AccountLimits {
  for (const [name, least] of Object.entries(MIN_LIMITS) as [keyof AccountLimits, number][]) {
    const value = limits[name];
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= MAX_ACCOUNT_LIMIT)) continue;
    throw invalid(`limits.${name}`, `must be a whole number from ${least} to ${MAX_ACCOUNT_LIMIT}`, String(value));
  }
  return limits;
}

function checkedAlert(alert: NonNullable<AccountSettings["alert"]> | null): ManagedAccount["alert"] {
  if (alert === null) return null;
  const { below, url } = alert;
  const urlSays = urlProblem(url);
  if (urlSays !== null) throw invalid("alert.url", urlSays);
  checkText("alert.url", url);
  return { belowMicros: amountIn(below, "alert.below"), url };
}

function checkedMinutes(minutes: readonly number[] | null): readonly number[] | null {
  if (minutes === null) return null;
  if (minutes.length > MAX_RETRIES) throw invalid("retryMinutes", `must have at most ${MAX_RETRIES} items`);
  minutes.forEach((wait, index) => {
    if (!Number.isInteger(wait) || wait < 1 || wait > MAX_RETRY_MINUTES)
      throw invalid(`retryMinutes[${index}]`, `must be a whole number from 1 to ${MAX_RETRY_MINUTES}`);
  });
  return minutes;
}
