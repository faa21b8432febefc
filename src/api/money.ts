/** Balance, and what a reseller does about it: add funds. */
import type { FastifyRequest } from "fastify";
import { addFunds, checkFunds } from "../admin/funds.ts";
import { microsToNumber } from "../money/amounts.ts";
import { bodyHash, idempotencyKey, keyReused } from "./idempotency.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { actorOf } from "./operator/managing.ts";
import { bodyFields, queryFields } from "./parameters.ts";
import type { ApiParts } from "./parts.ts";
import * as schemas from "./schemas.ts";

const BALANCE = { tag: "Account", auth: "account", scope: "balance" } as const;

function queryOf(request: FastifyRequest): string {
  const start = request.url.indexOf("?");
  return start < 0 ? "" : request.url.slice(start);
}

export function moneyOperations(api: Api, parts: ApiParts): void {
  const { store, catalogue, clock } = parts;

  api.get(
    "/account/1/balance",
    operation({
      ...BALANCE,
      id: "getBalance",
      summary: "Ask for the balance",
      answer: schemas.BalanceResponse,
    }),
    async (request) => {
      const { balanceMicros, currency } = await store.balance({ accountId: accountOf(request).id });
      return { balance: microsToNumber(balanceMicros), currency };
    },
  );

  api.get(
    "/account/1/total-balance",
    operation({
      ...BALANCE,
      id: "getTotalBalance",
      summary: "Ask for the balance, and for what is free",
      answer: schemas.TotalBalanceResponse,
    }),
    async (request) => {
      const { balanceMicros, currency } = await store.balance({ accountId: accountOf(request).id });
      return { balance: microsToNumber(balanceMicros), currency: { code: currency }, freeMessages: {} };
    },
  );

  api.get(
    "/account/1/free-messages",
    operation({
      ...BALANCE,
      id: "getFreeMessages",
      summary: "Ask how many messages are free: none, for each has its price",
      answer: schemas.FreeMessagesResponse,
    }),
    async () => ({ remainingCount: 0 }),
  );

  api.post(
    "/1/customerProfile/payments/funds",
    operation({
      tag: "Reseller",
      id: "addFunds",
      summary: "Add funds to a client account, or take them with a negative amount",
      auth: "reseller",
      scope: "manage",
      // A name that stands twice is a list, which is refused: of two amounts nobody can know which was meant.
      form: "lists",
      takes: schemas.FundsRequest,
      answer: schemas.FundsResponse,
    }),
    async (request) => {
      // Parameters come in a JSON body, a form body or the query; a body's win.
      const funds = checkFunds({ ...queryFields(request), ...bodyFields(request) });
      const key = idempotencyKey(request);
      const posted = await addFunds(store, {
        ...funds,
        resellerId: accountOf(request).id,
        ratesMicros: funds.currency === null ? {} : catalogue.current.exchangeRates(funds.currency),
        by: actorOf(request),
        replay: key === null ? null : { key, bulk: false, bodyHash: bodyHash(request, queryOf(request)) },
        atMs: clock.now(),
      });
      if (posted === "key reused") throw keyReused();
      return posted;
    },
  );
}
