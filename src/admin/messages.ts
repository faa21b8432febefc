/** A message by the id that its client has, for whoever operates the service: with what its carrier said after its last word. */
import type { LaterReceipt } from "../store/port/receipts.ts";
import type { Store } from "../store/port/store.ts";
import type { LoggedMessage } from "../store/port/tracking.ts";
import { searchLogs } from "./log-search.ts";

/** The filter that every message passes, also one that is scheduled: up to the end of the calendar. */
export const ALL_MESSAGES = {
  bulkIds: null,
  messageIds: null,
  from: null,
  to: null,
  statusIds: null,
  mcc: null,
  mnc: null,
  sinceMs: 0,
  untilMs: 8_640_000_000_000_000,
} as const;
/** A rejected message leaves its name to others: so many may have it. */
const MAX_NAMESAKES = 100;

export interface OperatedMessage {
  readonly message: LoggedMessage;
  readonly later: readonly LaterReceipt[];
}

export async function messagesNamed(
  store: Pick<Store, "logs" | "laterReceipts">,
  { accountId, messageId, nowMs }: { readonly accountId: number; readonly messageId: string; readonly nowMs: number },
): Promise<OperatedMessage[]> {
  const query = { ...ALL_MESSAGES, accountId, messageIds: [messageId], limit: MAX_NAMESAKES };
  const messages = await searchLogs({ page: store.logs, query, nowMs });
  return Promise.all(
    messages.map(async (message) => ({ message, later: await store.laterReceipts({ messageKey: message.key }) })),
  );
}
