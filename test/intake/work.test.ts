/** What a request makes the service do is bounded, and is not done for what nobody gets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type KnownBodies, prepareBody } from "../../src/intake/body.ts";
import { Slices } from "../../src/runtime/slices.ts";
import { MAX_TRANSLITERATED_LENGTH } from "../../src/sms/prepared-text.ts";
import { MAX_PARTS, MAX_TEXT_LENGTH } from "../../src/sms/text.ts";
import type { Acceptance } from "../../src/store/port/messages.ts";
import { ADVANCED, MULTI, REJECTED } from "../support/sending.ts";
import { CATALOGUE, startTestService } from "../support/service.ts";

const TOO_LONG = REJECTED.tooLong.id;
const PHONE = "41793026727";
const CYRILLIC = "Съешь ещё этих мягких французских булок. ";

test("a text is transliterated only if somebody may get it", async (t) => {
  // One country, so that another has no route.
  const service = await startTestService(t, { catalogue: CATALOGUE.replace('prefix = ""', 'prefix = "41"') });
  const text = "Привет";
  const message = { from: "InfoSMS", text, transliteration: "CYRILLIC" };
  const messages = [
    { ...message, destinations: [{ to: PHONE, messageId: "first" }] },
    { ...message, destinations: [{ to: "not a number" }, { to: "123" }] },
    { ...message, from: "a sender that is too long", destinations: [{ to: PHONE }] },
    { ...message, destinations: [{ to: PHONE, messageId: "first" }] },
    { ...message, destinations: [{ to: "not a number" }, { to: PHONE }] },
  ];
  const answer = await service.call("POST", ADVANCED, { body: { messages } });
  assert.equal(answer.status, 200, answer.text);
  const statuses = answer.json.messages.map(({ status }: { status: { id: number } }) => status.id);
  const { destination, source, duplicate } = REJECTED;
  assert.deepEqual(statuses, [7, destination.id, destination.id, source.id, duplicate.id, destination.id, 7]);

  const logs = await service.call("GET", "/sms/1/logs");
  const texts = logs.json.results.map(({ text: shown }: { text: string }) => shown);
  // The latest first. The last message of the request goes to somebody, so its text is what that phone shows.
  assert.deepEqual(texts.toSorted(), ["Privet", "Privet", "Privet", text, text, text, text].toSorted());
});

test("a request that takes long is done in slices: others are answered meanwhile", async (t) => {
  let healthAnswers = 0;
  let atAccept = -1;
  const service = await startTestService(t, {
    edgeStore: (store) => ({
      ...store,
      accept(input) {
        atAccept = healthAnswers;
        return store.accept(input);
      },
    }),
  });
  /** How often health is answered until a request has become messages. */
  const answersDuring = async (transliteration: string | undefined): Promise<number> => {
    const messages = Array.from({ length: 4_000 }, (_, index) => ({
      from: "InfoSMS",
      to: String(41_790_000_000 + index),
      text: `${index} ${CYRILLIC.repeat(10)}`,
      transliteration,
    }));
    healthAnswers = 0;
    atAccept = -1;
    const sent = service.call("POST", MULTI, { body: { messages } });
    while (atAccept === -1) {
      assert.equal((await service.call("GET", "/healthz")).status, 200);
      healthAnswers++;
    }
    assert.equal((await sent).status, 200);
    return atAccept;
  };
  await answersDuring(undefined);
  const plain = await answersDuring(undefined);
  const transliterated = await answersDuring("CYRILLIC");
  // 1.6 million characters: without slices the difference would be none.
  assert.ok(transliterated > 2 * plain + 10, `${transliterated} answers, and ${plain} without transliteration`);
});

