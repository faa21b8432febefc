/**
 * How many parts a text takes, and where it is cut. A part carries 140 octets (3GPP TS 23.040 §9.2.3.16), of which its
 * header takes some: what is left, counted in the *units* of the encoding (septets, or the 16 bit units of UCS-2), is
 * its capacity.
 */
import { ESCAPED, septetLength } from "./alphabets.ts";
import { ENCODING_NAMES, ENCODINGS, type Encoding } from "./encodings.ts";
import { type Header, headerOctets } from "./header.ts";

export const PART_OCTETS = 140;

export interface Capacity {
  /** Units in a message of one part. */
  alone: number;
  /** Units in each of several parts. */
  several: number;
}

export interface Measure {
  partCount: number;
  /** How many more characters of one unit fit before there is one part more. */
  charactersRemaining: number;
}

function capacityOf(encoding: Encoding, wideReference: boolean): Capacity {
  const { alphabet, shifts } = ENCODINGS[encoding];
  const unitBits = alphabet === undefined ? 16 : 7;
  const unitsAfter = (header: Header) => Math.floor(((PART_OCTETS - headerOctets(header).length) * 8) / unitBits);
  const concatenation = { reference: 0, total: 1, sequence: 1 };
  return { alone: unitsAfter(shifts), several: unitsAfter({ ...shifts, concatenation, wideReference }) };
}

function capacities(wideReference: boolean): Readonly<Record<Encoding, Capacity>> {
  return Object.fromEntries(ENCODING_NAMES.map((name) => [name, capacityOf(name, wideReference)])) as Record<
    Encoding,
    Capacity
  >;
}

const NARROW = capacities(false);
const WIDE = capacities(true);

export function capacity(encoding: Encoding, wideReference = false): Capacity {
  return (wideReference ? WIDE : NARROW)[encoding];
}

/** The parts that the text takes, or undefined if the encoding lacks one of its characters. */
export function measure(text: string, encoding: Encoding, wideReference = false): Measure | undefined {
  const codes = ENCODINGS[encoding].alphabet?.codes;
  const limits = capacity(encoding, wideReference);
  return codes === undefined ? measureUnits(text, limits) : measureSeptets(text, codes, limits);
}

function measureSeptets(text: string, codes: Uint8Array, { alone, several }: Capacity): Measure | undefined {
  const septets = septetLength(text, codes);
  if (septets === undefined) return undefined;
  if (septets <= alone) return { partCount: 1, charactersRemaining: alone - septets };
  if (septets === text.length) {
    const partCount = Math.ceil(septets / several);
    return { partCount, charactersRemaining: partCount * several - septets };
  }
  // With escapes a part may end one septet early, so the parts have to be filled one by one.
  let partCount = 1;
  let left = several;
  for (let index = 0; index < text.length; index++) {
    const cost = septetCost(text, index, codes);
    if (cost > left) {
      partCount++;
      left = several;
    }
    left -= cost;
  }
  return { partCount, charactersRemaining: left };
}

function measureUnits(text: string, { alone, several }: Capacity): Measure {
  if (text.length <= alone) return { partCount: 1, charactersRemaining: alone - text.length };
  let partCount = 1;
  let start = 0;
  while (text.length - start > several) {
    start = outsidePair(text, start + several, -1);
    partCount++;
  }
  return { partCount, charactersRemaining: several - (text.length - start) };
}

/** Moves an index that lies inside a surrogate pair out of it, one step back or on. */
function outsidePair(text: string, index: number, step: 1 | -1): number {
  const insidePair = isHighSurrogate(text.charCodeAt(index - 1)) && isLowSurrogate(text.charCodeAt(index));
  return insidePair ? index + step : index;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

/**
 * The texts of the parts. Each cut is the latest one that fits, moved back to the border of a grapheme (what a reader
 * takes for one character) unless what follows would then need a part more.
 */
export function cutText(text: string, encoding: Encoding, wideReference = false): string[] {
  const measured = measure(text, encoding, wideReference);
  if (measured === undefined) throw new RangeError(`the text has a character that ${encoding} lacks`);
  if (measured.partCount === 1) return [text];

  const codes = ENCODINGS[encoding].alphabet?.codes;
  const units = capacity(encoding, wideReference).several;
  const parts: string[] = [];
  let earliest: readonly number[] | undefined;
  let start = 0;
  for (let partsAfter = measured.partCount - 1; partsAfter > 0; partsAfter--) {
    const latest = latestEnd(text, start, codes, units);
    const border = codes === undefined ? beforeGrapheme(text, start, latest) : beforeLineEnd(text, latest);
    const wouldMove = border < latest && border > start;
    if (wouldMove) earliest ??= earliestStarts(text, codes, units, measured.partCount - 1);
    const end = wouldMove && border >= earliest![partsAfter]! ? border : latest;
    parts.push(text.slice(start, end));
    start = end;
  }
  parts.push(text.slice(start));
  return parts;
}

let segmenter: Intl.Segmenter | undefined;

/** Made when it is first needed: it takes milliseconds. */
export function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return segmenter;
}

/**
 * Where the grapheme begins that holds this index. Only the part that ends here is looked at: whether two characters belong together
 * follows from them and from those before them; and to look further back, in a text without a border, would cost as much for each
 * part as for all of them.
 */
function beforeGrapheme(text: string, start: number, index: number): number {
  if (standsAlone(text.charCodeAt(index - 1)) && standsAlone(text.charCodeAt(index))) return beforeLineEnd(text, index);
  return (
    start +
    graphemes()
      .segment(text.slice(start, index + 2))
      .containing(index - start)!.index
  );
}

/** Latin, Greek, Cyrillic, Armenian and Han, where nothing joins what is beside it but CR LF. Most cuts lie between two of these. */
function standsAlone(unit: number): boolean {
  return (
    unit < 0x300 ||
    (unit >= 0x370 && unit < 0x483) ||
    (unit >= 0x48a && unit < 0x590) ||
    (unit >= 0x4e00 && unit < 0xa000)
  );
}

/** The 7 bit alphabets have no combining characters: CR LF is their only grapheme of two. */
function beforeLineEnd(text: string, index: number): number {
  return text[index - 1] === "\r" && text[index] === "\n" ? index - 1 : index;
}

/** The last index at which a part that starts here can end. */
function latestEnd(text: string, start: number, codes: Uint8Array | undefined, units: number): number {
  if (codes === undefined) return outsidePair(text, start + units, -1);
  let end = start;
  for (let left = units; end < text.length; end++) {
    left -= septetCost(text, end, codes);
    if (left < 0) break;
  }
  return end;
}

/** By number of parts: the first index from which the rest of the text still fits so many. They are filled from the end. */
function earliestStarts(text: string, codes: Uint8Array | undefined, units: number, most: number): number[] {
  const starts = [text.length];
  let start = text.length;
  for (let count = 0; count < most; count++) {
    if (codes === undefined) start = outsidePair(text, start - units, 1);
    else {
      for (let left = units; start > 0; start--) {
        left -= septetCost(text, start - 1, codes);
        if (left < 0) break;
      }
    }
    starts.push(start);
  }
  return starts;
}

function septetCost(text: string, index: number, codes: Uint8Array): number {
  return codes[text.charCodeAt(index)]! >= ESCAPED ? 2 : 1;
}
