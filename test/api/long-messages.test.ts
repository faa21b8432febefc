/** Long messages to one phone, from the API to a real SMPP server: each has a reference of its own, in the width that the carrier takes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { PartRecord } from "../../src/smsc/part.ts";
import { SINGLE } from "../support/sending.ts";
import { eventually, startTestService } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";

const TO = "41793026727";
const COUNT = 200;

const catalogue = (port: number, profile: string): string => smppCatalogue(port, `window = 100\n${profile}`);

/** Sends the texts to one phone, a request each, and gives what the carrier took when that is so many parts. */
async function partsTaken(t: TestContext, profile: string, texts: readonly string[], count: number) {
  const smsc = await startSmsc(t);
  const service = await startTestService(t, { catalogue: catalogue(smsc.port, profile) });
  for (const text of texts) {
    const { status } = await service.call("POST", SINGLE, { body: { from: "InfoSMS", to: TO, text } });
    assert.equal(status, 200);
  }
  const parts = await eventually(async () => smsc.parts.length >= count && smsc.parts);
  assert.equal(parts.length, count);
  return parts;
}

function textsByReference(parts: readonly PartRecord[]): Map<number, string> {
  const sorted = parts.toSorted((one, other) => one.place!.sequence - other.place!.sequence);
  const texts = new Map<number, string>();
  for (const { place, text } of sorted) texts.set(place!.reference, (texts.get(place!.reference) ?? "") + text);
  return texts;
}

for (const [name, profile, octets] of [
  ["an 8-bit header", "", "050003"],
  ["a 16-bit header", "referenceBits = 16", "060804"],
  ["sar_ parameters", 'longMessages = "sar"', null],
] as const) {
  test(`${COUNT} long messages to one phone have ${COUNT} references: ${name}`, async (t) => {
    const texts = Array.from({ length: COUNT }, (_, index) => `${index} `.repeat(100).slice(0, 200));
    const parts = await partsTaken(t, profile, texts, 2 * COUNT);
    const found = textsByReference(parts);
    assert.equal(found.size, COUNT);
    assert.deepEqual([...found.values()].toSorted(), texts.toSorted());
    if (octets !== null) assert.ok(parts.every((part) => Buffer.from(part.octets).toString("hex").startsWith(octets)));
    // A network that has 8 bits only cuts the rest off.
    assert.equal(new Set([...found.keys()].map((reference) => reference & 0xff)).size, COUNT);
  });
}
