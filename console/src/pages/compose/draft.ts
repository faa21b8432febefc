/** A message as it is being written, and the request that it becomes. Pure: the page, the snippets and the tests share it. */
import { DAYS, type Day } from "../../../../src/schedule/window.ts";
import { isDestination } from "../../../../src/sms/addresses.ts";
import { LANGUAGE_CHOICES, type LanguageChoice } from "../../../../src/sms/encodings.ts";
import type { TextOptions } from "../../../../src/sms/prepared-text.ts";
import { TRANSLITERATIONS, type Transliteration } from "../../../../src/sms/transliteration/names.ts";

const DAY_MINUTES = 1_440;

/** Hours in UTC, in minutes after midnight; null is the whole day. */
export interface WindowDraft {
  readonly days: readonly Day[];
  readonly hours: { readonly fromMinute: number; readonly toMinute: number } | null;
}

export interface Draft {
  readonly kind: "text" | "binary";
  readonly from: string;
  /** As it was typed or pasted: numbers with anything between them. */
  readonly to: string;
  readonly text: string;
  readonly hex: string;
  readonly dataCoding: string;
  readonly esmClass: string;
  readonly flash: boolean;
  readonly languageCode: LanguageChoice | "";
  readonly singleShift: boolean;
  readonly lockingShift: boolean;
  readonly transliteration: Transliteration | "";
  /** Of an input for dates: in the reader's zone, without one. */
  readonly sendAt: string;
  readonly window: WindowDraft | null;
  readonly validityPeriod: string;
  readonly notifyUrl: string;
  readonly notifyContentType: string;
  readonly intermediateReport: boolean;
  readonly callbackData: string;
  readonly campaignReferenceId: string;
  readonly bulkId: string;
  readonly messageId: string;
}

export const EMPTY_DRAFT: Draft = {
  kind: "text",
  from: "",
  to: "",
  text: "",
  hex: "",
  dataCoding: "",
  esmClass: "",
  flash: false,
  languageCode: "",
  singleShift: true,
  lockingShift: false,
  transliteration: "",
  sendAt: "",
  window: null,
  validityPeriod: "",
  notifyUrl: "",
  notifyContentType: "",
  intermediateReport: false,
  callbackData: "",
  campaignReferenceId: "",
  bulkId: "",
  messageId: "",
};

export const EVERY_DAY: readonly Day[] = DAYS;

/** So many digits in one piece are a number by themselves; two pieces of so many beside each other are two. */
const WHOLE_DIGITS = 10;
const HALF_DIGITS = 6;

/**
 * Numbers are separated by commas, semicolons, tabs or lines. A space is within a number, as in "+41 79 302 67 27", unless a plus follows it or the
 * pieces on its sides are too long for that. What people write between digits is left out.
 */
export function readNumbers(typed: string): { readonly good: string[]; readonly bad: string[] } {
  const good = new Set<string>();
  const bad: string[] = [];
  for (const line of typed.split(/[,;\t\r\n]+/)) {
    for (const words of numbersIn(line)) {
      const number = digitsOf(words.join(""));
      if (isDestination(number)) good.add(number);
      else bad.push(words.join(" "));
    }
  }
  return { good: [...good], bad };
}

/** The words of a line, those of one number together. */
function numbersIn(line: string): string[][] {
  const numbers: string[][] = [];
  for (const word of line.split(/\s+/)) {
    if (word === "") continue;
    const last = numbers.at(-1);
    if (last !== undefined && isContinuedBy(last, word)) last.push(word);
    else numbers.push([word]);
  }
  return numbers;
}

function isContinuedBy(words: readonly string[], next: string): boolean {
  const before = words.at(-1)!;
  if (next.startsWith("+") || !/^[0-9]*$/.test(digitsOf(before)) || !/^[0-9]*$/.test(digitsOf(next))) return false;
  // A country's code may be followed by all the rest.
  if (words.length === 1 && /^\+[0-9]{1,3}$/.test(before)) return true;
  const [one, other] = [digitsOf(before).length, digitsOf(next).length];
  return Math.max(one, other) < WHOLE_DIGITS && Math.min(one, other) < HALF_DIGITS;
}

