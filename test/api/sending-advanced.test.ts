/** POST /sms/1/text/advanced: every field of the request, and every field of the answer. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { QueuedMessage } from "../../src/message/message.ts";
import { ACCEPTED, ADVANCED, accepted, balanceOf, ENROUTE, ID, TRACKING } from "../support/sending.ts";
import { startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** Monday noon. The clock stands still, so what depends on the time can be told to the millisecond. */
const NOW = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;

const service = await startTestService({ after }, { clock: new VirtualClock(NOW) });

const TO = "41793026727";

interface Fields {
  [name: string]: unknown;
}

/** One message to one destination, with these fields beside or instead of the usual ones. */
function message(fields: Fields = {}): Fields {
  return { from: "InfoSMS", destinations: [{ to: TO }], text: "Hello", ...fields };
}

function send(...messages: Fields[]) {
  return service.call("POST", ADVANCED, { body: { messages } });
}

/** Sends one message and returns it as it went to the carrier. */
async function handedOn(fields: Fields): Promise<QueuedMessage> {
  const before = service.handedOn.length;
  const body = accepted(await send(message(fields)));
  assert.equal(service.handedOn.length, before + 1, JSON.stringify(body));
  return service.handedOn[before]!;
}

test("a message for immediate sending is answered with a bulkId, a tracking key and PENDING_ENROUTE, as JSON", async () => {
  const answer = await send(message());

  assert.match(answer.headers.get("content-type")!, /^application\/json(; charset=utf-8)?$/);
  assert.deepEqual(accepted(answer), {
    bulkId: ID,
    trackingProcessKey: TRACKING,
    messages: [{ to: TO, status: ENROUTE, smsCount: 1, messageId: ID }],
  });
});

test("a scheduled message is answered with PENDING_ACCEPTED and no smsCount", async () => {
  const days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
  const answer = await send(
    message({
      sendAt: "2026-01-07T10:00:00.000+0000",
      deliveryTimeWindow: { days, from: { hour: 6, minute: 0 }, to: { hour: 15, minute: 30 } },
    }),
  );

  assert.deepEqual(accepted(answer), {
    bulkId: ID,
    trackingProcessKey: TRACKING,
    messages: [{ to: TO, status: ACCEPTED, messageId: ID }],
  });
});

test("the client's bulkId and messageIds come back as they were sent", async () => {
  const body = {
    bulkId: "BULK-ID-123-xyz",
    messages: [message({ destinations: [{ to: TO, messageId: "MESSAGE-ID-123-xyz" }, { to: "41793026834" }] })],
  };
  const answer = await service.call("POST", ADVANCED, { body });

  assert.deepEqual(accepted(answer), {
    bulkId: "BULK-ID-123-xyz",
    trackingProcessKey: TRACKING,
    messages: [
      { to: TO, status: ENROUTE, smsCount: 1, messageId: "MESSAGE-ID-123-xyz" },
      { to: "41793026834", status: ENROUTE, smsCount: 1, messageId: ID },
    ],
  });
});

test("ids of the service's making are all different and grow with time", async () => {
  const first = (await send(message({ destinations: [{ to: "41790000001" }, { to: "41790000002" }] }))).json;
  const second = (await send(message())).json;

  const ids: string[] = [first, second].flatMap(({ bulkId, messages }) => [
    bulkId,
    ...messages.map(({ messageId }: { messageId: string }) => messageId),
  ]);
  assert.equal(new Set(ids).size, 5);
  assert.deepEqual(ids, [...ids].sort());
  assert.notEqual(first.trackingProcessKey, second.trackingProcessKey);
});

test("every destination of every message has one entry, in the order of the request", async () => {
  const numbers = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ to: String(first + index) }));
  const balance = await balanceOf(service);
  const answer = await send(
    message({ destinations: numbers(41_790_000_300, 3), text: "x".repeat(161) }),
    message({ destinations: numbers(41_790_000_100, 2), sendAt: "2026-01-06T00:00:00.000+0000" }),
    message({ destinations: numbers(41_790_000_200, 1), from: "447860041117" }),
  );

  assert.deepEqual(accepted(answer).messages, [
    { to: "41790000300", status: ENROUTE, smsCount: 2, messageId: ID },
    { to: "41790000301", status: ENROUTE, smsCount: 2, messageId: ID },
    { to: "41790000302", status: ENROUTE, smsCount: 2, messageId: ID },
    { to: "41790000100", status: ACCEPTED, messageId: ID },
    { to: "41790000101", status: ACCEPTED, messageId: ID },
    { to: "41790000200", status: ENROUTE, smsCount: 1, messageId: ID },
  ]);
  // 6 parts now, 2 later, and 1: at a cent each.
  assert.equal(await balanceOf(service), roundToCents(balance - 0.09));
});

function roundToCents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

