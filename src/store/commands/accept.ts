/** Accepting a request: replays, the last checks, the charge, and the messages' rows, in one transaction. */

import { carriedOf } from "../../message/carried.ts";
import type { Content } from "../../message/message.ts";
import { reasonOf } from "../../message/reasons.ts";
import { MAX_WALLET } from "../../money/amounts.ts";
import { nthId } from "../../runtime/ids.ts";
import { STATUS } from "../../sms/statuses.ts";
import type { Acceptance, AcceptanceOutcome, NewMessage } from "../port/messages.ts";
import { serializeEncoding } from "../rows.ts";
import { STATE_NUMBER } from "../schema/message.ts";
import type { ReadSet } from "../tables.ts";
import type { Bulks } from "./bulks.ts";
import { commands, grouped } from "./entry.ts";
import { alertBelow } from "./ledger.ts";
import { optOutLists } from "./opt-outs.ts";
import type { CommandParts } from "./parts.ts";
import { findReplay, keepReplay, replayNames } from "./replays.ts";

interface KeptAnswer {
  readonly bulkId: string;
  readonly firstKey: string;
  /** One number where all messages have the same status, which is the usual case. */
  readonly statusIds: number | number[];
  /** The same of their parts. Answers that are older do not have it. */
  readonly partCounts?: number | number[];
}

/** What an acceptance reads. */
function readsOf({ accountId, bulkId, replay, firstKey, messages }: Acceptance): ReadSet {
  return {
    wallets: [accountId],
    bulks: [{ accountId, bulkId }],
    replays: replayNames(accountId, replay, bulkId),
    names: messages.flatMap(({ clientMessageId }) =>
      clientMessageId === null ? [] : [{ accountId, clientMessageId }],
    ),
    numbers: optOutLists(accountId).flatMap((list) => messages.map(({ to }) => ({ list, number: to }))),
    newKeys: [firstKey, nthId(firstKey, messages.length - 1)],
  };
}

