/** Receipts and messages from phones, as a provider tells them in a callback or in an answer to a poll. Pure; what cannot be read is left out. */
import { createHash } from "node:crypto";
import type { IncomingPart } from "../../message/incoming.ts";
import type { Receipt } from "../../message/receipt.ts";
import { plainPhone } from "../../sms/addresses.ts";
import { HEADER_BIT } from "../../sms/binary.ts";
import type { Concatenation } from "../../sms/header.ts";
import { readReceived, textOfReceived } from "../../sms/received.ts";
import { isUsableId } from "../usable-id.ts";
import { errorIdOf, errorName } from "./answer.ts";
import type { IncomingDescription, ReceiptsDescription } from "./description.ts";
import { fulfils, listAt, textAt } from "./paths.ts";

/** Things in one callback or one answer that are looked at. */
const MAX_ITEMS = 10_000;
const MAX_TEXT = 10_000;
const MAX_ADDRESS = 64;
/** A longer id is none: its message may come twice. */
const MAX_INCOMING_ID = 200;
/** References of 16 bits are counted from here, and names of messages that are no numbers beyond them. */
const WIDE_REFERENCES = 0x10000;
const NAMED_REFERENCES = 0x40000;
/** Data codings (3GPP TS 23.038 §4): octets, and UCS-2. */
const [BINARY, UCS2] = [4, 8];
const FAILED = new Set(["undeliverable", "rejected", "expired", "lost"]);

function itemsOf({ at, where }: Pick<ReceiptsDescription, "at" | "where">, data: unknown): readonly unknown[] {
  return listAt(data, at)
    .slice(0, MAX_ITEMS)
    .filter((item) => fulfils(item, where));
}

export function readReceipts(description: ReceiptsDescription, data: unknown, nowMs: number): Receipt[] {
  const { outcomes, errors = {} } = description;
  return itemsOf(description, data).flatMap((item) => {
    const id = textAt(item, description.id);
    const word = textAt(item, description.status);
    if (id === undefined || !isUsableId(id) || word === undefined) return [];
    const outcome = Object.hasOwn(outcomes, word) ? outcomes[word]! : "held";
    const code = textAt(item, description.code);
    const phone = textAt(item, description.phone);
    const network = textAt(item, description.network);
    return [
      {
        carrierMessageId: id,
        outcome,
        errorId: FAILED.has(outcome) ? errorIdOf(errorName(errors, code)) : 0,
        atMs: nowMs,
        mccMnc: network !== undefined && /^\d{5,6}$/.test(network) ? network : null,
        to: phone === undefined || phone.length > MAX_ADDRESS ? null : plainPhone(phone),
      },
    ];
  });
}

export function readIncoming(description: IncomingDescription, data: unknown, nowMs: number): IncomingPart[] {
  const { defaults = {} } = description;
  return itemsOf(description, data).flatMap((item) => {
    const from = textAt(item, description.from) ?? defaults.from;
    const to = textAt(item, description.to) ?? defaults.to;
    if (from === undefined || to === undefined || from.length > MAX_ADDRESS || to.length > MAX_ADDRESS) return [];
    const id = textAt(item, description.id);
    return [
      {
        from: plainPhone(from),
        to: plainPhone(to),
        text: (textAt(item, description.text) ?? "").slice(0, MAX_TEXT).toWellFormed(),
        concatenation: placeIn(description, item),
        ...octetsIn(description, item),
        ...(id === undefined || id.length > MAX_INCOMING_ID ? {} : { carrierMessageId: id }),
        atMs: nowMs,
      },
    ];
  });
}

function placeIn({ reference, total, sequence }: IncomingDescription, item: unknown): Concatenation | null {
  const name = textAt(item, reference);
  const [of, place] = [total, sequence].map((path) => Number(textAt(item, path))) as [number, number];
  if (name === undefined || ![of, place].every(Number.isSafeInteger) || of < 2 || of > 255) return null;
  return { reference: referenceOf(name), total: of, sequence: place };
}

/** Numbers as networks have them stand for themselves; any other name for one beyond all of those. */
function referenceOf(name: string): number {
  if (/^\d{1,5}$/.test(name) && Number(name) < WIDE_REFERENCES) return Number(name);
  return NAMED_REFERENCES + (createHash("sha256").update(name).digest().readUInt32BE() >>> 2);
}

/** Octets stand beside their text; a header among them may say that they are a part. */
function octetsIn({ octets }: IncomingDescription, item: unknown): Partial<IncomingPart> {
  const written = octets === undefined || !fulfils(item, octets.where) ? undefined : textAt(item, octets.at);
  if (octets === undefined || written === undefined) return {};
  const header = Buffer.from((textAt(item, octets.header) ?? "").slice(0, MAX_TEXT), "hex");
  const dataCoding = Number(textAt(item, octets.dataCoding) ?? BINARY) & 0xff;
  const { content, concatenation, wideReference } = readReceived({
    octets: Buffer.concat([header, Buffer.from(written.slice(0, MAX_TEXT), octets.encoding ?? "hex")]),
    hasHeader: header.length > 0 || (Number(textAt(item, octets.esmClass)) & HEADER_BIT) !== 0,
    dataCoding,
    charset: dataCoding === UCS2 ? "ucs2" : "binary",
    packed: false,
  });
  const text = { text: textOfReceived(content) };
  if (content.charset !== "binary") return text;
  if (concatenation === null) return { ...text, octets: content };
  const reference = concatenation.reference + (wideReference ? WIDE_REFERENCES : 0);
  return { ...text, octets: content, concatenation: { ...concatenation, reference } };
}
