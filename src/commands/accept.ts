/** Accepting a request: replays, the last checks, the charge, and the messages' rows, in one transaction. */
import { columnsOf } from "../message/fields.ts";
import type { Content } from "../message/message.ts";
import { reasonOf } from "../message/reasons.ts";
import { formFor, NO_REPORT, TOLD } from "../message/report-form.ts";
import { MAX_WALLET } from "../money/amounts.ts";
import { nthId } from "../runtime/ids.ts";
import { STATUS } from "../sms/statuses.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { Acceptance, AcceptanceOutcome, NewMessage } from "../store/port/messages.ts";
import { reportFacts, serializeEncoding } from "../store/rows.ts";
import { type NewMessageRow, STATE_NUMBER } from "../store/schema/message.ts";
import type { Awaitable } from "../store/sql.ts";
import type { ReadSet } from "../store/tables.ts";
import type { Bulks } from "./bulks.ts";
import { commands, grouped } from "./entry.ts";
import { alertBelow } from "./ledger.ts";
import { linkWriter } from "./links.ts";
import type { Hearers } from "./live-news.ts";
import { optOutLists } from "./opt-outs.ts";
import { Spreading } from "./pacing.ts";
import { queuedMessage } from "./queued-message.ts";
import { findReplay, keepReplay, replayNames } from "./replays.ts";

interface KeptAnswer {
  readonly bulkId: string;
  readonly firstKey: string;
  /** One number where all messages have the same status, which is the usual case. */
  readonly statusIds: number | number[];
  /** The same of their parts. Answers that are older do not have it. */
  readonly partCounts?: number | number[];
  /** The same of the price of a part. */
  readonly pricesMicros?: string | string[];
}

/** What an acceptance reads. */
function readsOf({ accountId, bulkId, replay, firstKey, messages, speedLimit }: Acceptance): ReadSet {
  // An id of our own making comes just before its messages' (intake/intake.ts): no bulk has it yet.
  const bulks = bulkId === nthId(firstKey, -1) ? [] : [{ accountId, bulkId }];
  return {
    wallets: [accountId],
    bulks: speedLimit === null ? bulks : [],
    lockedBulks: speedLimit === null ? [] : bulks,
    replays: replayNames(accountId, replay, bulkId),
    names: messages.flatMap(({ clientMessageId }) =>
      clientMessageId === null ? [] : [{ accountId, clientMessageId }],
    ),
    numbers: optOutLists(accountId).flatMap((list) => messages.map(({ to }) => ({ list, number: to }))),
    newKeys: [firstKey, nthId(firstKey, messages.length - 1)],
  };
}

