/** Accounts: made, seen, changed and retired, by an operator or by the reseller whose clients they are. */
import type { FastifyRequest } from "fastify";
import {
  type AccountChangeOrder,
  type AccountParts,
  changeAccount,
  createAccount,
  listAccounts,
  retireAccount,
} from "../../admin/accounts.ts";
import { isOffered } from "../../admin/plans.ts";
import { given } from "../../runtime/given.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readFlag, readLimit, readText } from "../query.ts";
import {
  ACCOUNT_OCTETS,
  AccountAnswer,
  AccountChangeRequest,
  AccountQuery,
  accountAnswer,
  NewAccountAnswer,
  NewAccountRequest,
  RetireQuery,
  readAccountFilter,
} from "./account-schemas.ts";
import {
  MANAGER,
  managedAccount,
  managerOf,
  named,
  neededVersion,
  orCurrent,
  Page,
  pageOf,
  versioned,
} from "./managing.ts";
import { hashInTurn } from "./passwords.ts";

const TAKEN_AWAY = ["defaultSender", "allowedSenders", "allowedAddresses", "limits", "alert", "retryMinutes"] as const;

/** A null is absent everywhere in this API; in a change it takes away. So these are read from what the caller wrote. */
function takenAway({ rawBody }: FastifyRequest): AccountChangeOrder {
  const written = JSON.parse(rawBody?.toString("utf8") ?? "{}") as Record<string, unknown>;
  return Object.fromEntries(TAKEN_AWAY.filter((name) => written[name] === null).map((name) => [name, null]));
}

export function accountOperations(api: Api, { store, catalogue, clock, settings }: ApiParts): void {
  const rules: AccountParts = {
    store,
    settings,
    hashPassword: hashInTurn,
    async currencyOf(ratePlan, { account }) {
      await catalogue.look();
      return isOffered(catalogue.current, account, ratePlan) ? catalogue.current.currencyOf(ratePlan) : null;
    },
  };

  api.post(
    "/operator/1/accounts",
    operation({
      ...MANAGER,
      bodyOctets: ACCOUNT_OCTETS,
      id: "makeAccount",
      summary: "Make an account",
      schema: { body: NewAccountRequest },
      answer: NewAccountAnswer,
    }),
    async (request, reply) => {
      const { account, madeUpPassword, callbackSecret } = await createAccount(
        rules,
        managerOf(request, clock),
        request.body,
      );
      return versioned(reply, {
        ...accountAnswer(account),
        ...(madeUpPassword === null ? {} : { password: madeUpPassword }),
        callbackSecret,
      });
    },
  );

  api.get(
    "/operator/1/accounts",
    operation({
      ...MANAGER,
      id: "listAccounts",
      summary: "List accounts by key",
      query: AccountQuery,
      answer: Page(AccountAnswer),
    }),
    async (request) => {
      const fields = fieldsOf(request.query);
      const limit = readLimit(request.query);
      const rows = await listAccounts(store, managerOf(request, clock), {
        ...readAccountFilter(fields),
        afterKey: readText(fields, "after"),
        limit: limit + 1,
      });
      return pageOf(rows, limit, ({ key }) => key, accountAnswer);
    },
  );

  api.get(
    "/operator/1/accounts/:key",
    operation({ ...MANAGER, id: "getAccount", summary: "See an account", answer: AccountAnswer }),
    async (request, reply) => versioned(reply, accountAnswer(await managedAccount(store, request))),
  );

  api.patch(
    "/operator/1/accounts/:key",
    operation({
      ...MANAGER,
      bodyOctets: ACCOUNT_OCTETS,
      id: "changeAccount",
      summary: "Change an account",
      schema: { body: AccountChangeRequest },
      answer: AccountAnswer,
    }),
    async (request, reply) => {
      const { version, ...body } = request.body;
      const seen = { key: named(request, "key"), version: neededVersion(request, version) };
      const order = { ...body, ...takenAway(request) };
      const change = changeAccount(rules, managerOf(request, clock), seen, order);
      return versioned(reply, accountAnswer(await orCurrent(accountAnswer, change)));
    },
  );

  api.delete(
    "/operator/1/accounts/:key",
    operation({
      ...MANAGER,
      id: "retireAccount",
      summary: "Retire an account for good; what it did stays on record, and its balance goes where it is told",
      query: RetireQuery,
    }),
    async (request) => {
      const fields = fieldsOf(request.query);
      const version = neededVersion(request, fields.version);
      const seen = { key: named(request, "key"), version };
      const order = given({
        balanceTo: readText(fields, "balanceTo") ?? undefined,
        writeOff: readText(fields, "writeOff") ?? undefined,
        paidOut: readFlag(fields, "paidOut") ?? undefined,
      });
      await orCurrent(accountAnswer, retireAccount(rules, managerOf(request, clock), seen, order));
    },
  );
}
