/** What a message says becomes what goes on the air, and in how many parts, or the status that says why it cannot. Pure. */
import { type Body, countOctets, isOctets } from "../sms/body.ts";
import { dataCodingOf, readDataCoding } from "../sms/datacoding.ts";
import { measure } from "../sms/parts.ts";
import { STATUS } from "../sms/statuses.ts";
import { MAX_PARTS, MAX_TEXT_LENGTH, prepareText, type TextOptions } from "../sms/text.ts";
import { bodyFor, type TextWriting } from "../sms/writing.ts";
import type { BinaryFields, MessageFields } from "./request.ts";

/**
 * The parts of a text that is too long are counted, as it stands, which costs a few nanoseconds a character; past ten times what fits not
 * even that. What is kept of something that was rejected is cut, because each of thousands of destinations would keep it.
 */
const COUNTED_TEXT_LENGTH = 10 * MAX_TEXT_LENGTH;
const KEPT_TEXT_LENGTH = 4_000;
/** Two digits an octet, and of octets none is less than a septet. */
const MAX_HEX_LENGTH = 2 * MAX_TEXT_LENGTH;

export interface PreparedBody extends Body {
  readonly partCount: number;
  readonly rejectedStatusId: number | null;
}

/** Texts of one request that were transliterated, by themselves: many messages often have the same. */
export type KnownBodies = Map<string, { readonly options: TextOptions; readonly body: PreparedBody }>;

/** `isWanted` says that somebody may get it. What nobody will is not transliterated, which is by far the most that there is to do. */
export function prepareBody(fields: MessageFields, isWanted = true, known?: KnownBodies): PreparedBody {
  if (fields.binary !== undefined) return kept(prepareOctets(fields.binary, fields));
  const options = textOptions(fields);
  if (options.transliteration === undefined) return kept(prepareWords(fields.text, options));
  if (!isWanted) return kept(prepareWords(fields.text, { ...options, transliteration: undefined }));
  const before = known?.get(fields.text);
  if (before !== undefined && isSame(before.options, options)) return before.body;
  const body = kept(prepareWords(fields.text, options));
  known?.set(fields.text, { options, body });
  return body;
}

/** The body as a carrier sends it that takes less than GSM, counted anew; null where it is the same. */
export function rewrittenBody(body: Body, writing: TextWriting): PreparedBody | null {
  const rewritten = bodyFor(body, writing);
  if (rewritten === body || isOctets(rewritten.encoding)) return null;
  const { partCount } = measure(rewritten.text, rewritten.encoding)!;
  return kept(
    partCount > MAX_PARTS ? tooLong(rewritten, partCount) : { ...rewritten, partCount, rejectedStatusId: null },
  );
}

function isSame(first: TextOptions, second: TextOptions): boolean {
  return (
    first.transliteration === second.transliteration &&
    first.languageCode === second.languageCode &&
    first.singleShift === second.singleShift &&
    first.lockingShift === second.lockingShift
  );
}

function kept(prepared: PreparedBody): PreparedBody {
  if (prepared.rejectedStatusId === null) return prepared;
  return { ...prepared, text: prepared.text.slice(0, KEPT_TEXT_LENGTH).toWellFormed() };
}

function prepareWords(text: string, options: TextOptions): PreparedBody {
  if (text.length > COUNTED_TEXT_LENGTH) return tooLong({ text, encoding: "gsm7" });
  const { text: shown, encoding, partCount } = prepareText(text, options);
  if (partCount > MAX_PARTS) return tooLong({ text: shown, encoding }, partCount);
  return { text: shown, encoding, partCount, rejectedStatusId: null };
}

function prepareOctets(
  { hex, dataCoding = 0, esmClass = 0 }: BinaryFields,
  { flash = false }: MessageFields,
): PreparedBody {
  const { alphabet } = readDataCoding(dataCoding);
  // A coding that names an alphabet and no class leaves room for the one of a flash message.
  const classless = dataCoding === dataCodingOf(alphabet, false);
  const encoding = { dataCoding: classless ? dataCodingOf(alphabet, flash) : dataCoding, esmClass };
  const text = hex.replaceAll(" ", "");
  if (text.length > MAX_HEX_LENGTH) return tooLong({ text, encoding });
  const counted = countOctets(text, encoding);
  if (counted === "bad header") {
    return { text, encoding, partCount: 1, rejectedStatusId: STATUS.REJECTED_INVALID_UDH.id };
  }
  if (counted === "not to be cut") return tooLong({ text, encoding });
  return counted > MAX_PARTS
    ? tooLong({ text, encoding }, counted)
    : { text, encoding, partCount: counted, rejectedStatusId: null };
}

function tooLong(body: Body, partCount = MAX_PARTS + 1): PreparedBody {
  return { ...body, partCount, rejectedStatusId: STATUS.REJECTED_MESSAGE_TOO_LONG.id };
}

/** The flat form of the language is the older one; where both are given the nested one counts. */
function textOptions(fields: MessageFields): TextOptions {
  const { languageCode = fields.languageCode, singleShift, lockingShift } = fields.language ?? {};
  return { languageCode, singleShift, lockingShift, transliteration: fields.transliteration };
}
