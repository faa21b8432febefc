/** What becomes of messages that were handed to their carrier. */
import { type Step, step } from "../message/life.ts";
import type { MessageKey, PartsTaken } from "../message/message.ts";
import { TOLD } from "../message/report-form.ts";
import { errorByName } from "../sms/errors.ts";
import { STATUS } from "../sms/statuses.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { SubmittedMessage } from "../store/port/delivery.ts";
import type { PartName } from "../store/port/receipts.ts";
import { takenOf } from "../store/rows.ts";
import { type MessageRow, STATE_NUMBER } from "../store/schema/message.ts";
import { laneOf } from "../store/tables.ts";
import type { Bulks } from "./bulks.ts";
import type { Endings } from "./endings.ts";
import { commands, grouped } from "./entry.ts";
import type { LiveNews } from "./live-news.ts";
import type { Matches } from "./receipts/matches.ts";
import { distinct } from "./receipts/names.ts";

const VALIDITY_EXPIRED = errorByName("EC_VALIDITY_EXPIRED").id;
const NOT_ACKNOWLEDGED = errorByName("EC_MESSAGE_SUBMITTED_NOT_ACKED").id;

const keysOf = (items: readonly { key: MessageKey }[]): MessageKey[] => items.map(({ key }) => key);
const readsMessages = ({ messages }: { messages: readonly { key: MessageKey }[] }) => ({
  ownMessages: keysOf(messages),
});
const readsProofs = (messages: readonly { key: MessageKey; provenBy?: PartName | null }[]) => {
  const newParts = messages.flatMap(({ key, provenBy }) => (provenBy == null ? [] : { ...provenBy, key }));
  return { ownMessages: keysOf(messages), newParts, parked: newParts };
};

/** What is told later may come first: what is known already is not forgotten for it. */
function mergeTaken(known: PartsTaken | null, told: PartsTaken): PartsTaken {
  if (known === null || known.cut !== told.cut || known.reference !== told.reference) return told;
  return { ...told, ids: told.ids.map((id, index) => id ?? known.ids[index] ?? null) };
}

/** What its carrier calls the parts that it has of a message which stopped in the middle. */
export function takenNames(row: MessageRow): PartName[] {
  const ids = takenOf(row)?.ids ?? [];
  return ids.flatMap((id) => (id === null ? [] : [{ carrierId: row.carrier_id, carrierMessageId: id }]));
}

/** Under which a receipt would prove that its carrier has a message that it never answered: our own key. */
const provingName = ({ carrier_id, key }: MessageRow): PartName => ({ carrierId: carrier_id, carrierMessageId: key });

/** Under which receipts may wait for a message that ends before its carrier said that it has all of it. */
export function waitingNames(row: MessageRow): PartName[] {
  return row.taken === null && row.unknown_count > 0 ? [provingName(row)] : takenNames(row);
}

export type TakenParts = ReturnType<typeof taking>;

/** What a carrier has of a message. */
export function taking({ tables }: CommandParts, bulks: Bulks, { report, conclude }: Endings, news: LiveNews) {
  /** The carrier has all that it will get of the message: from now on its receipts are waited for. */
  function taken(
    row: MessageRow,
    { carrierId, parts, refusedErrorId, atMs }: SubmittedMessage,
    matches: Matches,
  ): void {
    // Nothing would ever be heard of it.
    if (!parts.some(({ counts }) => counts)) {
      conclude(row, step("submitting", "gave up")!, refusedErrorId ?? 0, atMs, null);
      return;
    }
    const statusId = STATUS[step("submitting", "accepted")!.status].id;
    const changed = tables.messages.change(row, {
      state: STATE_NUMBER.submitted,
      status_id: statusId,
      owner: null,
      sent_at_ms: atMs,
      parts_pending: parts.filter((part) => part.counts).length,
      worst_event: refusedErrorId === null ? null : "rejected",
      error_id: refusedErrorId ?? 0,
      taken: null,
      // Nothing is handed over any more, so nobody needs the text.
      secret_body: null,
    });
    bulks.sent(row);
    if (news.isOn) news.sent(changed, carrierId);
    for (const { carrierMessageId, counts } of parts) {
      const times = { submittedAtMs: atMs, expiresAtMs: row.expires_at_ms };
      matches.add({ carrierId, carrierMessageId, key: row.key, counts: counts ? 1 : 0, ...times });
    }
    if (row.intermediate === 1) report(changed, { statusId, errorId: 0, atMs, mccMnc: null }, TOLD.accepted);
    if (!tables.receipts.anyParked(carrierId)) return;
    const names = distinct(parts.map(({ carrierMessageId }) => ({ carrierId, carrierMessageId })));
    for (const name of names) matches.matchName(name, { only: row });
  }

  /** Whether a receipt that waits under this name proves that the carrier has it all. From now on it is as if the carrier had said so. */
  function takenIfProven(row: MessageRow, name: PartName | null | undefined, atMs: number, matches: Matches): boolean {
    if (name == null || tables.receipts.parked(name).length === 0) return false;
    const { carrierId, carrierMessageId } = name;
    const parts = [{ carrierMessageId, counts: true }];
    taken(row, { key: row.key, carrierId, parts, refusedErrorId: null, atMs }, matches);
    return true;
  }

  /** No carrier has said that it has any of it. One that was never answered may be with a carrier, which charges for it. */
  function endUntaken(row: MessageRow, made: Step, atMs: number, matches: Matches): void {
    if (row.unknown_count === 0) conclude(row, made, 0, atMs, null);
    else if (!takenIfProven(row, provingName(row), atMs, matches))
      conclude(row, step("submitting", "gave up")!, NOT_ACKNOWLEDGED, atMs, null);
  }

  /** Its validity is over before all of it went. Of what the carrier has, the receipts are waited for, and it stays charged. */
  function expire(row: MessageRow, atMs: number, matches: Matches): void {
    const begun = takenOf(row);
    if (begun === null) {
      endUntaken(row, step("queued", "validity over")!, atMs, matches);
      return;
    }
    const parts = begun.ids.flatMap((id) => (id === null ? [] : [{ carrierMessageId: id, counts: true }]));
    const message = { key: row.key, carrierId: row.carrier_id, parts, refusedErrorId: VALIDITY_EXPIRED, atMs };
    taken(row, message, matches);
  }

  return { taken, takenIfProven, endUntaken, expire };
}

