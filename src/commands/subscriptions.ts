/**
 * An account's subscriptions, all in one column of its row: they are read with the account whenever somebody calls in its name, so that a message
 * finds its subscription without another read. What is changed of them is a change of the account, which other nodes follow.
 */
import {
  isSameWish,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionOutcome,
} from "../message/subscription.ts";
import { selecting, updating } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { ACCOUNT } from "../store/schema/account.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";

/** Of one account, delivery and inbound together. */
const MAX_SUBSCRIPTIONS = 20;
/** Characters of all of them together: every caller of the account has them in memory. */
const MAX_CHARACTERS = 16_384;

const PREFIX = { delivery: "s", inbound: "m" } as const;

export function subscriptionCommands(parts: CommandParts) {
  const { sql } = parts;
  const { noteChange } = auditWriter(parts);
  const kept = selecting(sql, ACCOUNT, ["subscriptions", "key", "parentId"], ["id"], sql.dialect.lock());
  const keep = updating(sql, ACCOUNT, ["subscriptions"]);

  return commands({
    async changeSubscriptions({ accountId, change, by, atMs }) {
      const row = (await kept.get(accountId))!;
      const { next, items } = row.subscriptions ?? { next: 1, items: [] };
      const changed = changeOf(items, next, change);
      if (changed.kind !== "changed") return changed;
      const { before, after } = changed;
      const others = items.filter((each) => each !== before);
      const subscriptions = {
        next: change.kind === "make" ? next + 1 : next,
        items: after === null ? others : inPlace(items, before, after),
      };
      if (after !== null && JSON.stringify(subscriptions).length > MAX_CHARACTERS) return { kind: "too many" };
      await keep({ id: accountId, subscriptions });
      const action = before === null ? "create" : after === null ? "delete" : "change";
      const subscription = (after ?? before)!;
      const about = { kind: "subscription", resellerId: row.parentId } as const;
      await noteChange({ by, atMs, action, ...about, subject: `${row.key} ${subscription.id}`, before, after });
      return { kind: "done", subscription };
    },
  });
}

type Changed =
  | { readonly kind: "changed"; readonly before: Subscription | null; readonly after: Subscription | null }
  | SubscriptionOutcome;

function changeOf(items: readonly Subscription[], next: number, change: SubscriptionChange): Changed {
  if (change.kind === "make") {
    const { wish } = change;
    const same = items.find((each) => isSameWish(each, wish));
    if (same !== undefined) return { kind: "done", subscription: same };
    const named = items.some(({ correlator }) => correlator !== null && correlator === wish.correlator);
    if (named) return { kind: "conflict" };
    if (items.length >= MAX_SUBSCRIPTIONS) return { kind: "too many" };
    return { kind: "changed", before: null, after: { id: `${PREFIX[wish.kind]}${next}`, ...wish } };
  }
  const before = items.find(({ id }) => id === change.id);
  if (before === undefined) return { kind: "unknown" };
  if (change.kind === "remove") return { kind: "changed", before, after: null };
  return { kind: "changed", before, after: { ...before, notifyUrl: change.notifyUrl } };
}

function inPlace(items: readonly Subscription[], before: Subscription | null, after: Subscription): Subscription[] {
  return before === null ? [...items, after] : items.map((each) => (each === before ? after : each));
}
