/** Opt-out lists: numbers to which nothing is sent, by the whole service or by one account. An account has its own in hand. */
import type { FastifyRequest } from "fastify";
import type { Manager } from "../../admin/manager.ts";
import { optOuts, setOptOut } from "../../admin/opt-outs.ts";
import { Type } from "../../runtime/type.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { badField } from "../errors.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readLimit, readPhone, readText } from "../query.ts";
import { OptionalText, Text } from "../shapes.ts";
import { MANAGER, managerOf, named, OPERATOR, Page, pageOf, pageParameters } from "./managing.ts";

const OptOut = Type.Object({ number: Type.String(), at: Text("Since when.") }, { title: "OptOut" });

interface List {
  readonly path: string;
  readonly who: typeof OPERATOR | typeof MANAGER | typeof OWN;
  readonly whose: string;
  /** In the ids of its operations. */
  readonly name: string;
  /** The key of the list's account; null for the service's own. */
  readonly ownerIn: (request: FastifyRequest) => string | null;
}

/** Whom it sends to is for whoever sends. */
const OWN = { tag: "Account", auth: "account", scope: "send" } as const;

const LISTS: readonly List[] = [
  {
    path: "/account/1/opt-outs",
    who: OWN,
    whose: "your account's",
    name: "Own",
    ownerIn: (request) => accountOf(request).key,
  },
  { path: "/operator/1/opt-outs", who: OPERATOR, whose: "the service's own", name: "Service", ownerIn: () => null },
  {
    path: "/operator/1/accounts/:key/opt-outs",
    who: MANAGER,
    whose: "an account's",
    name: "Account",
    ownerIn: (request) => named(request, "key"),
  },
];

const OptOutQuery = Type.Object({
  ...pageParameters,
  prefix: OptionalText("Numbers that begin so: 1 to 15 digits."),
});

export function optOutOperations(api: Api, { store, clock }: ApiParts): void {
  for (const { path, who, whose, name, ownerIn } of LISTS) {
    /** An account's own list is found whoever its reseller is. The audit has the account's name all the same. */
    const managerIn = (request: FastifyRequest): Manager =>
      who === OWN ? { ...managerOf(request, clock), account: null } : managerOf(request, clock);

    api.get(
      path,
      operation({
        ...who,
        id: `list${name}OptOuts`,
        summary: `Read ${whose} opt-out list`,
        query: OptOutQuery,
        answer: Page(OptOut),
      }),
      async (request) => {
        const limit = readLimit(request.query);
        const fields = fieldsOf(request.query);
        const after = readText(fields, "after") ?? "";
        const prefix = readPhone(fields, "prefix");
        if (prefix !== null && !/^\d{1,15}$/.test(prefix)) throw badField("prefix", "must be 1 to 15 digits");
        const page = { after, limit: limit + 1, ...(prefix === null ? {} : { prefix }) };
        const numbers = await optOuts(store, managerIn(request), ownerIn(request), page);
        const show = ({ number, atMs }: (typeof numbers)[0]) => ({ number, at: formatDateTime(atMs) });
        return pageOf(numbers, limit, ({ number }) => number, show);
      },
    );

    const set = (method: "put" | "delete", summary: string, listed: boolean): void => {
      api[method](
        `${path}/:number`,
        operation({ ...who, id: `${listed ? "add" : "remove"}${name}OptOut`, summary }),
        async (request) => {
          const number = named(request, "number");
          await setOptOut(store, managerIn(request), ownerIn(request), { number, listed });
        },
      );
    };
    set("put", `Put a number on ${whose} opt-out list`, true);
    set("delete", `Take a number off ${whose} opt-out list`, false);
  }
}
