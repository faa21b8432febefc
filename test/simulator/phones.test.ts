/** What the phones of the simulated network keep, and in which bounds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutgoingMessage, PartToSubmit } from "../../src/carriers/port.ts";
import { Phones } from "../../src/simulator/phones.ts";
import { encodeBody } from "../../src/sms/body.ts";

const VIEWER = { accountId: 7, accountKey: "SEVEN" };

function partsOf(to: string, text: string, options: Partial<OutgoingMessage> = {}): PartToSubmit[] {
  const message: OutgoingMessage = {
    from: "Sender",
    to,
    text,
    encoding: "gsm7",
    flash: false,
    intermediateReport: false,
    expiresAtMs: 0,
    reference: 1,
    accountId: VIEWER.accountId,
    key: `key of ${text.slice(0, 20)}`,
    ...options,
  };
  return encodeBody(message, { flash: message.flash ?? false, reference: message.reference ?? 0 }).map((userData) => ({
    message,
    userData,
    place: null,
  }));
}

test("the parts of a long text are one message when the last of them has come, in whatever order they come", () => {
  const phones = new Phones();
  const text = "0123456789".repeat(40);
  const [one, two, three] = partsOf("41790000001", text);
  phones.arrived(three!, 1);
  phones.arrived(one!, 2);
  assert.deepEqual(phones.show("41790000001", null).messages, []);
  phones.arrived(one!, 3);
  phones.arrived(two!, 4);
  const [message, ...others] = phones.show("41790000001", null).messages;
  assert.deepEqual(others, []);
  assert.deepEqual([message!.text, message!.partCount, message!.atMs], [text, 3, 4]);
});

test("parts with the same reference of two senders are two messages", () => {
  const phones = new Phones();
  const long = (letter: string) => letter.repeat(200);
  const [a, b] = partsOf("41790000001", long("a"), { from: "One" });
  const [c, d] = partsOf("41790000001", long("c"), { from: "Two" });
  for (const part of [a, c, b, d]) phones.arrived(part!, 1);
  assert.deepEqual(
    phones.show("41790000001", null).messages.map(({ peer, text }) => [peer, text]),
    [
      ["One", long("a")],
      ["Two", long("c")],
    ],
  );
});

test("a phone keeps its last 100 messages, and the network its last 1,000 phones", () => {
  const phones = new Phones();
  for (let count = 0; count < 150; count++) phones.arrived(partsOf("41790000001", `text ${count}`)[0]!, count);
  const { messages } = phones.show("41790000001", VIEWER);
  assert.deepEqual([messages.length, messages[0]!.text, messages.at(-1)!.text], [100, "text 50", "text 149"]);
  for (let count = 0; count < 1_000; count++) phones.arrived(partsOf(`4179100${1000 + count}`, "hi")[0]!, count);
  assert.deepEqual(phones.show("41790000001", VIEWER).messages, []);
  const { phones: listed, more } = phones.list(VIEWER, 100);
  assert.deepEqual([listed.length, more, listed[0]!.number], [100, true, "41791001999"]);
});

test("texts of which parts are missing are forgotten past a bound", () => {
  const phones = new Phones();
  const text = "x".repeat(200);
  const first = partsOf("41790000001", text, { reference: 0 });
  phones.arrived(first[0]!, 0);
  for (let reference = 1; reference <= 20; reference++)
    phones.arrived(partsOf("41790000001", text, { reference })[0]!, 0);
  phones.arrived(first[1]!, 1);
  assert.deepEqual(phones.show("41790000001", null).messages, []);
});

test("a state is a phone's own, and a phone that nobody has touched is on", () => {
  const phones = new Phones();
  phones.set("41790000001", "off", VIEWER);
  assert.deepEqual([phones.stateOf("41790000001"), phones.stateOf("41790000002")], ["off", "on"]);
  phones.set("41790000001", null, VIEWER);
  assert.equal(phones.show("41790000001", null).state, "off");
  assert.deepEqual(phones.list({ accountId: 8, accountKey: "EIGHT" }, 10).phones, []);
});

test("long texts are bounded altogether: the phone that was used longest ago is forgotten, and then a phone's oldest messages", () => {
  const phones = new Phones();
  const text = "x".repeat(30_000);
  const wrote = (from: string) =>
    phones.wrote({ from, to: "4100", text, partCount: 1, atMs: 1, accountKey: VIEWER.accountKey });
  const kept = () => phones.list(null, 1_000).phones.reduce((sum, { messageCount }) => sum + messageCount, 0);
  for (let phone = 0; phone < 20; phone++) for (let count = 0; count < 100; count++) wrote(`417900000${10 + phone}`);
  assert.ok(kept() * text.length <= 8_000_000, `${kept()} messages of ${text.length} characters are kept`);
  assert.ok(kept() > 150);
  assert.equal(phones.show("41790000029", VIEWER).messages.length, 100);
  assert.equal(phones.show("41790000010", VIEWER).messages.length, 0);
  const huge = "y".repeat(3_000_000);
  for (let count = 0; count < 5; count++)
    phones.wrote({ from: "41790000099", to: "4100", text: huge, partCount: 1, atMs: 1, accountKey: VIEWER.accountKey });
  const [only, ...others] = phones.list(VIEWER, 10).phones;
  assert.deepEqual([only!.number, only!.messageCount, others], ["41790000099", 2, []]);
  assert.equal(phones.show("41790000099", VIEWER).messages.length, 2);
});

test("parts of texts that are not whole count too", () => {
  const phones = new Phones();
  const text = "x".repeat(153 * 200);
  const unfinished = Array.from({ length: 20 }, (_, reference) => partsOf("", text, { reference }).slice(1)).flat();
  for (let phone = 0; phone < 10; phone++)
    for (const part of unfinished)
      phones.arrived({ ...part, message: { ...part.message, to: `4179000000${phone}` } }, 1);
  assert.ok(phones.list(null, 1_000).phones.length < 10, "phones with too many parts are forgotten");
});

test("a list counts what each account may see, however messages come and go", () => {
  const phones = new Phones();
  const other = { accountId: 8, accountKey: "EIGHT" };
  const number = "41790000001";
  for (let count = 0; count < 130; count++) {
    const accountId = count % 3 === 0 ? other.accountId : VIEWER.accountId;
    phones.arrived(partsOf(number, `text ${count}`, { accountId })[0]!, count);
    if (count % 7 === 0)
      phones.wrote({ from: number, to: "4100", text: `${count}`, partCount: 1, atMs: 1, accountKey: "EIGHT" });
  }
  for (const viewer of [VIEWER, other, null]) {
    const { messages } = phones.show(number, viewer);
    const [summary] = phones.list(viewer, 10).phones;
    assert.deepEqual([summary!.messageCount, summary!.last], [messages.length, messages.at(-1)]);
  }
});
