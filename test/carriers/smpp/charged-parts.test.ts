/** What is charged is what is sent: a text as it is counted when it is accepted, against the PDUs that its carrier gets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../../src/carriers/smpp/outgoing.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import { prepareBody, rewrittenBody } from "../../../src/intake/body.ts";
import { GSM_CHARACTERS } from "../../../src/sms/alphabets.ts";
import { LANGUAGE_CHOICES, MAX_PARTS } from "../../../src/sms/text.ts";
import { asciiFromGsm, latin1FromGsm } from "../../../src/sms/transliteration/smaller.ts";
import { MISSING_LETTERS, TEXT_ALPHABETS } from "../../../src/sms/writing.ts";
import fc, { cases } from "../../support/chance.ts";

const profiles: fc.Arbitrary<SmppProfile> = fc.record(
  {
    id: fc.constant("acme"),
    kind: fc.constant("smpp" as const),
    hosts: fc.constant(["127.0.0.1:1"]),
    systemId: fc.constant("me"),
    password: fc.constant("x"),
    alphabet: fc.constantFrom(...TEXT_ALPHABETS),
    missingLetters: fc.constantFrom(...MISSING_LETTERS),
    longMessages: fc.constantFrom("udh" as const, "sar" as const, "payload" as const),
    referenceBits: fc.constantFrom(8 as const, 16 as const),
  },
  { requiredKeys: ["id", "kind", "hosts", "systemId", "password"] },
);

/** Runs of one character, so that the borders of parts fall everywhere; some texts with letters that no GSM table has. */
const texts = fc
  .array(
    fc
      .tuple(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(..."aB1 \n") },
          { weight: 4, arbitrary: fc.constantFrom(...GSM_CHARACTERS) },
          { weight: 1, arbitrary: fc.constantFrom("ş", "ğ", "ã", "á", "ж", "ç", "👨‍👩‍👧", "\r\n") },
        ),
        fc.oneof(fc.constant(1), fc.nat(160)),
      )
      .map(([character, count]) => character.repeat(count)),
    { minLength: 1, maxLength: 8 },
  )
  .map((runs) => runs.join(""));

const languages = fc.option(fc.constantFrom(...LANGUAGE_CHOICES), { nil: undefined });

test("as many PDUs go to the carrier as parts were counted, and they hold the text that was stored", () => {
  let rewritten = 0;
  fc.assert(
    fc.property(texts, languages, profiles, fc.boolean(), (text, languageCode, profile, flash) => {
      const asItIs = prepareBody({ text, ...(languageCode === undefined ? {} : { languageCode }) });
      if (asItIs.rejectedStatusId !== null) return;
      const body = rewrittenBody(asItIs, profile) ?? asItIs;
      if (body !== asItIs) rewritten++;
      if (body.rejectedStatusId !== null) {
        assert.ok(body.partCount > MAX_PARTS);
        return;
      }
      assert.equal(rewrittenBody(body, profile), null, "it is the same the second time");
      const parts = partsOf({ ...MESSAGE, flash, text: body.text, encoding: body.encoding }, profile);
      assert.equal(parts.map(({ userData }) => userData.text).join(""), body.text);
      if (profile.longMessages === "payload") assert.equal(parts.length, 1);
      else assert.equal(parts.length, body.partCount);
    }),
    { numRuns: cases(5_000) },
  );
  assert.ok(rewritten > 0, "some texts are not sent as they are");
});

const MESSAGE = {
  from: "InfoSMS",
  to: "41793026727",
  intermediateReport: false,
  expiresAtMs: 0,
  reference: 7,
} as const;

test("every GSM character can be written in Latin-1 and in ASCII, and stays where it is there already", () => {
  for (const character of GSM_CHARACTERS) {
    const latin1 = latin1FromGsm(character);
    const ascii = asciiFromGsm(character);
    assert.match(latin1, /^[\n\f\r\x20-\x7e\xa0-\xff]{1,4}$/, character);
    assert.match(ascii, /^[\n\f\r\x20-\x7e]{1,4}$/, character);
    if (/^[\n\f\r\x20-\x7e]$/.test(character)) assert.equal(ascii, character);
    if (/^[\n\f\r\x20-\x7e\xa0-\xff]$/.test(character)) assert.equal(latin1, character);
  }
  assert.equal(asciiFromGsm("5 € für Ærø, ΨΩ, Θx, £1, ¥2, ¤"), "5 EUR fur Aero, PSO, Thx, GBP1, JPY2, ?");
  assert.equal(latin1FromGsm("5 € für Ærø, ΔΣ"), "5 EUR für Ærø, DS");
});
