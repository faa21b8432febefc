/** Carriers that take data_coding 0 for something else than GSM, through the whole service: phones show what was sent, and it costs what was sent. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import type { PartRecord } from "../../src/smsc/part.ts";
import { ADVANCED, balanceOf, REJECTED } from "../support/sending.ts";
import { eventually, startTestService } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";

const PRICE = 0.01;
const FROM = "InfoSMS";

const carrier = (id: string, port: number, profile: string): string => `
[[carrier]]
id = "${id}"
kind = "smpp"
hosts = ["127.0.0.1:${port}"]
systemId = "${id}"
password = "secret"
window = 100
${profile}
`;

const RATES = `
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "${PRICE}" }]
`;

interface Sent {
  readonly text: string;
  readonly language?: { readonly languageCode: string };
  readonly transliteration?: string;
}

const TURKISH = { language: { languageCode: "TR" } };
const PANGRAM = "The quick brown fox jumps over the lazy dog. ";

/** Fixed, so that a failure can be looked at: every kind of letter, around the borders of one, two and three parts. */
const TEXTS: readonly Sent[] = [
  ..."€Δé[@_$\\¤§\n".split("").map((text) => ({ text })),
  ...[
    "ΔΣ",
    "ΘΨ Θx",
    "[]{}",
    "^~\\|",
    "5 €, 6 £, 7 ¥",
    "für Ærø",
    "seventy",
    "fifteen letters",
    "KAΛHMEPA",
    "¿Qué?",
  ].map((text) => ({ text })),
  ...[159, 160, 161, 305, 306, 307].map((length) => ({ text: PANGRAM.repeat(8).slice(0, length) })),
  ...[79, 80, 81, 153, 154].map((count) => ({ text: "[]".repeat(count).slice(0, count) })),
  { text: `${PANGRAM.repeat(8).slice(0, 158)}€` },
  { text: `${PANGRAM.repeat(8).slice(0, 159)}é` },
  { text: "€".repeat(80) },
  { text: "é".repeat(161) },
  { text: "Σ".repeat(306) },
  { text: `${"a".repeat(152)}€${"b".repeat(152)}€` },
  { text: "şişli ğ", ...TURKISH },
  { text: "şişli ğ ".repeat(10), ...TURKISH },
  { text: "ŞİŞLİ Türkçe", transliteration: "TURKISH" },
  { text: "Привет" },
  { text: "👨‍👩‍👧 😀 ".repeat(9) },
  { text: "ж".repeat(135) },
];

function phoneText(parts: readonly PartRecord[]): string {
  return parts
    .toSorted((one, other) => (one.place?.sequence ?? 0) - (other.place?.sequence ?? 0))
    .map(({ text }) => text)
    .join("");
}

interface Accepted {
  readonly to: string;
  readonly smsCount: number;
  readonly status: { readonly name: string };
}

interface Logged {
  readonly to: string;
  readonly text: string;
  readonly status: { readonly groupName: string };
}

/** Sends all the texts, each to a phone of its own, and says what became of each when all have come. */
async function sendAll(t: TestContext, alphabet: "gsm" | "gsm packed" | "latin1" | "ascii", profile = "") {
  const smsc = await startSmsc(t, alphabet === "gsm" ? {} : { faults: { alphabet } });
  const catalogue = `${carrier("smpp", smsc.port, `alphabet = "${alphabet}"\n${profile}`)}
[[route]]
prefix = ""
carrier = "smpp"
${RATES}`;
  const service = await startTestService(t, { catalogue });
  const before = await balanceOf(service);
  const messages = TEXTS.map((sent, index) => ({
    ...sent,
    from: FROM,
    destinations: [{ to: String(41_790_000_100 + index) }],
  }));
  const { status, json, text } = await service.call("POST", ADVANCED, { body: { messages } });
  assert.equal(status, 200, text);
  const answers: Accepted[] = json.messages;
  const charged = Math.round((before - (await balanceOf(service))) / PRICE);
  // When the last phone has its message, no part of any is still to come.
  const results: Logged[] = await eventually(async () => {
    const logs = (await service.call("GET", "/sms/1/logs?limit=100")).json.results as Logged[];
    return logs.length === TEXTS.length && logs.every(({ status }) => status.groupName === "DELIVERED") && logs;
  });
  const stored = new Map(results.map((logged) => [logged.to, logged.text]));
  const cases = answers.map(({ to, smsCount, status: { name } }, index) => {
    const parts = smsc.find({ to });
    return {
      sent: TEXTS[index]!,
      name,
      smsCount,
      sentParts: parts.length,
      shown: phoneText(parts),
      stored: stored.get(to),
      parts,
    };
  });
  return { smsc, charged, cases };
}

for (const alphabet of ["gsm", "gsm packed", "latin1", "ascii"] as const) {
  for (const profile of ["", 'longMessages = "sar"', 'referenceBits = 16\nmissingLetters = "ucs2"'] as const) {
    test(`each text costs the parts that its carrier got, and the phone shows what the logs say: ${alphabet} ${profile.replace("\n", ", ")}`, async (t) => {
      const { smsc, charged, cases } = await sendAll(t, alphabet, profile);
      assert.equal(smsc.parts.length, charged, "the parts that were sent were charged, and no others");
      for (const { sent, name, smsCount, sentParts, shown, stored } of cases) {
        const text = JSON.stringify(sent);
        assert.equal(name, "PENDING_ENROUTE", text);
        assert.equal(sentParts, smsCount, text);
        assert.equal(shown, stored, text);
        const asItIs = alphabet.startsWith("gsm") || profile.includes("ucs2");
        if (asItIs && sent.transliteration === undefined) assert.equal(shown, sent.text);
      }
    });
  }
}

