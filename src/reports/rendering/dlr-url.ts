/**
 * A delivery report or a message from a phone as Kannel tells it: a call of the client's URL, in which a percent sign and a letter stand for what happened. What is
 * put there is encoded, so that it stays where the client has put it: nothing but the client's own text says which host and which path are asked.
 */
import type { IncomingFacts, ReportFacts } from "../../message/message.ts";
import { TOLD, type Told } from "../../message/report-form.ts";
import { parseHttpUrl } from "../../runtime/urls.ts";
import { senderType } from "../../sms/addresses.ts";
import { STATUS, statusById } from "../../sms/statuses.ts";

/** What a template is filled with. */
interface Filling {
  readonly template: string;
  /** Null of a message from a phone. */
  readonly told: Told | null;
  readonly facts: Pick<ReportFacts, "to" | "from" | "doneAtMs" | "messageId" | "campaignReferenceId" | "callbackData">;
  /** What the network said, and which of its words `%s` is at. */
  readonly reply: string;
  readonly words: readonly string[];
  nextWord: number;
}

const nothing = (): string => "";
const undefinedNumber = (): string => "-1";

/** By the letter. Values that a report has none of are empty, or the number by which Kannel says so. */
const ESCAPES: Readonly<Record<string, (filling: Filling) => string>> = {
  d: ({ told }) => String(told ?? ""),
  p: ({ facts }) => encoded(facts.to),
  P: ({ facts }) => encoded(facts.from),
  q: ({ facts }) => encoded(withPlus(facts.to)),
  Q: ({ facts }) => encoded(withPlus(facts.from)),
  // A plus sign is a space in a query. A colon may stand there as it is.
  t: ({ facts }) => new Date(facts.doneAtMs).toISOString().slice(0, "2026-02-12T09:58:21".length).replace("T", "+"),
  T: ({ facts }) => String(Math.floor(facts.doneAtMs / 1_000)),
  I: ({ facts }) => encoded(facts.messageId),
  F: ({ facts }) => encoded(facts.messageId),
  i: () => "heliograph",
  o: ({ facts }) => encoded(facts.campaignReferenceId ?? ""),
  B: ({ facts }) => encoded(facts.callbackData ?? ""),
  A: ({ reply }) => encoded(reply),
  b: ({ reply }) => encoded(reply),
  e: ({ reply }) => Buffer.from(reply).toString("hex").toUpperCase(),
  a: ({ words }) => words.map(encoded).join("+"),
  k: ({ words }) => encoded(words[0] ?? ""),
  s: (filling) => encoded(filling.words[filling.nextWord++] ?? ""),
  S: (filling) => encoded((filling.words[filling.nextWord++] ?? "").replaceAll("*", "~")),
  r: ({ words, nextWord }) => words.slice(nextWord).map(encoded).join("+"),
  R: ({ template }) => encoded(template),
  C: () => "UTF-8",
  c: () => "0",
  O: () => "00",
  m: undefinedNumber,
  M: undefinedNumber,
  y: undefinedNumber,
  n: nothing,
  u: nothing,
  U: nothing,
  D: nothing,
  f: nothing,
  x: nothing,
  v: nothing,
  V: nothing,
  "%": () => "%",
};

