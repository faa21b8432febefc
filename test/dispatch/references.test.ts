/** References of long messages: parts of many messages, mixed on their way, come together on the phone as they were sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SmppCarrier } from "../../src/carriers/smpp/carrier.ts";
import type { PduDraft } from "../../src/carriers/smpp/codec/pdu.ts";
import { submitOf } from "../../src/carriers/smpp/outgoing.ts";
import type { SmppProfile } from "../../src/carriers/smpp/profile.ts";
import { readSar } from "../../src/carriers/smpp/sar.ts";
import { PutOffs } from "../../src/dispatch/put-off.ts";
import { Submitting, type Verdict } from "../../src/dispatch/submitting.ts";
import { usedOf } from "../../src/message/fields.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { Lease } from "../../src/node/lease.ts";
import { IdSource } from "../../src/runtime/ids.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { decodeUserData, prepareText } from "../../src/sms/text.ts";
import { References } from "../../src/store/references.ts";
import { NOW } from "../store/harness.ts";
import fc, { cases } from "../support/chance.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { settle, startDispatch } from "./setup.ts";

/** Parts that may go at once. */
const ALL = 255;
const PHONE = "41790000001";

function handOver(submitting: Submitting): Promise<Verdict> {
  return new Promise((judged) => submitting.submit(ALL, undefined, judged));
}

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
    ...usedOf({}),
    intermediateReport: false,
    taken: null,
    regional: null,
    reference: null,
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
      const references = new References();
      const carriers = WAYS.map((way) => new WritingCarrier(way));
      const sent = messages.map(({ phone, length, letter }, index) => {
        // Every part is unlike those of all others.
        const text = `${index} ${letter} `.repeat(length).slice(0, length);
        return queued(keys[index]!, `${PHONE}${phone}`, text);
      });
      for (const [index, message] of sent.entries())
        await handOver(new Submitting(message, carriers[messages[index]!.way]!, references, new PutOffs(100)));
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
        const expected = sent.filter((message) => message.to === to).map(({ text }) => text);
        assert.deepEqual(phone.shown.toSorted(), expected.toSorted());
      }
    }),
    { numRuns: cases(30) },
  );
});

test("a phone's last 224 references differ in their lower octet, and its last 1024 as a whole", async () => {
  const references = new References();
  const given = (await keysOf(3_000)).map((key) => references.of({ key, to: PHONE }));
  for (const [window, mask] of [
    [224, 0xff],
    [1_024, 0xffff],
  ] as const) {
    const lastAt = new Map<number, number>();
    for (const [at, reference] of given.entries()) {
      const before = lastAt.get(reference & mask) ?? Number.NEGATIVE_INFINITY;
      assert.ok(at - before >= window, `${reference} came back after ${at - before}`);
      lastAt.set(reference & mask, at);
    }
  }
  assert.ok(given.every((reference) => reference >= 0 && reference <= 0xffff));
});

test("a message that is sent again has the reference that it had, also after a crash or on another node", async () => {
  const keys = await keysOf(40);
  const before = new References();
  const given = keys.map((key) => before.of({ key, to: PHONE }));
  assert.deepEqual(
    keys.toReversed().map((key) => before.of({ key, to: `+${PHONE}` })),
    given.toReversed(),
  );
  const after = new References();
  const again = keys.toReversed().map((key) => after.of({ key, to: PHONE }));
  const same = again.toReversed().filter((reference, index) => reference === given[index]);
  assert.ok(same.length >= 30, `${same.length} of 40 are the same, when 40 wait for one phone`);
  for (const [index, key] of keys.entries()) {
    const [one, other] = [new References(), new References()].map((node) => node.of({ key, to: `${PHONE}${index}` }));
    assert.equal(one, other);
  }
});

test("what is remembered is bounded, for a phone and for all of them", async () => {
  const [key] = await keysOf(1);
  const references = new References();
  for (let phone = 0; phone < 60_000; phone++) references.of({ key: `${key}${phone}`, to: `${PHONE}${phone}` });
  assert.equal(references.size, 50_000);
  for (let count = 0; count < 3_000; count++) references.of({ key: `${key}${count}`, to: PHONE });
  assert.ok(references.size <= 50_000);
  const alone = new References();
  for (let count = 0; count < 3_000; count++) alone.of({ key: `${key}${count}`, to: PHONE });
  assert.equal(alone.size, 1_024);
});

test("what only the carrier's alphabet makes several parts of has a reference of its own too", async () => {
  const references = new References();
  const carrier = new WritingCarrier({ alphabet: "latin1" });
  for (const key of await keysOf(20)) {
    const message = queued(key, PHONE, "€ ".repeat(50));
    assert.equal(message.partCount, 1);
    await handOver(new Submitting(message, carrier, references, new PutOffs(100)));
  }
  assert.equal(carrier.submitted.length, 40);
  assert.equal(new Set(carrier.written.map(({ shortMessage }) => shortMessage![3])).size, 20);
  const before = references.size;
  await handOver(new Submitting(queued("1", PHONE, "short"), carrier, references, new PutOffs(100)));
  assert.equal(references.size, before, "a short message takes none");
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
