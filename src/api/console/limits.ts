/** What an account may do at most: its own limits where it has some, else the service's. Bounds that everybody has stand in docs/limits.md. */
import { MAX_KEYS } from "../../admin/api-keys.ts";
import { serviceLimits } from "../../admin/reselling.ts";
import { Type } from "../../runtime/type.ts";
import type { AccountLimits } from "../../store/port/accounts.ts";
import type { ApiParts } from "../parts.ts";
import { Flag } from "../shapes.ts";
import { MONEY, type View } from "./view.ts";

const orNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });
const Answer = Type.Object({
  limits: Type.Array(
    Type.Object({
      name: Type.String(),
      most: orNull("Null for no limit."),
      own: Flag("Whether it is the account's own, and not the service's."),
      used: orNull("How much of it is in use; null where that changes from one moment to the next."),
    }),
  ),
});

export function limitViews({ store, settings }: ApiParts): View[] {
  return [
    {
      name: "limits",
      summary: "See what you may do at most",
      ...MONEY,
      answer: Answer,
      async read({ key, limits }) {
        const keys = await store.apiKeys({ accountKey: key });
        const rates = Object.entries({ ...serviceLimits(settings) }).map(([name, usual]) => {
          const own = limits[name as keyof AccountLimits];
          const most = own ?? usual;
          return { name, most: most === 0 ? null : most, own: own !== undefined, used: null };
        });
        return { limits: [...rates, { name: "apiKeys", most: MAX_KEYS, own: false, used: keys.length }] };
      },
    },
  ];
}