/** A percent sign with the letter behind it; "%#group#name#" is a value of the meta-data, of which a report has none. */
const ESCAPE = /%(#[^#]{0,100}#[^#]{0,100}#|[^#])/gsu;
/** More of them are in no honest template. */
const MAX_ESCAPES = 50;

/** What stands before the path: scheme, name, password, host and port. */
const AUTHORITY = /^https?:\/\/[^/\\?#]*/i;

function isEscape(letter: string): boolean {
  return letter.startsWith("#") || Object.hasOwn(ESCAPES, letter);
}

/** Whether reports can be sent to a template. Its host is what it says: an escape there would choose it anew with every report. */
export function isDlrUrl(template: string): boolean {
  const authority = AUTHORITY.exec(template)?.[0];
  if (authority === undefined || parseHttpUrl(template) === null) return false;
  let escapes = 0;
  for (const { index, 1: letter } of template.matchAll(ESCAPE)) {
    if (!isEscape(letter!)) continue;
    if (index < authority.length || ++escapes > MAX_ESCAPES) return false;
  }
  return true;
}

/** Path and query of a template, filled with what happened to the message. An escape that is none stays as it is. */
export function dlrPath(template: string, told: Told, facts: ReportFacts): string {
  return filled(template, { told, facts, reply: replyOf(told, facts) });
}

/** The same of a message that a phone sent: whoever writes is %p, as the phone is that a report is about. */
export function incomingPath(template: string, { from, to, text, receivedAtMs, ...more }: IncomingFacts): string {
  const { messageId, callbackData = null } = more;
  const facts = { to: from, from: to, doneAtMs: receivedAtMs, messageId, callbackData, campaignReferenceId: null };
  return filled(template, { told: null, facts, reply: text });
}

function filled(template: string, { told, facts, reply }: Pick<Filling, "told" | "facts" | "reply">): string {
  const filling: Filling = { template, told, facts, reply, words: wordsOf(reply), nextWord: 1 };
  let escapes = 0;
  const rest = template.slice(AUTHORITY.exec(template)?.[0].length ?? 0);
  let path = "";
  let from = 0;
  for (const { index, 0: whole, 1: letter } of rest.matchAll(ESCAPE)) {
    path += written(rest.slice(from, index));
    path += isEscape(letter!) && ++escapes <= MAX_ESCAPES ? (ESCAPES[letter!] ?? nothing)(filling) : written(whole);
    from = index + whole.length;
  }
  path += written(rest.slice(from));
  // What begins with a number sign is for browsers, and goes to no server. What is put in has none.
  const [asked = ""] = path.split("#", 1);
  return asked.startsWith("/") ? asked : `/${asked}`;
}

/** Of the client's own text only what a request line cannot hold is written otherwise. */
function written(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, (octets) => encodeURIComponent(octets.toWellFormed()));
}

/** Letters, digits and a few signs stay, as in Kannel: a space becomes a plus sign. */
function encoded(value: string): string {
  return encodeURIComponent(value.toWellFormed())
    .replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

/** A number of a country's, as people write it. */
function withPlus(number: string): string {
  return senderType(number).ton === 1 ? `+${number}` : number;
}

function wordsOf(reply: string): string[] {
  return reply.split(" ").filter((word) => word !== "");
}

/** What Kannel hears of a carrier is its answer, or the text of its receipt. */
function replyOf(told: Told, facts: ReportFacts): string {
  if (told === TOLD.accepted) return "ACK/";
  if (told === TOLD.refused) return `NACK/${facts.errorId}/${statusById(facts.statusId).description}`;
  const delivered = told === TOLD.delivered;
  const error = String(facts.errorId % 1_000).padStart(3, "0");
  return (
    `id:${facts.messageId} sub:001 dlvrd:${delivered ? "001" : "000"} submit date:${receiptDate(facts.sentAtMs)} ` +
    `done date:${receiptDate(facts.doneAtMs)} stat:${stateOf(told, facts.statusId)} err:${error} text:`
  );
}

/** SMPP 3.4, appendix B: YYMMDDhhmm. */
function receiptDate(atMs: number): string {
  return new Date(atMs).toISOString().slice(2, "2026-02-12T09:58".length).replace(/\D/g, "");
}

const STATES: Readonly<Record<number, string>> = {
  [STATUS.EXPIRED_EXPIRED.id]: "EXPIRED",
  [STATUS.EXPIRED_UNKNOWN.id]: "UNKNOWN",
  [STATUS.EXPIRED_DLR_UNKNOWN.id]: "UNKNOWN",
  [STATUS.UNDELIVERABLE_REJECTED_OPERATOR.id]: "REJECTD",
};

function stateOf(told: Told, statusId: number): string {
  if (told === TOLD.delivered) return "DELIVRD";
  if (told === TOLD.buffered) return "ENROUTE";
  return STATES[statusId] ?? "UNDELIV";
}