/** Without what stands for "abroad" before it, and what people write between digits. The zero of "+41 (0)79" is dialled within the country only. */
function digitsOf(word: string): string {
  const international = word.startsWith("+") ? word.slice(1).replace("(0)", "") : word.replace(/^00/, "");
  return international.replace(/[-()./]/g, "");
}

export function textOptions(draft: Draft): TextOptions {
  const { languageCode, singleShift, lockingShift, transliteration } = draft;
  return {
    ...(languageCode === "" ? {} : { languageCode, singleShift, ...(lockingShift ? { lockingShift } : {}) }),
    ...(transliteration === "" ? {} : { transliteration }),
  };
}

/** The moment of an input for dates, as the API writes it; null where it is none. */
export function sendAtOf(local: string): string | null {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? null : at.toISOString().replace("Z", "+0000");
}

export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

export interface RequestedMessage {
  readonly from?: string;
  readonly destinations: readonly { readonly to: string; readonly messageId?: string }[];
  readonly text?: string;
  readonly binary?: {
    readonly hex: string;
    readonly dataCoding?: number | string;
    readonly esmClass?: number | string;
  };
  readonly flash?: boolean;
  readonly language?: {
    readonly languageCode: string;
    readonly singleShift?: boolean;
    readonly lockingShift?: boolean;
  };
  readonly transliteration?: string;
  readonly sendAt?: string;
  readonly deliveryTimeWindow?: {
    readonly days: readonly Day[];
    readonly from?: TimeOfDay;
    readonly to?: TimeOfDay;
  };
  readonly validityPeriod?: number | string;
  readonly notifyUrl?: string;
  readonly notifyContentType?: string;
  readonly intermediateReport?: boolean;
  readonly callbackData?: string;
  readonly campaignReferenceId?: string;
}

export interface SendBody {
  readonly bulkId?: string;
  readonly messages: readonly RequestedMessage[];
}

export interface SendingRequest {
  readonly path: "/sms/2/text/advanced" | "/sms/2/binary/advanced";
  readonly body: SendBody;
}

/** A number where it is one; else what was typed, so that the service says what is wrong with it. */
const numeric = (typed: string): number | string => (/^[0-9]{1,9}$/.test(typed.trim()) ? Number(typed) : typed);
const timeOfDay = (minute: number): TimeOfDay => ({ hour: Math.floor(minute / 60), minute: minute % 60 });
/** Only what was filled in is sent. */
const given = <Name extends string>(name: Name, value: string): { readonly [Key in Name]?: string } =>
  value.trim() === "" ? {} : ({ [name]: value.trim() } as { readonly [Key in Name]: string });

export function requestOf(draft: Draft): SendingRequest {
  const { good } = readNumbers(draft.to);
  const { kind, languageCode, singleShift, lockingShift, transliteration, window, flash, intermediateReport } = draft;
  const sendAt = draft.sendAt === "" ? null : sendAtOf(draft.sendAt);
  const messageId = good.length === 1 ? draft.messageId.trim() : "";
  const message: RequestedMessage = {
    ...given("from", draft.from),
    destinations: good.map((to) => (messageId === "" ? { to } : { to, messageId })),
    ...(kind === "text"
      ? { text: draft.text }
      : {
          binary: {
            hex: draft.hex,
            ...(draft.dataCoding === "" ? {} : { dataCoding: numeric(draft.dataCoding) }),
            ...(draft.esmClass === "" ? {} : { esmClass: numeric(draft.esmClass) }),
          },
        }),
    ...(flash ? { flash } : {}),
    ...(kind === "binary" || languageCode === ""
      ? {}
      : {
          language: {
            languageCode,
            ...(singleShift ? {} : { singleShift }),
            ...(lockingShift ? { lockingShift } : {}),
          },
        }),
    ...(kind === "binary" || transliteration === "" ? {} : { transliteration }),
    ...(sendAt === null ? {} : { sendAt }),
    ...(window === null
      ? {}
      : {
          deliveryTimeWindow: {
            days: window.days,
            ...(window.hours === null
              ? {}
              : { from: timeOfDay(window.hours.fromMinute), to: timeOfDay(window.hours.toMinute) }),
          },
        }),
    ...(draft.validityPeriod.trim() === "" ? {} : { validityPeriod: numeric(draft.validityPeriod) }),
    ...given("notifyUrl", draft.notifyUrl),
    ...given("notifyContentType", draft.notifyContentType),
    ...(intermediateReport ? { intermediateReport } : {}),
    ...given("callbackData", draft.callbackData),
    ...given("campaignReferenceId", draft.campaignReferenceId),
  };
  return {
    path: kind === "text" ? "/sms/2/text/advanced" : "/sms/2/binary/advanced",
    body: { ...given("bulkId", draft.bulkId), messages: [message] },
  };
}

