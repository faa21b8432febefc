/** The parameters of a request to Kannel's sendsms become a message, or one of Kannel's words about what is wrong with them. */
import type { BinaryFields, RequestedMessage } from "../../intake/request.ts";
import { NO_REPORT, type ReportForm, TOLD } from "../../message/report-form.ts";
import { isDlrUrl } from "../../reports/rendering/dlr-url.ts";
import { given } from "../../runtime/given.ts";
import { MAX_URL_LENGTH } from "../../runtime/urls.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { DEFAULT_ALPHABET, isGsm, septetsOf } from "../../sms/alphabets.ts";
import { HEADER_BIT } from "../../sms/binary.ts";
import { type DataAlphabet, dataCodingOf } from "../../sms/datacoding.ts";
import { ucs2Octets } from "../../sms/userdata.ts";
import { decodeText } from "./charsets.ts";
import { DENIED, type Parameters, rejected, textOf } from "./parameters.ts";

/** What the body of a request is, where it is not a form: a text, or octets. It decides what coding is meant where none is named. */
export type BodyKind = "text" | "octets" | null;

export interface KannelMessage {
  readonly message: RequestedMessage;
  /** What was named as a number and is none. */
  readonly denied: readonly string[];
}

const [GSM, OCTETS, UCS2] = [0, 1, 2];
const MINUTE_MS = 60_000;
/** Further ahead there is no date. */
const MAX_MINUTES = 10_000_000;
const MAX_UDH_OCTETS = 140;
const MAX_ACCOUNT = 64;
const MAX_BINFO = 200;
/** esm_class (SMPP 3.4 §5.2.12): the answer may go back the way that the message came. */
const REPLY_PATH_BIT = 0x80;
const FINAL_OR_NOT = TOLD.buffered | TOLD.accepted;
const ALL_TOLD = Object.values(TOLD).reduce((sum, bit) => sum | bit, 0);

/** The numbers among the parameters: the name in Kannel's words, and the largest. A misformed one is refused, -1 is as good as none. */
const NUMBERS = {
  "dlr-mask": ["DLR-Mask", 63],
  mclass: ["MClass", 3],
  pid: ["PID", 255],
  rpi: ["RPI", 2],
  "alt-dcs": ["Alt-DCS", 1],
  mwi: ["MWI", 7],
  coding: ["Coding", UCS2],
  compress: ["Compress", 1],
  validity: ["Validity", MAX_MINUTES],
  deferred: ["Deferred", MAX_MINUTES],
  priority: ["Priority", 3],
} as const;

function numberOf(parameters: Parameters, name: keyof typeof NUMBERS): number | null {
  const text = parameters.get(name)?.toString("latin1").trim() ?? "";
  if (text === "" || text === "-1") return null;
  const [says, most] = NUMBERS[name];
  if (!/^\d{1,15}$/.test(text) || Number(text) > most) throw misformed(says);
  return Number(text);
}

const misformed = (name: string) => rejected(`${name} field misformed, rejected`);

/** `nowMs` is when it came, and `charset` that of the body, which has the text where it is one. */
export function readMessage(parameters: Parameters, bodyKind: BodyKind, nowMs: number): KannelMessage {
  const { numbers, denied } = receivers(parameters, bodyKind);
  const udh = udhOf(parameters);
  const reports = reportsOf(parameters);
  const deferred = numberOf(parameters, "deferred");
  const validity = numberOf(parameters, "validity");
  // Routes are the operator's: neither says anything here but whether it is one.
  numberOf(parameters, "priority");
  if ((numberOf(parameters, "pid") ?? 0) > 0) throw rejected("PID is not supported, rejected");
  if (numberOf(parameters, "compress") === 1) throw rejected("Compress is not supported, rejected");
  return {
    denied,
    message: {
      path: "",
      destinations: numbers.map((to) => ({ to })),
      fields: {
        ...contentOf(parameters, udh, bodyKind),
        ...given({ from: textOf(parameters.get("from"))?.trim() }),
        ...carriedBy(parameters),
        ...(reports.url === null ? {} : { notifyUrl: reports.url, intermediateReport: reports.intermediate }),
        ...(deferred === null || deferred === 0 ? {} : { sendAt: formatDateTime(nowMs + deferred * MINUTE_MS) }),
      },
      reportForm: reports.form,
      ...(validity === null || validity === 0 ? {} : { validityMs: validity * MINUTE_MS }),
    },
  };
}

/** Numbers are separated by blanks, each counts once, and a plus sign or two zeros before it say what holds for all of them: it is international. */
function receivers(parameters: Parameters, bodyKind: BodyKind): { numbers: string[]; denied: string[] } {
  const to = parameters.get("to");
  if (to === undefined) throw rejected(`Missing receiver${bodyKind === null ? " number" : "(s) number(s)"}, rejected`);
  const words = to
    .toString("latin1")
    .split(/\s/)
    .filter((word) => word !== "");
  if (words.length === 0) throw rejected("Empty receiver number not allowed, rejected");
  const denied = words.filter((word) => !/^[+\d-]+$/.test(word));
  const numbers = words.filter((word) => /^[+\d-]+$/.test(word)).map(international);
  if (numbers.length === 0) throw rejected(DENIED);
  return { numbers: [...new Set(numbers)], denied: [...new Set(denied)] };
}

