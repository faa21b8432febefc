/** References of long messages: parts of many messages, mixed on their way, come together on the phone as they were sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SmppCarrier } from "../../src/carriers/smpp/carrier.ts";
import type { PduDraft } from "../../src/carriers/smpp/codec/pdu.ts";
import { submitOf } from "../../src/carriers/smpp/outgoing.ts";
import type { SmppProfile } from "../../src/carriers/smpp/profile.ts";
import { readSar } from "../../src/carriers/smpp/sar.ts";
import { PutOffs } from "../../src/dispatch/put-off.ts";
import { referenceOf } from "../../src/dispatch/references.ts";
import { Submitting } from "../../src/dispatch/submitting.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { IdSource } from "../../src/runtime/ids.ts";
import { Lease } from "../../src/runtime/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { decodeUserData, prepareText } from "../../src/sms/text.ts";
import { NOW } from "../store/harness.ts";
import fc, { cases } from "../support/chance.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { settle, startDispatch } from "./setup.ts";

/** Parts that may go at once. */
const ALL = 255;
const PHONE = "41790000001";

/** Keys as the service gives them to messages that come a millisecond apart. */
async function keysOf(count: number): Promise<string[]> {
  const clock = new VirtualClock(NOW);
  const ids = new IdSource(clock, 1);
  const keys: string[] = [];
  for (; keys.length < count; await clock.advance(1)) keys.push(ids.take(1));
  return keys;
}

function queued(key: string, to: string, text: string): QueuedMessage {
  const { text: shown, encoding, partCount } = prepareText(text, {});
  const fixed = {
    accountId: 1,
    carrierId: "smpp",
    from: "Sender",
    flash: false,
    intermediateReport: false,
    taken: null,
    regional: null,
  };
  return {
    ...fixed,
    key,
    to,
    text: shown,
    encoding,
    partCount,
    window: null,
    dueAtMs: NOW,
    expiresAtMs: NOW + 1,
    slotUntilMs: null,
    unknownCount: 0,
  };
}

/** The parts are those of the SMPP carrier; what it would have written is kept. */
class WritingCarrier extends ScriptedCarrier {
  readonly #profile: SmppProfile;
  readonly #smpp: SmppCarrier;

  constructor(change: Partial<SmppProfile>) {
    super();
    this.#profile = { id: "smpp", kind: "smpp", hosts: ["127.0.0.1:1"], systemId: "me", password: "x", ...change };
    const clock = new VirtualClock(NOW);
    const parts = { clock, random: seededRandom(1), log: silentLog, lease: Lease.endless() };
    this.#smpp = new SmppCarrier(this.#profile, parts);
  }

  override partsOf: SmppCarrier["partsOf"] = (message) => this.#smpp.partsOf(message);

