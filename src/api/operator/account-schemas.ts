/** An account as it is asked for and shown over the API. What it may be is decided in admin/; the schema tells the bounds of that. */
import { MAX_REASON } from "../../admin/account-funds.ts";
import {
  MAX_ACCOUNT_LIMIT,
  MAX_ENTRIES,
  MAX_NETWORK_LENGTH,
  MAX_RETRIES,
  MAX_RETRY_MINUTES,
  MIN_LIMITS,
} from "../../admin/account-settings.ts";
import type { AccountFilter } from "../../admin/accounts.ts";
import { microsToNumber } from "../../money/amounts.ts";
import { type Static, Type } from "../../runtime/type.ts";
import { MAX_URL_LENGTH } from "../../runtime/urls.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { AccountKind, ManagedAccount } from "../../store/port/accounts.ts";
import { type Fields, readFlag, readText, readWord } from "../query.ts";
import { OneOf, OptionalFlag, OptionalText, orNull, Text, TextOrNull, Whole } from "../shapes.ts";
import { Decimal, pageParameters, Version, VersionQuery } from "./managing.ts";
import { PasswordText } from "./passwords.ts";

const KINDS = ["client", "reseller", "operator"] as const satisfies readonly AccountKind[];
/** Two lists of that many entries, and the rest. */
export const ACCOUNT_OCTETS = 262_144;
/** A number has at most 15 digits. */
const MAX_SENDER_LENGTH = 15;
const strict = { additionalProperties: false };

const Kind = (description: string) => OneOf(KINDS, description);
const Rate = (name: keyof typeof MIN_LIMITS, description: string) =>
  Type.Optional(Type.Integer({ minimum: MIN_LIMITS[name], maximum: MAX_ACCOUNT_LIMIT, description }));
const Limits = Type.Object(
  {
    requestsPerSecond: Rate("requestsPerSecond", "Requests a second."),
    messagesPerSecond: Rate("messagesPerSecond", "Messages a second."),
    connections: Rate("connections", "Connections at a time."),
    destinationsPerRequest: Rate("destinationsPerRequest", "Destinations in a request."),
  },
  {
    ...strict,
    title: "AccountLimits",
    description: "What it may do at most, where it differs from the service's settings.",
  },
);
const Texts = (maxLength: number, description: string) =>
  Type.Array(Type.String({ maxLength }), { minItems: 1, maxItems: MAX_ENTRIES, description });
/** The longest name that anything has here: an account, a user, a rate plan. What is a name is looked at later. */
const Name = (description: string) => Type.String({ maxLength: 64, description });

/** What can be set at the start and changed later. */
const settable = {
  defaultSender: Type.Optional(
    Type.String({ maxLength: MAX_SENDER_LENGTH, description: "The sender of messages that name none." }),
  ),
  allowedSenders: Type.Optional(Texts(MAX_SENDER_LENGTH, "The only senders that it may use.")),
  allowedAddresses: Type.Optional(
    Texts(MAX_NETWORK_LENGTH, "The only networks from which it may be used, such as 192.0.2.0/24."),
  ),
  limits: Type.Optional(Limits),
  alert: Type.Optional(
    Type.Object(
      {
        below: Decimal("Tell when the balance goes below this."),
        url: Type.String({ maxLength: MAX_URL_LENGTH, description: "Whom to tell: absolute, http or https." }),
      },
      strict,
    ),
  ),
  retryMinutes: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: MAX_RETRY_MINUTES }), {
      maxItems: MAX_RETRIES,
      description: "How many minutes each retry of a report waits, where it is not the service's schedule.",
    }),
  ),
  creditLimit: Type.Optional(Decimal("How far below zero the balance may go.")),
};

export const NewAccountRequest = Type.Object(
  {
    key: Type.Optional(
      Name(
        "Its public name: letters and digits, and dashes between them. Made up unless given. A reseller's clients begin with its own key and a dash.",
      ),
    ),
    kind: Type.Optional(Kind("client unless given. A reseller makes clients.")),
    parent: Type.Optional(Name("The key of the reseller whose client it is.")),
    currency: Type.Optional(
      Type.String({ maxLength: 3, description: "ISO 4217; that of the rate plan unless given." }),
    ),
    ratePlan: Name("Which prices it pays."),
    openingBalance: Type.Optional(Decimal("Money that it starts with.")),
    ...settable,
    username: Name(
      "For Basic authentication and login. What a reseller chooses begins with its own key and one of - . _",
    ),
    password: Type.Optional(
      PasswordText("Made up, and shown this once, unless given. An API key gives one only with the scope credentials."),
    ),
  },
  strict,
);

