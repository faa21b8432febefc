/**
 * What can go wrong at a carrier, as data: one object, set while the network runs, in which each fault that is on has its field. A
 * fault strikes always, with a probability, so many times, or for some numbers only; these can be combined. docs/smsc.md shows
 * the table to whoever uses it.
 */
import { COMMAND_STATUSES, type CommandStatus, statusCode } from "../carriers/smpp/codec/statuses.ts";
import { orElse } from "../runtime/or-else.ts";
import type { Random } from "../runtime/random.ts";
import { ID_SPELLINGS, ID_STYLES, type IdStyle } from "./ids.ts";

/** A kind of value: which ones fit, and how that is told to whoever wrote another. */
interface Kind<Value> {
  readonly says: string;
  fits(value: unknown): boolean;
  /** For the type only. */
  readonly value?: Value;
}

const SHARE: Kind<number> = {
  says: "a number from 0 to 1",
  fits: (value) => typeof value === "number" && value >= 0 && value <= 1,
};
const YES_OR_NO: Kind<boolean> = { says: "true or false", fits: (value) => typeof value === "boolean" };
/** A regular expression; in code also any question about a number. */
const NUMBERS: Kind<string | RegExp | ((number: string) => boolean)> = {
  says: "a regular expression",
  fits: isPattern,
};
const STATUS: Kind<CommandStatus | number> = {
  says: "a status such as ESME_RSYSERR, or its number",
  fits: (value) => (typeof value === "string" ? Object.hasOwn(COMMAND_STATUSES, value) : isWhole(value, 1, 0xffffffff)),
};
/** As the reader of receipts takes it for a word. */
const WORD: Kind<string> = {
  says: "a word of up to 20 letters and digits",
  fits: (value) => typeof value === "string" && /^[A-Za-z0-9_]{1,20}$/.test(value),
};

function whole(least: number, most: number): Kind<number> {
  return { says: `a whole number from ${least} to ${most}`, fits: (value) => isWhole(value, least, most) };
}

function oneOf<const Word extends string>(words: readonly Word[], says = `one of "${words.join('", "')}"`): Kind<Word> {
  return { says, fits: (value) => words.includes(value as Word) };
}

const TIMES = whole(0, 1_000_000_000);
const MILLISECONDS = whole(0, 86_400_000);

/** When a fault strikes. All that is said must hold; nothing said is always. */
const WHEN = {
  /** Of the cases that it could strike, this share. */
  probability: SHARE,
  /** So many times, then no more. */
  count: TIMES,
  /** Not the first so many times that it would. */
  skip: TIMES,
} as const;

/** For what is about one message: only if its recipient's number fits. */
const WHEN_TO = { ...WHEN, to: NUMBERS } as const;

const CUT = {
  ...WHEN_TO,
  /** Whether the part at which it happens was taken before: its phone gets it, and its receipt comes. Default false. */
  taken: YES_OR_NO,
} as const;

const STRAY_OCTETS = ["after message", "after parameters", "length too large"] as const;
export type StrayOctet = (typeof STRAY_OCTETS)[number];
const LOST_LENGTHS = ["too short", "too long"] as const;
export type LostLength = (typeof LOST_LENGTHS)[number];

