/** Balance, and what a reseller does: log in, add funds, log out. */
import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { LARGEST_AMOUNT, microsToNumber, parseMicros } from "../ledger/money.ts";
import type { Clock } from "../runtime/clock.ts";
import type { FundingOutcome, Store } from "../store/port.ts";
import { type AuthParts, checkPassword, type NamedPassword, readBasic, readToken } from "./auth.ts";
import { refuseBadText } from "./body.ts";
import { ApiError, badField } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import * as schemas from "./schemas.ts";
import { bodyHash, idempotencyKey, keyReused } from "./sending.ts";

export interface MoneyParts extends AuthParts {
  readonly store: Pick<Store, "balance" | "fund">;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
}

type Fields = Record<string, unknown>;

/** The parameters in the body, JSON or form; none without a body. */
function bodyFields(request: FastifyRequest): Fields {
  const body = request.body ?? {};
  if (typeof body !== "object" || Array.isArray(body)) throw badField("body", "must be an object");
  return body as Fields;
}

function queryFields(request: FastifyRequest): Fields {
  refuseBadText(request.query);
  return request.query as Fields;
}

/** Node reads the octets of a header as Latin-1; most clients write UTF-8. */
function headerText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const octets = Buffer.from(value, "latin1");
  return isUtf8(octets) ? octets.toString("utf8") : value;
}

/** Username and password stand in the body, in headers of their names, in the query, or in a Basic header: the first that has both. */
function readLogin(request: FastifyRequest): NamedPassword | null {
  const headers = { username: headerText(request.headers.username), password: headerText(request.headers.password) };
  for (const { username, password } of [bodyFields(request), headers, queryFields(request)]) {
    if (typeof username === "string" && typeof password === "string") return { username, password };
  }
  return readBasic(request.headers.authorization);
}

const DESCRIPTION_LENGTH = 255;

interface FundsFields {
  readonly accountKey: string;
  readonly amountMicros: bigint;
  readonly currency: string | null;
  readonly description: string;
}

/** Parameters come in a JSON body, a form body or the query; a body's win. */
function readFunds(request: FastifyRequest): FundsFields {
  const { accountKey, ammount, currencycode, description } = { ...queryFields(request), ...bodyFields(request) };
  if (accountKey === undefined) throw badField("accountKey", "is required");
  if (typeof accountKey !== "string" || !/^[A-Za-z0-9]{1,64}$/.test(accountKey)) {
    throw badField("accountKey", "must be letters and digits");
  }
  if (ammount === undefined || ammount === "") throw badField("ammount", "is required");
  const amountMicros = typeof ammount === "number" || typeof ammount === "string" ? parseMicros(String(ammount)) : null;
  if (amountMicros === null) throw badField("ammount", "must be a decimal number with at most 6 places");
  if (amountMicros === 0n) throw badField("ammount", "must not be zero");
  if (amountMicros > LARGEST_AMOUNT || amountMicros < -LARGEST_AMOUNT) throw badField("ammount", "is too large");
  if (currencycode !== undefined && (typeof currencycode !== "string" || !/^[A-Za-z]{3}$/.test(currencycode))) {
    throw badField("currencycode", "must be an ISO 4217 code of three letters");
  }
  if (description === undefined) throw badField("description", "is required");
  if (typeof description !== "string" || description.length === 0 || [...description].length > DESCRIPTION_LENGTH) {
    throw badField("description", `must be 1 to ${DESCRIPTION_LENGTH} characters long`);
  }
  return { accountKey, amountMicros, currency: currencycode?.toUpperCase() ?? null, description };
}

function queryOf(request: FastifyRequest): string {
  const start = request.url.indexOf("?");
  return start < 0 ? "" : request.url.slice(start);
}

/** The transaction's number, or the error that the other outcomes are. */
function transactionOf(outcome: FundingOutcome, currency: string | null): number {
  switch (outcome.kind) {
    case "posted":
      return outcome.transactionId;
    case "unknown account":
      throw new ApiError("accountNotFound");
    case "below zero":
      throw badField("ammount", "would take the balance below zero");
    case "too large":
      throw badField("ammount", "would make the balance too large");
    case "nothing left":
      throw badField("ammount", "is nothing in the account's currency");
    case "no rate":
      throw badField("currencycode", `has no exchange rate: from ${currency} to ${outcome.currency}`);
    case "conflict":
      throw keyReused();
  }
}

export function moneyOperations(api: Api, parts: MoneyParts): void {
  const { store, catalogue, clock, credentials, sessions } = parts;

  api.get(
    "/account/1/balance",
    operation({ tag: "Account", summary: "Ask for the balance", auth: "account", answer: schemas.BalanceResponse }),
    async (request) => {
      const { balanceMicros, currency } = await store.balance({ accountId: accountOf(request).id });
      return { balance: microsToNumber(balanceMicros), currency };
    },
  );

  api.post(
    "/1/customerProfile/login",
    operation({
      tag: "Reseller",
      summary: "Log in for a session token",
      auth: "none",
      form: true,
      takes: schemas.LoginRequest,
      answer: schemas.LoginResponse,
    }),
    async (request) => {
      const pair = readLogin(request);
      const account = pair === null ? null : await checkPassword(credentials, pair);
      if (account === null)
        throw new ApiError("loginError", { headers: { "www-authenticate": 'Basic realm="heliograph"' } });
      if (account.suspended) throw new ApiError("forbidden", { description: "The account is suspended." });
      return { login: { verified: true, ibAuthCookie: await sessions.open(account) } };
    },
  );

  api.post(
    "/1/customerProfile/logout",
    operation({ tag: "Reseller", summary: "End the session", auth: "session", form: true }),
    async (request, reply) => {
      await sessions.end(readToken(request.headers.authorization)!);
      return reply.code(204).send();
    },
  );

  api.post(
    "/1/customerProfile/payments/funds",
    operation({
      tag: "Reseller",
      summary: "Add funds to a client account, or take them with a negative amount",
      auth: "reseller",
      form: true,
      takes: schemas.FundsRequest,
      answer: schemas.FundsResponse,
    }),
    async (request) => {
      const { accountKey, amountMicros, currency, description } = readFunds(request);
      const key = idempotencyKey(request);
      const outcome = await store.fund({
        resellerId: accountOf(request).id,
        accountKey,
        amountMicros,
        currency,
        ratesMicros: currency === null ? {} : catalogue.current.exchangeRates(currency),
        description,
        replay: key === null ? null : { key, bulk: false, bodyHash: bodyHash(request, queryOf(request)) },
        atMs: clock.now(),
      });
      return { transactionId: transactionOf(outcome, currency) };
    },
  );
}
