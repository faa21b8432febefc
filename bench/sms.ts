/**
 * What it costs to look at a text: `node bench/sms.ts`. Each line is the best of several rounds on one core, so that a
 * busy machine disturbs it least; a line with a target says whether it was met, and the process fails if one was not.
 */
import { encodeParts, prepareText, type TextOptions } from "../src/sms/text.ts";

const ROUNDS = 15;
const ROUND_MS = 40;

interface Case {
  name: string;
  run: () => unknown;
  targetMicros?: number;
}

/** The µs that one run takes. */
function measureMicros(run: () => unknown): number {
  let runs = 1;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let index = 0; index < runs; index++) run();
    const elapsedMs = performance.now() - start;
    if (elapsedMs >= ROUND_MS / 2) best = Math.min(best, (elapsedMs * 1000) / runs);
    // The first rounds also find out how many runs fill a round, and let the compiler do its work.
    runs = Math.max(1, Math.ceil((runs * ROUND_MS) / Math.max(elapsedMs, ROUND_MS / 100)));
  }
  return best;
}

/**
 * The text as it would come from a request's body: in one piece, not as the tree of joined strings that it was built
 * from.
 */
function flat(text: string): string {
  return JSON.parse(JSON.stringify(text));
}

/** A text of whole sentences that fills so many parts. */
function filling(sentence: string, partCount: number, options: TextOptions): string {
  let text = sentence;
  while (prepareText(text + sentence, options).partCount <= partCount) text += sentence;
  return flat(text);
}

function prepare(text: string, options: TextOptions = {}): () => unknown {
  return () => prepareText(text, options);
}

function encode(text: string, options: TextOptions = {}, unpacked = false): () => unknown {
  const prepared = prepareText(text, options);
  return () => encodeParts(prepared, { reference: 7, flash: false, unpacked });
}

const password = "Your verification code is 482913. It is valid for 10 minutes. Do not share it with anyone.";
const turkish = "Artık Ulusal Dil Tanımlayıcısı ile Türkçe karakterli smslerinizi rahatlıkla iletebilirsiniz.";
const greek = "Η παραγγελία σας παραδόθηκε στην υπηρεσία ταχυμεταφορών. ";
const bulgarian = "Вашата поръчка ще бъде доставена утре между 10 и 18 часа в София, България. ";
const russian = "Уважаемый клиент! Ваш заказ передан в службу доставки и прибудет завтра с 10 до 18 часов. ";
const emoji = "Ваш заказ уже в пути 🚚 спасибо за покупку 🙂 ";
const full = flat(password.padEnd(160, "."));
const long = filling("It is a period of civil war. ", 25, {});
const longRussian = filling(russian, 25, { transliteration: "CYRILLIC" });
const longUnicode = filling(russian, 25, {});

const cases: Case[] = [
  { name: `prepare, GSM, 1 part (${password.length} characters)`, run: prepare(password), targetMicros: 1.5 },
  { name: `prepare, GSM, 1 part (${full.length} characters)`, run: prepare(full), targetMicros: 1.5 },
  { name: `prepare, GSM, 25 parts (${long.length} characters)`, run: prepare(long) },
  { name: "prepare, Turkish single shift, 1 part", run: prepare(turkish, { languageCode: "TR" }) },
  { name: "prepare, Turkish transliterated, 1 part", run: prepare(turkish, { transliteration: "TURKISH" }) },
  { name: "prepare, Greek transliterated, 1 part", run: prepare(greek, { transliteration: "GREEK" }) },
  { name: "prepare, Turkish with ALL, 1 part", run: prepare(turkish, { transliteration: "ALL" }) },
  { name: "prepare, Turkish with AUTODETECT, 1 part", run: prepare(turkish, { languageCode: "AUTODETECT" }) },
  {
    name: "prepare, Bulgarian transliterated, 1 part",
    run: prepare(bulgarian, { transliteration: "BULGARIAN_CYRILLIC" }),
  },
  { name: "prepare, Russian in UCS-2, 2 parts", run: prepare(russian) },
  {
    name: `prepare, Russian transliterated, 25 parts (${longRussian.length} characters)`,
    run: prepare(longRussian, { transliteration: "CYRILLIC" }),
    targetMicros: 100,
  },
  { name: "prepare, the same with NON_UNICODE", run: prepare(longRussian, { transliteration: "NON_UNICODE" }) },
  { name: "prepare, emoji with NON_UNICODE, 1 part", run: prepare(emoji, { transliteration: "NON_UNICODE" }) },
  { name: "encode, GSM packed, 1 part", run: encode(password) },
  { name: "encode, GSM unpacked, 1 part", run: encode(password, {}, true) },
  { name: "encode, GSM packed, 25 parts", run: encode(long) },
  { name: "encode, UCS-2, 25 parts", run: encode(longUnicode) },
];

console.log(`${"".padEnd(66)}${"µs each".padStart(10)}${"per second".padStart(14)}   target`);
for (const { name, run, targetMicros } of cases) {
  const micros = measureMicros(run);
  const perSecond = Math.round(1e6 / micros).toLocaleString("en");
  const met = targetMicros === undefined || micros < targetMicros;
  const target = targetMicros === undefined ? "" : `   < ${targetMicros} µs ${met ? "met" : "MISSED"}`;
  console.log(`${name.padEnd(66)}${micros.toFixed(2).padStart(10)}${perSecond.padStart(14)}${target}`);
  if (!met) process.exitCode = 1;
}