export const AccountChangeRequest = Type.Object(
  {
    version: Type.Optional(Version),
    ratePlan: Type.Optional(Name("Which prices it pays.")),
    ...settable,
    suspended: OptionalFlag("A suspended account can do nothing, until it is let go."),
  },
  {
    ...strict,
    description:
      "What is not named stays as it is. A null takes away defaultSender, allowedSenders, allowedAddresses, limits, alert or retryMinutes.",
  },
);

const shown = {
  key: Type.String(),
  version: Whole("Grows with every change."),
  kind: Kind("What it may do."),
  parent: TextOrNull("The reseller whose client it is."),
  usernames: Type.Array(Type.String()),
  currency: Type.String(),
  balance: Type.Number(),
  creditLimit: Type.Number(),
  ratePlan: Type.String(),
  defaultSender: TextOrNull("The sender of messages that name none."),
  allowedSenders: orNull(Type.Array(Type.String())),
  allowedAddresses: orNull(Type.Array(Type.String())),
  limits: Limits,
  alert: orNull(Type.Object({ below: Type.Number(), url: Type.String() })),
  retryMinutes: orNull(Type.Array(Type.Integer())),
  suspended: Type.Boolean(),
  createdAt: Type.String(),
  retiredAt: TextOrNull("Since when it cannot be used any more, for good."),
};
export const AccountAnswer = Type.Object(shown, { title: "Account" });
export const NewAccountAnswer = Type.Object({
  ...shown,
  password: OptionalText("Shown only now, and only if it was made up; to an API key only with the scope credentials."),
  callbackSecret: Text("With which its reports are signed. Shown only now."),
});
export const AccountQuery = Type.Object({
  kind: Type.Optional(Kind("Accounts of this kind.")),
  suspended: Type.Optional(Type.Boolean()),
  parent: OptionalText("Clients of this reseller."),
  ...pageParameters,
});

/** Which accounts are asked for. */
export function readAccountFilter(fields: Fields): Pick<AccountFilter, "kind" | "suspended" | "parent"> {
  return {
    kind: readWord(fields, "kind", KINDS),
    suspended: readFlag(fields, "suspended"),
    parent: readText(fields, "parent"),
  };
}

export const RetireQuery = Type.Object({
  ...VersionQuery.properties,
  balanceTo: Type.Optional(
    Name("Its balance goes to the account of this key, in the same currency; a reseller's to another of its clients."),
  ),
  paidOut: OptionalFlag("Its balance was given back outside of the service."),
  writeOff: Type.Optional(
    Type.String({
      maxLength: MAX_REASON,
      description:
        "Its balance, or what it owes, is given up: why. An account that has money is retired with one of the three.",
    }),
  ),
});

export function accountAnswer(account: ManagedAccount): Static<typeof AccountAnswer> {
  const { key, version, kind, currency, defaultSender, limits, suspended, alert, retiredAtMs } = account;
  const copied = <Item>(list: readonly Item[] | null): Item[] | null => (list === null ? null : [...list]);
  return {
    key,
    version,
    kind,
    parent: account.parentKey,
    usernames: [...account.usernames],
    currency,
    balance: microsToNumber(account.balanceMicros),
    creditLimit: microsToNumber(account.creditLimitMicros),
    ratePlan: account.ratePlanId,
    defaultSender,
    allowedSenders: copied(account.allowedSenders),
    allowedAddresses: copied(account.allowedAddresses),
    limits,
    alert: alert === null ? null : { below: microsToNumber(alert.belowMicros), url: alert.url },
    retryMinutes: copied(account.retryMinutes),
    suspended,
    createdAt: formatDateTime(account.createdAtMs),
    retiredAt: retiredAtMs === null ? null : formatDateTime(retiredAtMs),
  };
}
