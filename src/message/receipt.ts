/**
 * What a network says of a part that it took, and the names under which parts and receipts stand that have no id of the carrier's. Pure.
 */
import { plainPhone } from "../sms/addresses.ts";
import { isNational, samePhone } from "./phones.ts";

/** What a network says of a part that it took; the words are events of the message's life. */
export type ReceiptOutcome = "held" | "delivered" | "undeliverable" | "rejected" | "expired" | "lost";

export interface Receipt {
  readonly carrierMessageId: string;
  readonly outcome: ReceiptOutcome;
  /** An id of the table in sms/errors.ts; 0 is no error. */
  readonly errorId: number;
  /** When it came, by our clock: a network's own times cannot be relied on. How long the message is kept counts from it. */
  readonly atMs: number;
  /** Mobile country and network code, where the network tells. */
  readonly mccMnc: string | null;
  /** The phone that it is about, where the network tells. It has to be the message's, and finds a part whose id was never learnt. */
  readonly to: string | null;
  /** The other number in it, where there is one: some carriers swap the two. */
  readonly other?: string | null;
  /** When the network says that the part was submitted: with an id that it has used twice, this tells which of the two is meant. By its own clock and zone. */
  readonly submittedAtMs?: number | null;
  /** Of one that could not be read: the whole PDU, or its beginning, in hex, for whoever wants to find out why. It is parked with them. */
  readonly octets?: string | null;
  /** It only looks like a receipt, and may be a message that a phone wrote. Then `to` has to be the message's, and the id its part's. */
  readonly unmarked?: boolean;
}

/** Which of the receipts that match no message. */
export interface ParkedFilter {
  readonly carrierId?: string;
  readonly beforeMs?: number;
}

/** Under this id a part waits whose own was never learnt: the next receipt for its phone that fits no other part is taken for it. */
export function unknownId(to: string): string {
  return `${UNKNOWN_PREFIX}${plainPhone(to)}`;
}

export const UNKNOWN_PREFIX = "unknown:";

/** Under ids with this in front receipts are parked that could not be read, and have none. */
export const UNREADABLE_PREFIX = "unreadable:";

/** An id that stands for a phone, or for octets: a carrier that writes such a one has no part of that name. */
export function isReservedId(id: string): boolean {
  return id.startsWith(UNKNOWN_PREFIX) || id.startsWith(UNREADABLE_PREFIX);
}

/**
 * Whether what a receipt says of its phone agrees with the message's recipient. One without a mark has to name it. A marked one may say nothing, or
 * nothing that can be read: then its id decides. Another number in the phone's place makes it foreign, unless the addresses are swapped.
 */
export function isAboutPhone({ to, other = null, unmarked }: Receipt, recipient: string): boolean {
  if (unmarked === true) return to !== null && samePhone(to, recipient);
  if (to === null) return true;
  return [to, other].some((phone) => phone !== null && (samePhone(phone, recipient) || isNational(phone, recipient)));
}
