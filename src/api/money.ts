/** Balance, and what a reseller does about it: add funds. */
import type { FastifyRequest } from "fastify";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { MAX_AMOUNT, microsToNumber, parseMicros } from "../money/amounts.ts";
import type { Clock } from "../runtime/clock.ts";
import { ACCOUNT_KEY_SAYS, isAccountKey } from "../store/names.ts";
import type { FundingOutcome, Store } from "../store/port.ts";
import { ApiError, badField } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { bodyFields, queryFields } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { bodyHash, idempotencyKey, keyReused } from "./sending.ts";

export interface MoneyParts {
  readonly store: Pick<Store, "balance" | "fund">;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
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
  if (typeof accountKey !== "string" || !isAccountKey(accountKey)) throw badField("accountKey", ACCOUNT_KEY_SAYS);
  if (ammount === undefined || ammount === "") throw badField("ammount", "is required");
  const amountMicros = typeof ammount === "number" || typeof ammount === "string" ? parseMicros(String(ammount)) : null;
  if (amountMicros === null) throw badField("ammount", "must be a decimal number with at most 6 places");
  if (amountMicros === 0n) throw badField("ammount", "must not be zero");
  if (amountMicros > MAX_AMOUNT || amountMicros < -MAX_AMOUNT) throw badField("ammount", "is too large");
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
  const { store, catalogue, clock } = parts;

  api.get(
    "/account/1/balance",
    operation({
      tag: "Account",
      summary: "Ask for the balance",
      auth: "account",
      scope: "balance",
      answer: schemas.BalanceResponse,
    }),
    async (request) => {
      const { balanceMicros, currency } = await store.balance({ accountId: accountOf(request).id });
      return { balance: microsToNumber(balanceMicros), currency };
    },
  );

  api.post(
    "/1/customerProfile/payments/funds",
    operation({
      tag: "Reseller",
      summary: "Add funds to a client account, or take them with a negative amount",
      auth: "reseller",
      scope: "manage",
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
