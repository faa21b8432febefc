/**
 * Every function that reads a text or octets from outside, by file and name: how it is called with one. A test sees to it that none is
 * missing which takes a text or octets first; those below that take something else are there as well.
 */

import { checkText } from "../../../src/admin/manager.ts";
import { passwordFrom } from "../../../src/admin/passwords.ts";
import { readBasic, readToken } from "../../../src/api/auth.ts";
import { parseForm, parseJson, refuseBadText } from "../../../src/api/body-parsers.ts";
import { ApiError, badField } from "../../../src/api/errors.ts";
import { checkAccept, checkContentType } from "../../../src/api/negotiation.ts";
import { headerText } from "../../../src/api/parameters.ts";
import { routedPath } from "../../../src/api/paths.ts";
import { fieldsOf, readIds, readLimit, readMoment, readWord } from "../../../src/api/query.ts";
import { describe } from "../../../src/api/validation.ts";
import { storedForm } from "../../../src/auth/api-keys.ts";
import { isTooLong } from "../../../src/auth/passwords.ts";
import { codeAt, factorUri, fromBase32, proofOf } from "../../../src/auth/second-factor.ts";
import { tokenHashOf } from "../../../src/auth/sessions.ts";
import { decodePdu, HEADER_OCTETS } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { mend } from "../../../src/carriers/smpp/codec/mend.ts";
import { StreamDecoder } from "../../../src/carriers/smpp/codec/stream.ts";
import { parseTime } from "../../../src/carriers/smpp/codec/times.ts";
import { idInAnswer, idInReceipt, isUsableId } from "../../../src/carriers/smpp/message-id.ts";
import { looksLikeReceipt, readDate, readReceipt } from "../../../src/carriers/smpp/receipt.ts";
import { otherTexts, receiptText } from "../../../src/carriers/smpp/receipt-text.ts";
import { readCatalogueFile } from "../../../src/catalogue/file.ts";
import { clipAddress, prepareContent } from "../../../src/intake/content.ts";
import { firstWord, inCapitals, joinParts, readKeyword, withoutKeyword } from "../../../src/message/incoming.ts";
import { isNational, phoneOf, plainPhone, samePhone } from "../../../src/message/phones.ts";
import { isReservedId, unknownId } from "../../../src/message/receipt.ts";
import { parseMicros } from "../../../src/money/amounts.ts";
import { refusal } from "../../../src/reports/pushing/guard.ts";
import { readTarget, signingKey } from "../../../src/reports/pushing/report-request.ts";
import { readRetryAfterMs } from "../../../src/reports/pushing/retry.ts";
import { parseNetwork, parseNetworks, plainAddress, siteOf, storedNetwork } from "../../../src/runtime/networks.ts";
import { parseRoles } from "../../../src/runtime/roles.ts";
import { parseSecretKeys, sealedBy } from "../../../src/runtime/secrets.ts";
import { boundedText, textProblem } from "../../../src/runtime/text.ts";
import { MAX_URL_LENGTH, parseHttpUrl, urlProblem } from "../../../src/runtime/urls.ts";
import { visible, visibleLine } from "../../../src/runtime/visible.ts";
import { parseDateTime } from "../../../src/schedule/date-time.ts";
import { handsetOf, isErrorName } from "../../../src/simulator/handsets.ts";
import { isDestination, isSender, senderType } from "../../../src/sms/addresses.ts";
import { DEFAULT_ALPHABET, isGsm, septetLength, septetsOf, textOfSeptets } from "../../../src/sms/alphabets.ts";
import { beginsWithHeader, readHex } from "../../../src/sms/binary.ts";
import { countOctets } from "../../../src/sms/body.ts";
import { ENCODINGS, type Encoding, LANGUAGE_CODES } from "../../../src/sms/encodings.ts";
import { readHeader, withoutConcatenation } from "../../../src/sms/header.ts";
import { cutText, measure } from "../../../src/sms/parts.ts";
import { preview } from "../../../src/sms/preview.ts";
import { type Charset, readReceived, textOfReceived } from "../../../src/sms/received.ts";
import { pack, unpack } from "../../../src/sms/septets.ts";
import { prepareText, TRANSLITERATIONS } from "../../../src/sms/text.ts";
import { latinFromCyrillic } from "../../../src/sms/transliteration/cyrillic.ts";
import { gsmFromGreek } from "../../../src/sms/transliteration/greek.ts";
import { withoutCentralEuropeanAccents, withoutTurkishAccents } from "../../../src/sms/transliteration/latin.ts";
import { compose, replaceLetters } from "../../../src/sms/transliteration/letters.ts";
import { gsmFromAny } from "../../../src/sms/transliteration/nonunicode.ts";
import { asciiFromGsm, latin1FromGsm } from "../../../src/sms/transliteration/smaller.ts";
import { transliterate } from "../../../src/sms/transliteration.ts";
import { decodeUserData, encodeUserData, joinOctets, textOfUcs2, ucs2Octets } from "../../../src/sms/userdata.ts";
import { bodyFor, NAME_ALPHABETS, senderFilter, writtenSender } from "../../../src/sms/writing.ts";
import { readFault } from "../../../src/smsc/faults.ts";
import { numbersSpelled } from "../../../src/smsc/ids.ts";