test("a request that takes long is received when its work is done, and is valid from then on", async (t) => {
  let healthAtMs = 0;
  const accepted: { input: Acceptance; healthAtMs: number }[] = [];
  const service = await startTestService(t, {
    edgeStore: (store) => ({
      ...store,
      accept(input) {
        accepted.push({ input, healthAtMs });
        return store.accept(input);
      },
    }),
  });
  const text = CYRILLIC.repeat(10);
  const texts = Array.from({ length: 2_000 }, (_, index) => ({ text: `${index} ${text}` }));
  const fields = { from: "InfoSMS", destinations: [{ to: PHONE }], transliteration: "CYRILLIC", validityPeriod: 5 };
  const sendAtMs = Date.now() + 3_600_000;
  const messages = [...texts, { text, sendAt: new Date(sendAtMs).toISOString() }].map((own) => ({ ...fields, ...own }));
  const sent = service.call("POST", ADVANCED, { body: { messages } });
  while (accepted.length === 0) {
    assert.equal((await service.call("GET", "/healthz")).status, 200);
    healthAtMs = Date.now();
  }
  assert.equal((await sent).status, 200);
  const [{ input, healthAtMs: lastHealthAtMs }] = accepted as [(typeof accepted)[0]];
  assert.ok(input.receivedAtMs >= lastHealthAtMs, "not before what was answered while it waited");
  const validMs = input.contents.map(({ expiresAtMs, dueAtMs }) => expiresAtMs - (dueAtMs ?? input.receivedAtMs));
  assert.deepEqual(new Set(validMs), new Set([5 * 60_000]));
  assert.equal(input.contents.at(-1)!.dueAtMs, sendAtMs);
});

test("of long works one slice is done in a turn of the event loop, and accounts take turns", async () => {
  const slices = new Slices();
  const order: string[] = [];
  let turn = 0;
  const turns = new Set<number>();
  const count = () => {
    turn++;
    if (order.length < 12) setImmediate(count);
  };
  const work = async (name: string, accountId: number, pieces: number) => {
    for (let piece = 0; piece < pieces; piece++) {
      await slices.turn(accountId);
      order.push(name);
      turns.add(turn);
    }
  };
  setImmediate(count);
  const greedy = ["a", "b", "c", "d"].map((name) => work(name, 1, 2));
  await Promise.all([...greedy, work("x", 2, 4)]);
  assert.deepEqual(order.join(""), "axbxcxdxabcd");
  assert.equal(turns.size, order.length);
});

test("a text that several messages of a request have is transliterated once", () => {
  const known: KnownBodies = new Map();
  const fields = { text: CYRILLIC, transliteration: "CYRILLIC" } as const;
  const first = prepareBody(fields, true, known);
  assert.equal(prepareBody({ ...fields }, true, known), first);
  const other = prepareBody({ ...fields, transliteration: "GREEK" }, true, known);
  assert.notEqual(other.text, first.text);
});

test("what people write in 25 parts is taken, accents written apart included, and anything longer is not transliterated", () => {
  assert.equal(MAX_TEXT_LENGTH, 25 * 153);
  const apart = "e\u0323\u0302";
  const longest = prepareBody({ text: apart.repeat(MAX_TEXT_LENGTH), transliteration: "NON_UNICODE" });
  assert.deepEqual([longest.partCount, longest.rejectedStatusId], [MAX_PARTS, null]);

  const tooLong = prepareBody({ text: `${apart.repeat(MAX_TEXT_LENGTH)}e`, transliteration: "NON_UNICODE" });
  assert.equal(tooLong.rejectedStatusId, TOO_LONG);
  assert.ok(tooLong.text.startsWith(apart), "as it stands");
  assert.ok(MAX_TRANSLITERATED_LENGTH === 3 * MAX_TEXT_LENGTH);
});

test("without a transliteration every character counts, and past ten times what fits nothing is counted", () => {
  const fits = prepareBody({ text: "x".repeat(MAX_TEXT_LENGTH) });
  assert.deepEqual([fits.partCount, fits.rejectedStatusId], [25, null]);
  const one = prepareBody({ text: "x".repeat(MAX_TEXT_LENGTH + 1) });
  assert.deepEqual([one.partCount, one.rejectedStatusId], [26, TOO_LONG]);
  const counted = prepareBody({ text: "щ".repeat(6_700) });
  assert.deepEqual([counted.partCount, counted.rejectedStatusId], [100, TOO_LONG]);
  const much = prepareBody({ text: "щ".repeat(1_000_000) });
  assert.deepEqual([much.partCount, much.rejectedStatusId], [26, TOO_LONG]);
  assert.ok(much.text.length <= 4_000);
});

test("octets that fill 25 parts are taken, whatever they are, and more are refused", () => {
  for (const [dataCoding, octets] of [
    [0, 153],
    [4, 134],
    [8, 134],
  ] as const) {
    const digits = (count: number) => "41".repeat(count);
    const fits = prepareBody({ binary: { hex: digits(25 * octets), dataCoding } });
    assert.deepEqual([fits.partCount, fits.rejectedStatusId], [25, null], `coding ${dataCoding}`);
    const more = prepareBody({ binary: { hex: digits(25 * octets + 2), dataCoding } });
    assert.equal(more.rejectedStatusId, TOO_LONG);
  }
});
