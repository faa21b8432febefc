/** Opt-out lists: numbers to which nothing is sent, by the whole service or by one account. */
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { optOuts, setOptOut } from "../../admin/opt-outs.ts";
import type { Clock } from "../../runtime/clock.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { Store } from "../../store/port/store.ts";
import { type Api, operation } from "../operation.ts";
import { fieldsOf, readLimit, readText } from "../query.ts";
import { MANAGER, managerOf, named, OPERATOR, Page, pageOf, pageParameters } from "./managing.ts";

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
  readonly ownerIn: (request: FastifyRequest) => string | null;
}

const LISTS: readonly List[] = [
  { path: "/operator/1/opt-outs", who: OPERATOR, whose: "the service's own", ownerIn: () => null },
  {
    path: "/operator/1/accounts/:key/opt-outs",
    who: MANAGER,
    whose: "an account's",
    ownerIn: (request) => named(request, "key"),
  },
];

export function optOutOperations(api: Api, { store, clock }: OptOutParts): void {
  for (const { path, who, whose, ownerIn } of LISTS) {
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
        const page = { after, limit: limit + 1 };
        const numbers = await optOuts(store, managerOf(request, clock), ownerIn(request), page);
        const show = ({ number, atMs }: (typeof numbers)[0]) => ({ number, at: formatDateTime(atMs) });
        return pageOf(numbers, limit, ({ number }) => number, show);
      },
    );

    const set = (method: "put" | "delete", summary: string, listed: boolean): void => {
      api[method](`${path}/:number`, operation({ ...who, summary }), async (request, reply) => {
        const number = named(request, "number");
        await setOptOut(store, managerOf(request, clock), ownerIn(request), { number, listed });
        return reply.code(204).send();
      });
    };
    set("put", `Put a number on ${whose} opt-out list`, true);
    set("delete", `Take a number off ${whose} opt-out list`, false);
  }
}
