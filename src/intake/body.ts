/** What a message says becomes what goes on the air, and in how many parts, or the status that says why it cannot. Pure. */
import { type Body, countOctets } from "../sms/body.ts";
import { dataCodingOf, readDataCoding } from "../sms/datacoding.ts";
import { STATUS } from "../sms/statuses.ts";
import { MAX_PARTS, prepareText, type TextOptions } from "../sms/text.ts";
import type { BinaryFields, MessageFields } from "./request.ts";

/**
 * No text of this length fits into 25 parts in any alphabet, so it is not even looked at; and what is kept of something that was
 * rejected is cut, because each of thousands of destinations would keep it.
 */
const HOPELESS_TEXT_LENGTH = 40_000;
const KEPT_TEXT_LENGTH = 4_000;

export interface PreparedBody extends Body {
  readonly partCount: number;
  readonly rejectedStatusId: number | null;
}

export function prepareBody(fields: MessageFields): PreparedBody {
  const prepared =
    fields.binary === undefined ? prepareWords(fields.text, fields) : prepareOctets(fields.binary, fields);
  if (prepared.rejectedStatusId === null) return prepared;
  return { ...prepared, text: prepared.text.slice(0, KEPT_TEXT_LENGTH).toWellFormed() };
}

function prepareWords(text: string, fields: MessageFields): PreparedBody {
  if (text.length > HOPELESS_TEXT_LENGTH) return tooLong({ text, encoding: "gsm7" });
  const { text: shown, encoding, partCount } = prepareText(text, textOptions(fields));
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
  if (text.length > HOPELESS_TEXT_LENGTH) return tooLong({ text, encoding });
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
