/** Accounts: made, seen, changed and retired, by an operator or by the reseller whose clients they are. */
import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { microsToNumber } from "../../money/amounts.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Networks, parseNetwork } from "../../runtime/networks.ts";
import { publicId, webhookSecret } from "../../runtime/random.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { isSender } from "../../sms/addresses.ts";
import { ACCOUNT_KEY_SAYS, isAccountKey, isUsername, MAX_RESELLER_KEY } from "../../store/names.ts";
import type { AccountChange, AccountKind, ManagedAccount, NewAccount, Store } from "../../store/port.ts";
import { ApiError, badField } from "../errors.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { fieldsOf, readLimit, readText, readWord } from "../query.ts";
import { TextOrNull } from "../schemas.ts";
import {
  actorOf,
  amountIn,
  Decimal,
  livingAccount,
  MANAGER,
  managedAccount,
  named,
  neededVersion,
  outdated,
  Page,
  pageOf,
  pageParameters,
  tenantOf,
  Version,
  VersionQuery,
  versioned,
} from "./managing.ts";
import { type NewPasswords, Password, readPassword } from "./passwords.ts";
import {
  checkLimits,
  checkMayResell,
  checkNames,
  isReseller,
  nameReserved,
  nameTaken,
  type ResellerSettings,
} from "./reselling.ts";

export interface AccountParts {
  readonly store: Pick<Store, "accounts" | "account" | "findLogin" | "createAccount" | "changeAccount">;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly passwords: NewPasswords;
  readonly settings: ResellerSettings;
}

const KINDS = ["client", "reseller", "operator"] as const satisfies readonly AccountKind[];
const KEY_BYTES = 8;
const MAX_URL = 2_048;
const MAX_ENTRIES = 1_000;
/** Two lists of that many entries, and the rest. */
const ACCOUNT_OCTETS = 262_144;
/** A number has at most 15 digits, and an address is written in fewer characters than this. */
const MAX_SENDER_LENGTH = 15;
const MAX_NETWORK_LENGTH = 64;
const strict = { additionalProperties: false };

const Kind = (description: string) => Type.Unsafe<AccountKind>({ type: "string", enum: KINDS, description });
const Rate = (description: string, minimum = 0) =>
  Type.Optional(Type.Integer({ minimum, maximum: 1_000_000_000, description }));
const Limits = Type.Object(
  {
    requestsPerSecond: Rate("Requests a second."),
    messagesPerSecond: Rate("Messages a second."),
    connections: Rate("Connections at a time."),
    destinationsPerRequest: Rate("Destinations in a request.", 1),
  },
  { ...strict, description: "What it may do at most, where it differs from the service's settings." },
);
const Texts = (maxLength: number, description: string) =>
  Type.Array(Type.String({ maxLength }), { maxItems: MAX_ENTRIES, description });
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
        url: Type.String({ maxLength: MAX_URL, description: "Whom to tell: absolute, http or https." }),
      },
      strict,
    ),
  ),
  retryMinutes: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 10_080 }), {
      maxItems: 50,
      description: "How many minutes each retry of a report waits, where it is not the service's schedule.",
    }),
  ),
  creditLimit: Type.Optional(Decimal("How far below zero the balance may go.")),
};

const NewAccountRequest = Type.Object(
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
    password: Type.Optional(Password("Made up, and shown this once, unless given.")),
  },
  strict,
);

