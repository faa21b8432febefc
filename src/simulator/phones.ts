/**
 * What the phones of the simulated network show: what has arrived on each of them, what each has written, and whether it is switched on. It is kept in
 * memory only, in bounds: past them the phone that was used longest ago is forgotten, and a phone's oldest message. Texts are bounded by their length
 * too, all phones together, for a hundred of the longest messages on each phone would be more than there is memory.
 *
 * A long text comes in parts. As on a real phone they wait until all are there, and are then one message.
 */
import type { PartToSubmit } from "../carriers/port.ts";
import { joinParts, type PlacedPart, placeOf } from "../message/incoming.ts";
import { type BoundedCache, boundedCache } from "../runtime/cache.ts";
import { isOctets } from "../sms/body.ts";
import { decodeUserData } from "../sms/text.ts";
import type { PhoneState } from "./phone-states.ts";

const MAX_PHONES = 1_000;
const MAX_MESSAGES = 100;
/** Long texts of which some parts have come, on one phone. */
const MAX_UNFINISHED = 20;
/** Accounts that asked for a phone which has nothing for them yet. */
const MAX_KEEPERS = 20;
/** Characters that are kept, of all phones together. */
const MAX_CHARACTERS = 8_000_000;
/** What a message or a part counts for beside its text. */
const OVERHEAD = 100;

/** A message as the phone shows it. */
export interface HandsetMessage {
  /** Counts the messages of the whole network. */
  readonly place: number;
  /** Whether the phone got it or wrote it. */
  readonly direction: "received" | "written";
  /** The sender that the phone shows, or the number that it wrote to. */
  readonly peer: string;
  /** Of what is no text, its hex. */
  readonly text: string;
  readonly isBinary: boolean;
  /** 23.038's data coding; null for what the phone wrote. */
  readonly dataCoding: number | null;
  /** Shown on receipt, over whatever the phone shows. */
  readonly isFlash: boolean;
  readonly partCount: number;
  readonly atMs: number;
  /** Our own key of the message that brought it, where that is known. */
  readonly messageKey: string | null;
}

/** Whoever looks at phones: an account sees what it sent, and what was written to its numbers. Null sees all. */
export type Viewer = { readonly accountId: number; readonly accountKey: string } | null;

export interface PhoneSummary {
  readonly number: string;
  readonly state: PhoneState;
  /** How many messages the viewer may see on it. */
  readonly messageCount: number;
  readonly last: HandsetMessage | null;
}

export interface PhoneView extends Omit<PhoneSummary, "last" | "messageCount"> {
  /** The oldest first. */
  readonly messages: readonly HandsetMessage[];
}

interface Kept extends HandsetMessage {
  readonly accountId: number | null;
  readonly accountKey: string | null;
}

interface Unfinished {
  readonly parts: Map<number, PlacedPart>;
  characters: number;
}

/** Of what a phone has, that which one account may see of one direction. */
interface Share {
  count: number;
  last: Kept;
}

interface Phone {
  state: PhoneState;
  messages: Kept[];
  /** By what their parts have in common. */
  readonly unfinished: Map<string, Unfinished>;
  /** By `shareOf`, so that a list need not look at each message. */
  readonly shares: Map<string, Share>;
  characters: number;
  /** Accounts that want to see it though nothing has come. */
  readonly keepers: Set<number>;
}

export class Phones {
  readonly #phones: BoundedCache<string, Phone> = boundedCache(MAX_PHONES);
  #places = 0;
  #characters = 0;

  stateOf(number: string): PhoneState {
    return this.#phones.peek(number)?.state ?? "on";
  }

  /** From now on; null: it is only to be there. */
  set(number: string, state: PhoneState | null, viewer: Viewer): void {
    const phone = this.#phone(number);
    if (state !== null) phone.state = state;
    if (viewer === null) return;
    phone.keepers.add(viewer.accountId);
    for (const oldest of phone.keepers) {
      if (phone.keepers.size <= MAX_KEEPERS) break;
      phone.keepers.delete(oldest);
    }
  }

