/**
 * The accounts that somebody manages, with their balances, as a page shows them: an operator's all, a reseller's clients. A search goes through them by
 * key, so many in one look, and says where to go on.
 */
import { listAccounts } from "../../admin/accounts.ts";
import { isOffered } from "../../admin/plans.ts";
import { formatMicros } from "../../money/amounts.ts";
import { Type } from "../../runtime/type.ts";
import type { ManagedAccount } from "../../store/port/accounts.ts";
import { badField } from "../errors.ts";
import { readAccountFilter } from "../operator/account-schemas.ts";
import type { ApiParts } from "../parts.ts";
import { readText } from "../query.ts";
import { OptionalText, Text, TextOrNull } from "../shapes.ts";
import { isoTime } from "./schemas.ts";
import type { View } from "./view.ts";

const PAGE_ACCOUNTS = 100;
/** Accounts from one command of the store: others wait for it. */
const LOOK_ACCOUNTS = 200;
/** Such commands of one look. */
const MAX_LOOKS = 5;
const MAX_SEARCH = 64;
const MAX_RATE_PLANS = 200;
/** Users in an answer: most accounts have one. */
const MAX_USERNAMES = 5;

const Answer = Type.Object({
  results: Type.Array(
    Type.Object({
      key: Type.String(),
      kind: Text("client, reseller or operator."),
      parent: TextOrNull("The reseller whose client it is."),
      usernames: Type.Array(Type.String(), { description: "The first of them." }),
      currency: Type.String(),
      balance: Type.String(),
      creditLimit: Type.String(),
      ratePlan: Type.String(),
      suspended: Type.Boolean(),
      retired: Type.Boolean(),
      createdAt: Text("ISO 8601."),
    }),
  ),
  next: TextOrNull("Give it as after for the next page; null on the last one."),
});
const Query = Type.Object({
  search: OptionalText("A part of a key or of a username, in any letter case."),
  kind: OptionalText("client, reseller or operator."),
  suspended: Type.Optional(Type.Boolean()),
  parent: OptionalText("Clients of this reseller."),
  after: OptionalText("What the page before gave as next."),
});

const RatePlans = Type.Object({
  results: Type.Array(Type.Object({ id: Type.String(), currency: Type.String() })),
});

export function accountViews({ store, catalogue }: ApiParts): View[] {
  return [
    {
      name: "rate-plans",
      summary: "See which rate plans an account can be given",
      auth: "manager",
      scope: "manage",
      answer: RatePlans,
      // A reseller's too: it may give its clients any of those that it sees (docs/reselling.md).
      read: async (account) => ({
        results: catalogue.current.ratePlans
          .filter(({ id }) => isOffered(catalogue.current, account, id))
          .slice(0, MAX_RATE_PLANS),
      }),
    },
    {
      name: "accounts",
      summary: "See the accounts that you manage, with their balances",
      auth: "manager",
      scope: "manage",
      query: Query,
      answer: Answer,
      async read(caller, fields) {
        const search = readText(fields, "search")?.toLowerCase() ?? null;
        if (search !== null && search.length > MAX_SEARCH)
          throw badField("search", `must be at most ${MAX_SEARCH} characters long`);
        const filter = readAccountFilter(fields);
        const manager = { account: caller, by: { name: caller.key, address: null }, atMs: 0 };
        const found: ManagedAccount[] = [];
        let afterKey = readText(fields, "after");
        let more = true;
        for (let looks = 0; more && looks < MAX_LOOKS && found.length < PAGE_ACCOUNTS; looks++) {
          const limit = search === null ? PAGE_ACCOUNTS + 1 : LOOK_ACCOUNTS;
          const rows = await listAccounts(store, manager, { ...filter, afterKey, limit });
          more = rows.length === limit;
          for (const row of rows) {
            if (found.length === PAGE_ACCOUNTS) {
              more = true;
              break;
            }
            afterKey = row.key;
            if (search === null || isFound(row, search)) found.push(row);
          }
        }
        return { results: found.map(shown), next: more ? afterKey : null };
      },
    },
  ];
}

function isFound({ key, usernames }: ManagedAccount, search: string): boolean {
  return [key, ...usernames].some((name) => name.toLowerCase().includes(search));
}

function shown(account: ManagedAccount) {
  return {
    ...account,
    parent: account.parentKey,
    usernames: account.usernames.slice(0, MAX_USERNAMES),
    balance: formatMicros(account.balanceMicros),
    creditLimit: formatMicros(account.creditLimitMicros),
    ratePlan: account.ratePlanId,
    retired: account.retiredAtMs !== null,
    createdAt: isoTime(account.createdAtMs),
  };
}
