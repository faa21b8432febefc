/** What every engine of the store must do with messages from phones. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { carriedOf } from "../../src/message/fields.ts";
import type { IncomingPart, NumberRule } from "../../src/message/incoming.ts";
import type { IncomingFacts } from "../../src/message/message.ts";
import { type ReceivedOctets, textOfReceived } from "../../src/sms/received.ts";
import fc, { cases } from "../support/chance.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const PHONE = "41790000001";
const INBOX = "12345";
const PUSHED = "41799999999";
const URL_A = "http://127.0.0.1:1/a";
const WAIT_MS = 600_000;
const OPTED_OUT = 14;
const ENROUTE = 7;

const NUMBERS: readonly NumberRule[] = [
  { number: INBOX, account: "CLIENT", keywords: ["quiz"], stopKeywords: ["STOP", "arrêt"], startKeywords: ["START"] },
  { number: PUSHED, account: "CLIENT", forwardUrl: URL_A, stopKeywords: ["STOP"] },
  { number: "777", account: "NOBODY", stopKeywords: ["STOP"] },
];

async function startBench(t: TestContext, make: MakeDatabase): Promise<Bench> {
  const bench = await Bench.start(t, make);
  const items = NUMBERS.map((rule) => ({ kind: "number" as const, id: rule.number, body: JSON.stringify(rule) }));
  await bench.store.putCatalogue({ items });
  return bench;
}

function part(text: string, change: Partial<IncomingPart> = {}): IncomingPart {
  return { from: PHONE, to: INBOX, text, concatenation: null, atMs: NOW, ...change };
}

/** The parts of a long message, in order. */
function partsOf(texts: readonly string[], change: Partial<IncomingPart> = {}, reference = 7): IncomingPart[] {
  return texts.map((text, index) =>
    part(text, { concatenation: { reference, total: texts.length, sequence: index + 1 }, ...change }),
  );
}

function take(bench: Bench, parts: readonly IncomingPart[], carrierId = CARRIER): Promise<{ unmatched: number }> {
  return bench.store.incoming({ carrierId, parts, nowMs: bench.clock.now() });
}

async function fetchAll(bench: Bench): Promise<IncomingFacts[]> {
  return (await bench.fetchIncoming(1_000)).messages;
}

async function textsFetched(bench: Bench): Promise<string[]> {
  return (await fetchAll(bench)).map(({ text }) => text);
}

/** The status of a message to the phone, sent now. */
async function statusOfSend(bench: Bench): Promise<number | undefined> {
  return (await bench.accept([bench.message({ to: PHONE })]))[0];
}

