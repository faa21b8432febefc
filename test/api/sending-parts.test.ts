/** How many parts a text takes: what the answer says in smsCount is what the client pays for. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { balanceOf, ENROUTE, SINGLE } from "../support/sending.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService({ after });

const TR = { languageCode: "TR" };
const PT_LOCKED = { language: { languageCode: "PT", lockingShift: true } };

const ROWS: readonly (readonly [name: string, text: string, parts: number, options?: Record<string, unknown>])[] = [
  ["160 GSM characters fit one part", "x".repeat(160), 1],
  ["161 take two of 153", "x".repeat(161), 2],
  ["306 fill two", "x".repeat(306), 2],
  ["307 begin a third", "x".repeat(307), 3],
  ["every letter of the GSM alphabet counts one", "@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉäöñüà¡¿".repeat(4).slice(0, 160), 1],
  ["an extension character counts two: 80 fit", "€".repeat(80), 1],
  ["and 81 do not", "€".repeat(81), 2],
  ["all extension characters count two", "^{}\\[~]|€\f".repeat(8), 1],
  // 152 and the escape would fill the first part: character and escape go to the second, and the last two to the third.
  ["an extension character is never split from its escape", `${"x".repeat(152)}€${"x".repeat(151)}€`, 3],
  ["70 UCS-2 characters fit one part", "中".repeat(70), 1],
  ["71 take two of 67", "中".repeat(71), 2],
  ["134 fill two", "中".repeat(134), 2],
  ["135 begin a third", "中".repeat(135), 3],
  ["one character outside of GSM makes the whole text UCS-2", `${"x".repeat(70)}中`, 2],
  ["a character of two units counts two: 35 fit", "😀".repeat(35), 1],
  ["and 36 do not", "😀".repeat(36), 2],
  // Two parts of 67 units hold 33 pairs each.
  ["a pair of surrogates is never split", "😀".repeat(67), 3],
  ["a single shift table leaves 155: 77 national letters and one more", `${"ş".repeat(77)}x`, 1, TR],
  ["78 national letters take two parts", "ş".repeat(78), 2, TR],
  ["in several parts a single shift table leaves 149", `ş${"x".repeat(2 * 149 - 2)}`, 2, TR],
  ["and one more begins a third", `ş${"x".repeat(2 * 149 - 1)}`, 3, TR],
  ["a locking table alone also leaves 155, and its letters count one", "ã".repeat(155), 1, PT_LOCKED],
  ["a text that needs no national letter is sent without the table", "x".repeat(160), 1, TR],
  ["a text that the table does not hold is UCS-2", `ş中${"x".repeat(69)}`, 2, TR],
  ["a transliterated text counts as it will be shown", "Ж".repeat(80), 1, { transliteration: "CYRILLIC" }],
];

for (const [name, text, parts, options] of ROWS) {
  test(name, async () => {
    const balance = await balanceOf(service);
    const body = { from: "InfoSMS", to: "41793026727", text, ...options };
    const { json } = await service.call("POST", SINGLE, { body });

    assert.deepEqual([json.messages[0].status, json.messages[0].smsCount], [ENROUTE, parts]);
    assert.equal(Math.round((balance - (await balanceOf(service))) * 100), parts);
  });
}