/** Calls a function with a text, or with its octets. */
type Reader = (text: string, octets: Buffer) => unknown;

const CHARSETS: Charset[] = ["gsm", "latin1", "ucs2", "iso-8859-5", "shift_jis", "euc-jp", "euc-kr", "binary"];
const NO_HEAD = new Uint8Array(0);
const encodings = Object.keys(ENCODINGS) as Encoding[];
const RULE = { number: "12345", account: "A", keywords: ["ORDER"], stopKeywords: ["STOP"], startKeywords: ["START"] };
const RULES = { nowMs: 0, sendAtDays: 180, defaultSender: "Sender", allowedSenders: null };
const facts = (text: string) => ({
  esmClass: 0,
  text,
  receiptedMessageId: null,
  messageState: null,
  networkErrorCode: null,
});
const error = (keyword: string, instancePath: string, params: Record<string, unknown>) => ({
  keyword,
  instancePath,
  schemaPath: "",
  params,
});

/** A deliver_sm with these octets as its payload. */
function delivery(octets: Buffer): Buffer {
  const payload = octets.subarray(0, 60_000);
  return encodePdu({
    command: "deliver_sm",
    sequence: 1,
    sourceAddr: "1",
    destinationAddr: "2",
    tlvs: { messagePayload: payload },
  } as never);
}