export function submittingCommands(
  { tables, lanes, unit, epoch, now }: CommandParts,
  bulks: Bulks,
  { conclude }: Endings,
  { taken, takenIfProven }: TakenParts,
  beginMatches: () => Matches,
) {
  function leaveLane(row: MessageRow): void {
    const lane = laneOf(row);
    lanes.leave(lane);
    unit().onRollback(() => lanes.take(lane, 1));
  }

  /**
   * A message that waits here. What is told of one that another node has by now, or of one that has gone on, comes too late: it was told
   * before, and the answer was lost.
   */
  function ownMessage(key: MessageKey): MessageRow | null {
    const row = tables.messages.get(key);
    return row?.state === STATE_NUMBER.queued && row.owner === epoch ? row : null;
  }

  return commands({
    submitted: grouped(
      ({ messages }) => {
        const newParts = messages.flatMap(({ key, carrierId, parts }) =>
          parts.map(({ carrierMessageId }) => ({ carrierId, carrierMessageId, key })),
        );
        return { ownMessages: keysOf(messages), newParts, parked: newParts };
      },
      ({ messages }) => {
        const matches = beginMatches();
        for (const message of messages) {
          const row = tables.messages.get(message.key);
          if (row === undefined) continue;
          if (row.owner === epoch) leaveLane(row);
          if (row.state <= STATE_NUMBER.queued) taken(row, message, matches);
        }
      },
    ),

    reroute: grouped(readsMessages, ({ messages }) => {
      for (const { key, carrierId } of messages) {
        const row = ownMessage(key);
        if (row === null) continue;
        const lane = { accountId: row.account_id, carrierId };
        leaveLane(row);
        lanes.take(lane, 1);
        unit().onRollback(() => lanes.leave(lane));
        tables.messages.change(row, { carrier_id: carrierId });
      }
    }),

    postpone: grouped(readsMessages, ({ messages }) => {
      for (const { key, dueAtMs, event } of messages) {
        const row = ownMessage(key);
        if (row === null) continue;
        leaveLane(row);
        const isPutOff = event === "put off";
        const statusId = STATUS[step(isPutOff ? "submitting" : "queued", event)!.status].id;
        const waiting = { state: STATE_NUMBER.scheduled, status_id: statusId, owner: null, due_at_ms: dueAtMs };
        tables.messages.change(row, isPutOff ? { ...waiting, bulk_version: bulks.versionOfPutOff(row) } : waiting);
        unit().due(dueAtMs);
      }
    }),

    again: grouped(
      ({ messages }) => readsProofs(messages),
      ({ messages }) => {
        const gone: number[] = [];
        const matches = beginMatches();
        for (const [place, { key, unknown, taken: has, provenBy }] of messages.entries()) {
          const row = ownMessage(key);
          if (row === null) {
            gone.push(place);
            continue;
          }
          if (takenIfProven(row, provenBy, now(), matches)) {
            leaveLane(row);
            gone.push(place);
            continue;
          }
          tables.messages.change(row, {
            ...(unknown ? { unknown_count: row.unknown_count + 1 } : {}),
            ...(has === null ? {} : { taken: JSON.stringify(mergeTaken(takenOf(row), has)) }),
          });
        }
        return { gone };
      },
    ),

    finish: grouped(
      ({ endings }) => ({ ...readsProofs(endings), refunds: true }),
      ({ endings }) => {
        const matches = beginMatches();
        for (const { key, event, errorId, atMs, provenBy } of endings) {
          const row = ownMessage(key);
          if (row === null) continue;
          leaveLane(row);
          if (takenIfProven(row, provenBy, atMs, matches)) continue;
          conclude(row, step("submitting", event)!, errorId, atMs, null);
        }
      },
    ),

    release: grouped(
      ({ keys }) => ({ ownMessages: keys }),
      ({ keys }) => {
        for (const key of keys) {
          const row = ownMessage(key);
          if (row === null) continue;
          leaveLane(row);
          tables.messages.change(row, { owner: null });
          lanes.setOverflowed(laneOf(row), true);
          unit().overflow(laneOf(row));
        }
      },
    ),
  });
}
