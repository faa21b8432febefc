/**
 * Our count against that of an independent counter, `sms-segments-calculator`, on 100,000 random texts. It knows the
 * default alphabet with its extension and UCS-2, so no languages here.
 */

import assert from "node:assert/strict";
import test from "node:test";
import { SegmentedMessage } from "sms-segments-calculator";
import tables from "../../src/sms/data/gsm-alphabets.json" with { type: "json" };
import { prepareText } from "../../src/sms/text.ts";
import { isLong } from "../support/chance.ts";

const TEXTS = isLong ? 100_000 : 4_000;
/** Another seed shows other texts: `SEED=7 node --test test/sms/agreement.test.ts`. */
const SEED = Number(process.env.SEED ?? 20260212);

const BASIC = Array.from(tables.locking.default.replace("\x1b", ""));
const EXTENSION = Object.values(tables.single.default);
const BEYOND_GSM = Array.from("жщЯ中文한ا–“”ç`\tâ");
/** More than one unit, and more than one code point: where it matters what may be cut. */
const CLUSTERS = ["😀", "👍🏽", "👨‍👩‍👧", "🇩🇪", "e\u0301", "\r\n", "❤️", "नि"];

/** Mulberry32: a small generator of numbers from 0 to 1 with a seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(SEED);

function pick<Item>(items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)]!;
}

function between(least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

function textOf(least: number, most: number, character: () => string): string {
  let text = "";
  for (let left = between(least, most); left > 0; left--) text += character();
  return text;
}

const gsm = () => (random() < 0.9 ? pick(BASIC) : pick(EXTENSION));
const mostlyBasic = () => (random() < 0.98 ? pick(BASIC) : pick(EXTENSION));
const unicode = () => pick(random() < 0.5 ? BASIC : BEYOND_GSM);
const clustered = () => (random() < 0.5 ? pick(BASIC) : pick(CLUSTERS));

/**
 * Kinds of texts, and how many of a thousand each is. Those at the limits are fewer than one might like because the
 * other counter takes the square of the length: over a millisecond for 160 characters.
 */
const KINDS: readonly { perMille: number; text: () => string }[] = [
  { perMille: 420, text: () => textOf(0, 15, gsm) },
  { perMille: 265, text: () => textOf(1, 15, unicode) },
  { perMille: 170, text: () => textOf(1, 12, clustered) },
  { perMille: 25, text: () => textOf(148, 161, mostlyBasic) },
  { perMille: 8, text: () => textOf(78, 82, () => pick(EXTENSION)) },
  { perMille: 3, text: () => textOf(300, 308, mostlyBasic) },
  { perMille: 63, text: () => textOf(66, 72, unicode) },
  { perMille: 16, text: () => textOf(25, 40, clustered) },
  { perMille: 30, text: () => textOf(60, 66, unicode) + pick(CLUSTERS) + textOf(60, 68, unicode) },
];

const DEALT = KINDS.flatMap(({ perMille, text }) => Array.from({ length: perMille }, () => text));

/**
 * The one way in which the two may differ: the other counter never cuts a grapheme, even where that costs a part, and
 * we cut one before we charge for another part. This recounts with its graphemes kept whole.
 */
function partsWithWholeGraphemes(graphemes: readonly string[]): number {
  let partCount = 1;
  let left = 67;
  for (const grapheme of graphemes) {
    if (grapheme.length > left) {
      partCount++;
      left = 67;
    }
    left -= grapheme.length;
  }
  return partCount;
}

test(`the count agrees with another counter's on ${TEXTS.toLocaleString("en")} random texts (seed ${SEED})`, (t) => {
  let graphemesKept = 0;
  let several = 0;
  for (let index = 0; index < TEXTS; index++) {
    const text = pick(DEALT)();
    const ours = prepareText(text, {});
    const theirs = new SegmentedMessage(text);

    const shown = JSON.stringify(text);
    assert.equal(theirs.encodingName, ours.encoding === "gsm7" ? "GSM-7" : "UCS-2", shown);
    if (ours.partCount > 1) several++;
    if (ours.partCount === theirs.segmentsCount) continue;
    assert.equal(ours.encoding, "ucs2", shown);
    assert.ok(ours.partCount < theirs.segmentsCount, shown);
    assert.equal(partsWithWholeGraphemes(theirs.graphemes), theirs.segmentsCount, shown);
    graphemesKept++;
  }
  t.diagnostic(
    `${several} texts of several parts; ${graphemesKept} where the other counter pays a part to keep a grapheme whole`,
  );
  assert.ok(several > TEXTS / 20);
  assert.ok(graphemesKept < TEXTS / 50);
});