test("a text that goes whole costs its parts too, and the phone shows it", async (t) => {
  for (const alphabet of ["gsm packed", "ascii"] as const) {
    const { charged, cases } = await sendAll(t, alphabet, 'longMessages = "payload"');
    assert.equal(
      charged,
      cases.reduce((sum, { smsCount }) => sum + smsCount, 0),
    );
    for (const { sentParts, shown, stored } of cases) assert.deepEqual([sentParts, shown], [1, stored]);
  }
});

test("what the alphabet lacks is written with what it has, and stays in data_coding 0", async (t) => {
  const { cases } = await sendAll(t, "ascii");
  const shownOf = (text: string) => cases.find(({ sent }) => sent.text === text)!;
  for (const [text, shown] of [
    ["5 €, 6 £, 7 ¥", "5 EUR, 6 GBP, 7 JPY"],
    ["ΔΣ", "DS"],
    ["ΘΨ Θx", "THPS Thx"],
    ["für Ærø", "fur Aero"],
    ["[]{}", "[]{}"],
  ] as const) {
    const found = shownOf(text);
    assert.deepEqual([found.shown, found.parts[0]!.dataCoding], [shown, 0]);
  }
  assert.equal(shownOf("€".repeat(80)).smsCount, 2, "EUR is longer than its sign");
  const turkish = shownOf("şişli ğ");
  assert.deepEqual([turkish.shown, turkish.parts[0]!.dataCoding], ["şişli ğ", 8]);
  assert.equal(shownOf("şişli ğ ".repeat(10)).smsCount, 2, "a language's table is UCS-2 there");
});

test("what is too long in the carrier's alphabet is rejected there, and goes where it fits", async (t) => {
  const smsc = await startSmsc(t);
  const catalogue = `${carrier("wide", smsc.port, "")}${carrier("narrow", smsc.port, 'alphabet = "ascii"')}
[[route]]
prefix = "41"
carrier = "wide"
[[route]]
prefix = "42"
carrier = "narrow"
${RATES}`;
  const service = await startTestService(t, { catalogue });
  const before = await balanceOf(service);
  const text = "Θ".repeat(25 * 153);
  const destinations = ["41790000001", "42790000001", "42790000002"].map((to) => ({ to }));
  const { json } = await service.call("POST", ADVANCED, { body: { messages: [{ from: FROM, text, destinations }] } });
  const names = json.messages.map(({ status }: Accepted) => status.name);
  assert.deepEqual(names, ["PENDING_ENROUTE", REJECTED.tooLong.name, REJECTED.tooLong.name]);
  assert.equal(json.messages[0].smsCount, 25);
  assert.equal(Math.round((before - (await balanceOf(service))) / PRICE), 25);
});

test("a message that goes over another carrier keeps its price, whatever it takes there", async (t) => {
  const smsc = await startSmsc(t, { faults: { alphabet: "ascii" } });
  const catalogue = `${carrier("down", 1, "")}${carrier("up", smsc.port, 'alphabet = "ascii"')}
[[route]]
prefix = ""
groups = [[{ carrier = "down" }], [{ carrier = "up" }]]
${RATES}`;
  const service = await startTestService(t, { catalogue });
  const before = await balanceOf(service);
  const { json } = await service.call("POST", ADVANCED, {
    body: { messages: [{ from: FROM, text: "€".repeat(80), destinations: [{ to: "41790000001" }] }] },
  });
  assert.equal(json.messages[0].smsCount, 1);
  const parts = await eventually(async () => smsc.parts.length >= 2 && smsc.parts);
  assert.equal(phoneText(parts), "EUR".repeat(80));
  const { results } = await eventually(async () => {
    const logs = (await service.call("GET", "/sms/1/logs")).json;
    return logs.results[0].status.groupName === "DELIVERED" && logs;
  });
  assert.equal(results[0].smsCount, 1);
  assert.equal(Math.round((before - (await balanceOf(service))) / PRICE), 1);
});

test("a request that comes again is answered as the first time, whatever the alphabets are by now", async (t) => {
  const smsc = await startSmsc(t);
  const catalogue = (alphabet: string) => `${carrier("smpp", smsc.port, `alphabet = "${alphabet}"`)}
[[route]]
prefix = ""
carrier = "smpp"
${RATES}`;
  const service = await startTestService(t, { catalogue: catalogue("ascii") });
  const body = {
    messages: [
      { from: FROM, text: "€".repeat(80), destinations: [{ to: "41790000001" }, { to: "41790000002" }] },
      { from: FROM, text: "short", destinations: [{ to: "41790000003" }] },
    ],
  };
  const send = () => service.call("POST", ADVANCED, { body, headers: { "idempotency-key": "once" } });
  const first = await send();
  assert.deepEqual(
    first.json.messages.map(({ smsCount }: Accepted) => smsCount),
    [2, 2, 1],
  );
  await service.store.putCatalogue({ items: readCatalogueFile(catalogue("gsm")) });
  // Until a text that never came before is counted in the new alphabet.
  await eventually(async () => {
    const other = await service.call("POST", ADVANCED, {
      body: { messages: [{ from: FROM, text: "€".repeat(80), destinations: [{ to: "41790000004" }] }] },
    });
    return other.json.messages[0].smsCount === 1;
  });
  assert.deepEqual((await send()).json, first.json);
});