export function acceptCommands({ tables, lanes, unit, epoch }: CommandParts, bulks: Bulks) {
  const accept = (input: Acceptance): AcceptanceOutcome => {
    const { accountId, bulkId, receivedAtMs } = input;
    const names = replayNames(accountId, input.replay, bulkId);
    const earlier = findReplay<KeptAnswer>(tables, names, receivedAtMs);
    if (earlier === "conflict") return { kind: "conflict" };
    if (earlier !== null) {
      const { statusIds, partCounts } = earlier;
      const count = input.messages.length;
      return {
        kind: "accepted",
        bulkId: earlier.bulkId,
        firstKey: earlier.firstKey,
        statusIds: spread(statusIds, count),
        replayed: true,
        ...(partCounts === undefined ? {} : { partCounts: spread(partCounts, count) }),
      };
    }

    input.contents.forEach(checkNumbers);
    const bulk = bulks.join(accountId, bulkId, earliestSendAt(input));
    // What joins a bulk that is paused or canceled shares its fate: it waits to be looked at like the rest.
    const stopped = bulk !== null && bulk.state !== "open";

    const wallet = tables.wallets.ofAccount(accountId);
    let available = wallet.balanceMicros + wallet.creditLimitMicros;
    if (available > MAX_WALLET) available = MAX_WALLET;
    let charged = 0n;
    let chargedParts = 0;
    const lists = optOutLists(accountId).filter((list) => tables.optOuts.any(list));
    const windows = input.contents.map((content) => (content.window === null ? null : JSON.stringify(content.window)));

    const carried = input.contents.map(carriedOf);
    const encodings = input.contents.map((content) => serializeEncoding(content.encoding));

    const statusOf = (message: NewMessage, content: Content, cost: bigint): number => {
      if (message.clientMessageId !== null && tables.messages.isNamed(accountId, message.clientMessageId)) {
        return STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;
      }
      if (message.rejectedStatusId !== null) return message.rejectedStatusId;
      if (lists.some((list) => tables.optOuts.has({ list, number: message.to }))) {
        return STATUS.REJECTED_DESTINATION_BLOCKLISTED.id;
      }
      if (cost > available) return STATUS.REJECTED_NOT_ENOUGH_CREDITS.id;
      return content.dueAtMs === null && !stopped ? STATUS.PENDING_ENROUTE.id : STATUS.PENDING_ACCEPTED.id;
    };

    const statusIds = input.messages.map((message, index) => {
      const content = input.contents[message.content]!;
      const key = nthId(input.firstKey, index);
      const cost = message.pricePerPartMicros * BigInt(content.partCount);
      const statusId = statusOf(message, content, cost);
      const scheduled = statusId === STATUS.PENDING_ACCEPTED.id;
      const queued = statusId === STATUS.PENDING_ENROUTE.id;
      const accepted = scheduled || queued;
      const errorId = accepted ? 0 : reasonOf(statusId);
      const toPull = !accepted && content.notifyUrl === null;
      let owned = false;

      if (accepted) {
        available -= cost;
        charged += cost;
        chargedParts += content.partCount;
      }
      const dueAtMs = content.dueAtMs ?? receivedAtMs;
      if (scheduled) unit().due(dueAtMs);
      if (queued) {
        const lane = { accountId, carrierId: message.carrierId! };
        owned = lanes.enter(lane);
        if (owned) {
          unit().onRollback(() => lanes.leave(lane));
          unit().messages.push({
            key,
            accountId,
            carrierId: lane.carrierId,
            from: content.from,
            to: message.to,
            text: content.text,
            encoding: content.encoding,
            partCount: content.partCount,
            flash: content.flash,
            intermediateReport: content.intermediateReport,
            window: content.window,
            expiresAtMs: content.expiresAtMs,
            unknownCount: 0,
            taken: null,
          });
        } else {
          unit().overflow(lane);
        }
      }

      tables.messages.insert({
        key,
        account_id: accountId,
        bulk_id: bulkId,
        client_message_id: message.clientMessageId,
        state: scheduled ? STATE_NUMBER.scheduled : queued ? STATE_NUMBER.queued : STATE_NUMBER.done,
        status_id: statusId,
        error_id: errorId,
        owner: owned ? epoch : null,
        // Only a rejected message has none, and nobody asks for that of such.
        carrier_id: message.carrierId as string,
        sender: content.from,
        recipient: message.to,
        body: content.text,
        encoding: encodings[message.content]!,
        part_count: content.partCount,
        flash: content.flash ? 1 : 0,
        price: message.pricePerPartMicros.toString(),
        charged_micros: accepted ? cost.toString() : "0",
        currency: wallet.currency,
        notify_url: content.notifyUrl,
        notify_type: content.notifyContentType,
        intermediate: content.intermediateReport ? 1 : 0,
        due_at_ms: dueAtMs,
        delivery_window: windows[message.content]!,
        expires_at_ms: content.expiresAtMs,
        validity_ms: content.expiresAtMs - dueAtMs,
        bulk_version: bulk?.version ?? null,
        received_at_ms: receivedAtMs,
        done_at_ms: accepted ? null : receivedAtMs,
        pull: toPull ? 0 : null,
        pull_at_ms: toPull ? receivedAtMs : null,
        ...carried[message.content],
      });

      if (!accepted && content.notifyUrl !== null) {
        unit().report(
          { accountId, url: content.notifyUrl, contentType: content.notifyContentType },
          {
            bulkId,
            messageId: message.clientMessageId ?? key,
            to: message.to,
            from: content.from,
            sentAtMs: receivedAtMs,
            doneAtMs: receivedAtMs,
            smsCount: content.partCount,
            mccMnc: null,
            ...carriedOf(content),
            pricePerPartMicros: 0n,
            currency: wallet.currency,
            statusId,
            errorId,
          },
          null,
        );
      }
      return statusId;
    });

    if (charged > 0n) {
      tables.wallets.post({
        atMs: receivedAtMs,
        kind: "charge",
        from: wallet.id,
        to: tables.wallets.ofService("revenue", wallet.currency),
        amountMicros: charged,
        messageKey: input.firstKey,
        partCount: chargedParts,
      });
      alertBelow(unit(), accountId, wallet, charged, receivedAtMs);
    }
    if (names.length > 0) {
      const partCounts = input.messages.map(({ content }) => input.contents[content]!.partCount);
      const { firstKey } = input;
      const answer: KeptAnswer = { bulkId, firstKey, statusIds: gather(statusIds), partCounts: gather(partCounts) };
      keepReplay(tables, names, answer, receivedAtMs);
    }
    return { kind: "accepted", bulkId, firstKey: input.firstKey, statusIds, replayed: false };
  };
  return commands({ accept: grouped(readsOf, accept) });
}

/** One number where all are the same. */
function gather(numbers: number[]): number | number[] {
  return numbers.every((each) => each === numbers[0]) ? numbers[0]! : numbers;
}

function spread(gathered: number | number[], count: number): number[] {
  return Array.isArray(gathered) ? gathered : new Array(count).fill(gathered);
}

/** Before anything is decided by them. The table looks at them once more (schema/table.ts). */
function checkNumbers({ sendAtMs, dueAtMs, expiresAtMs, partCount }: Content): void {
  for (const value of [sendAtMs ?? 0, dueAtMs ?? 0, expiresAtMs, partCount])
    if (!Number.isSafeInteger(value)) throw new RangeError(`a message must have whole numbers, not ${value}`);
}

/** When the first of the messages that wait is to go, or null if none waits. */
function earliestSendAt({ contents, receivedAtMs }: Acceptance): number | null {
  const waiting = contents.filter(({ dueAtMs }) => dueAtMs !== null);
  if (waiting.length === 0) return null;
  return Math.min(...waiting.map(({ sendAtMs }) => Math.max(sendAtMs ?? receivedAtMs, receivedAtMs)));
}
