/** Opt-out lists: numbers to which nothing is sent, by the whole service or by one account. */
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Clock } from "../../runtime/clock.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { isDestination } from "../../sms/addresses.ts";
import type { Store } from "../../store/port.ts";
import { ApiError, badField } from "../errors.ts";
import { type Api, operation } from "../operation.ts";
import { fieldsOf, readLimit, readText } from "../query.ts";
import {
  actorOf,
  livingAccount,
  MANAGER,
  managedAccount,
  named,
  OPERATOR,
  Page,
  pageOf,
  pageParameters,
} from "./managing.ts";

export interface OptOutParts {
  readonly store: Pick<Store, "account" | "optOuts" | "optOut" | "optIn">;
  readonly clock: Clock;
}

const OptOut = Type.Object({ number: Type.String(), at: Type.String({ description: "Since when." }) });

interface List {
  readonly path: string;
  readonly who: typeof OPERATOR | typeof MANAGER;
  readonly whose: string;
  /** The key of the list's account; null for the service's own. */
  readonly accountKey: (request: FastifyRequest, change: boolean) => Promise<string | null>;
}

function numberIn(request: FastifyRequest): string {
  const number = named(request, "number");
  if (!isDestination(number)) throw badField("number", "must be 4 to 15 digits");
  return number;
}

export function optOutOperations(api: Api, { store, clock }: OptOutParts): void {
  const lists: readonly List[] = [
    { path: "/operator/1/opt-outs", who: OPERATOR, whose: "the service's own", accountKey: async () => null },
    {
      path: "/operator/1/accounts/:key/opt-outs",
      who: MANAGER,
      whose: "an account's",
      accountKey: async (request, change) =>
        (await (change ? livingAccount(store, request) : managedAccount(store, request))).key,
    },
  ];
  for (const { path, who, whose, accountKey } of lists) {
    api.get(
      path,
      operation({
        ...who,
        summary: `Read ${whose} opt-out list`,
        query: Type.Object(pageParameters),
        answer: Page(OptOut),
      }),
      async (request) => {
        const limit = readLimit(request.query);
        const after = readText(fieldsOf(request.query), "after") ?? "";
        const numbers = await store.optOuts({ accountKey: await accountKey(request, false), after, limit: limit + 1 });
        if (numbers === "unknown account") throw new ApiError("accountNotFound");
        const show = ({ number, atMs }: { number: string; atMs: number }) => ({ number, at: formatDateTime(atMs) });
        return pageOf(numbers, limit, ({ number }) => number, show);
      },
    );

    api.put(
      `${path}/:number`,
      operation({ ...who, summary: `Put a number on ${whose} opt-out list` }),
      async (request, reply) => {
        const number = numberIn(request);
        const by = { by: actorOf(request), atMs: clock.now() };
        await store.optOut({ accountKey: await accountKey(request, true), number, ...by });
        return reply.code(204).send();
      },
    );

    api.delete(
      `${path}/:number`,
      operation({ ...who, summary: `Take a number off ${whose} opt-out list` }),
      async (request, reply) => {
        const number = numberIn(request);
        const by = { by: actorOf(request), atMs: clock.now() };
        await store.optIn({ accountKey: await accountKey(request, true), number, ...by });
        return reply.code(204).send();
      },
    );
  }
}
