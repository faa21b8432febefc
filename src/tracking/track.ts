/** Where is my message? What the store knows of the messages of a name, joined. */
import type { NodeCarrierState } from "../admin/carriers.ts";
import { messagesNamed } from "../admin/messages.ts";
import { pushRules } from "../reports/pushing/push-settings.ts";
import type { Settings } from "../settings/settings.ts";
import type { MessageLife } from "../store/port/message-life.ts";
import type { Store } from "../store/port/store.ts";
import { type TrackedMessage, trackedMessage } from "./facts.ts";
import type { Routes } from "./route.ts";
import { stepsOf } from "./steps.ts";

export type TrackingStore = Pick<Store, "logs" | "laterReceipts" | "deadLetters" | "messageLife" | "apiKeys">;

export interface TrackedName {
  readonly account: { readonly id: number; readonly key: string };
  readonly messageId: string;
  readonly nowMs: number;
  readonly routes: Routes;
  readonly carriers: readonly NodeCarrierState[];
  /** By which reports are pushed. */
  readonly pushing: { readonly settings: Settings["reports"]; readonly sandbox: boolean };
}

const MAX_LETTERS = 1_000;

/** An account's messages of a name: one, and rejected ones beside it, because a rejected message leaves its name to others. */
export async function trackMessages(store: TrackingStore, name: TrackedName): Promise<TrackedMessage[]> {
  const { account, messageId, nowMs, routes, carriers, pushing } = name;
  const { policy: callbacks } = pushRules(pushing.settings, pushing.sandbox);
  const found = await messagesNamed(store, { accountId: account.id, messageId, nowMs });
  if (found.length === 0) return [];
  const letters = await store.deadLetters({ accountKey: account.key, url: null, beforeId: null, limit: MAX_LETTERS });
  const tracked: TrackedMessage[] = [];
  for (const { message } of found) {
    const life = await store.messageLife({ accountId: account.id, messageId: message.key });
    if (life === null) continue;
    const deadLetters = letters.filter(({ deadAtMs }) => deadAtMs >= message.sentAtMs).length;
    const keyNames = await keyNamesOf(store, life);
    tracked.push(trackedMessage({ life, logged: message, keyNames, routes, deadLetters, carriers, callbacks, nowMs }));
  }
  return tracked;
}

/** The names of the API keys that are spoken of. */
export async function keyNamesOf(
  store: Pick<Store, "apiKeys">,
  life: MessageLife,
): Promise<Map<string, string | null>> {
  const hasKey = stepsOf(life, "request").some(({ detail: { apiKey } }) => apiKey !== null);
  const keys = hasKey ? await store.apiKeys({ accountKey: life.accountKey }) : [];
  return new Map(keys.map(({ id, name }) => [id, name]));
}