  /** A part has reached the phone. */
  arrived({ message, userData }: PartToSubmit, atMs: number): void {
    const phone = this.#phone(message.to);
    const read = decodeUserData({ ...userData, unpacked: isOctets(message.encoding) });
    const { dataCoding } = userData;
    const isBinary = read.alphabet === "octets";
    const hex = Buffer.from(read.payload).toString("hex");
    const content = isBinary ? ({ charset: "binary", hex, dataCoding, header: "" } as const) : read.text;
    const place = placeOf(read.concatenation ?? null);
    const parts = this.#together(phone, message.from, place, content);
    if (parts === null) return;
    this.#keep(phone, {
      direction: "received",
      peer: message.from,
      text: joinParts(parts).text,
      isBinary,
      dataCoding,
      isFlash: read.flash,
      partCount: parts.length,
      atMs,
      messageKey: message.key ?? null,
      accountId: message.accountId ?? null,
      accountKey: null,
    });
  }

  /** The phone has written to a number, which is this account's. */
  wrote({ from, to, text, atMs, accountKey, partCount }: WrittenMessage): void {
    this.#keep(this.#phone(from), {
      direction: "written",
      peer: to,
      text,
      isBinary: false,
      dataCoding: null,
      isFlash: false,
      partCount,
      atMs,
      messageKey: null,
      accountId: null,
      accountKey,
    });
  }

  /** Those that have something for the viewer, the one that was used last first. */
  list(viewer: Viewer, limit: number): { phones: PhoneSummary[]; more: boolean } {
    const found: PhoneSummary[] = [];
    for (const [number, phone] of this.#phones.entries()) {
      const { count, last } = summaryOf(phone, viewer);
      if (count === 0 && viewer !== null && !phone.keepers.has(viewer.accountId)) continue;
      if (found.length === limit) return { phones: found, more: true };
      found.push({ number, state: phone.state, messageCount: count, last: last === null ? null : shown(last) });
    }
    return { phones: found, more: false };
  }

  show(number: string, viewer: Viewer): PhoneView {
    const phone = this.#phones.peek(number);
    const messages = (phone?.messages ?? []).filter((message) => maySee(message, viewer)).map(shown);
    return { number, state: phone?.state ?? "on", messages };
  }

  #phone(number: string): Phone {
    const known = this.#phones.get(number);
    if (known !== undefined) return known;
    if (this.#phones.size >= MAX_PHONES) this.#forgetOldest();
    const phone: Phone = {
      state: "on",
      messages: [],
      unfinished: new Map(),
      shares: new Map(),
      characters: 0,
      keepers: new Set(),
    };
    this.#phones.set(number, phone);
    return phone;
  }

  /** The phone that was used longest ago. */
  #forgetOldest(): void {
    const [oldest] = this.#phones.rkeys();
    this.#characters -= this.#phones.peek(oldest!)!.characters;
    this.#phones.delete(oldest!);
  }

  /** Something of this phone has come, or has gone. */
  #count(phone: Phone, characters: number): void {
    phone.characters += characters;
    this.#characters += characters;
  }

  /** Makes room where there is too much: of other phones first, and then of the one that is used now. */
  #makeRoom(phone: Phone): void {
    while (this.#characters > MAX_CHARACTERS && this.#phones.size > 1) this.#forgetOldest();
    while (this.#characters > MAX_CHARACTERS && phone.unfinished.size > 1) this.#dropUnfinished(phone);
    while (this.#characters > MAX_CHARACTERS && phone.messages.length > 1) this.#dropMessage(phone);
  }

  /** The parts of the whole message, in order, with this one; null while others are missing. */
  #together(
    phone: Phone,
    from: string,
    place: ReturnType<typeof placeOf>,
    content: PlacedPart["content"],
  ): PlacedPart[] | null {
    if (place === null) return [{ sequence: 1, content }];
    const { reference, total, sequence } = place;
    const name = `${reference} ${total} ${from}`;
    const known = phone.unfinished.get(name) ?? { parts: new Map<number, PlacedPart>(), characters: 0 };
    const { parts } = known;
    const before = parts.get(sequence);
    const more = sizeOf(content) - (before === undefined ? 0 : sizeOf(before.content));
    parts.set(sequence, { sequence, content });
    known.characters += more;
    this.#count(phone, more);
    phone.unfinished.delete(name);
    if (parts.size === total) {
      this.#count(phone, -known.characters);
      return [...parts.values()].sort((one, other) => one.sequence - other.sequence);
    }
    phone.unfinished.set(name, known);
    if (phone.unfinished.size > MAX_UNFINISHED) this.#dropUnfinished(phone);
    this.#makeRoom(phone);
    return null;
  }

  /** The one of which no part has come for longest. */
  #dropUnfinished(phone: Phone): void {
    const [name, oldest] = phone.unfinished.entries().next().value!;
    phone.unfinished.delete(name);
    this.#count(phone, -oldest.characters);
  }

  #keep(phone: Phone, message: Omit<Kept, "place">): void {
    const kept: Kept = { ...message, place: ++this.#places };
    phone.messages.push(kept);
    const share = phone.shares.get(shareOf(kept));
    phone.shares.set(shareOf(kept), { count: (share?.count ?? 0) + 1, last: kept });
    this.#count(phone, sizeOf(kept.text));
    if (phone.messages.length > MAX_MESSAGES) this.#dropMessage(phone);
    this.#makeRoom(phone);
  }

  #dropMessage(phone: Phone): void {
    const oldest = phone.messages.shift()!;
    const share = phone.shares.get(shareOf(oldest))!;
    share.count--;
    if (share.count === 0) phone.shares.delete(shareOf(oldest));
    this.#count(phone, -sizeOf(oldest.text));
  }
}

/** `accountKey` is whose number it wrote to. */
export interface WrittenMessage extends Pick<Kept, "text" | "partCount" | "atMs" | "accountKey"> {
  readonly from: string;
  readonly to: string;
}

function sizeOf(content: PlacedPart["content"]): number {
  return OVERHEAD + (typeof content === "string" ? content.length : content.hex.length);
}

function shareOf({ direction, accountId, accountKey }: Pick<Kept, "direction" | "accountId" | "accountKey">): string {
  return direction === "received" ? `received ${accountId}` : `written ${accountKey}`;
}

/** What a viewer may see of a phone: how much, and the last of it. */
function summaryOf({ messages, shares }: Phone, viewer: Viewer): { count: number; last: Kept | null } {
  if (viewer === null) return { count: messages.length, last: messages.at(-1) ?? null };
  const { accountId, accountKey } = viewer;
  const received = shares.get(shareOf({ direction: "received", accountId, accountKey: null }));
  const written = shares.get(shareOf({ direction: "written", accountId: null, accountKey }));
  const later = (received?.last.place ?? 0) > (written?.last.place ?? 0) ? received : written;
  return { count: (received?.count ?? 0) + (written?.count ?? 0), last: later?.last ?? null };
}

function maySee(message: Kept, viewer: Viewer): boolean {
  if (viewer === null) return true;
  return message.direction === "received"
    ? message.accountId === viewer.accountId
    : message.accountKey === viewer.accountKey;
}

function shown({ accountId: _, accountKey: __, ...message }: Kept): HandsetMessage {
  return message;
}
