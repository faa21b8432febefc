/** What an account may do at most: its own limits where it has some, else the service's. Bounds that everybody has stand in docs/limits.md. */

import { MAX_KEYS } from "../../admin/api-keys.ts";
import { Type } from "../../runtime/type.ts";
import type { Settings } from "../../settings/settings.ts";
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

/** The service's settings under the names that an account's limits have. */
const NAMES: Readonly<Record<keyof AccountLimits, keyof Settings["limits"]>> = {
  requestsPerSecond: "requestsPerSecond",
  messagesPerSecond: "messagesPerSecond",
  connections: "connectionsPerAccount",
  destinationsPerRequest: "destinationsPerRequest",
};

export function limitViews({ store, settings }: ApiParts): View[] {
  return [
    {
      name: "limits",
      summary: "See what you may do at most",
      ...MONEY,
      answer: Answer,
      async read({ key, limits }) {
        const keys = await store.apiKeys({ accountKey: key });
        const rates = (Object.keys(NAMES) as (keyof AccountLimits)[]).map((name) => {
          const most = limits[name] ?? (settings.limits[NAMES[name]] as number);
          return { name, most: most === 0 ? null : most, own: limits[name] !== undefined, used: null };
        });
        return { limits: [...rates, { name: "apiKeys", most: MAX_KEYS, own: false, used: keys.length }] };
      },
    },
  ];
}
