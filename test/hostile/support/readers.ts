/**
 * Every function that reads a text or octets from outside, by file and name: how it is called with one. A test sees to it that none is
 * missing which takes a text or octets first; those below that take something else are there as well.
 */

import { checkText } from "../../../src/admin/manager.ts";
import { passwordFrom } from "../../../src/admin/passwords.ts";
import { readApiKey, readBasic, readToken } from "../../../src/api/auth.ts";
import { unreadable } from "../../../src/api/auth-reasons.ts";
import {
  isDecodable,
  parseForm,
  parseJson,
  plainNames,
  refuseBadText,
  refuseHeavyBody,
} from "../../../src/api/body-parsers.ts";
import { readCookies } from "../../../src/api/console/cookie.ts";
import { ConsoleFile } from "../../../src/api/console/files.ts";
import { maskAddress, maskBody } from "../../../src/api/console/masks.ts";
import { readMessageSearch } from "../../../src/api/console/message-search.ts";
import { deviceOf } from "../../../src/api/devices.ts";
import { ApiError, badField } from "../../../src/api/errors.ts";
import { isHost } from "../../../src/api/headers.ts";
import { jsonFault } from "../../../src/api/json-fault.ts";
import { decodeText, isWestern } from "../../../src/api/kannel/charsets.ts";
import { readMessage } from "../../../src/api/kannel/message.ts";
import { formParameters, queryParameters, rejected, textOf } from "../../../src/api/kannel/parameters.ts";
import { knownRequest } from "../../../src/api/known-fields.ts";
import { nearMisses, plain } from "../../../src/api/near-misses.ts";
import { checkAccept, checkContentEncoding, checkContentType } from "../../../src/api/negotiation.ts";
import { bareAddress } from "../../../src/api/oneapi/fields.ts";
import { headerText } from "../../../src/api/parameters.ts";
import { pathOf, routedPath, targetHost } from "../../../src/api/paths.ts";
import { checkQuery, fieldsOf, momentIn, readIds, readLimit, readMoment, readWord } from "../../../src/api/query.ts";
import { headText, readHead } from "../../../src/api/request-head.ts";
import { readNumber } from "../../../src/api/sandbox.ts";
import { refuseUrlTracking } from "../../../src/api/sending.ts";
import { folded, isNearly } from "../../../src/api/spelling.ts";
import { describe } from "../../../src/api/validation.ts";
import { storedForm } from "../../../src/auth/api-keys.ts";
import { isTooLong } from "../../../src/auth/passwords.ts";
import { codeAt, factorUri, fromBase32, proofOf } from "../../../src/auth/second-factor.ts";
import { tokenHashOf } from "../../../src/auth/sessions.ts";
import { readData } from "../../../src/carriers/http/data.ts";
import { fillHeader, fillPath, fillText, formText } from "../../../src/carriers/http/template.ts";
import { decodePdu, HEADER_OCTETS } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { mend } from "../../../src/carriers/smpp/codec/mend.ts";
import { asBuffer } from "../../../src/carriers/smpp/codec/octets.ts";
import { StreamDecoder } from "../../../src/carriers/smpp/codec/stream.ts";
import { parseTime } from "../../../src/carriers/smpp/codec/times.ts";
import { idInAnswer, idInReceipt, otherSpellings } from "../../../src/carriers/smpp/message-id.ts";
import { looksLikeReceipt, readDate, readReceipt } from "../../../src/carriers/smpp/receipt.ts";
import { otherTexts, receiptText } from "../../../src/carriers/smpp/receipt-text.ts";
import { isUsableId } from "../../../src/carriers/usable-id.ts";
import { examineCatalogueFile, readCatalogueFile } from "../../../src/catalogue/file.ts";
import { liveText } from "../../../src/events/live.ts";
import { refusal, urlRefusal } from "../../../src/http/guard.ts";
import { clipAddress, prepareContent } from "../../../src/intake/content.ts";
import { findLinks } from "../../../src/intake/links.ts";
import { carriedOf } from "../../../src/message/fields.ts";
import { firstWord, inCapitals, joinParts, readKeyword, withoutKeyword } from "../../../src/message/incoming.ts";
import type { ReportFacts } from "../../../src/message/message.ts";
import { isNational, phoneOf, samePhone } from "../../../src/message/phones.ts";
import { isReservedId, unknownId } from "../../../src/message/receipt.ts";
import { parseMicros } from "../../../src/money/amounts.ts";
import { parseRoles } from "../../../src/node/roles.ts";
import { maskOf } from "../../../src/pins/pin.ts";
import { parseRate, parseSpan } from "../../../src/pins/rate.ts";
import { filledIn, textFault, unusedValues, valuesFault } from "../../../src/pins/text.ts";
import { readTarget, signingKey } from "../../../src/reports/pushing/report-request.ts";
import { readRetryAfterMs } from "../../../src/reports/pushing/retry.ts";
import { dlrPath, incomingPath, isDlrUrl } from "../../../src/reports/rendering/dlr-url.ts";
import { didYouMean } from "../../../src/runtime/near.ts";
import {
  networkOf,
  parseNetwork,
  parseNetworks,
  plainAddress,
  siteOf,
  storedNetwork,
} from "../../../src/runtime/networks.ts";
import { parseSecretKeys, sealedBy } from "../../../src/runtime/secrets.ts";
import { decoded, looksSecret, shownUrl } from "../../../src/runtime/shown-url.ts";
import { boundedText, shellWord, textProblem } from "../../../src/runtime/text.ts";
import { readToml, TomlPlaces } from "../../../src/runtime/toml.ts";
import { hostOf, MAX_URL_LENGTH, parseHttpUrl, urlProblem } from "../../../src/runtime/urls.ts";
import { visible, visibleLine } from "../../../src/runtime/visible.ts";
import { parseDateTime, parseDayOrMoment } from "../../../src/schedule/date-time.ts";
import { parseHostNames, parseLinkDomains } from "../../../src/settings/lists.ts";
import { handsetOf, isErrorName } from "../../../src/simulator/handsets.ts";
import {
  isDestination,
  isSender,
  numberFault,
  plainPhone,
  plainSender,
  senderFault,
  senderType,
} from "../../../src/sms/addresses.ts";
import { DEFAULT_ALPHABET, isGsm, septetLength, septetsOf, textOfSeptets } from "../../../src/sms/alphabets.ts";
import { beginsWithHeader, readHex } from "../../../src/sms/binary.ts";
import { countOctets } from "../../../src/sms/body.ts";
import { textOfCodePage949 } from "../../../src/sms/code-page-949.ts";
import { countryOf, countryPrefixOf } from "../../../src/sms/countries.ts";
import { ENCODINGS, type Encoding, LANGUAGE_CHOICES } from "../../../src/sms/encodings.ts";
import { readHeader, withoutConcatenation } from "../../../src/sms/header.ts";
import { lackingCharacters } from "../../../src/sms/lacking.ts";
import { cutText, measure } from "../../../src/sms/parts.ts";
import { prepareWith } from "../../../src/sms/prepared-text.ts";
import { preview } from "../../../src/sms/preview.ts";
import { type Charset, readReceived, textOfReceived } from "../../../src/sms/received.ts";
import { pack, unpack } from "../../../src/sms/septets.ts";
import { prepareText, TRANSLITERATIONS } from "../../../src/sms/text.ts";
import { gsmFromScripts } from "../../../src/sms/transliteration/all.ts";
import {
  latinFromBulgarian,
  latinFromCyrillic,
  latinFromSerbian,
  withoutSilentSigns,
} from "../../../src/sms/transliteration/cyrillic.ts";
import { gsmFromGreek } from "../../../src/sms/transliteration/greek.ts";
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
const FACTS = {
  ...carriedOf({}),
  to: "1",
  from: "2",
  messageId: "3",
  sentAtMs: 0,
  doneAtMs: 0,
  errorId: 0,
  statusId: 5,
} as ReportFacts;
const INCOMING = { from: "1", to: "2", messageId: "3", receivedAtMs: 0, keyword: null, smsCount: 1, currency: "EUR" };
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