test("from is numeric or alphanumeric, and goes out as it was written", async () => {
  for (const from of ["InfoSMS", "447860041117", "123", "Max 11 char", "Ümlaut-Öl", "3M"]) {
    const { from: sent, to, text } = await handedOn({ from });
    assert.deepEqual({ sent, to, text }, { sent: from, to: TO, text: "Hello" });
  }
});

test("flash is false unless it is asked for", async () => {
  assert.equal((await handedOn({})).flash, false);
  assert.equal((await handedOn({ flash: false })).flash, false);
  assert.equal((await handedOn({ flash: true })).flash, true);
});

test("languageCode, nested in language or flat, picks the national table for a text that needs it", async () => {
  const texts = { TR: "Iğdır şehri", ES: "El rincón", PT: "ação" };
  const tables = { TR: "gsm7+tr.s", ES: "gsm7+es.s", PT: "gsm7+pt.s" };
  for (const code of ["TR", "ES", "PT"] as const) {
    const nested = await handedOn({ text: texts[code], language: { languageCode: code } });
    const flat = await handedOn({ text: texts[code], languageCode: code });
    assert.deepEqual([nested.encoding, flat.encoding], [tables[code], tables[code]]);
    assert.equal(nested.text, texts[code]);
    assert.equal((await handedOn({ text: texts[code] })).encoding, "ucs2");
    assert.equal((await handedOn({ text: "plain", languageCode: code })).encoding, "gsm7");
  }
});

test("AUTODETECT picks the table from the text, NONE takes none, and both shifts false are as if absent", async () => {
  const rows = [
    [{ text: "Iğdır şehri", languageCode: "AUTODETECT" }, "gsm7+tr.s"],
    [{ text: "ação", language: { languageCode: "AUTODETECT" } }, "gsm7+pt.s"],
    [{ text: "plain", languageCode: "AUTODETECT" }, "gsm7"],
    [{ text: "не ş", languageCode: "AUTODETECT" }, "ucs2"],
    [{ text: "Iğdır", languageCode: "NONE" }, "ucs2"],
    [{ text: "Iğdır", language: { languageCode: "NONE" }, languageCode: "TR" }, "ucs2"],
    [{ text: "Iğdır", language: { languageCode: "TR", singleShift: false, lockingShift: false } }, "gsm7+tr.s"],
    [{ text: "Iğdır", language: { languageCode: "TR", singleShift: false } }, "ucs2"],
  ] as const;
  for (const [fields, encoding] of rows)
    assert.equal((await handedOn(fields)).encoding, encoding, JSON.stringify(fields));
});

test("where language and languageCode disagree, the nested one of the contract's example counts", async () => {
  const { encoding } = await handedOn({ text: "ş", language: { languageCode: "TR" }, languageCode: "PT" });
  assert.equal(encoding, "gsm7+tr.s");
});

test("transliteration writes the text in the GSM alphabet", async () => {
  const rows = [
    ["TURKISH", "Iğdır şehri", "Igdir sehri"],
    ["GREEK", "Καλημέρα", "KAΛHMEPA"],
    ["CYRILLIC", "Привет", "Privet"],
    ["SERBIAN_CYRILLIC", "Љубав", "Ljubav"],
    ["BULGARIAN_CYRILLIC", "Щастие", "Shtastie"],
    ["CENTRAL_EUROPEAN", "Žluťoučký kůň", "Zlutoucky kun"],
    ["BALTIC", "Glāžšķūņa rūķīši", "Glazskuna rukisi"],
    ["PORTUGUESE", "Não há água", "Nao ha agua"],
    ["COLOMBIAN", "¿Cuándo salió?", "¿Cuando salio?"],
    ["ALL", "ğ ž Привет Ως", "g z Privet ΩΣ"],
    ["NON_UNICODE", "Привет, “мир”", 'Privet, "mir"'],
  ] as const;
  for (const [transliteration, text, shown] of rows) {
    const sent = await handedOn({ text, transliteration });
    assert.deepEqual([sent.text, sent.encoding], [shown, "gsm7"]);
  }
  const untouched = await handedOn({ text: "Привет", transliteration: "NONE" });
  assert.deepEqual([untouched.text, untouched.encoding], ["Привет", "ucs2"]);
});

test("transliteration comes before the choice of the encoding", async () => {
  const sent = await handedOn({ text: "Iğdır şehri", transliteration: "TURKISH", languageCode: "TR" });
  assert.deepEqual([sent.text, sent.encoding], ["Igdir sehri", "gsm7"]);
});

