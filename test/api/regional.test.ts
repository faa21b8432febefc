/** Regional fields, from the API to a real SMPP server: kept with the message, and in every part for a carrier that has tags for them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { PartRecord } from "../../src/smsc/part.ts";
import { ADVANCED, ADVANCED_V2, SINGLE } from "../support/sending.ts";
import { eventually, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";

const INDIA = "tlvs = { principalEntityId = 0x1400, contentTemplateId = 0x1401, telemarketerId = 0x1402 }";
const indiaDlt = { principalEntityId: "1201159100000000001", contentTemplateId: "1207161", telemarketerId: "1302" };
const SENT = { 5120: "1201159100000000001", 5121: "1207161", 5122: "1302" };
const TO = "919800000001";

const tlvsOf = ({ tlvs }: PartRecord): object =>
  Object.fromEntries(tlvs.map(({ tag, value }) => [tag, Buffer.from(value).toString()]));

async function send(service: TestService, path: string, body: object): Promise<void> {
  const { status, text } = await service.call("POST", path, { body });
  assert.equal(status, 200, text);
}

async function taken(t: TestContext, profile: string, path: string, body: object, count: number) {
  const smsc = await startSmsc(t);
  const service = await startTestService(t, { catalogue: smppCatalogue(smsc.port, profile) });
  await send(service, path, body);
  const parts = await eventually(async () => smsc.parts.length >= count && smsc.parts);
  assert.equal(parts.length, count);
  return parts.map(tlvsOf);
}

const message = (more: object) => ({ messages: [{ from: "InfoSMS", destinations: [{ to: TO }], ...more }] });

const ROWS = [
  ["v2, a text of three parts", ADVANCED_V2, message({ text: "नमस्ते ".repeat(20), regional: { indiaDlt } }), 3],
  ["v1", ADVANCED, message({ text: "Hello", regional: { indiaDlt } }), 1],
  ["single", SINGLE, { from: "InfoSMS", to: TO, text: "Hello", regional: { indiaDlt } }, 1],
  [
    "octets",
    "/sms/2/binary/advanced",
    message({ binary: { hex: "00".repeat(200), dataCoding: 4 }, regional: { indiaDlt } }),
    2,
  ],
  [
    "v3",
    "/sms/3/messages",
    {
      messages: [
        {
          sender: "InfoSMS",
          destinations: [{ to: TO }],
          content: {
            text: "नमस्ते ".repeat(20),
            language: { languageCode: "AUTODETECT", singleShift: false, lockingShift: false },
          },
          options: { regional: { indiaDlt } },
        },
      ],
    },
    3,
  ],
] as const;

for (const [name, path, body, count] of ROWS) {
  test(`they are in every part for a carrier with tags: ${name}`, async (t) => {
    assert.deepEqual(await taken(t, INDIA, path, body, count), Array(count).fill(SENT));
  });
}

test("a carrier without tags gets none, and so does a message without such fields", async (t) => {
  assert.deepEqual(await taken(t, "", ADVANCED_V2, message({ text: "Hello", regional: { indiaDlt } }), 1), [{}]);
  assert.deepEqual(await taken(t, INDIA, ADVANCED_V2, message({ text: "Hello" }), 1), [{}]);
  const turkish = { turkeyIys: { recipientType: "TACIR", brandCode: 7 } };
  assert.deepEqual(await taken(t, INDIA, ADVANCED_V2, message({ text: "Hello", regional: turkish }), 1), [{}]);
});

test("keys that nobody knows stay behind, in the fields too", async (t) => {
  const regional = { indiaDlt: { ...indiaDlt, tag: 0x0424, tlvs: "x" }, atlantis: { id: "1" } };
  assert.deepEqual(await taken(t, INDIA, ADVANCED_V2, message({ text: "Hello", regional }), 1), [SENT]);
});

test("they outlive the process: what waited in the store has them", async (t) => {
  const smsc = await startSmsc(t);
  const data = await temporaryDirectory(t);
  // Nobody listens there.
  const first = await startTestService(t, { data, catalogue: smppCatalogue(1, INDIA) });
  await send(first, ADVANCED_V2, message({ text: "Hello", regional: { indiaDlt, southKorea: { title: "알림" } } }));
  await first.stop();
  const profile = `${INDIA.slice(0, -2)}, title = 0x1403 }`;
  await startTestService(t, { data, catalogue: smppCatalogue(smsc.port, profile) });
  const [part] = await eventually(async () => smsc.parts.length > 0 && smsc.parts);
  assert.deepEqual(tlvsOf(part!), { ...SENT, 5123: "알림" });
});

test("a plain URL of version 1 has them as version 3's has, under the same names", async (t) => {
  const smsc = await startSmsc(t);
  const service = await startTestService(t, { catalogue: smppCatalogue(smsc.port, INDIA) });
  const { principalEntityId, contentTemplateId, telemarketerId } = indiaDlt as Record<string, string>;
  const query = new URLSearchParams({
    from: "InfoSMS",
    to: TO,
    text: "Hello",
    ...(principalEntityId && { indiaDltPrincipalEntityId: principalEntityId }),
    ...(contentTemplateId && { indiaDltContentTemplateId: contentTemplateId }),
    ...(telemarketerId && { indiaDltTelemarketerId: telemarketerId }),
  });
  const answer = await service.call("GET", `/sms/1/text/query?${query}`);
  assert.equal(answer.status, 200, answer.text);
  const parts = await eventually(async () => smsc.parts.length === 1 && smsc.parts);
  assert.deepEqual(parts.map(tlvsOf), [SENT]);
});
