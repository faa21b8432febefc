/** What the store tells those who watch messages live (events/live.ts): after the commit, and only while somebody watches. */
import { type LiveEvent, type LiveTap, liveText } from "../events/live.ts";
import { nthId } from "../runtime/ids.ts";
import { findError } from "../sms/errors.ts";
import { STATUS, statusById } from "../sms/statuses.ts";
import type { Acceptance } from "../store/port/messages.ts";
import type { MessageRow } from "../store/schema/message.ts";
import type { Unit } from "../store/unit.ts";
import type { FinishedCounts } from "./finished.ts";

/** Of one request, so many messages are told of one by one. */
const MAX_OF_REQUEST = 100;

type Told = Omit<LiveEvent, "atMs">;

export class LiveNews {
  readonly #live: LiveTap;
  readonly #unit: () => Unit;

  constructor(live: LiveTap, unit: () => Unit) {
    this.#live = live;
    this.#unit = unit;
  }

  /** Ask before anything else: nobody watches most of the time. */
  get isOn(): boolean {
    return this.#live.isOn;
  }

  accepted({ accountId, firstKey, messages, contents }: Acceptance, statusIds: readonly number[]): void {
    const told = messages.slice(0, MAX_OF_REQUEST).map((message, index): Told => {
      const { name: status, groupName } = statusById(statusIds[index]!);
      const { from, text, shownText = text, dueAtMs } = contents[message.content]!;
      return {
        kind: groupName === "REJECTED" ? "rejected" : "accepted",
        accountId,
        // A duplicate has a key of its own: the client's name is that of the first message.
        messageId: (isDuplicate(statusIds[index]!) ? null : message.clientMessageId) ?? nthId(firstKey, index),
        from,
        to: message.to,
        text: liveText(shownText),
        status,
        ...(dueAtMs === null ? {} : { dueAtMs }),
      };
    });
    this.#tell(told, messages.length - told.length);
  }

  sent(row: MessageRow, carrier: string): void {
    this.#tell([{ kind: "sent", ...nameOf(row), carrier }]);
  }

  ended(row: MessageRow, statusId: number, errorId: number): void {
    const kind = statusId === STATUS.DELIVERED_TO_HANDSET.id ? "delivered" : "failed";
    const error = errorId === 0 || kind === "delivered" ? undefined : findError(errorId)?.name;
    const status = statusById(statusId).name;
    this.#tell([{ kind, ...nameOf(row), status, ...(error === undefined ? {} : { error }) }]);
  }

  incoming(
    accountId: number,
    { text, ...message }: Required<Pick<LiveEvent, "messageId" | "from" | "to" | "text">>,
  ): void {
    this.#tell([{ kind: "incoming", accountId, ...message, text: liveText(text) }]);
  }

  #tell(events: readonly Told[], missed = 0): void {
    this.#unit().onCommit(() => this.#live.tell(events, missed));
  }
}

/** Who hears what becomes of messages: those who count, and those who watch. */
export interface Hearers {
  readonly finished: FinishedCounts;
  readonly news: LiveNews;
}

const isDuplicate = (statusId: number): boolean => statusId === STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;

function nameOf({ account_id: accountId, client_message_id, key, sender: from, recipient: to }: MessageRow) {
  return { accountId, messageId: client_message_id ?? key, from, to };
}