/** A request with a field, for whatever looks like it. */
const KNOWN = knownRequest(
  { body: { properties: { notifyUrl: {} } }, querystring: { properties: { sendAt: {} } } },
  [],
)!;

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
  "src/message/phones.ts samePhone": (text) => samePhone(text, `00${text}`),
  "src/message/phones.ts isNational": (text) => isNational(text, `41${text}`),
  "src/api/auth.ts readBasic": (text, octets) => [
    readBasic(text),
    readBasic(`Basic ${text}`),
    readBasic(`Basic ${octets.toString("base64")}`),
  ],
  "src/api/auth.ts readApiKey": (text) => [readApiKey(text), readApiKey(`App ${text}`)],
  "src/api/auth.ts readToken": (text) => [readToken(text), readToken(`IBSSO ${text}`), readToken(`IBSSO${text} `)],
  "src/api/body-parsers.ts parseJson": (text, octets) => {
    for (const body of [octets, Buffer.from(JSON.stringify([text])), Buffer.from(JSON.stringify({ [text]: "\0" }))])
      attempt(() => parseJson(body));
  },
  "src/api/body-parsers.ts parseForm": (text, octets) => {
    for (const body of [octets, Buffer.from(`${text}=1&`.slice(0, text.length)), Buffer.from(`a=${text}`)])
      for (const charset of ["", ";charset=latin1"]) attempt(() => parseForm(body, false, charset));
  },
  "src/api/body-parsers.ts isDecodable": (text) => [
    isDecodable(text),
    isDecodable(encodeURIComponent(text.toWellFormed())),
  ],
  "src/api/body-parsers.ts refuseBadText": (text) => refuseBadText({ [text]: [text, { a: text }] }),
  "src/api/request-head.ts headText": (_, octets) => headText(octets, 0),
  "src/api/request-head.ts readHead": (text) => [
    readHead(text),
    readHead(`POST /${text} HTTP/1.1\r\nhost: x`),
    readHead(`POST / HTTP/1.1\r\nhost: ${text}\r\n${text}: x\r\ncontent-length: ${text}`),
  ],
  "src/api/errors.ts badField": (text) => badField(text, text).body(),
  "src/api/sending.ts refuseUrlTracking": (text) => attempt(() => refuseUrlTracking(text, "track")),
  "src/api/sandbox.ts readNumber": (text) => attempt(() => readNumber("number", text)),
  "src/api/console/cookie.ts readCookies": (text) => [
    readCookies(text),
    readCookies(`heliograph_session=${text}`),
    readCookies(`${text};heliograph_session=1`),
  ],
  "src/api/console/files.ts ConsoleFile": (text) =>
    new ConsoleFile("x.js", Buffer.alloc(1_000)).encodingFor(text.slice(0, 16_384)),
  "src/api/errors.ts ApiError": (text) =>
    new ApiError("badRequest", { variables: [...text], description: text }).body(),
  "src/api/kannel/charsets.ts isWestern": isWestern,
  "src/api/kannel/charsets.ts decodeText": (_, octets) =>
    ["utf-8", "latin1", "utf-16be", "shift_jis", octets.toString("latin1")].map((name) => decodeText(octets, name)),
  "src/api/kannel/parameters.ts queryParameters": (text) => [
    queryParameters(`/x?a=${text}`),
    attempt(() => queryParameters(`/x?${text}`)),
  ],
  "src/api/kannel/parameters.ts formParameters": (_, octets) => attempt(() => formParameters(octets)),
  "src/api/kannel/parameters.ts rejected": (text) => rejected(text).body(),
  "src/api/kannel/parameters.ts textOf": (_, octets) => textOf(octets),
  "src/api/kannel/message.ts readMessage": (_, octets) => {
    const said = new Map(["from", "to", "text", "charset", "udh", "dlr-url", "account"].map((name) => [name, octets]));
    attempt(() => readMessage(said, null, 0));
    attempt(() => readMessage(new Map([...said, ["to", Buffer.from("41793026727")]]), null, 0));
    attempt(() =>
      readMessage(
        new Map([
          ["to", octets],
          ["text", octets],
        ]),
        "octets",
        0,
      ),
    );
  },
  "src/api/headers.ts isHost": isHost,
  "src/api/negotiation.ts checkAccept": (text) => checkAccept(text, "application/json"),
  "src/api/negotiation.ts checkContentType": (text) => checkContentType(text, true),
  "src/admin/passwords.ts passwordFrom": passwordFrom,
  "src/admin/manager.ts checkText": (text) => checkText("text", text),
  "src/api/parameters.ts headerText": headerText,
  "src/api/paths.ts targetHost": (text) => [targetHost(text), targetHost(`http://${text}`)],
  "src/api/paths.ts pathOf": (text) => [pathOf(text), pathOf(`http://${text}`)],
  "src/api/body-parsers.ts refuseHeavyBody": (_, octets) => {
    for (const isForm of [true, false]) attempt(() => refuseHeavyBody(octets, isForm));
  },
  "src/api/negotiation.ts checkContentEncoding": (text) => attempt(() => checkContentEncoding(text)),
  "src/api/body-parsers.ts plainNames": (text) => [plainNames(text), plainNames(`?${text}[1]=`)],
  "src/api/paths.ts routedPath": (text) => [routedPath(text), routedPath(`http://${text}`), routedPath(`/%41${text}`)],
  "src/api/query.ts checkQuery": (text) => attempt(() => checkQuery(`?%41${text}`)),
  "src/api/query.ts momentIn": (text) => attempt(() => momentIn(text, "a")),
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
  "src/carriers/usable-id.ts isUsableId": isUsableId,
  "src/runtime/secrets.ts sealedBy": (text) => [sealedBy(text), sealedBy(`sealed:1:${text}`)],
  "src/runtime/secrets.ts parseSecretKeys": parseSecretKeys,
  "src/api/json-fault.ts jsonFault": (text) => [jsonFault(text), jsonFault(`{"a": "${text}`), jsonFault(`[${text}`)],
  "src/api/spelling.ts folded": folded,
  "src/api/spelling.ts isNearly": (text) => [isNearly(text, `${text}a`), isNearly(text, `b${text}`)],
  "src/api/near-misses.ts plain": plain,
  "src/api/near-misses.ts nearMisses": (text) => nearMisses(KNOWN, { [text]: text }, { [text]: text }),
  "src/events/live.ts liveText": liveText,
  "src/runtime/text.ts boundedText": (text) => [boundedText(text), boundedText(text, 10)],
  "src/runtime/text.ts shellWord": shellWord,
  "src/runtime/text.ts textProblem": textProblem,
  "src/runtime/visible.ts visible": visible,
  "src/runtime/visible.ts visibleLine": visibleLine,
  "src/simulator/handsets.ts handsetOf": handsetOf,
  "src/simulator/handsets.ts isErrorName": isErrorName,
  "src/carriers/smpp/codec/decode.ts decodePdu": (_, octets) => decodePdu(delivery(octets)),
  "src/carriers/smpp/codec/mend.ts mend": (_, octets) => [mend(octets, 0, false), mend(octets, 0, true)],
  "src/carriers/smpp/codec/octets.ts asBuffer": (_, octets) => asBuffer(new Uint8Array(octets)),
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
  "src/carriers/smpp/message-id.ts otherSpellings": otherSpellings,
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
  "src/carriers/http/data.ts readData": (text) => readData(text, ['{a}"{b}"', "{a}{b} {c}"]),
  "src/carriers/http/template.ts fillText": (text) => [
    fillText(text, { a: text }),
    fillText("{a} {a?x:y}", { a: text }),
  ],
  "src/carriers/http/template.ts fillPath": (text) => [fillPath(text, {}), fillPath("/{a}/{b}", { a: text, b: text })],
  "src/carriers/http/template.ts formText": formText,
  "src/carriers/http/template.ts fillHeader": (text) => [fillHeader(text, {}), fillHeader("{a}", { a: text })],
  "src/smsc/faults.ts readFault": readFault,
  "src/smsc/ids.ts numbersSpelled": numbersSpelled,
  "src/catalogue/file.ts readCatalogueFile": (text) => readCatalogueFile(text),
  "src/catalogue/file.ts examineCatalogueFile": (text) => examineCatalogueFile(text),
  "src/runtime/toml.ts readToml": (text) => {
    attempt(() => readToml(text));
    return new TomlPlaces(`x = ${JSON.stringify(text)}\ny = [${JSON.stringify(text)}, 1] # ${text}`).of(["y", 1]);
  },
  "src/runtime/near.ts didYouMean": (text) => didYouMean(text, ["window", text.slice(1)]),
  "src/api/auth-reasons.ts unreadable": (text) => [unreadable(text), unreadable(`Basic ${text}`)],
  "src/intake/links.ts findLinks": (text) => [
    findLinks(text),
    findLinks(`http://${text}`),
    findLinks(`http://( ${text}`.repeat(2)),
  ],
  "src/api/devices.ts deviceOf": (text) => [deviceOf(text), deviceOf(`Android 13; ${text}`)],
  "src/settings/lists.ts parseHostNames": (text) => parseHostNames(text),
  "src/settings/lists.ts parseLinkDomains": (text) => parseLinkDomains(text),
  "src/intake/content.ts clipAddress": clipAddress,
  "src/intake/content.ts prepareContent": (text) => {
    const fields = { from: text, text, sendAt: text, notifyUrl: `http://${text}`, callbackData: text };
    prepareContent({ path: "messages[0]", fields }, RULES as never);
    prepareContent({ path: "", fields: { from: text, text, transliteration: "NON_UNICODE" } }, RULES as never);
    prepareContent({ path: "", fields: { binary: { hex: text } } }, RULES as never);
  },
  "src/money/amounts.ts parseMicros": (text) => [parseMicros(text), parseMicros(`1.5${text}`)],
  "src/pins/rate.ts parseSpan": (text) => [parseSpan(text), parseSpan(`1${text}`)],
  "src/pins/rate.ts parseRate": (text) => [parseRate(text), parseRate(`1/${text}`)],
  "src/pins/text.ts textFault": (text) => [textFault(text), textFault(`{{pin}}${text}`)],
  "src/pins/text.ts unusedValues": (text) => [unusedValues(text, {}), unusedValues("{{pin}}", { [text]: text })],
  "src/pins/text.ts valuesFault": (text) => [valuesFault(text, {}), valuesFault("{{pin}}", { [text]: text })],
  "src/pins/text.ts filledIn": (text) => [filledIn(text, "1234", {}), filledIn("{{a}}", "1234", { a: text })],
  "src/pins/pin.ts maskOf": maskOf,
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
  "src/http/guard.ts urlRefusal": (text) => [
    urlRefusal(`http://${text}`, { allowLoopback: false, allowPrivate: false }),
    urlRefusal(`http://a.${text}:1@x`, { allowLoopback: false, allowPrivate: false }),
  ],
  "src/http/guard.ts refusal": (text) => refusal(text, { allowLoopback: false, allowPrivate: false }),
  "src/reports/rendering/dlr-url.ts isDlrUrl": (text) => [isDlrUrl(text), isDlrUrl(`http://a/%d${text}`)],
  "src/reports/rendering/dlr-url.ts incomingPath": (text) =>
    incomingPath(`http://a/%b%a%r${text}`.slice(0, MAX_URL_LENGTH), { ...INCOMING, text }),
  "src/reports/rendering/dlr-url.ts dlrPath": (text) => dlrPath(`http://a/%${text}`.slice(0, MAX_URL_LENGTH), 1, FACTS),
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
  "src/runtime/networks.ts networkOf": networkOf,
  "src/runtime/networks.ts siteOf": siteOf,
  "src/node/roles.ts parseRoles": parseRoles,
  "src/runtime/urls.ts hostOf": (text) => hostOf(`http://${text}`.slice(0, MAX_URL_LENGTH)),
  "src/api/console/masks.ts maskAddress": (text) => [maskAddress(text, true), maskAddress(`/x?${text}`, false)],
  "src/api/console/masks.ts maskBody": (text) => [
    maskBody(text, false, false),
    maskBody(text, true, false),
    maskBody(`{"${text}`, false, false),
    maskBody(`{"password":${text}`, false, false),
    maskBody(`[${text}`, false, true),
    maskBody(`[${text}`, true, true),
  ],
  "src/runtime/shown-url.ts decoded": decoded,
  "src/runtime/shown-url.ts looksSecret": looksSecret,
  "src/runtime/shown-url.ts shownUrl": (text) => [shownUrl(text), shownUrl(`https://${text}?${text}=${text}`)],
  "src/api/console/message-search.ts readMessageSearch": (text) => {
    try {
      return readMessageSearch(text, { nowMs: 0, zoneMinutes: 0 });
    } catch (error) {
      return (error as Error).message;
    }
  },
  "src/runtime/urls.ts parseHttpUrl": (text) => parseHttpUrl(`http://${text}`.slice(0, MAX_URL_LENGTH)),
  "src/runtime/urls.ts urlProblem": (text) => [urlProblem(text), urlProblem(`http://a/${text}`)],
  "src/schedule/date-time.ts parseDateTime": (text) => [
    parseDateTime(text),
    parseDateTime(`2026-02-12T09:58:20.${text}`),
  ],
  "src/schedule/date-time.ts parseDayOrMoment": parseDayOrMoment,
  "src/sms/addresses.ts isDestination": isDestination,
  "src/sms/addresses.ts isSender": isSender,
  "src/sms/addresses.ts numberFault": numberFault,
  "src/sms/addresses.ts plainPhone": plainPhone,
  "src/sms/addresses.ts plainSender": plainSender,
  "src/sms/addresses.ts senderFault": senderFault,
  "src/sms/addresses.ts senderType": senderType,
  "src/sms/countries.ts countryOf": countryOf,
  "src/sms/countries.ts countryPrefixOf": countryPrefixOf,
  "src/api/oneapi/fields.ts bareAddress": bareAddress,
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
  "src/sms/lacking.ts lackingCharacters": (text) => [
    lackingCharacters(text, {}),
    ...LANGUAGE_CHOICES.map((languageCode) => lackingCharacters(text, { languageCode, lockingShift: true })),
  ],
  "src/sms/prepared-text.ts prepareWith": (text) => prepareWith(text, {}, transliterate),
  "src/sms/parts.ts measure": (text) => encodings.map((encoding) => measure(text, encoding)),
  "src/sms/parts.ts cutText": (text) => encodings.map((encoding) => attempt(() => cutText(text, encoding))),
  "src/sms/preview.ts preview": (text) => [
    preview(text, {}),
    ...LANGUAGE_CHOICES.map((languageCode) => preview(text, { languageCode })),
  ],
  "src/sms/code-page-949.ts textOfCodePage949": (_, octets) => textOfCodePage949(octets),
  "src/sms/septets.ts pack": (_, octets) => pack(NO_HEAD, octets),
  "src/sms/septets.ts unpack": (_, octets) => [unpack(octets, 0, octets.length), unpack(octets, 0)],
  "src/sms/text.ts prepareText": (text) => {
    for (const transliteration of [undefined, ...TRANSLITERATIONS])
      for (const languageCode of [undefined, ...LANGUAGE_CHOICES]) prepareText(text, { transliteration, languageCode });
  },
  "src/sms/transliteration.ts transliterate": (text) => TRANSLITERATIONS.map((name) => transliterate(text, name)),
  "src/sms/transliteration/all.ts gsmFromScripts": gsmFromScripts,
  "src/sms/transliteration/cyrillic.ts withoutSilentSigns": withoutSilentSigns,
  "src/sms/transliteration/cyrillic.ts latinFromCyrillic": latinFromCyrillic,
  "src/sms/transliteration/cyrillic.ts latinFromSerbian": latinFromSerbian,
  "src/sms/transliteration/cyrillic.ts latinFromBulgarian": latinFromBulgarian,
  "src/sms/transliteration/greek.ts gsmFromGreek": gsmFromGreek,
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
  "src/api/errors.ts tooMany": OWN_WORDS,
  "src/api/errors.ts unavailable": OWN_WORDS,
  "src/api/description/errors.ts capital": OWN_WORDS,
  "src/api/wrong-account.ts wrongAccount": "takes our own words, and the key of an account",
  "src/money/currencies.ts currencyNumber": "takes the currency of an account",
  "src/money/currencies.ts currencySymbol": "takes the currency of an account",
  "src/auth/passwords.ts hashPassword": "takes long on purpose, and no more than 256 characters (passwordFrom)",
  "src/api/operator/passwords.ts hashInTurn": "takes what hashPassword takes",
  "src/runtime/own-files.ts besides": "takes the places of our own files",
  "src/http/guard.ts isRefusedAddress": OWN_WORDS,
  "src/http/guard.ts isAllowable": OWN_WORDS,
  "src/admin/refusal.ts invalid": OWN_WORDS,
  "src/admin/refusal.ts unknown": OWN_WORDS,
  "src/admin/refusal.ts unknownAccount": OWN_WORDS,
  "src/admin/refusal.ts forbidden": OWN_WORDS,
  "src/admin/refusal.ts conflict": OWN_WORDS,
  "src/admin/refusal.ts outdated": OWN_WORDS,
  "src/api/login.ts loginError": OWN_WORDS,
  "src/api/auth-reasons.ts unauthorized": OWN_WORDS,
  "src/admin/audit-facts.ts auditFacts": "takes JSON that the audit has written",
  "src/runtime/toml.ts shownPlace": "takes the name of a file that the operator has named",
  "src/api/operator/managing.ts Decimal": "makes a schema, from a sentence of ours",
  "src/api/operator/passwords.ts PasswordText": "makes a schema, from a sentence of ours",
  ...Object.fromEntries(
    ["Text", "Whole", "Flag", "OptionalText", "OptionalWhole", "OptionalFlag", "TextOrNull"].map((name) => [
      `src/api/shapes.ts ${name}`,
      "makes a schema, from a sentence of ours",
    ]),
  ),
  "src/pins/rate.ts parseCount": "JSON that we have written, of at most 61 moments",
  "src/smsc/spoiling.ts spoilt": "takes what our own session has written",
  "src/simulator/handsets.ts phone": "a name of ours, with an ending of digits at most",
  "src/runtime/compiled.ts compiled": OWN_WORDS,
  "src/api/console/files.ts readConsoleFiles": FILE_NAME,
  "src/runtime/files.ts readSmallFile": FILE_NAME,
  "src/runtime/files.ts readGivenFile": FILE_NAME,
  "src/runtime/lazy.ts library": OWN_WORDS,
  "src/runtime/metrics.ts counter": OWN_WORDS,
  "src/runtime/metrics.ts gauge": OWN_WORDS,
  "src/runtime/metrics.ts histogram": OWN_WORDS,
  "src/runtime/metrics.ts seriesBy": OWN_WORDS,
  "src/runtime/time-travel.ts keptOffsetMs": FILE_NAME,
  "src/runtime/time-travel.ts forgetOffset": FILE_NAME,
  "src/runtime/private-files.ts flushFile": FILE_NAME,
  "src/runtime/private-files.ts makeDirectories": FILE_NAME,
  "src/runtime/private-files.ts makePrivateDirectory": FILE_NAME,
  "src/runtime/private-files.ts makePrivateFile": FILE_NAME,
  "src/runtime/private-files.ts protectFile": FILE_NAME,
  "src/runtime/private-files.ts tooOpen": FILE_NAME,
  "src/runtime/private-files.ts writePrivateFile": FILE_NAME,
  "src/runtime/private-files.ts readSecretFile": FILE_NAME,
  "src/runtime/ids.ts nthId": "an id of our own making",
  "src/runtime/log.ts createLog": "a level from the settings",
  "src/carriers/http/answer.ts errorIdOf": "a name of ours, by a table of the catalogue",
  "src/sms/errors.ts errorByName": "a name in the source",
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