/** Each fault with what can be said of it, all of which may be left out. */
export const FAULTS = {
  /** Answers a bind with this status and closes. Default ESME_RBINDFAIL. */
  refuseBind: { ...WHEN, status: STATUS },

  /** The answer to a submit comes so much later. Default 1000. */
  delayAnswer: { ...WHEN_TO, ms: MILLISECONDS },
  /** The part is taken, and its submit never answered. */
  dropAnswer: WHEN_TO,
  /** The same answer twice. */
  doubleAnswer: WHEN_TO,
  /** ESME_RTHROTTLED for what is above so many parts a second. Default 10. */
  throttle: { ...WHEN_TO, perSecond: whole(1, 100_000) },
  /** ESME_RMSGQFUL. */
  queueFull: WHEN_TO,
  /** ESME_RSYSERR. */
  systemError: WHEN_TO,
  /** Any status. Default ESME_RSUBMITFAIL. */
  refuseSubmit: { ...WHEN_TO, status: STATUS },
  /** The answer carries congestion_state, of 0 (idle) to 100 (overloaded). Default 90. */
  congestion: { ...WHEN_TO, state: whole(0, 100) },

  /** What it takes data_coding 0 for, in place of GSM with a septet an octet. Default "latin1". */
  alphabet: { ...WHEN_TO, as: oneOf(["gsm packed", "latin1", "ascii"]) },

  /** How ids are spelled. */
  ids: { ...WHEN_TO, as: oneOf<IdStyle>(ID_STYLES, `${ID_SPELLINGS.join(", ")}, or two as in "hex then decimal"`) },
  /** Ids begin anew after so many: several parts have the same. With 1 all have. Default 10. */
  sameIds: { ...WHEN_TO, every: whole(1, 1_000_000) },

  /** The last receipt is sent before the answer, which follows when it is acknowledged, or after so long. Default 1000. */
  receiptFirst: { ...WHEN_TO, ms: MILLISECONDS },
  /** Of a long message only this part has a receipt. Default "last". */
  receiptParts: { ...WHEN_TO, as: oneOf(["first", "last"]) },
  /** The same receipt twice. */
  doubleReceipt: WHEN_TO,
  /** The receipt comes so much later. Default 5000. */
  delayReceipt: { ...WHEN_TO, ms: MILLISECONDS },
  /** After the last receipt another that says the opposite, so much later. Default 0. */
  contradictReceipt: { ...WHEN_TO, ms: MILLISECONDS },
  /** No receipt. */
  dropReceipt: WHEN_TO,
  /** A state that nobody has heard of: this word in the text, this number in message_state. Defaults MYSTERY and 99. */
  strangeState: { ...WHEN_TO, word: WORD, state: whole(0, 255) },
  /** Only the standard's text, in ASCII or in UCS-2, or only the optional parameters. Default "text". */
  receiptForm: { ...WHEN_TO, as: oneOf(["text", "ucs2 text", "tlvs"]) },
  /** esm_class does not say that it is a receipt. */
  unmarkedReceipt: WHEN_TO,
  /** The receipt's dates are in no calendar. */
  impossibleDates: WHEN_TO,
  /** What is delivered is wrong by an octet: a NUL behind the message or the parameters, or sm_length counts one that is not there. Default "after message". */
  strayOctet: { ...WHEN_TO, as: oneOf<StrayOctet>(STRAY_OCTETS) },
  /** The receipt breaks off in its first address. */
  unreadableReceipt: WHEN_TO,

  /** At a submit: says unbind and answers neither this one nor what follows. */
  unbind: CUT,
  /** At a submit: the connection ends without a word. */
  dropConnection: CUT,
  /** At a submit: falls silent, and leaves the connection open. */
  halfOpen: CUT,
  /** At a submit: sends a PDU whose length cannot be, and nothing behind it. Default "too short". */
  lostFraming: { ...CUT, as: oneOf<LostLength>(LOST_LENGTHS) },
  /** Writes pieces of so many octets. Default 1. */
  tornPdus: { ...WHEN, octets: whole(1, 65_536) },
  /** Gathers what it has to say for so long, and writes it at once. Default 50. */
  gluedPdus: { ...WHEN, ms: MILLISECONDS },
} as const satisfies Record<string, Readonly<Record<string, Kind<unknown>>>>;

export type FaultName = keyof typeof FAULTS;

/** What is said of a fault. */
export type FaultSettings<Name extends FaultName> = {
  readonly [Field in keyof (typeof FAULTS)[Name]]?: (typeof FAULTS)[Name][Field] extends Kind<infer Value>
    ? Value
    : never;
};

/** In place of all that: true is always, a number from 1 on a count, one below it a probability, a word the fault's `as`. */
type Shorthand<Name extends FaultName> =
  | boolean
  | number
  | (FaultSettings<Name> extends { as?: infer As } ? As : never);

export type Faults = { readonly [Name in FaultName]?: Shorthand<Name> | FaultSettings<Name> };

/** Something is said of a fault that cannot be. The message names the place. */
export class BadFaults extends Error {}

/** Faults from outside, checked. */
export function readFaults(value: unknown): Faults {
  if (!isObject(value)) throw new BadFaults('faults must be an object, such as {"dropAnswer": {"count": 1}}');
  for (const [name, said] of Object.entries(value)) {
    if (!Object.hasOwn(FAULTS, name))
      throw new BadFaults(`there is no fault "${name}"; there are ${Object.keys(FAULTS).join(", ")}`);
    checkFault(name as FaultName, said);
  }
  return value as Faults;
}

