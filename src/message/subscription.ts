/**
 * Standing wishes of an account, as clients of the OneAPI make them: where reports go of messages that name no URL of their own (delivery), and where
 * messages go that phones send to one of its numbers (inbound). They are few, and stand with the account. Pure.
 */
import { firstWord, inCapitals } from "./incoming.ts";

export type SubscriptionKind = "delivery" | "inbound";
/** How messages from phones are told to it. */
export type NotificationFormat = "JSON" | "XML";

/** What its maker says of it. */
export interface SubscriptionWish {
  readonly kind: SubscriptionKind;
  /** The sender of the messages, or the number that phones write to; null for any. */
  readonly address: string | null;
  /** The first word of the text; null for any. */
  readonly criteria: string | null;
  readonly notifyUrl: string;
  /** Told with each message that has none of its own. */
  readonly callbackData: string | null;
  readonly format: NotificationFormat | null;
  /** By which its maker knows its own request again. */
  readonly correlator: string | null;
}

export interface Subscription extends SubscriptionWish {
  readonly id: string;
}

export type SubscriptionChange =
  | { readonly kind: "make"; readonly wish: SubscriptionWish }
  /** What comes from now on goes to another URL. */
  | { readonly kind: "redirect"; readonly id: string; readonly notifyUrl: string }
  | { readonly kind: "remove"; readonly id: string };

export type SubscriptionOutcome =
  | { readonly kind: "done"; readonly subscription: Subscription }
  /** "conflict": the correlator is another one's. */
  | { readonly kind: "unknown" | "conflict" | "too many" };

/** What is matched: the sender or the number, and the text, which is null for octets. */
interface Matched {
  readonly address: string;
  readonly text: string | null;
}

/** The one that counts, or null: whoever names both address and word comes before whoever names the address alone; of equals the newest counts. */
export function subscriptionFor(
  subscriptions: readonly Subscription[],
  kind: SubscriptionKind,
  { address, text }: Matched,
): Subscription | null {
  const word = text === null ? null : firstWord(text);
  let best: Subscription | null = null;
  for (const each of subscriptions) {
    if (each.kind !== kind || (each.address !== null && each.address !== address)) continue;
    if (each.criteria !== null && inCapitals(each.criteria) !== word) continue;
    if (best === null || closeness(each) >= closeness(best)) best = each;
  }
  return best;
}

function closeness({ address, criteria }: Subscription): number {
  return (address === null ? 0 : 2) + (criteria === null ? 0 : 1);
}

/** Whether a wish is the same as one that is there already. */
export function isSameWish(first: SubscriptionWish, second: SubscriptionWish): boolean {
  const names = ["kind", "address", "criteria", "notifyUrl", "callbackData", "format"] as const;
  return names.every((name) => first[name] === second[name]);
}