export const READERS: Readonly<Record<string, Reader>> = {
  "src/auth/api-keys.ts storedForm": (text) => [storedForm(text), storedForm(`hgk_${text}`)],
  "src/auth/passwords.ts isTooLong": isTooLong,
  "src/auth/second-factor.ts fromBase32": fromBase32,
  "src/auth/second-factor.ts factorUri": (text) => factorUri(text.toWellFormed(), text),
  "src/auth/second-factor.ts codeAt": (text) => codeAt(text, 1),
  "src/auth/second-factor.ts proofOf": (text) =>
    proofOf(text, { secret: text, begunAtMs: 0, confirmedAtMs: 0, lastStep: 0, recoveryCodes: 0 }, 0),
  "src/auth/sessions.ts tokenHashOf": tokenHashOf,
  "src/message/phones.ts phoneOf": phoneOf,
  "src/message/phones.ts plainPhone": plainPhone,
  "src/message/phones.ts samePhone": (text) => samePhone(text, `00${text}`),
  "src/message/phones.ts isNational": (text) => isNational(text, `41${text}`),
  "src/api/auth.ts readBasic": (text, octets) => [
    readBasic(text),
    readBasic(`Basic ${text}`),
    readBasic(`Basic ${octets.toString("base64")}`),
  ],
  "src/api/auth.ts readToken": (text) => [readToken(text), readToken(`IBSSO ${text}`), readToken(`IBSSO${text} `)],
  "src/api/body-parsers.ts parseJson": (text, octets) => {
    for (const body of [octets, Buffer.from(JSON.stringify([text])), Buffer.from(JSON.stringify({ [text]: "\0" }))])
      attempt(() => parseJson(body));
  },
  "src/api/body-parsers.ts parseForm": (text, octets) => {
    for (const body of [octets, Buffer.from(`${text}=1&`.slice(0, text.length)), Buffer.from(`a=${text}`)])
      attempt(() => parseForm(body));
  },
  "src/api/body-parsers.ts refuseBadText": (text) => refuseBadText({ [text]: [text, { a: text }] }),
  "src/api/errors.ts badField": (text) => badField(text, text).body(),
  "src/api/errors.ts ApiError": (text) =>
    new ApiError("badRequest", { variables: [...text], description: text }).body(),
  "src/api/negotiation.ts checkAccept": (text) => checkAccept(text, "application/json"),
  "src/api/negotiation.ts checkContentType": (text) => checkContentType(text, true),
  "src/admin/passwords.ts passwordFrom": passwordFrom,
  "src/admin/manager.ts checkText": (text) => checkText("text", text),
  "src/api/parameters.ts headerText": headerText,
  "src/api/paths.ts routedPath": (text) => [routedPath(text), routedPath(`http://${text}`), routedPath(`/%41${text}`)],
  "src/api/query.ts": (text) => {
    const fields = fieldsOf({ a: text, b: text.split(","), limit: text });
    const reads = [
      () => readIds(fields, "a"),
      () => readIds(fields, "b"),
      () => readMoment(fields, "a"),
      () => readWord(fields, "a", ["x"]),
      () => readLimit(fields),
    ];
    for (const read of reads) attempt(read);
  },
  "src/api/validation.ts describe": (text) =>
    describe([error("additionalProperties", `/${text}`, { additionalProperty: text })], "body").body(),
  "src/message/receipt.ts isReservedId": isReservedId,
  "src/message/receipt.ts unknownId": unknownId,
  "src/carriers/smpp/message-id.ts isUsableId": isUsableId,
  "src/runtime/secrets.ts sealedBy": (text) => [sealedBy(text), sealedBy(`sealed:1:${text}`)],
  "src/runtime/secrets.ts parseSecretKeys": parseSecretKeys,
  "src/runtime/text.ts boundedText": (text) => [boundedText(text), boundedText(text, 10)],
  "src/runtime/text.ts textProblem": textProblem,
  "src/runtime/visible.ts visible": visible,
  "src/runtime/visible.ts visibleLine": visibleLine,
  "src/simulator/handsets.ts handsetOf": handsetOf,
  "src/simulator/handsets.ts isErrorName": isErrorName,
  "src/carriers/smpp/codec/decode.ts decodePdu": (_, octets) => decodePdu(delivery(octets)),
  "src/carriers/smpp/codec/mend.ts mend": (_, octets) => [mend(octets, 0, false), mend(octets, 0, true)],
  "src/carriers/smpp/codec/stream.ts StreamDecoder, an octet at a time": (_, octets) => {
    const decoder = new StreamDecoder();
    const pdu = delivery(octets);
    for (let at = 0; at < pdu.length; at++) {
      decoder.push(pdu.subarray(at, at + 1));
      decoder.next();
    }
  },
  "src/carriers/smpp/codec/stream.ts StreamDecoder, many in a chunk": (_, octets) => {
    const decoder = new StreamDecoder();
    const header = Buffer.alloc(HEADER_OCTETS);
    header.writeUInt32BE(HEADER_OCTETS, 0);
    header.writeUInt32BE(0x15, 4);
    decoder.push(Buffer.alloc(octets.length - (octets.length % HEADER_OCTETS), header));
    while (decoder.next() !== null);
  },
  "src/carriers/smpp/codec/times.ts parseTime": (text) => parseTime(text, 0),
  "src/carriers/smpp/message-id.ts idInAnswer": (text) => idInAnswer(text, "hex then decimal"),
  "src/carriers/smpp/message-id.ts idInReceipt": (text) => idInReceipt(text, "decimal then hex"),
  "src/carriers/smpp/receipt.ts looksLikeReceipt": (text) => looksLikeReceipt(text),
  "src/carriers/smpp/receipt.ts readDate": (text) => readDate(text),
  "src/carriers/smpp/receipt-text.ts": (_, octets) =>
    [true, false].map((hasHeader) => [
      receiptText({ octets, hasHeader, isGsm: true }),
      ...otherTexts({ octets, hasHeader }),
    ]),
  "src/carriers/smpp/receipt.ts": (text) =>
    [text, `id:${text}`, `id:1 stat:${text}`, `err:${text}`, `${text} date:${text}`].map((receipt) => [
      looksLikeReceipt(receipt),
      readReceipt(facts(receipt)),
    ]),
  "src/smsc/faults.ts readFault": readFault,
  "src/smsc/ids.ts numbersSpelled": numbersSpelled,
  "src/catalogue/file.ts readCatalogueFile": (text) => readCatalogueFile(text),
  "src/intake/content.ts clipAddress": clipAddress,
  "src/intake/content.ts prepareContent": (text) => {
    const fields = { from: text, text, sendAt: text, notifyUrl: `http://${text}`, callbackData: text };
    prepareContent("messages[0]", fields, RULES as never);
    prepareContent("", { from: text, text, transliteration: "NON_UNICODE" }, RULES as never);
    prepareContent("", { binary: { hex: text } }, RULES as never);
  },
  "src/money/amounts.ts parseMicros": (text) => [parseMicros(text), parseMicros(`1.5${text}`)],
  "src/message/incoming.ts joinParts": (text, octets) =>
    CHARSETS.map((charset) => {
      const hex = octets.toString("hex");
      const content = charset === "binary" ? { charset, hex, header: "", dataCoding: 4 } : { charset, hex };
      return joinParts([content, text, content].map((each, index) => ({ sequence: index + 1, content: each })));
    }),
  "src/message/incoming.ts inCapitals": (text) => inCapitals(text.slice(0, MAX_WORD)),
  "src/message/incoming.ts firstWord": firstWord,
  "src/message/incoming.ts readKeyword": (text) => [readKeyword(text, RULE), readKeyword(`STOP ${text}`, RULE)],
  "src/message/incoming.ts withoutKeyword": (text) => [withoutKeyword(text), withoutKeyword(`STOP ${text}`)],
  "src/reports/pushing/guard.ts refusal": (text) => refusal(text, { allowLoopback: false, allowPrivate: false }),
  "src/reports/pushing/retry.ts readRetryAfterMs": (text) => readRetryAfterMs(text, 0),
  "src/reports/pushing/report-request.ts signingKey": signingKey,
  "src/reports/pushing/report-request.ts readTarget": (text) =>
    [text, `http://${text}`, `http://a/${text}`, `http://a:${text}@b/`].map((url) =>
      readTarget(url.slice(0, MAX_URL_LENGTH)),
    ),
  "src/runtime/networks.ts plainAddress": (text) => [
    plainAddress(text),
    plainAddress(`[${text}]:1`),
    plainAddress(`::1%${text}`),
  ],
  "src/runtime/networks.ts parseNetwork": (text) => [parseNetwork(text), parseNetwork(`${text}/1`)],
  "src/runtime/networks.ts parseNetworks": parseNetworks,
  "src/runtime/networks.ts storedNetwork": (text) => [storedNetwork(text), storedNetwork(`${text}/1`)],
  "src/runtime/networks.ts siteOf": siteOf,
  "src/runtime/roles.ts parseRoles": parseRoles,
  "src/runtime/urls.ts parseHttpUrl": (text) => parseHttpUrl(`http://${text}`.slice(0, MAX_URL_LENGTH)),
  "src/runtime/urls.ts urlProblem": (text) => [urlProblem(text), urlProblem(`http://a/${text}`)],
  "src/schedule/date-time.ts parseDateTime": (text) => [
    parseDateTime(text),
    parseDateTime(`2026-02-12T09:58:20.${text}`),
  ],
  "src/sms/addresses.ts isDestination": isDestination,
  "src/sms/addresses.ts isSender": isSender,
  "src/sms/addresses.ts senderType": senderType,
  "src/sms/alphabets.ts septetLength": (text) => septetLength(text, DEFAULT_ALPHABET.codes),
  "src/sms/alphabets.ts septetsOf": (text) => septetsOf(text, DEFAULT_ALPHABET.codes),
  "src/sms/alphabets.ts textOfSeptets": (_, octets) => textOfSeptets(octets, DEFAULT_ALPHABET),
  "src/sms/alphabets.ts isGsm": isGsm,
  "src/sms/header.ts withoutConcatenation": (_, octets) => withoutConcatenation(octets),
  "src/sms/received.ts": (_, octets) =>
    CHARSETS.map((charset) => {
      const field = { octets, hasHeader: true, dataCoding: 0, charset };
      return [true, false].map((packed) => textOfReceived(readReceived({ ...field, packed }).content));
    }),
  "src/sms/binary.ts readHex": (text, octets) => [readHex(text), readHex(octets.toString("hex"))],
  "src/sms/binary.ts beginsWithHeader": (_, octets) => beginsWithHeader(octets),
  "src/sms/body.ts countOctets": (_, octets) =>
    countOctets(octets.toString("hex"), { dataCoding: 4, esmClass: 0 } as never),
  "src/sms/header.ts readHeader": (_, octets) => readHeader(octets),
  "src/sms/parts.ts measure": (text) => encodings.map((encoding) => measure(text, encoding)),
  "src/sms/parts.ts cutText": (text) => encodings.map((encoding) => attempt(() => cutText(text, encoding))),
  "src/sms/preview.ts preview": (text) => [
    preview(text, {}),
    ...LANGUAGE_CODES.map((languageCode) => preview(text, { languageCode })),
  ],
  "src/sms/septets.ts pack": (_, octets) => pack(NO_HEAD, octets),
  "src/sms/septets.ts unpack": (_, octets) => [unpack(octets, 0, octets.length), unpack(octets, 0)],
  "src/sms/text.ts prepareText": (text) => {
    for (const transliteration of [undefined, ...TRANSLITERATIONS])
      for (const languageCode of [undefined, ...LANGUAGE_CODES]) prepareText(text, { transliteration, languageCode });
  },
  "src/sms/transliteration.ts transliterate": (text) => TRANSLITERATIONS.map((name) => transliterate(text, name)),
  "src/sms/transliteration/cyrillic.ts latinFromCyrillic": latinFromCyrillic,
  "src/sms/transliteration/greek.ts gsmFromGreek": gsmFromGreek,
  "src/sms/transliteration/latin.ts withoutTurkishAccents": withoutTurkishAccents,
  "src/sms/transliteration/latin.ts withoutCentralEuropeanAccents": withoutCentralEuropeanAccents,
  "src/sms/transliteration/letters.ts replaceLetters": (text) => replaceLetters(text, []),
  "src/sms/transliteration/letters.ts compose": compose,
  "src/sms/transliteration/nonunicode.ts gsmFromAny": gsmFromAny,
  "src/sms/transliteration/smaller.ts latin1FromGsm": latin1FromGsm,
  "src/sms/transliteration/smaller.ts asciiFromGsm": asciiFromGsm,
  "src/sms/userdata.ts encodeUserData": (text) => encodeUserData(text, "ucs2", {} as never),
  "src/sms/userdata.ts decodeUserData": (_, octets) =>
    [0, 4, 8].map((dataCoding) => [true, false].map((hasHeader) => decodeUserData({ octets, hasHeader, dataCoding }))),
  "src/sms/userdata.ts ucs2Octets": ucs2Octets,
  "src/sms/userdata.ts textOfUcs2": (_, octets) => textOfUcs2(octets),
  "src/sms/userdata.ts joinOctets": (_, octets) => joinOctets(octets, octets),
  "src/sms/writing.ts bodyFor": (text) => bodyFor({ text, encoding: "gsm7" }, { alphabet: "ascii" }),
  "src/sms/writing.ts writtenSender": (text) =>
    NAME_ALPHABETS.map((nameAlphabet) => writtenSender(text, { nameAlphabet })),
  "src/sms/writing.ts senderFilter": senderFilter,
};