test("validityPeriod is minutes from when the message may first be sent, 48 hours at most and by default", async () => {
  const minutesOf = async (fields: Fields) => ((await handedOn(fields)).expiresAtMs - NOW) / MINUTE_MS;

  assert.equal(await minutesOf({ validityPeriod: 1 }), 1);
  assert.equal(await minutesOf({ validityPeriod: 720 }), 720);
  assert.equal(await minutesOf({ validityPeriod: 2880 }), 2880);
  assert.equal(await minutesOf({ validityPeriod: 2881 }), 2880);
  assert.equal(await minutesOf({ validityPeriod: 1_000_000 }), 2880);
  assert.equal(await minutesOf({}), 2880);
});

test("callbackData, notifyUrl, notifyContentType and intermediateReport are taken with a message", async () => {
  for (const notifyContentType of ["application/json", "application/xml"]) {
    const answer = await send(
      message({
        notifyUrl: "https://www.example.com/sms/advanced?client=7",
        notifyContentType,
        intermediateReport: true,
        callbackData: "DLR callback data",
      }),
    );
    assert.deepEqual(accepted(answer).messages, [{ to: TO, status: ENROUTE, smsCount: 1, messageId: ID }]);
  }
});

test("callbackData holds 200 characters, whatever the characters", async () => {
  for (const character of ["x", "é", "中", "😀", "\n"]) {
    accepted(await send(message({ callbackData: character.repeat(200) })));
  }
});

test("a bulkId of 100 and a messageId of 200 characters are taken, in any script", async () => {
  const body = {
    bulkId: "б".repeat(100),
    messages: [message({ destinations: [{ to: TO, messageId: "m😀".repeat(100) }] })],
  };
  const { json } = await service.call("POST", ADVANCED, { body });

  assert.equal(json.bulkId, body.bulkId);
  assert.equal(json.messages[0].messageId, "m😀".repeat(100));
});

test("an empty bulkId or messageId is as good as none: the service makes one", async () => {
  const body = { bulkId: "", messages: [message({ destinations: [{ to: TO, messageId: "" }] })] };

  assert.deepEqual(accepted(await service.call("POST", ADVANCED, { body })), {
    bulkId: ID,
    trackingProcessKey: TRACKING,
    messages: [{ to: TO, status: ENROUTE, smsCount: 1, messageId: ID }],
  });
});

test("now within the deliveryTimeWindow the message goes at once; outside of it, it waits", async () => {
  const rows = [
    [{ days: ["MONDAY"] }, ENROUTE],
    [{ days: ["TUESDAY"] }, ACCEPTED],
    [{ days: ["MONDAY"], from: { hour: 12, minute: 0 }, to: { hour: 12, minute: 1 } }, ENROUTE],
    [{ days: ["MONDAY"], from: { hour: 11, minute: 0 }, to: { hour: 12, minute: 0 } }, ACCEPTED],
    [{ days: ["MONDAY"], from: { hour: 12, minute: 1 }, to: { hour: 13, minute: 0 } }, ACCEPTED],
    // Over midnight, and of the day on which it opens.
    [{ days: ["SUNDAY"], from: { hour: 22, minute: 0 }, to: { hour: 12, minute: 30 } }, ENROUTE],
    [{ days: ["MONDAY"], from: { hour: 22, minute: 0 }, to: { hour: 12, minute: 30 } }, ACCEPTED],
  ] as const;
  for (const [deliveryTimeWindow, status] of rows) {
    const { json } = await send(message({ deliveryTimeWindow }));
    assert.deepEqual(json.messages[0].status, status, JSON.stringify(deliveryTimeWindow));
    assert.equal("smsCount" in json.messages[0], status === ENROUTE);
  }
});

test("sendAt is read with any offset, with and without milliseconds; what is over is now", async () => {
  const rows = [
    ["2026-01-05T12:00:00.001+0000", ACCEPTED],
    ["2026-01-05T12:00:00.000+0000", ENROUTE],
    ["2026-01-05T13:00:00.000+0100", ENROUTE],
    ["2026-01-05T13:00:00.001+0100", ACCEPTED],
    ["2026-01-05T13:00:00+01:00", ENROUTE],
    ["2026-01-05T13:00:01+01:00", ACCEPTED],
    ["2026-01-05T12:00:00Z", ENROUTE],
    ["2026-01-05T12:00:01Z", ACCEPTED],
    ["2026-01-05T12:00:00.500Z", ACCEPTED],
    ["2026-01-05T06:30:00.500-0530", ACCEPTED],
    ["2026-01-05T06:30:00-05:30", ENROUTE],
    ["2015-07-07T17:00:00.000+01:00", ENROUTE],
  ] as const;
  for (const [sendAt, status] of rows) {
    const { json } = await send(message({ sendAt }));
    assert.deepEqual(json.messages[0].status, status, sendAt);
  }
});

test("sendAt may lie 180 days ahead, to the millisecond", async () => {
  const answer = await send(message({ sendAt: "2026-07-04T12:00:00.000+0000" }));
  assert.deepEqual(accepted(answer).messages, [{ to: TO, status: ACCEPTED, messageId: ID }]);
});