  get written(): PduDraft<"submit_sm">[] {
    return this.submitted.map((part) => submitOf(part, this.#profile, NOW)!);
  }
}

/**
 * What a phone shows. It puts parts together by sender, reference and number of parts, and takes a part that it has already for the same
 * one. All references come to it in 8 bits, as from a network that has no more.
 */
class Phone {
  readonly shown: string[] = [];
  readonly #sets = new Map<string, Map<number, string>>();

  receive({ sourceAddr, shortMessage, esmClass = 0, dataCoding = 0, tlvs = [] }: PduDraft<"submit_sm">): void {
    const hasHeader = (esmClass & 0x40) !== 0;
    const { text, concatenation } = decodeUserData({ octets: shortMessage!, hasHeader, dataCoding, unpacked: true });
    const { reference, total, sequence } = concatenation ?? readSar(tlvs)!;
    const name = `${sourceAddr} ${reference & 0xff} ${total}`;
    const set = this.#sets.get(name) ?? new Map<number, string>();
    this.#sets.set(name, set.set(sequence, set.get(sequence) ?? text));
    if (set.size < total) return;
    this.#sets.delete(name);
    this.shown.push(
      [...set]
        .toSorted(([one], [other]) => one - other)
        .map(([, text]) => text)
        .join(""),
    );
  }
}

const octetOf = (message: QueuedMessage): number => referenceOf(message) & 0xff;

const WAYS: readonly Partial<SmppProfile>[] = [{}, { referenceBits: 16 }, { longMessages: "sar" }];

const longMessages = fc.array(
  fc.record({
    phone: fc.nat(2),
    way: fc.nat(WAYS.length - 1),
    length: fc.integer({ min: 161, max: 500 }),
    letter: fc.constantFrom("a", "€", "ж"),
  }),
  { minLength: 2, maxLength: 150, size: "max" },
);

test("long messages whose parts are mixed on the way are whole on their phones, whatever the carriers' ways", async () => {
  const keys = await keysOf(150);
  await fc.assert(
    fc.asyncProperty(longMessages, fc.infiniteStream(fc.nat()), async (messages, chances) => {
      const carriers = WAYS.map((way) => new WritingCarrier(way));
      const sent = messages.map(({ phone, length, letter }, index) => {
        // Every part is unlike those of all others.
        const text = `${index} ${letter} `.repeat(length).slice(0, length);
        return queued(keys[index]!, `${PHONE}${phone}`, text);
      });
      for (const [index, message] of sent.entries())
        await new Submitting(message, carriers[messages[index]!.way]!, new PutOffs(100)).submit(ALL);
      const phones = new Map<string, Phone>();
      const mixed = carriers
        .flatMap(({ written }) => written)
        .map((pdu) => ({ pdu, at: chances.next().value as number }))
        .toSorted((one, other) => one.at - other.at);
      for (const { pdu } of mixed) {
        const to = pdu.destinationAddr!;
        if (!phones.has(to)) phones.set(to, new Phone());
        phones.get(to)!.receive(pdu);
      }
      for (const [to, phone] of phones) {
        const there = sent.filter((message) => message.to === to);
        const octets = there.map(octetOf);
        // Those that share theirs by chance may be spliced; the others are whole.
        const alone = there.filter((_, index) => octets.filter((octet) => octet === octets[index]).length === 1);
        assert.deepEqual(
          alone.map(({ text }) => text).filter((text) => !phone.shown.includes(text)),
          [],
        );
      }
    }),
    { numRuns: cases(30) },
  );
});

test("a message that goes again after a kill has the reference that it had, whatever else its phone gets and got", async () => {
  const keys = await keysOf(400);
  const sentWith = async (sent: readonly string[]): Promise<Map<string, number>> => {
    const carrier = new WritingCarrier({ longMessages: "sar" });
    for (const key of sent)
      await new Submitting(queued(key, PHONE, `${key} `.repeat(20)), carrier, new PutOffs(100)).submit(ALL);
    return new Map(carrier.submitted.map(({ message }) => [message.text.split(" ")[0]!, message.reference]));
  };
  const before = await sentWith(keys);
  // The last of them were not recorded: another process has them, knows nothing of those before, and takes them in another order.
  const again = await sentWith(keys.slice(-20).toReversed());
  assert.equal(again.size, 20);
  for (const [key, reference] of again) assert.equal(reference, before.get(key));
});

test("messages to one phone share a reference no more often than by chance, however close they come", async () => {
  const references = (await keysOf(4_000)).map((key) => referenceOf({ key, taken: null }));
  assert.ok(references.every((reference) => reference >= 0 && reference <= 0xffff));
  const sharing = (apart: number, mask: number): number =>
    references.filter((one, index) => ((one ^ (references[index + apart] ?? ~one)) & mask) === 0).length;
  for (let apart = 1; apart <= 64; apart++) {
    // Of 4,000 pairs 16 share an octet by chance, give or take 4; and a reference one in 16 times.
    assert.ok(sharing(apart, 0xff) <= 40, `${sharing(apart, 0xff)} of those that are ${apart} apart share an octet`);
    assert.ok(sharing(apart, 0xffff) <= 4, `${sharing(apart, 0xffff)} of those that are ${apart} apart share all`);
  }
});

test("what only the carrier's alphabet makes several parts of has a reference of its own too", async () => {
  const carrier = new WritingCarrier({ alphabet: "latin1" });
  const keys = await keysOf(20);
  const messages = keys.map((key) => queued(key, PHONE, "€ ".repeat(50)));
  for (const message of messages) {
    assert.equal(message.partCount, 1);
    await new Submitting(message, carrier, new PutOffs(100)).submit(ALL);
  }
  assert.deepEqual(
    carrier.written.map(({ shortMessage }) => shortMessage![3]),
    messages.flatMap((message) => [octetOf(message), octetOf(message)]),
  );
  await new Submitting(queued("1", PHONE, "short"), carrier, new PutOffs(100)).submit(ALL);
  assert.equal(carrier.submitted.at(-1)!.message.reference, 0, "a short message has none");
});

test("a long message that is put off, and then goes by another carrier, keeps its reference", async (t) => {
  const other = new ScriptedCarrier("other");
  const { bench, carrier, dispatcher } = await startDispatch(t, undefined, (_, usable) =>
    usable("other") ? "other" : null,
  );
  await dispatcher.addCarrier(other);
  carrier.answer = () => ({ kind: "later", retryAfterMs: 1_000 });
  const text = "long ".repeat(50);
  const content = { text, encoding: "gsm7" as const, partCount: 2 };
  await bench.accept([bench.message()], content);
  await settle(bench);
  await bench.clock.advance(1_000);
  carrier.up = false;
  await settle(bench);
  const seen = [...carrier.submitted, ...other.submitted].map(({ message }) => message.reference);
  assert.deepEqual([carrier.submitted.length, other.submitted.length], [4, 2]);
  assert.equal(new Set(seen).size, 1);
  await dispatcher.stop();
});