export function acceptCommands(parts: CommandParts, bulks: Bulks, { finished, news }: Hearers) {
  const { sql, tables, lanes, unit, epoch, references } = parts;
  const linksOf = linkWriter({ sql });
  const accept = (input: Acceptance): Awaitable<AcceptanceOutcome> => {
    const { accountId, bulkId, receivedAtMs, speedLimit } = input;
    const names = replayNames(accountId, input.replay, bulkId);
    const earlier = findReplay<KeptAnswer>(tables, names, receivedAtMs);
    if (earlier === "conflict") return { kind: "conflict" };
    if (earlier !== null) {
      const { statusIds, partCounts, pricesMicros } = earlier;
      const count = input.messages.length;
      return {
        kind: "accepted",
        bulkId: earlier.bulkId,
        firstKey: earlier.firstKey,
        statusIds: spread(statusIds, count),
        replayed: true,
        ...(partCounts === undefined ? {} : { partCounts: spread(partCounts, count) }),
        ...(pricesMicros === undefined ? {} : { pricesMicros: spread(pricesMicros, count).map(BigInt) }),
      };
    }

    input.contents.forEach(checkNumbers);
    const messages = input.messages.length;
    // One with a speed limit has messages that wait, or may have to.
    const sendAtMs = earliestSendAt(input) ?? (speedLimit === null ? null : receivedAtMs);
    const bulk = bulks.join({ accountId, bulkId, messages, sendAtMs, receivedAtMs, speedLimit });
    const spreading = speedLimit === null ? null : new Spreading(tables, bulk!, speedLimit, receivedAtMs);
    // What joins a bulk that is paused or canceled shares its fate: it waits to be looked at like the rest.
    const stopped = bulk !== null && bulk.state !== "open";

    const wallet = tables.wallets.ofAccount(accountId);
    let available = wallet.balanceMicros + wallet.creditLimitMicros;
    if (available > MAX_WALLET) available = MAX_WALLET;
    let charged = 0n;
    /** A message is refused that so much more would have paid. */
    let missing: bigint | null = null;
    let chargedParts = 0;
    const lists = optOutLists(accountId).filter((list) => tables.optOuts.any(list));
    const windows = input.contents.map((content) => (content.window === null ? null : JSON.stringify(content.window)));

    const links = input.links === null ? null : linksOf(accountId, input.links);
    const columns = input.contents.map(columnsOf);
    const encodings = input.contents.map((content) => serializeEncoding(content.encoding));
    const regionals = input.contents.map(({ regional }) => (regional === null ? null : JSON.stringify(regional)));

    const statusOf = (message: NewMessage, content: Content, cost: bigint): number => {
      if (message.clientMessageId !== null && tables.messages.isNamed(accountId, message.clientMessageId)) {
        return STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;
      }
      if (message.rejectedStatusId !== null) return message.rejectedStatusId;
      if (lists.some((list) => tables.optOuts.has({ list, number: message.to }))) {
        return STATUS.REJECTED_DESTINATION_BLOCKLISTED.id;
      }
      if (cost > available) {
        if (missing === null || cost - available < missing) missing = cost - available;
        return STATUS.REJECTED_NOT_ENOUGH_CREDITS.id;
      }
      return content.dueAtMs === null && !stopped ? STATUS.PENDING_ENROUTE.id : STATUS.PENDING_ACCEPTED.id;
    };

    const statusIds = input.messages.map((message, index) => {
      const content = input.contents[message.content]!;
      const key = nthId(input.firstKey, index);
      const cost = message.pricePerPartMicros * BigInt(content.partCount);
      const wanted = statusOf(message, content, cost);
      const place = spreading === null ? null : spreading.place(content, wanted);
      const statusId = place?.untilMs === 0 ? STATUS.PENDING_ACCEPTED.id : wanted;
      const scheduled = statusId === STATUS.PENDING_ACCEPTED.id;
      const queued = statusId === STATUS.PENDING_ENROUTE.id;
      const accepted = scheduled || queued;
      const text = links === null || !accepted ? content.text : links.textOf(message.content, content, key);
      // A duplicate is told under its own key: the client's name is that of the first message.
      const name = statusId === STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id ? null : message.clientMessageId;
      const errorId = accepted ? 0 : reasonOf(statusId);
      const { notifyUrl, reportForm } = content;
      const toPull = !accepted && notifyUrl === null && reportForm !== NO_REPORT;
      let owned = false;

      if (accepted) {
        available -= cost;
        charged += cost;
        chargedParts += content.partCount;
      } else finished.add(unit(), statusId);
      const reference = accepted && content.partCount > 1 ? references.of({ key, to: message.to }) : null;
      const firstAtMs = content.dueAtMs ?? receivedAtMs;
      const dueAtMs = place?.dueAtMs ?? firstAtMs;
      const expiresAtMs = content.expiresAtMs + dueAtMs - firstAtMs;
      const slotUntilMs = place?.untilMs ?? null;
      if (scheduled) unit().due(dueAtMs);
      if (queued) {
        const lane = { accountId, carrierId: message.carrierId! };
        owned = lanes.enter(lane, slotUntilMs !== null);
        if (owned) {
          unit().onRollback(() => lanes.leave(lane));
        } else {
          unit().overflow(lane);
          const ended = lanes.leftInStore(lane);
          unit().onCommit(ended);
          unit().onRollback(ended);
        }
      }

      const row: NewMessageRow = {
        key,
        account_id: accountId,
        bulk_id: bulkId,
        client_message_id: name,
        state: scheduled ? STATE_NUMBER.scheduled : queued ? STATE_NUMBER.queued : STATE_NUMBER.done,
        status_id: statusId,
        error_id: errorId,
        owner: owned ? epoch : null,
        reference,
        // Only a rejected message has none, and nobody asks for that of such.
        carrier_id: message.carrierId as string,
        sender: content.from,
        recipient: message.to,
        body: content.shownText ?? text,
        secret_body: accepted && content.shownText !== undefined ? text : null,
        encoding: encodings[message.content]!,
        part_count: content.partCount,
        price: message.pricePerPartMicros.toString(),
        charged_micros: accepted ? cost.toString() : "0",
        currency: wallet.currency,
        notify_url: notifyUrl,
        notify_type: reportForm,
        intermediate: content.intermediateReport ? 1 : 0,
        due_at_ms: dueAtMs,
        delivery_window: windows[message.content]!,
        expires_at_ms: expiresAtMs,
        validity_ms: expiresAtMs - dueAtMs,
        bulk_version: bulk?.version ?? null,
        slot_until_ms: slotUntilMs,
        received_at_ms: receivedAtMs,
        done_at_ms: accepted ? null : receivedAtMs,
        pull: toPull ? 0 : null,
        pull_at_ms: toPull ? receivedAtMs : null,
        regional: regionals[message.content]!,
        written: content.written ?? null,
        conversion: accepted ? input.conversion : null,
        ...columns[message.content]!,
      };
      // What is in memory may be handed over: nobody else gets its slot.
      tables.messages.insert(owned && slotUntilMs !== null ? { ...row, slot_until_ms: 0 } : row);
      if (owned) unit().messages.push(queuedMessage(row));

      const form = accepted || notifyUrl === null ? null : formFor(reportForm, TOLD.refused);
      if (notifyUrl !== null && form !== null) {
        // It has cost nothing.
        const facts = reportFacts({ ...row, price: "0" }, { statusId, errorId, atMs: receivedAtMs, mccMnc: null });
        unit().report({ accountId, url: notifyUrl, form }, facts, null);
      }
      return statusId;
    });

    spreading?.write();
    // Also where nothing is charged here: it may have been refused for what others of its group are charged.
    if (missing !== null) tables.wallets.relyOn(wallet, { most: wallet.balanceMicros + missing - 1n });
    if (charged > 0n) {
      tables.wallets.relyOn(wallet, { least: charged - wallet.creditLimitMicros });
      tables.wallets.post({
        atMs: receivedAtMs,
        kind: "charge",
        from: wallet.id,
        to: tables.wallets.ofService("revenue", wallet.currency),
        amountMicros: charged,
        messageKey: input.firstKey,
        partCount: chargedParts,
      });
      alertBelow(parts, accountId, wallet, charged, receivedAtMs);
    }
    if (names.length > 0) {
      const partCounts = input.messages.map(({ content }) => input.contents[content]!.partCount);
      const prices = input.messages.map(({ pricePerPartMicros }) => pricePerPartMicros.toString());
      const answer: KeptAnswer = {
        bulkId,
        firstKey: input.firstKey,
        statusIds: gather(statusIds),
        partCounts: gather(partCounts),
        pricesMicros: gather(prices),
      };
      keepReplay(tables, names, answer, receivedAtMs);
    }
    if (news.isOn) news.accepted(input, statusIds);
    const outcome = { kind: "accepted", bulkId, firstKey: input.firstKey, statusIds, replayed: false } as const;
    const written = links?.write();
    return written instanceof Promise ? written.then(() => outcome) : outcome;
  };
  return commands({ accept: grouped(readsOf, accept) });
}

/** One where all are the same. */
function gather<Each>(values: Each[]): Each | Each[] {
  return values.every((each) => each === values[0]) ? values[0]! : values;
}

function spread<Each>(gathered: Each | Each[], count: number): Each[] {
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
