/**
 * Which part a receipt is about. A carrier may give an id twice: its nodes count apart, or it starts its count anew. Then what the receipt says of its
 * phone and of its submit decides, and if that fits the parts of several messages, nothing does: a wrong guess would tell two clients lies. Parts of
 * one message under one id are no riddle: some carriers give all of them the same, and any of them will do. Pure.
 */
import { samePhone } from "../../message/phones.ts";
import type { Receipt } from "../../message/receipt.ts";
import type { MessageRow, PartRow } from "../../store/schema/message.ts";

/** The message's time is of the node that accepted it, the receipt's of the one that it came to: their clocks may differ by so much. */
export const CLOCKS_APART_MS = 5_000;

/** A part with the receipt's id, and its message; without one if that has left the store. */
export interface Candidate {
  readonly part: PartRow;
  readonly row: MessageRow | undefined;
}

/** Of several parts with the receipt's id that may be to its phone, the one that is meant; null if that cannot be known. */
export function choose(receipt: Receipt, candidates: readonly Candidate[]): Candidate | null {
  const stored = preferred(candidates, ({ row }) => row !== undefined);
  const toPhone = preferred(stored, ({ row }) => row !== undefined && isVery(receipt, row.recipient));
  const before = preferred(
    toPhone,
    ({ row }) => row === undefined || row.received_at_ms - CLOCKS_APART_MS <= receipt.atMs,
  );
  const meant = isOfOne(before) ? before : submittedThen(receipt, before);
  if (!isOfOne(meant)) return null;
  return meant.find(({ part }) => part.counts === 1) ?? meant[0]!;
}

/** Those that are preferred; all of them if none is. */
function preferred(candidates: readonly Candidate[], isBetter: (one: Candidate) => boolean): readonly Candidate[] {
  const better = candidates.filter(isBetter);
  return better.length === 0 ? candidates : better;
}

function isVery({ to, other = null }: Receipt, recipient: string): boolean {
  return [to, other].some((phone) => phone !== null && samePhone(phone, recipient));
}

function isOfOne(candidates: readonly Candidate[]): boolean {
  return candidates.every(({ part }) => part.key === candidates[0]!.part.key);
}

const QUARTER_MS = 15 * 60_000;
/** The zones of the world are whole quarters of an hour from UTC, and at most so many hours. */
const MAX_ZONE_MS = 14 * 3_600_000;
/** The network writes whole minutes, and we know when it answered, up to half a minute later: so much is between the two on average. */
const USUAL_LAG_MS = 45_000;
/** A time that is off by no more fits, and one that is off by more than the second does not. In between nothing is known. */
const FITS_MS = 90_000;
const MISFITS_MS = 180_000;

/** Those that were submitted when the receipt says, in whatever zone its network is, if none of the others can have been. */
function submittedThen({ submittedAtMs }: Receipt, candidates: readonly Candidate[]): readonly Candidate[] {
  if (!Number.isSafeInteger(submittedAtMs)) return candidates;
  const near = candidates.filter(({ part }) => offBy(submittedAtMs!, part.submittedAtMs) < MISFITS_MS);
  const fits = near.every(({ part }) => offBy(submittedAtMs!, part.submittedAtMs) <= FITS_MS);
  return fits && near.length > 0 ? near : candidates;
}

/** How far two times are apart that may be of two zones. */
function offBy(saidMs: number, knownMs: number): number {
  const apartMs = saidMs - knownMs + USUAL_LAG_MS;
  if (Math.abs(apartMs) > MAX_ZONE_MS + MISFITS_MS) return Number.POSITIVE_INFINITY;
  return Math.abs(apartMs - Math.round(apartMs / QUARTER_MS) * QUARTER_MS);
}