/** A text's first word has 64 characters at most, and an operator's keyword 32 (message/incoming.ts, catalogue/numbers.ts). */
const MAX_WORD = 64;

/** Functions with a text first that nobody outside can hand one to. */
const FILE_NAME = "the name of a file, from the settings or the command line";
const OWN_WORDS = "words in the source";

export const EXEMPT: Readonly<Record<string, string>> = {
  "src/auth/passwords.ts hashPassword": "takes long on purpose, and no more than 256 characters (passwordFrom)",
  "src/admin/refusal.ts invalid": OWN_WORDS,
  "src/admin/refusal.ts unknown": OWN_WORDS,
  "src/admin/refusal.ts unknownAccount": OWN_WORDS,
  "src/admin/refusal.ts forbidden": OWN_WORDS,
  "src/admin/refusal.ts conflict": OWN_WORDS,
  "src/admin/refusal.ts outdated": OWN_WORDS,
  "src/admin/refusal.ts busy": OWN_WORDS,
  "src/api/login.ts loginError": OWN_WORDS,
  "src/api/operator/managing.ts Decimal": "makes a schema, from a sentence of ours",
  "src/api/operator/passwords.ts PasswordText": "makes a schema, from a sentence of ours",
  "src/api/schemas.ts TextOrNull": "makes a schema, from a sentence of ours",
  "src/smsc/spoiling.ts spoilt": "takes what our own session has written",
  "src/runtime/compiled.ts compiled": OWN_WORDS,
  "src/runtime/files.ts readSmallFile": FILE_NAME,
  "src/runtime/files.ts readGivenFile": FILE_NAME,
  "src/runtime/metrics.ts counter": OWN_WORDS,
  "src/runtime/metrics.ts gauge": OWN_WORDS,
  "src/runtime/private-files.ts makePrivateDirectory": FILE_NAME,
  "src/runtime/private-files.ts makePrivateFile": FILE_NAME,
  "src/runtime/private-files.ts protectFile": FILE_NAME,
  "src/runtime/private-files.ts tooOpen": FILE_NAME,
  "src/runtime/private-files.ts writePrivateFile": FILE_NAME,
  "src/runtime/private-files.ts readSecretFile": FILE_NAME,
  "src/runtime/ids.ts nthId": "an id of our own making",
  "src/runtime/log.ts createLog": "a level from the settings",
  "src/sms/errors.ts errorByName": "a name in the source",
  "src/sms/transliteration/letters.ts inCase": "looks at one place of a text",
  "src/sms/transliteration/letters.ts capitalized": "a name in the source",
};

/** What refuses its text has read it. */
export function attempt(read: () => unknown): void {
  try {
    read();
  } catch {
    // Only the time counts here.
  }
}