const TEXT_FIELDS = [
  "from",
  "to",
  "text",
  "hex",
  "dataCoding",
  "esmClass",
  "sendAt",
  "validityPeriod",
  "notifyUrl",
  "notifyContentType",
  "callbackData",
  "campaignReferenceId",
  "bulkId",
  "messageId",
] as const;

/** What an address fills in: /compose?to=…&from=…&text=…. What it does not know, it leaves out. */
export function draftFrom(query: Readonly<Record<string, string>>): Draft {
  const words = Object.fromEntries(TEXT_FIELDS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  const languageCode = LANGUAGE_CHOICES.find((code) => code === query.languageCode) ?? "";
  const transliteration = TRANSLITERATIONS.find((name) => name === query.transliteration) ?? "";
  const sendAt = localInput(query.sendAt);
  return {
    ...EMPTY_DRAFT,
    ...words,
    sendAt,
    kind: query.hex ? "binary" : "text",
    flash: query.flash === "true",
    intermediateReport: query.intermediateReport === "true",
    languageCode,
    singleShift: query.singleShift !== "false",
    lockingShift: query.lockingShift === "true",
    transliteration,
    window: windowFrom(query),
  };
}

/** `days=MONDAY,FRIDAY&hours=540-1020`, in minutes after midnight. */
function windowFrom({ days = "", hours = "" }: Readonly<Record<string, string>>): WindowDraft | null {
  const named = days.split(",");
  const known = DAYS.filter((day) => named.includes(day));
  if (known.length === 0) return null;
  const [fromMinute = Number.NaN, toMinute = Number.NaN] = hours.split("-", 2).map(Number);
  const isTime = (minute: number): boolean => Number.isInteger(minute) && minute >= 0 && minute < DAY_MINUTES;
  const isStretch = hours !== "" && isTime(fromMinute) && isTime(toMinute) && fromMinute !== toMinute;
  return { days: known, hours: isStretch ? { fromMinute, toMinute } : null };
}

/** A moment as an input for dates has it, in the reader's zone. */
export function localInput(moment: string | number | undefined): string {
  if (moment === undefined || moment === "") return "";
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The fields of the form by what the service calls them. */
export type FieldName = (typeof TEXT_FIELDS)[number] | "window" | "language" | "transliteration" | "flash";

const SPECIAL: Readonly<Record<string, FieldName>> = {
  destinations: "to",
  binary: "hex",
  deliveryTimeWindow: "window",
  language: "language",
  languageCode: "language",
};

/** "messages[0].destinations[3].to" is the field "to"; null for one that the form does not have. */
export function fieldOf(name: string): FieldName | null {
  const steps = name.replace(/\[[0-9]+\]/g, "").split(".");
  const path = steps[0] === "messages" ? steps.slice(1) : steps;
  const last = path.at(-1) ?? "";
  const names: readonly string[] = [...TEXT_FIELDS, "language", "transliteration", "flash"];
  if (path[0] === "deliveryTimeWindow") return "window";
  if (names.includes(last)) return last as FieldName;
  return SPECIAL[path[0] ?? ""] ?? null;
}

/**
 * What the service says of each field. Its sentence names the fields in order, with semicolons between what it says of them; what is about no
 * field of the form stands under "".
 */
export function problemsByField(message: string, fields: readonly string[]): ReadonlyMap<FieldName | "", string> {
  const found = new Map<FieldName | "", string>();
  let rest = message;
  fields.forEach((name, index) => {
    const next = fields[index + 1];
    const end = next === undefined ? -1 : rest.indexOf(`; ${next} `);
    const part = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? "" : rest.slice(end + 2);
    const says = part.startsWith(`${name} `) ? `It ${part.slice(name.length + 1)}` : part;
    const field = fieldOf(name);
    if (says !== "") found.set(field ?? "", field === null ? part : `${says.replace(/\.$/, "")}.`);
  });
  if (found.size === 0) found.set("", message);
  return found;
}