/** "dropAnswer=0.1", "ids=hex then decimal", "throttle={\"perSecond\": 5}", or the name alone. */
export function readFault(text: string): Faults {
  const [name = "", ...rest] = text.split("=");
  const said = rest.join("=");
  return readFaults({ [name]: rest.length === 0 ? true : orElse(() => JSON.parse(said), said) });
}

function checkFault(name: FaultName, said: unknown): void {
  const fields: Readonly<Record<string, Kind<unknown>>> = FAULTS[name];
  if (typeof said === "boolean") return;
  if (typeof said === "number") {
    if (SHARE.fits(said) || TIMES.fits(said)) return;
    throw new BadFaults(`${name} must be a share from 0 to 1 or a whole number of times, not ${said}`);
  }
  if (typeof said === "string" && fields.as !== undefined) {
    checkField(name, fields.as, said);
    return;
  }
  if (!isObject(said)) {
    throw new BadFaults(`${name} must be true, a number or an object with some of ${Object.keys(fields).join(", ")}`);
  }
  for (const [field, value] of Object.entries(said)) {
    const kind = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (kind === undefined) {
      throw new BadFaults(`${name} has no "${field}"; it has ${Object.keys(fields).join(", ")}`);
    }
    checkField(`${name}.${field}`, kind, value);
  }
}

function checkField(place: string, kind: Kind<unknown>, value: unknown): void {
  if (!kind.fits(value)) throw new BadFaults(`${place} must be ${kind.says}, not ${JSON.stringify(value)}`);
}

/** A fault that is on. */
export class Fault<Settings> {
  readonly settings: Settings;
  readonly #random: Random;
  readonly #probability: number;
  readonly #fits: ((number: string) => boolean) | null;
  #toSkip: number;
  #left: number;
  /** How often it has struck. */
  hits = 0;

  constructor(settings: Settings & { readonly [Field in keyof typeof WHEN_TO]?: unknown }, random: Random) {
    const { probability = 1, count = Number.POSITIVE_INFINITY, skip = 0, to } = settings as FaultSettings<"dropAnswer">;
    this.settings = settings;
    this.#random = random;
    this.#probability = probability;
    this.#left = count;
    this.#toSkip = skip;
    this.#fits = to === undefined ? null : questionOf(to);
  }

  /** Whether it strikes this time; whoever asks must then let it. `number` is the recipient's, where there is one. */
  strikes(number = ""): boolean {
    if (this.#left === 0 || (this.#fits !== null && !this.#fits(number))) return false;
    if (this.#probability < 1 && this.#random.next() >= this.#probability) return false;
    if (this.#toSkip > 0) {
      this.#toSkip--;
      return false;
    }
    this.#left--;
    this.hits++;
    return true;
  }
}

function questionOf(to: string | RegExp | ((number: string) => boolean)): (number: string) => boolean {
  if (typeof to === "function") return to;
  const pattern = new RegExp(to);
  return (number) => number.search(pattern) !== -1;
}

/** Every fault by its name, null where it is off. */
export type ActiveFaults = { readonly [Name in FaultName]: Fault<FaultSettings<Name>> | null };

/** From now on: what has struck before counts no more. */
export function activate(faults: Faults, random: Random): ActiveFaults {
  const active = Object.keys(FAULTS).map((name) => {
    const settings = spelledOut(faults[name as FaultName]);
    return [name, settings === null ? null : new Fault(settings, random)];
  });
  return Object.fromEntries(active);
}

function spelledOut(said: boolean | number | string | object | undefined): object | null {
  if (said === undefined || said === false) return null;
  if (said === true) return {};
  if (typeof said === "number") return said > 0 && said < 1 ? { probability: said } : { count: said };
  return typeof said === "string" ? { as: said } : said;
}

export function statusOf(status: CommandStatus | number): number {
  return typeof status === "number" ? status : statusCode(status);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function isPattern(value: unknown): boolean {
  if (typeof value === "function" || value instanceof RegExp) return true;
  return typeof value === "string" && orElse(() => new RegExp(value), null) !== null;
}
