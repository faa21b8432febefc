/** A message as a draft, to send the same again: in Compose, or with curl. Its text is as it was sent, so that nothing is left to transliterate. */
import type { MessageAnswer } from "../../../../src/api/console/message-schemas.ts";
import { LANGUAGE_CODES } from "../../../../src/sms/encodings.ts";
import { withQuery } from "../../api.ts";
import { type Draft, EMPTY_DRAFT, requestOf } from "../compose/draft.ts";

export function draftOf(message: MessageAnswer): Draft {
  const { from, to, text, encoding, flash, notifyUrl, notifyContentType, wished } = message;
  const [kind, dataCoding, esmClass] = encoding.split(" ");
  const isBinary = kind === "octets";
  return {
    ...EMPTY_DRAFT,
    kind: isBinary ? "binary" : "text",
    from,
    to,
    ...(isBinary ? { hex: text, dataCoding: dataCoding ?? "", esmClass: esmClass ?? "" } : { text }),
    ...languageOf(encoding),
    flash,
    window: wished.window,
    validityPeriod: wished.validityPeriod === null ? "" : String(wished.validityPeriod),
    notifyUrl: notifyUrl ?? "",
    notifyContentType: notifyUrl === null || notifyContentType === "application/json" ? "" : notifyContentType,
    intermediateReport: wished.intermediateReport,
    callbackData: wished.callbackData ?? "",
    campaignReferenceId: wished.campaignReferenceId ?? "",
  };
}

/** "gsm7+tr.ls" is Turkish with both tables. */
function languageOf(encoding: string): Partial<Draft> {
  const [language = "", tables = ""] = (encoding.split("+")[1] ?? "").split(".");
  const languageCode = LANGUAGE_CODES.find((code) => code === language.toUpperCase());
  if (languageCode === undefined) return {};
  return { languageCode, singleShift: tables.includes("s"), lockingShift: tables.includes("l") };
}

/** Compose, filled in. What a draft has anyway is left out of the address. */
export function composeAddress(draft: Draft): string {
  const { kind: _, window, ...fields } = draft;
  const said = Object.entries(fields).filter(([name, value]) => value !== EMPTY_DRAFT[name as keyof Draft]);
  const hours = window?.hours ?? null;
  return withQuery("/compose", {
    ...(Object.fromEntries(said) as Record<string, string | boolean>),
    days: window?.days.join(","),
    hours: hours === null ? null : `${hours.fromMinute}-${hours.toMinute}`,
  });
}

/** For a shell: nothing in it is read but the quotation marks. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function curlOf(message: MessageAnswer, origin: string): string {
  const { path, body } = requestOf(draftOf(message));
  return [
    `curl -X POST ${quoted(`${origin}${path}`)}`,
    `-H ${quoted("Authorization: App YOUR_API_KEY")}`,
    `-H ${quoted("Content-Type: application/json")}`,
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n  ");
}
