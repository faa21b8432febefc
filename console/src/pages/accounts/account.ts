/** An account as whoever manages it sees it, and as a form has it: texts, an empty one for what is not set. */

export interface AccountLimits {
  readonly requestsPerSecond?: number;
  readonly messagesPerSecond?: number;
  readonly connections?: number;
  readonly destinationsPerRequest?: number;
}

export interface Account {
  readonly key: string;
  readonly version: number;
  readonly kind: "client" | "reseller" | "operator";
  readonly parent: string | null;
  readonly usernames: readonly string[];
  readonly currency: string;
  readonly balance: number;
  readonly creditLimit: number;
  readonly ratePlan: string;
  readonly defaultSender: string | null;
  readonly allowedSenders: readonly string[] | null;
  readonly allowedAddresses: readonly string[] | null;
  readonly limits: AccountLimits;
  readonly alert: { readonly below: number; readonly url: string } | null;
  readonly retryMinutes: readonly number[] | null;
  readonly suspended: boolean;
  readonly createdAt: string;
  readonly retiredAt: string | null;
}

/** A row of the list (the view "accounts"). */
export interface AccountRow {
  readonly key: string;
  readonly kind: Account["kind"];
  readonly parent: string | null;
  readonly usernames: readonly string[];
  readonly currency: string;
  readonly balance: string;
  readonly creditLimit: string;
  readonly ratePlan: string;
  readonly suspended: boolean;
  readonly retired: boolean;
  readonly createdAt: string;
}

export const LIMIT_NAMES = [
  "requestsPerSecond",
  "messagesPerSecond",
  "connections",
  "destinationsPerRequest",
] as const satisfies readonly (keyof AccountLimits)[];

/** What can be set at the start and changed later. */
export interface SettingTexts {
  readonly ratePlan: string;
  readonly creditLimit: string;
  readonly defaultSender: string;
  readonly allowedSenders: string;
  readonly allowedAddresses: string;
  readonly requestsPerSecond: string;
  readonly messagesPerSecond: string;
  readonly connections: string;
  readonly destinationsPerRequest: string;
  readonly alertBelow: string;
  readonly alertUrl: string;
  readonly retryMinutes: string;
}

export const NO_SETTINGS: SettingTexts = {
  ratePlan: "",
  creditLimit: "",
  defaultSender: "",
  allowedSenders: "",
  allowedAddresses: "",
  requestsPerSecond: "",
  messagesPerSecond: "",
  connections: "",
  destinationsPerRequest: "",
  alertBelow: "",
  alertUrl: "",
  retryMinutes: "",
};

const text = (value: string | number | null | undefined): string =>
  value === null || value === undefined ? "" : String(value);

export function textsOf(account: Account): SettingTexts {
  const { limits } = account;
  return {
    ratePlan: account.ratePlan,
    creditLimit: text(account.creditLimit),
    defaultSender: text(account.defaultSender),
    allowedSenders: account.allowedSenders?.join("\n") ?? "",
    allowedAddresses: account.allowedAddresses?.join("\n") ?? "",
    requestsPerSecond: text(limits.requestsPerSecond),
    messagesPerSecond: text(limits.messagesPerSecond),
    connections: text(limits.connections),
    destinationsPerRequest: text(limits.destinationsPerRequest),
    alertBelow: text(account.alert?.below),
    alertUrl: text(account.alert?.url),
    retryMinutes: account.retryMinutes?.join(", ") ?? "",
  };
}

const listOf = (texts: string): string[] | null => {
  const items = texts
    .split(/[\n,]/)
    .map((item) => item.trim())
    .filter(Boolean);
  return items.length === 0 ? null : items;
};

/** A number as the service takes it; what is none goes as it is, and the service says what is wrong with it. */
const numberOf = (value: string): number | string => (value.trim() === "" ? Number.NaN : Number(value) || value.trim());

/** As a request has them; null for what is not set. */
export function settingsOf(texts: SettingTexts) {
  const limits = Object.fromEntries(
    LIMIT_NAMES.filter((name) => texts[name].trim() !== "").map((name) => [
      name,
      texts[name].trim() === "0" ? 0 : numberOf(texts[name]),
    ]),
  );
  return {
    ratePlan: texts.ratePlan,
    creditLimit: texts.creditLimit.trim() === "" ? "0" : texts.creditLimit.trim(),
    defaultSender: texts.defaultSender.trim() || null,
    allowedSenders: listOf(texts.allowedSenders),
    allowedAddresses: listOf(texts.allowedAddresses),
    limits: Object.keys(limits).length === 0 ? null : limits,
    alert:
      texts.alertUrl.trim() === "" && texts.alertBelow.trim() === ""
        ? null
        : { below: texts.alertBelow.trim() || "0", url: texts.alertUrl.trim() },
    retryMinutes: listOf(texts.retryMinutes)?.map(numberOf) ?? null,
  };
}

/** What the form says otherwise than the account. */
export function changesOf(before: SettingTexts, after: SettingTexts): Record<string, unknown> {
  const old = settingsOf(before);
  return Object.fromEntries(
    Object.entries(settingsOf(after)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]),
    ),
  );
}
