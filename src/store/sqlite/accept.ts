/** Accepting a request in SQLite: replays, the last checks, the charge, and the messages' rows, in one transaction. */
import type { Content } from "../../message/message.ts";
import { reasonOf } from "../../message/reasons.ts";
import { nthId } from "../../runtime/ids.ts";
import { STATUS } from "../../sms/statuses.ts";
import type { LaneAccounts } from "../lanes.ts";
import type { Acceptance, AcceptanceOutcome, NewMessage } from "../port.ts";
import type { Bulks } from "./bulks.ts";
import type { Db } from "./database.ts";
import type { Ledger } from "./ledger.ts";
import type { Replays } from "./replays.ts";
import { STATE_NUMBER, serializeEncoding } from "./rows.ts";
import type { Unit } from "./unit.ts";

interface KeptAnswer {
  readonly bulkId: string;
  readonly firstKey: string;
  /** One number where all messages have the same status, which is the usual case. */
  readonly statusIds: number | number[];
}

export interface AcceptParts {
  readonly db: Db;
  readonly ledger: Ledger;
  readonly replays: Replays;
  readonly bulks: Bulks;
  readonly lanes: LaneAccounts;
  readonly unit: () => Unit;
  /** The number of this start of the service: who owns what it has in memory. */
  readonly epoch: number;
}

export function acceptCommand({ db, ledger, replays, bulks, lanes, unit, epoch }: AcceptParts) {
  const insert = db.prepare(
    `INSERT INTO message (key, account_id, bulk_id, client_message_id, state, status_id, error_id, owner, carrier_id, sender, recipient, body,
       encoding, part_count, flash, price_micros, charged_micros, currency, notify_url, notify_type, callback_data, intermediate, due_at_ms,
       delivery_window, expires_at_ms, validity_ms, bulk_version, received_at_ms, done_at_ms, pull, pull_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const named = db.prepare<[number, string], unknown>(
    `SELECT 1 FROM message
     WHERE account_id = ? AND client_message_id = ? AND status_id NOT IN (11, 12, 14, 19, 23, 24, 25, 52)`,
  );
  const anyOptOut = db.prepare<[number], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? LIMIT 1");
  const optedOut = db.prepare<[number, string], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? AND number = ?");

  return (input: Acceptance): AcceptanceOutcome => {
    const { accountId, bulkId, receivedAtMs } = input;
    const earlier = replays.find<KeptAnswer>(accountId, input.replay, bulkId, receivedAtMs);
    if (earlier === "conflict") return { kind: "conflict" };
    if (earlier !== null) {
      const { statusIds } = earlier;
      return {
        kind: "accepted",
        bulkId: earlier.bulkId,
        firstKey: earlier.firstKey,
        statusIds: Array.isArray(statusIds) ? statusIds : input.messages.map(() => statusIds),
        replayed: true,
      };
    }

    const bulk = bulks.join(accountId, bulkId, earliestSendAt(input));
    // What joins a bulk that is paused or canceled shares its fate: it waits to be looked at like the rest.
    const stopped = bulk !== null && bulk.state !== "open";

    const purse = ledger.purseOf(accountId);
    let available = purse.balanceMicros + purse.creditLimitMicros;
    let charged = 0n;
    let chargedParts = 0;
    const optOutLists = [0, accountId].filter((list) => anyOptOut.get(list) !== undefined);
    const windows = input.contents.map((content) => (content.window === null ? null : JSON.stringify(content.window)));

    const encodings = input.contents.map((content) => serializeEncoding(content.encoding));

    const statusOf = (message: NewMessage, content: Content, cost: bigint): number => {
      if (message.clientMessageId !== null && named.get(accountId, message.clientMessageId) !== undefined) {
        return STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;
      }
      if (message.rejectedStatusId !== null) return message.rejectedStatusId;
      if (optOutLists.some((list) => optedOut.get(list, message.to) !== undefined)) {
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
          });
        } else {
          unit().spill(lane);
        }
      }

      insert.run(
        BigInt(key),
        accountId,
        bulkId,
        message.clientMessageId,
        scheduled ? STATE_NUMBER.scheduled : queued ? STATE_NUMBER.queued : STATE_NUMBER.done,
        statusId,
        errorId,
        owned ? epoch : null,
        message.carrierId,
        content.from,
        message.to,
        content.text,
        encodings[message.content],
        content.partCount,
        content.flash ? 1 : 0,
        message.pricePerPartMicros,
        accepted ? cost : 0n,
        purse.currency,
        content.notifyUrl,
        content.notifyContentType,
        content.callbackData,
        content.intermediateReport ? 1 : 0,
        dueAtMs,
        windows[message.content],
        content.expiresAtMs,
        content.expiresAtMs - dueAtMs,
        bulk?.version ?? null,
        receivedAtMs,
        accepted ? null : receivedAtMs,
        toPull ? 0 : null,
        toPull ? receivedAtMs : null,
      );

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
            callbackData: content.callbackData,
            pricePerPartMicros: 0n,
            currency: purse.currency,
            statusId,
            errorId,
          },
          null,
        );
      }
      return statusId;
    });

    if (charged > 0n) {
      ledger.post({
        atMs: receivedAtMs,
        kind: "charge",
        from: purse.id,
        to: ledger.servicePurse("revenue", purse.currency),
        amountMicros: charged,
        messageKey: input.firstKey,
        partCount: chargedParts,
      });
    }
    const uniform = statusIds.every((statusId) => statusId === statusIds[0]);
    const answer: KeptAnswer = { bulkId, firstKey: input.firstKey, statusIds: uniform ? statusIds[0]! : statusIds };
    replays.keep(accountId, input.replay, bulkId, answer, receivedAtMs);
    return { kind: "accepted", bulkId, firstKey: input.firstKey, statusIds, replayed: false };
  };
}

/** When the first of the messages that wait is to go, or null if none waits. */
function earliestSendAt({ contents, receivedAtMs }: Acceptance): number | null {
  const waiting = contents.filter(({ dueAtMs }) => dueAtMs !== null);
  if (waiting.length === 0) return null;
  return Math.min(...waiting.map(({ sendAtMs }) => Math.max(sendAtMs ?? receivedAtMs, receivedAtMs)));
}