export function incomingContract(engine: string, make: MakeDatabase): void {
  describe(`messages from phones on ${engine}: ids of carriers`, () => {
    test("what a carrier tells twice under one id comes in once, for three days, and another carrier's is its own", async (t) => {
      const bench = await startBench(t, make);
      const told = part("Hi", { carrierMessageId: "a" });
      await take(bench, [told, told]);
      await Promise.all([take(bench, [told]), take(bench, [told, part("Ho", { carrierMessageId: "b" })])]);
      await take(bench, [told], "another");
      assert.deepEqual((await textsFetched(bench)).sort(), ["Hi", "Hi", "Ho"]);
      const purge = (hours: number) =>
        bench.store.purgeExpired({ nowMs: NOW + hours * HOUR, replayMs: HOUR, sessionMs: HOUR, limit: 2 });
      assert.deepEqual(await purge(71), { more: false });
      await take(bench, [told]);
      assert.deepEqual(await textsFetched(bench), []);
      assert.deepEqual([await purge(73), await purge(73)], [{ more: true }, { more: false }]);
      await take(bench, [told]);
      assert.deepEqual(await textsFetched(bench), ["Hi"]);
    });

    test("a part that comes again long after its message begins none, and parts may share an id", async (t) => {
      const bench = await startBench(t, make);
      const parts = partsOf(["one ", "two"], { carrierMessageId: "a" });
      await take(bench, parts);
      await bench.clock.advance(2 * WAIT_MS);
      for (const _ of [1, 2, 3])
        await bench.store.sweepIncoming({ nowMs: bench.clock.now(), waitMs: WAIT_MS, limit: 10 });
      await take(bench, [parts[1]!]);
      await bench.clock.advance(2 * WAIT_MS);
      await bench.store.sweepIncoming({ nowMs: bench.clock.now(), waitMs: WAIT_MS, limit: 10 });
      assert.deepEqual(await textsFetched(bench), ["one two"]);
    });
  });

  describe(`messages from phones on ${engine}: inbox and push`, () => {
    test("a message waits in its account's inbox, and is handed out once, oldest first", async (t) => {
      const bench = await startBench(t, make);
      assert.deepEqual(await take(bench, [part("one"), part("two"), part("three", { atMs: NOW + 5 })]), {
        unmatched: 0,
      });
      await bench.restart();
      const first = await bench.fetchIncoming(2);
      assert.deepEqual([first.messages.map(({ text }) => text), first.pending], [["one", "two"], 1]);
      assert.deepEqual(await bench.fetchIncoming(2, bench.resellerId), {
        messages: [],
        pending: 0,
      });
      const second = await bench.fetchIncoming(2);
      const { messageId, ...facts } = second.messages[0]!;
      assert.match(messageId, /^\d{19}$/);
      assert.deepEqual(facts, {
        from: PHONE,
        to: INBOX,
        text: "three",
        keyword: null,
        receivedAtMs: NOW + 5,
        smsCount: 1,
        currency: "EUR",
        ...carriedOf({}),
      });
      assert.deepEqual([second.messages.length, second.pending], [1, 0]);
      assert.deepEqual(await fetchAll(bench), []);
    });

    test("a message whose fetch was not confirmed comes again after a while, and one that was never does", async (t) => {
      const bench = await startBench(t, make);
      await take(bench, [part("one"), part("two")]);
      const [first, second] = (await bench.fetchIncoming(10)).messages;
      assert.ok(first !== undefined && second !== undefined);
      await bench.store.confirmIncoming({ keys: [first.messageId] });
      assert.deepEqual((await bench.fetchIncoming(10)).messages, []);
      await bench.restart();
      await bench.clock.advance(60_000);
      assert.deepEqual((await bench.fetchIncoming(10)).messages, [second]);
    });

    test("two who fetch at once do not get the same message", async (t) => {
      const bench = await startBench(t, make);
      await take(
        bench,
        Array.from({ length: 30 }, (_, index) => part(`message ${index}`)),
      );
      const fetches = await Promise.all(Array.from({ length: 4 }, () => bench.fetchIncoming(10)));
      const ids = fetches.flatMap(({ messages }) => messages.map(({ messageId }) => messageId));
      assert.equal(ids.length, 30);
      assert.equal(new Set(ids).size, 30);
    });

    test("a message to a number with a URL is pushed, in batches of at most 100, and is not in the inbox", async (t) => {
      const bench = await startBench(t, make);
      await take(
        bench,
        Array.from({ length: 150 }, (_, index) => part(`message ${index}`, { to: PUSHED })),
      );
      const batches = bench.takeIncoming();
      assert.deepEqual(
        batches.map(({ accountId, url, form, items }) => [accountId, url, form, items.length]),
        [
          [bench.accountId, URL_A, "application/json", 100],
          [bench.accountId, URL_A, "application/json", 50],
        ],
      );
      assert.deepEqual(
        batches.flatMap(({ items }) => items.map(({ text }) => text)),
        Array.from({ length: 150 }, (_, index) => `message ${index}`),
      );
      assert.deepEqual(await fetchAll(bench), []);
      await bench.restart();
      const due = await bench.store.dueReports({ nowMs: NOW, limit: 10 });
      const again = batches.map((batch) => ({ ...batch, tried: true }));
      assert.deepEqual(due.batches, again, "what nobody took is handed out again, the same under the same id");
    });

    test("a batch has things of one kind only, though the URL be the same", async (t) => {
      const bench = await startBench(t, make);
      await Promise.all([
        bench.accept([bench.message({ rejectedStatusId: 52 })], { notifyUrl: URL_A }),
        take(bench, [part("hello", { to: PUSHED })]),
      ]);
      assert.deepEqual(
        bench.takeReports().map(({ items }) => items.map(({ statusId }) => statusId)),
        [[52]],
      );
      assert.deepEqual(
        bench.takeIncoming().map(({ items }) => items.map(({ text }) => text)),
        [["hello"]],
      );
    });

    test("what is to a number that is nobody's is kept, counted and listed, newest first", async (t) => {
      const bench = await startBench(t, make);
      const lost = [part("to no number", { to: "888" }), part("to no account", { to: "777" })];
      assert.deepEqual(await take(bench, [part("mine"), ...lost]), { unmatched: 2 });
      const { count, messages } = await bench.store.unmatchedIncoming({ limit: 1 });
      assert.equal(count, 2);
      assert.deepEqual(
        messages.map(({ messageId: _, ...facts }) => facts),
        [
          {
            carrierId: CARRIER,
            from: PHONE,
            to: "777",
            text: "to no account",
            keyword: null,
            receivedAtMs: NOW,
            smsCount: 1,
            ...carriedOf({}),
          },
        ],
      );
      assert.deepEqual(await textsFetched(bench), ["mine"]);
    });

    test("a message shares the fate of its own command only: a bad one in the group neither loses nor doubles it", async (t) => {
      const bench = await startBench(t, make);
      const bad = bench.store.accept(bench.acceptance([bench.message({ content: 7 })]));
      const results = await Promise.allSettled([take(bench, [part("one")]), bad, take(bench, partsOf(["tw", "o"]))]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
      assert.deepEqual(await textsFetched(bench), ["one", "two"]);
    });

    test("a clock that stepped back over a restart gives no id twice", async (t) => {
      const bench = await startBench(t, make);
      await take(bench, [part("before")]);
      bench.clock.stepBack(HOUR);
      await bench.restart();
      await take(bench, [part("after")]);
      assert.deepEqual(await textsFetched(bench), ["before", "after"]);
    });
  });

  describe(`messages from phones on ${engine}: long messages`, () => {
    test("parts that come out of order, twice and mixed with others make each message whole, once", async (t) => {
      const bench = await startBench(t, make);
      const [a1, a2, a3] = partsOf(["a1 ", "a2 ", "a3"]);
      const [b1, b2] = partsOf(["b1 ", "b2"], { from: "41790000002" });
      const [c1, c2] = partsOf(["c1 ", "c2"]); // the reference is a1's, the number of parts is not
      for (const one of [a3, b2, a1, c1, a3, a1, b1, part("alone"), c2, b1, a2, a2]) await take(bench, [one!]);
      assert.deepEqual(
        (await fetchAll(bench)).map(({ text, smsCount }) => [text, smsCount]),
        [
          ["b1 b2", 2],
          ["alone", 1],
          ["c1 c2", 2],
          ["a1 a2 a3", 3],
        ],
      );
      assert.deepEqual(await take(bench, [a1!, c2!, b1!]), { unmatched: 0 });
      for (const nowMs of [NOW + WAIT_MS - 1, NOW + WAIT_MS, NOW + 3 * WAIT_MS]) {
        await bench.store.sweepIncoming({ nowMs, waitMs: WAIT_MS, limit: 10 });
        assert.deepEqual(await fetchAll(bench), [], "a part of what is whole already starts nothing new");
      }
    });

    test("parts before and after a restart make one message", async (t) => {
      const bench = await startBench(t, make);
      const [first, second, third] = partsOf(["Hel", "lo ", "there"]);
      await take(bench, [third!, first!]);
      await bench.restart();
      assert.deepEqual(await fetchAll(bench), []);
      await take(bench, [{ ...second!, atMs: NOW + 30 }, first!]);
      assert.deepEqual(
        (await fetchAll(bench)).map(({ text, smsCount, receivedAtMs }) => [text, smsCount, receivedAtMs]),
        [["Hello there", 3, NOW + 30]],
      );
    });

    test("parts from two carriers are of two messages", async (t) => {
      const bench = await startBench(t, make);
      const [first, second] = partsOf(["one ", "two"]);
      await take(bench, [first!]);
      await take(bench, [second!], "other");
      assert.deepEqual(await fetchAll(bench), []);
      await take(bench, [second!]);
      assert.deepEqual(await textsFetched(bench), ["one two"]);
    });

    test("a phone that gives all its messages one reference gets them through, though they begin alike", async (t) => {
      const bench = await startBench(t, make);
      for (let count = 0; count < 20; count++) await take(bench, partsOf(["message ", `number ${count}`]));
      await take(bench, partsOf(["another ", "number 19"]));
      const [first, second] = partsOf(["message ", "from the end"]);
      await take(bench, [second!, first!]);
      assert.deepEqual(await textsFetched(bench), [
        ...Array.from({ length: 20 }, (_, count) => `message number ${count}`),
        "another number 19",
        "message from the end",
      ]);
    });

    test("two messages with one reference, their parts mixed, are both made in the order in which they began", async (t) => {
      const bench = await startBench(t, make);
      const [a1, a2] = partsOf(["a1 ", "a2"]);
      const [b1, b2] = partsOf(["b1 ", "b2"]);
      await take(bench, [a1!, b1!, b1!, a1!, a2!, b2!]);
      assert.deepEqual(await textsFetched(bench), ["a1 a2", "b1 b2"]);
    });

    test("a part that comes again does not get into another message with its reference", async (t) => {
      const bench = await startBench(t, make);
      const [a1, a2] = partsOf(["a1 ", "a2"]);
      const [b1, b2] = partsOf(["b1 ", "b2"]);
      for (const [from, order] of [
        ["41790000002", [a1, a1, a2, b2, b1]],
        ["41790000003", [a1, a2, a1, b1, b2]],
      ] as const) {
        for (const one of order) await take(bench, [{ ...one!, from }]);
        assert.deepEqual(await textsFetched(bench), ["a1 a2", "b1 b2"]);
      }
    });

    test("a new message with the reference of one that lost a part is not spliced into it", async (t) => {
      const bench = await startBench(t, make);
      const [a1] = partsOf(["a1 ", "a2"]);
      const [b1, b2] = partsOf(["b1 ", "b2"]);
      await take(bench, [a1!]);
      await bench.clock.advance(60_000);
      await take(bench, [b1!]);
      await take(bench, [a1!, b1!]);
      await take(bench, [b2!, b2!]);
      await bench.clock.advance(WAIT_MS);
      await bench.store.sweepIncoming({ nowMs: bench.clock.now(), waitMs: WAIT_MS, limit: 10 });
      assert.deepEqual(await textsFetched(bench), ["b1 b2", "a1 "]);
    });

    test("a last part that is late by minutes still makes its message whole", async (t) => {
      const bench = await startBench(t, make);
      const [first, second] = partsOf(["one ", "two"]);
      await take(bench, [first!]);
      await bench.clock.advance(300_000);
      await take(bench, [second!]);
      assert.deepEqual(await textsFetched(bench), ["one two"]);
    });

    test("many long messages of few phones, their parts mixed and some of them twice, are all made, each once", async (t) => {
      const bench = await startBench(t, make);
      let phones = 41_790_000_100;
      const long = fc.record({
        phone: fc.nat(1),
        reference: fc.constantFrom(5, 6, 255, 0x10005, 0x100ff, 0x20005),
        total: fc.integer({ min: 2, max: 4 }),
      });
      // A phone has no two messages of one reference and as many parts under way.
      const messages = fc.uniqueArray(long, {
        minLength: 2,
        maxLength: 12,
        selector: (one) => Object.values(one).join(),
      });
      const chance = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }));
      await fc.assert(
        fc.asyncProperty(messages, chance, async (sent, chances) => {
          const next = (): number => chances.next().value as number;
          const phone = phones;
          phones += 2;
          const all = sent.map(({ phone: which, reference, total }, index) =>
            partsOf(
              Array.from({ length: total }, (_, place) => `message ${index} part ${place} `),
              { from: String(phone + which) },
              reference,
            ),
          );
          const mixed = all
            .flat()
            .flatMap((one) => (next() < 0.3 ? [one, one] : [one]))
            .map((one) => ({ one, at: next() }))
            .toSorted((one, other) => one.at - other.at)
            .map(({ one }) => one);
          while (mixed.length > 0) await take(bench, mixed.splice(0, 1 + Math.floor(next() * 5)));
          assert.deepEqual(
            (await textsFetched(bench)).toSorted(),
            all.map((parts) => parts.map(({ text }) => text).join("")).toSorted(),
          );
        }),
        { numRuns: cases(20) },
      );
    });

    test("what stays incomplete is delivered as it is after a while, a page at a time, and once", async (t) => {
      const bench = await startBench(t, make);
      const sweep = (nowMs: number) => bench.store.sweepIncoming({ nowMs, waitMs: WAIT_MS, limit: 2 });
      for (let phone = 1; phone <= 3; phone++) {
        const [, second, third] = partsOf(["one ", "two ", "three"], { from: `4179000000${phone}` });
        await take(bench, [third!, second!]);
      }
      await take(bench, [partsOf(["one ", "two"], { to: "888" })[0]!]);
      assert.deepEqual(await sweep(NOW + WAIT_MS - 1), { unmatched: 0, more: false, waits: true });
      await bench.restart();
      assert.deepEqual(await sweep(NOW + WAIT_MS), { unmatched: 0, more: true, waits: true });
      assert.deepEqual(await sweep(NOW + WAIT_MS), { unmatched: 1, more: true, waits: true });
      assert.deepEqual(await sweep(NOW + WAIT_MS), { unmatched: 0, more: false, waits: true });
      assert.deepEqual(
        (await fetchAll(bench)).map(({ from, text, smsCount }) => [from, text, smsCount]),
        [1, 2, 3].map((phone) => [`4179000000${phone}`, "two three", 2]),
      );
    });

    test("the wait begins anew with every new part, and not with one that comes again", async (t) => {
      const bench = await startBench(t, make);
      const [first, second] = partsOf(["one ", "two ", "three"]);
      const sweep = () => bench.store.sweepIncoming({ nowMs: bench.clock.now(), waitMs: WAIT_MS, limit: 10 });
      await take(bench, [first!]);
      await bench.clock.advance(WAIT_MS - 1);
      await take(bench, [second!]);
      await bench.clock.advance(WAIT_MS - 1);
      await take(bench, [first!]);
      await sweep();
      assert.deepEqual(await fetchAll(bench), []);
      await bench.clock.advance(1);
      await sweep();
      assert.deepEqual(await textsFetched(bench), ["one two "]);
    });

    test("a message that was made is forgotten after a while: the same parts are then a new one", async (t) => {
      const bench = await startBench(t, make);
      const parts = partsOf(["one ", "two"]);
      await take(bench, parts);
      await take(bench, parts);
      assert.deepEqual(await textsFetched(bench), ["one two"]);
      await bench.store.sweepIncoming({ nowMs: NOW + WAIT_MS, waitMs: WAIT_MS, limit: 10 });
      await take(bench, parts);
      assert.deepEqual(await textsFetched(bench), ["one two"]);
    });

    test("a part whose place cannot be is a message by itself", async (t) => {
      const bench = await startBench(t, make);
      const places = [
        { total: 1, sequence: 1 },
        { total: 1, sequence: 1 },
        { total: 2, sequence: 0 },
        { total: 2, sequence: 3 },
        { total: 0, sequence: 0 },
      ];
      await take(
        bench,
        places.map((place) => part("the same", { concatenation: { reference: 1, ...place } })),
      );
      assert.deepEqual(
        await textsFetched(bench),
        places.map(() => "the same"),
      );
    });

    test("a character cut in two by the end of a part is whole again, and what no text can hold is mended", async (t) => {
      const bench = await startBench(t, make);
      await take(bench, partsOf(["Hello \ud83d", "\ude00 you\0\0"]));
      await take(bench, [part("half \ud83d")]);
      assert.deepEqual(await textsFetched(bench), ["Hello 😀 you", "half \ufffd"]);
      await take(bench, [part("half \ud83d", { to: PUSHED })]);
      assert.equal(bench.takeIncoming()[0]?.items[0]?.text, "half \ufffd");
    });
  });

  describe(`messages from phones on ${engine}: keywords`, () => {
    test("a stop word puts the sender on the account's opt-out list, a start word takes it off", async (t) => {
      const bench = await startBench(t, make);
      assert.equal(await statusOfSend(bench), ENROUTE);
      await take(bench, [part("Stop, please")]);
      assert.equal(await statusOfSend(bench), OPTED_OUT);
      await take(bench, [part("STOP")]);
      await take(bench, [part("start")]);
      assert.equal(await statusOfSend(bench), ENROUTE);
      assert.deepEqual(
        (await fetchAll(bench)).map(({ text, keyword }) => [text, keyword]),
        [
          ["Stop, please", "STOP"],
          ["STOP", "STOP"],
          ["start", "START"],
        ],
      );
    });

    test("only the first word counts, whole, in any case and with any punctuation around it", async (t) => {
      const bench = await startBench(t, make);
      const expected: [text: string, keyword: string | null][] = [
        ["Quiz Paris", "QUIZ"],
        ["\n  «quiz»! Paris", "QUIZ"],
        ["ARRÊT", "ARRÊT"],
        ["arre\u0302t", "ARRÊT"],
        ["Please STOP", null],
        ["STOPPING by", null],
        ["QUIZ-2", null],
        ["!!!", null],
        ["", null],
        [`${"!".repeat(100)} STOP`, null],
        [`${"!".repeat(60)}STOPPING`, null],
      ];
      await take(
        bench,
        expected.map(([text]) => part(text)),
      );
      assert.deepEqual(
        (await fetchAll(bench)).map(({ text, keyword }) => [text, keyword]),
        expected,
      );
    });

    test("a stop word in the last part of a long message does nothing, one in the first does", async (t) => {
      const bench = await startBench(t, make);
      await take(bench, partsOf(["Please ", "STOP"]));
      assert.equal(await statusOfSend(bench), ENROUTE);
      const [first, second] = partsOf(["STOP it ", "now"]);
      await take(bench, [second!]);
      await take(bench, [first!]);
      assert.equal(await statusOfSend(bench), OPTED_OUT);
    });

    test("a stop word to a pushed number counts too, and comes with the push", async (t) => {
      const bench = await startBench(t, make);
      await take(bench, [part("stop", { to: PUSHED })]);
      assert.equal(await statusOfSend(bench), OPTED_OUT);
      assert.deepEqual(
        bench.takeIncoming().flatMap(({ items }) => items.map(({ keyword }) => keyword)),
        ["STOP"],
      );
    });

    test("a stop word to one account's number, or to nobody's, stops no other account", async (t) => {
      const bench = await startBench(t, make);
      await take(bench, [part("STOP", { to: "777" }), part("STOP", { to: "888" }), part("START", { to: PUSHED })]);
      assert.equal(await statusOfSend(bench), ENROUTE);
      await take(bench, [part("STOP")]);
      const [status] = await bench.accept([bench.message({ to: PHONE })], {}, { accountId: bench.resellerId });
      assert.notEqual(status, OPTED_OUT);
    });

    test("a start word does not undo the service's own list", async (t) => {
      const bench = await startBench(t, make);
      await bench.store.optOut({ accountKey: null, number: PHONE, atMs: NOW });
      await take(bench, [part("START")]);
      assert.equal(await statusOfSend(bench), OPTED_OUT);
    });
  });

  describe(`messages from phones on ${engine}: parts as octets`, () => {
    const octetParts = (contents: readonly ReceivedOctets[], change: Partial<IncomingPart> = {}): IncomingPart[] =>
      partsOf(contents.map(textOfReceived), change).map((each, index) => ({ ...each, octets: contents[index]! }));
    const gsm = (hex: string): ReceivedOctets => ({ charset: "gsm", hex });
    const binary = (hex: string): ReceivedOctets => ({ charset: "binary", hex, dataCoding: 4, header: "" });

    test("a character that is cut between two parts is whole, whichever comes first", async (t) => {
      const bench = await startBench(t, make);
      const [first, second] = octetParts([gsm("53544f501b"), gsm("65")]);
      await take(bench, [second!]);
      await bench.restart();
      await take(bench, [second!, first!, first!]);
      assert.deepEqual(await textsFetched(bench), ["STOP€"]);
    });

    test("a part that was kept as a text is joined with one that is kept as octets, and is known when it comes again", async (t) => {
      const bench = await startBench(t, make);
      const [first, second] = octetParts([gsm("4869"), gsm("65")]);
      const { octets: _, ...asText } = first!;
      await take(bench, [asText]);
      await take(bench, [first!]);
      await take(bench, [second!]);
      await take(bench, [first!]);
      await bench.clock.advance(WAIT_MS + 1);
      await bench.store.sweepIncoming({ nowMs: bench.clock.now(), waitMs: WAIT_MS, limit: 100 });
      assert.deepEqual(await textsFetched(bench), ["Hie"]);
    });

    test("where a part never comes, the octets beside the gap are not taken together", async (t) => {
      const bench = await startBench(t, make);
      const [first, , third] = octetParts([gsm("411b"), gsm("42"), gsm("6543")]);
      await take(bench, [first!, third!]);
      await bench.clock.advance(WAIT_MS + 1);
      await bench.store.sweepIncoming({ nowMs: bench.clock.now(), waitMs: WAIT_MS, limit: 100 });
      assert.deepEqual(await textsFetched(bench), ["A eC"]);
    });

    test("octets that are no text are kept as hex, with what they are, and have no keyword", async (t) => {
      const bench = await startBench(t, make);
      // "STOP" in octets is no stop word.
      const [stop] = octetParts([binary(Buffer.from("STOP").toString("hex"))]);
      await take(bench, [{ ...stop!, concatenation: null }, ...octetParts([binary("00ff"), binary("0a")])]);
      await take(bench, [part("Hello")]);
      const fetched = await fetchAll(bench);
      assert.deepEqual(
        fetched.map(({ text, keyword, smsCount, binary }) => [text, keyword, smsCount, binary]),
        [
          ["53544f50", null, 1, { dataCoding: 4, esmClass: 0 }],
          ["00ff0a", null, 2, { dataCoding: 4, esmClass: 0 }],
          ["Hello", null, 1, undefined],
        ],
      );
      assert.equal(await statusOfSend(bench), ENROUTE);
    });

    test("they are pushed with what they are, and shown when they are nobody's", async (t) => {
      const bench = await startBench(t, make);
      const octets: ReceivedOctets = { charset: "binary", hex: "aa", dataCoding: 245, header: "0401020304" };
      const message = { ...part(textOfReceived(octets)), octets };
      await take(bench, [
        { ...message, to: PUSHED },
        { ...message, to: "99999" },
      ]);
      const expected = { text: "0401020304aa", binary: { dataCoding: 245, esmClass: 64 } };
      const pushed = bench.incoming.flatMap(({ items }) => items);
      const { messages } = await bench.store.unmatchedIncoming({ limit: 10 });
      for (const found of [pushed, messages])
        assert.deepEqual(
          found.map(({ text, binary }) => ({ text, binary })),
          [expected],
        );
    });
  });
}