function international(number: string): string {
  return number.replaceAll("-", "").replace(/^(?:\+|00)/, "");
}

function udhOf(parameters: Parameters): Buffer | null {
  const udh = parameters.get("udh");
  if (udh === undefined || udh.length === 0) return null;
  if (udh.length !== udh[0]! + 1) throw misformed("UDH");
  if (udh.length > MAX_UDH_OCTETS) throw rejected("UDH field is too long, rejected");
  return udh;
}

/** What is only heard again, in reports and logs. */
function carriedBy(parameters: Parameters): { campaignReferenceId?: string; callbackData?: string } {
  const account = textOf(parameters.get("account"));
  const binfo = textOf(parameters.get("binfo"));
  if (account !== null && (account.length > MAX_ACCOUNT || /[[\]\r\n\0]/.test(account)))
    throw rejected("Account field misformed or too long, rejected");
  if (binfo !== null && (binfo.length > MAX_BINFO || binfo.includes("\0")))
    throw rejected("BInfo field misformed or too long, rejected");
  return {
    ...(account === null ? {} : { campaignReferenceId: account }),
    ...(binfo === null ? {} : { callbackData: binfo }),
  };
}

interface Reports {
  readonly url: string | null;
  readonly form: ReportForm;
  readonly intermediate: boolean;
}

/** Without a URL and a mask nobody hears of the message again. */
function reportsOf(parameters: Parameters): Reports {
  const url = textOf(parameters.get("dlr-url"))?.trim() ?? "";
  if (url !== "" && (url.length > MAX_URL_LENGTH || url.includes("\0") || !isDlrUrl(url))) throw misformed("DLR-URL");
  const mask = (numberOf(parameters, "dlr-mask") ?? 0) & ALL_TOLD;
  if (url === "" || mask === 0) return { url: null, form: NO_REPORT, intermediate: false };
  return { url, form: `kannel ${mask}`, intermediate: (mask & FINAL_OR_NOT) !== 0 };
}

type Content = { text: string; flash: boolean } | { binary: BinaryFields };

/** A text goes as any other one, unless it asks for what only octets can have. */
function contentOf(parameters: Parameters, udh: Buffer | null, bodyKind: BodyKind): Content {
  const octets = parameters.get("text") ?? Buffer.alloc(0);
  const coding =
    numberOf(parameters, "coding") ?? (bodyKind === "octets" || (udh !== null && bodyKind === null) ? OCTETS : GSM);
  const [mclass, mwi, altDcs] = [
    numberOf(parameters, "mclass"),
    numberOf(parameters, "mwi"),
    numberOf(parameters, "alt-dcs"),
  ];
  const replyPath = numberOf(parameters, "rpi") === 1;
  if (octets.length === 0 && (udh === null || coding !== OCTETS)) throw rejected("Empty text not allowed, rejected");
  if (coding === OCTETS && mwi !== null) throw misformed("MWI");
  const text = coding === OCTETS ? null : readText(parameters, octets, coding);
  const isPlain = udh === null && mwi === null && !replyPath && (mclass === null || (mclass === 0 && altDcs !== 1));
  if (text !== null && isPlain) return { text, flash: mclass === 0 };
  const [alphabet, data] = text === null ? (["octets", octets] as const) : encodedText(text, coding);
  return {
    binary: {
      hex: Buffer.concat([udh ?? Buffer.alloc(0), data]).toString("hex"),
      dataCoding: dataCoding(alphabet, mclass, mwi, altDcs),
      esmClass: (udh === null ? 0 : HEADER_BIT) | (replyPath ? REPLY_PATH_BIT : 0),
    },
  };
}

/** As Kannel has it: a text for UCS-2 is in that already, if it does not say otherwise. */
function readText(parameters: Parameters, octets: Buffer, coding: number): string {
  const charset = textOf(parameters.get("charset")) ?? (coding === UCS2 ? "utf-16be" : "utf-8");
  const text = decodeText(octets, charset);
  if (text === null) throw rejected("Charset or body misformed, rejected");
  if (text === "") throw rejected("Empty text not allowed, rejected");
  return text;
}

/** Septets stand one an octet, as SMPP has them. */
function encodedText(text: string, coding: number): readonly [DataAlphabet, Uint8Array] {
  return coding === GSM && isGsm(text) ? ["gsm7", septetsOf(text, DEFAULT_ALPHABET.codes)] : ["ucs2", ucs2Octets(text)];
}

const MWI_STORE = 0xd0;
const MWI_STORE_UCS2 = 0xe0;
const MWI_ACTIVE = 0x08;
const CLASS_GROUP = 0xf0;
const HAS_CLASS = 0x10;

/** 3GPP TS 23.038 §4. The first four indicators are switched on, the other four are the same ones, switched off. */
function dataCoding(alphabet: DataAlphabet, mclass: number | null, mwi: number | null, altDcs: number | null): number {
  if (mwi !== null)
    return (alphabet === "ucs2" ? MWI_STORE_UCS2 : MWI_STORE) | (mwi < 4 ? MWI_ACTIVE : 0) | (mwi & 0x03);
  const bits = dataCodingOf(alphabet, false);
  if (mclass === null) return bits;
  return (altDcs === 1 && alphabet !== "ucs2" ? CLASS_GROUP : HAS_CLASS) | bits | mclass;
}