const AccountChangeRequest = Type.Object(
  {
    version: Type.Optional(Version),
    ratePlan: Type.Optional(Name("Which prices it pays.")),
    ...settable,
    suspended: Type.Optional(Type.Boolean({ description: "A suspended account can do nothing, until it is let go." })),
  },
  {
    ...strict,
    description:
      "What is not named stays as it is. A null takes away defaultSender, allowedSenders, allowedAddresses, limits, alert or retryMinutes.",
  },
);
type AccountChangeRequest = Static<typeof AccountChangeRequest>;

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const shown = {
  key: Type.String(),
  version: Type.Integer({ description: "Grows with every change." }),
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
const AccountAnswer = Type.Object(shown);
const NewAccountAnswer = Type.Object({
  ...shown,
  password: Type.Optional(Type.String({ description: "Shown only now, and only if it was made up." })),
  callbackSecret: Type.String({ description: "With which its reports are signed. Shown only now." }),
});
const AccountQuery = Type.Object({
  kind: Type.Optional(Kind("Accounts of this kind.")),
  suspended: Type.Optional(Type.Boolean()),
  parent: Type.Optional(Type.String({ description: "Clients of this reseller." })),
  ...pageParameters,
});

function accountAnswer(account: ManagedAccount): Static<typeof AccountAnswer> {
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

/** What the schema cannot check. */
function checkSettable({ defaultSender, allowedSenders, allowedAddresses, alert }: AccountChangeRequest): void {
  const checkSender = (sender: string, field: string): void => {
    if (!isSender(sender)) throw badField(field, "must be 3 to 15 digits, or 1 to 11 characters with a letter");
  };
  if (defaultSender !== undefined) checkSender(defaultSender, "defaultSender");
  allowedSenders?.forEach((sender, index) => {
    checkSender(sender, `allowedSenders[${index}]`);
  });
  allowedAddresses?.forEach((address, index) => {
    if (parseNetwork(address) === null)
      throw badField(`allowedAddresses[${index}]`, "must be an address, or a network such as 192.0.2.0/24");
  });
  if (alert !== undefined && (!/^https?:\/\//i.test(alert.url) || !URL.canParse(alert.url)))
    throw badField("alert.url", "must be an absolute http or https URL");
}

type Settable = Pick<AccountChange, Exclude<keyof typeof settable, "creditLimit"> | "creditLimitMicros">;

function settableOf(body: AccountChangeRequest): Settable {
  const { defaultSender, allowedSenders, allowedAddresses, limits, alert, retryMinutes, creditLimit } = body;
  return {
    ...(defaultSender === undefined ? {} : { defaultSender }),
    ...(allowedSenders === undefined ? {} : { allowedSenders }),
    ...(allowedAddresses === undefined ? {} : { allowedAddresses }),
    ...(limits === undefined ? {} : { limits }),
    ...(alert === undefined ? {} : { alert: { belowMicros: amountIn(alert.below, "alert.below"), url: alert.url } }),
    ...(retryMinutes === undefined ? {} : { retryMinutes }),
    ...(creditLimit === undefined ? {} : { creditLimitMicros: amountIn(creditLimit, "creditLimit") }),
  };
}

const TAKEN_AWAY = {
  defaultSender: null,
  allowedSenders: null,
  allowedAddresses: null,
  limits: {},
  alert: null,
  retryMinutes: null,
};

/** A null is absent everywhere in this API; in a change it takes away. So these are read from what the caller wrote. */
function takenAway({ rawBody }: FastifyRequest): Partial<AccountChange> {
  const written = JSON.parse(rawBody?.toString("utf8") ?? "{}") as Record<string, unknown>;
  return Object.fromEntries(Object.entries(TAKEN_AWAY).filter(([name]) => written[name] === null));
}

export function accountOperations(api: Api, parts: AccountParts): void {
  const { store, catalogue, clock, passwords, settings } = parts;

  /** The plan's currency. A plan in another one than the account's has no price for it. */
  async function checkPlan(ratePlan: string, currency: string | null): Promise<string> {
    await catalogue.look();
    const known = catalogue.current.currencyOf(ratePlan);
    if (known === null) throw badField("ratePlan", `names no rate plan: there is no "${ratePlan}"`);
    if (currency !== null && known !== currency)
      throw badField("ratePlan", `has prices in ${known}, and the account is in ${currency}`);
    return known;
  }

  /** Whoever has an operator's password may do more than any API key, and for longer. */
  function checkNoOperatorByKey(request: FastifyRequest, kind: AccountKind): void {
    if (kind === "operator" && accountOf(request).apiKey !== null)
      throw new ApiError("forbidden", { description: "An API key makes no operators." });
  }

  /** Under whom a new account stands. A reseller makes clients, of its own. */
  async function checkParent(
    request: FastifyRequest,
    kind: AccountKind,
    parent: string | null,
  ): Promise<string | null> {
    const caller = accountOf(request);
    if (caller.kind === "reseller") {
      if (kind !== "client") throw new ApiError("forbidden", { description: "A reseller makes clients only." });
      if (parent !== null && parent !== caller.key) throw badField("parent", "must be your own key, or left out");
      return caller.key;
    }
    if (parent === null) return null;
    if (kind !== "client") throw badField("parent", "is for clients: only they belong to a reseller");
    const reseller = await store.account({ resellerId: null, key: parent });
    if (reseller?.kind !== "reseller" || reseller.retiredAtMs !== null) throw badField("parent", "names no reseller");
    return parent;
  }

  api.post(
    "/operator/1/accounts",
    operation({
      ...MANAGER,
      bodyOctets: ACCOUNT_OCTETS,
      summary: "Make an account",
      schema: { body: NewAccountRequest },
      answer: NewAccountAnswer,
    }),
    async (request, reply) => {
      const { body } = request;
      const {
        key = publicId(KEY_BYTES).toUpperCase(),
        kind = "client",
        parent = null,
        currency,
        ratePlan,
        username,
      } = body;
      if (!isAccountKey(key)) throw badField("key", ACCOUNT_KEY_SAYS);
      if (kind === "reseller" && key.length > MAX_RESELLER_KEY)
        throw badField("key", `must be at most ${MAX_RESELLER_KEY} characters long for a reseller`);
      if (!isUsername(username)) throw badField("username", "must be 1 to 64 characters without spaces and colons");
      checkNames(request, body.key, username);
      if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
        throw badField("currency", "must be an ISO 4217 code such as EUR");
      checkSettable(body);
      checkLimits(request, settings, body.limits);
      checkNoOperatorByKey(request, kind);
      if (body.password !== undefined) checkMayResell(request, settings, "clientPasswords");
      const { creditLimitMicros = 0n, defaultSender = null, retryMinutes, ...rest } = settableOf(body);
      const openingBalanceMicros = amountIn(body.openingBalance ?? 0, "openingBalance");
      const parentKey = await checkParent(request, kind, parent);
      const planCurrency = await checkPlan(ratePlan, currency ?? null);
      const password = readPassword(body.password);
      const callbackSecret = webhookSecret();
      const creation = await store.createAccount({
        ...rest,
        ...(retryMinutes === undefined || retryMinutes === null ? {} : { retryMinutes }),
        key,
        kind,
        parentKey,
        currency: planCurrency,
        ratePlanId: ratePlan,
        defaultSender,
        creditLimitMicros,
        openingBalanceMicros,
        callbackSecret,
        username,
        passwordHash: await passwords.hash(password.text),
        byReseller: isReseller(request),
        by: actorOf(request),
        atMs: clock.now(),
      } satisfies NewAccount);
      if (creation.kind === "key taken") throw await nameTaken(request, store, "key", key);
      if (creation.kind === "username taken") throw await nameTaken(request, store, "username", username);
      if (creation.kind === "name reserved") throw nameReserved(request, creation.field, creation.resellerKey);
      if (creation.kind === "namespace taken")
        throw new ApiError("conflict", {
          variables: ["key"],
          description: `The account ${creation.accountKey} has a name that only clients of such a reseller can have.`,
        });
      if (creation.kind === "unknown parent") throw badField("parent", "names no reseller");
      const account = (await store.account({ ...tenantOf(request), key }))!;
      return versioned(reply, {
        ...accountAnswer(account),
        ...(password.madeUp ? { password: password.text } : {}),
        callbackSecret,
      });
    },
  );

  api.get(
    "/operator/1/accounts",
    operation({ ...MANAGER, summary: "List accounts by key", query: AccountQuery, answer: Page(AccountAnswer) }),
    async (request) => {
      const fields = fieldsOf(request.query);
      const limit = readLimit(request.query);
      const kind = readWord(fields, "kind", KINDS);
      const suspended = readWord(fields, "suspended", ["true", "false"]);
      const parent = readText(fields, "parent");
      const afterKey = readText(fields, "after");
      let tenant = tenantOf(request);
      if (parent !== null && (tenant.resellerId === null || parent !== accountOf(request).key)) {
        const reseller = await store.account({ ...tenant, key: parent });
        if (reseller === null || tenant.resellerId !== null) return { results: [], next: null };
        tenant = { resellerId: reseller.id };
      }
      const flag = suspended === null ? null : suspended === "true";
      const rows = await store.accounts({ ...tenant, kind, suspended: flag, afterKey, limit: limit + 1 });
      return pageOf(rows, limit, ({ key }) => key, accountAnswer);
    },
  );

  api.get(
    "/operator/1/accounts/:key",
    operation({ ...MANAGER, summary: "See an account", answer: AccountAnswer }),
    async (request, reply) => versioned(reply, accountAnswer(await managedAccount(store, request))),
  );

  async function change(
    request: FastifyRequest,
    version: number | null,
    wanted: AccountChange,
  ): Promise<ManagedAccount> {
    const outcome = await store.changeAccount({
      ...tenantOf(request),
      key: named(request, "key"),
      version,
      change: wanted,
      by: actorOf(request),
      atMs: clock.now(),
    });
    if (outcome.kind === "unknown") throw new ApiError("accountNotFound");
    if (outcome.kind === "outdated") throw outdated(accountAnswer(outcome.account));
    if (outcome.kind === "owes more")
      throw new ApiError("conflict", {
        variables: ["creditLimit"],
        description: "The account owes more than this credit limit allows.",
      });
    return outcome.account;
  }

  /** Whoever shuts itself out cannot undo it. */
  const isSelf = (request: FastifyRequest): boolean => named(request, "key") === accountOf(request).key;
  function checkNotSelf(request: FastifyRequest): void {
    if (isSelf(request)) throw new ApiError("conflict", { description: "You cannot suspend or retire yourself." });
  }
  /** What an API key may do ends with it, and with its scopes. What it did to its own account would not. */
  function checkNotOwnKey(request: FastifyRequest): void {
    if (isSelf(request) && accountOf(request).apiKey !== null)
      throw new ApiError("forbidden", { description: "An API key does not change the account that it is of." });
  }
  function checkStillHere(request: FastifyRequest, addresses: readonly string[]): void {
    const networks = new Networks(addresses.map((address) => parseNetwork(address)!));
    if (isSelf(request) && !networks.has(request.ip))
      throw new ApiError("conflict", {
        variables: ["allowedAddresses"],
        description: `You would shut yourself out: ${request.ip} is not among them.`,
      });
  }

  api.patch(
    "/operator/1/accounts/:key",
    operation({
      ...MANAGER,
      bodyOctets: ACCOUNT_OCTETS,
      summary: "Change an account",
      schema: { body: AccountChangeRequest },
      answer: AccountAnswer,
    }),
    async (request, reply) => {
      const { body } = request;
      const version = neededVersion(request, body.version);
      checkSettable(body);
      const { ratePlan, suspended } = body;
      const wanted = { ...settableOf(body), ...takenAway(request) };
      checkNotOwnKey(request);
      const { currency, limits } = await livingAccount(store, request);
      checkLimits(request, settings, body.limits, limits);
      if (ratePlan !== undefined) await checkPlan(ratePlan, currency);
      if (suspended === true) checkNotSelf(request);
      if (body.allowedAddresses !== undefined) checkStillHere(request, body.allowedAddresses);
      const account = await change(request, version, {
        ...wanted,
        ...(ratePlan === undefined ? {} : { ratePlanId: ratePlan }),
        ...(suspended === undefined ? {} : { suspended }),
      });
      return versioned(reply, accountAnswer(account));
    },
  );

  api.delete(
    "/operator/1/accounts/:key",
    operation({ ...MANAGER, summary: "Retire an account for good; what it did stays on record", query: VersionQuery }),
    async (request, reply) => {
      const version = neededVersion(request, fieldsOf(request.query).version);
      checkNotOwnKey(request);
      await livingAccount(store, request);
      checkNotSelf(request);
      await change(request, version, { retired: true });
      return reply.code(204).send();
    },
  );
}
