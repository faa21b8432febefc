/** Receipts as carriers really write them, and their ids. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { meaningOf } from "../../../src/carriers/smpp/command-status.ts";
import { idInAnswer, idInReceipt, otherSpellings } from "../../../src/carriers/smpp/message-id.ts";
import { type DeliveredFacts, isMarked, looksLikeReceipt, readReceipt } from "../../../src/carriers/smpp/receipt.ts";
import { isUsableId } from "../../../src/carriers/usable-id.ts";
import fc from "../../support/chance.ts";

function facts(change: Partial<DeliveredFacts>): DeliveredFacts {
  return { esmClass: 0, text: "", receiptedMessageId: null, messageState: null, networkErrorCode: null, ...change };
}

const STANDARD =
  "id:0123456789 sub:001 dlvrd:001 submit date:2602121000 done date:2602121001 stat:DELIVRD err:000 text:Hello stat:EXPIRED";

test("what is written as the standard has it is read as any other spacing of it is", () => {
  const digits = (least: number, most: number) => fc.stringMatching(new RegExp(`^\\d{${least},${most}}$`));
  const id = fc.stringMatching(/^[\w-]{1,70}$/);
  const word = fc.constantFrom("DELIVRD", "delivrd", "EXPIRED", "UNDELIV", "WHATEVR", "DELETED");
  const text = fc.constantFrom("", "Hello", "x stat:EXPIRED", " id:5");
  const property = fc.property(id, digits(9, 15), word, digits(1, 9), text, (name, date, stat, err, said) => {
    const fields = [
      `id:${name}`,
      "sub:001",
      "dlvrd:001",
      `submit date:${date}`,
      `done date:${date}`,
      `stat:${stat}`,
      `err:${err}`,
      `text:${said}`,
    ];
    assert.deepEqual(readReceipt(facts({ text: fields.join(" ") })), readReceipt(facts({ text: fields.join("  ") })));
  });
  fc.assert(property);
});

describe("a receipt is told from an incoming message", () => {
  const cases: [name: string, change: Partial<DeliveredFacts>, expected: boolean][] = [
    ["by its esm_class", { esmClass: 0x04 }, true],
    ["by the esm_class of an intermediate notification", { esmClass: 0x20 }, true],
    ["by its esm_class with a header indicator beside it", { esmClass: 0x44 }, true],
    ["an acknowledgement by whoever received it is none", { esmClass: 0x08, text: STANDARD }, false],
    ["nor is one with a receipt's parameters", { esmClass: 0x08, receiptedMessageId: "1", messageState: 2 }, false],
    ["nor one by a phone's user", { esmClass: 0x10, receiptedMessageId: "1", messageState: 2 }, false],
    ["nor the end of a conversation", { esmClass: 0x18, text: STANDARD }, false],
    ["by its optional parameters", { receiptedMessageId: "1", messageState: 2 }, true],
    ["a text alone makes none, whatever it says", { text: STANDARD }, false],
    ["an id without a state is none", { receiptedMessageId: "1", text: STANDARD }, false],
    ["a message with a header is none", { esmClass: 0x40, text: "Hello" }, false],
    ["a message that talks of an id is none", { text: "My id: 42" }, false],
    ["an empty message is none", {}, false],
  ];
  for (const [name, change, expected] of cases) test(name, () => assert.equal(isMarked(facts(change)), expected));

  test("by its text, for a carrier that marks none", () => {
    const looks = (text: string): boolean => looksLikeReceipt(text);
    assert.equal(looks(STANDARD), true);
    assert.equal(looks("stat:EXPIRED err:027 id:7"), true);
    assert.equal(looks("My id: 42"), false);
    assert.equal(looks("id:7 stat:whatever"), false);
    assert.equal(looks("Hi! text: id:7 stat:UNDELIV"), false, "what stands behind text: is the message's own");
    assert.equal(looks("id:7 stat:constructor"), false);
  });
});

describe("what a receipt says", () => {
  const cases: [name: string, change: Partial<DeliveredFacts>, id: string | null, outcome: string, errorId: number][] =
    [
      ["the standard's text", { text: STANDARD }, "0123456789", "delivered", 0],
      [
        "words in other cases and spacings",
        { text: "ID: ab-12  STAT : undeliv ERR: 001" },
        "ab-12",
        "undeliverable",
        1,
      ],
      ["an id with spaces", { text: STANDARD.replace("0123456789", "AB 12 f") }, "AB 12 f", "delivered", 0],
      ["one before a date", { text: "id: AB 12  submit date:2602121000 stat:DELIVRD" }, "AB 12", "delivered", 0],
      ["one before a state", { text: "id:AB 12 Stat:DELIVRD" }, "AB 12", "delivered", 0],
      ["one before the text", { text: "stat:DELIVRD id:AB 12 text:id:7" }, "AB 12", "delivered", 0],
      ["an id and words behind a comma", { text: "id:7, on its way stat:ACCEPTD" }, "7", "held", 0],
      ["an id and words of which nobody knows the end", { text: "stat:DELIVRD id:7 at 10:30" }, "7", "delivered", 0],
      ["an id and another date", { text: "id:7 a done date:2602121000 stat:DELIVRD" }, "7 a", "delivered", 0],
      ["fields in another order", { text: "stat:EXPIRED err:027 id:7" }, "7", "expired", 27],
      ["no error field", { text: "id:7 stat:REJECTD" }, "7", "rejected", 632],
      ["an error code that nobody knows", { text: "id:7 stat:UNDELIV err:999" }, "7", "undeliverable", 810],
      ["an error that is not a number", { text: "id:7 stat:UNDELIV err:0x1F" }, "7", "undeliverable", 810],
      ["a state word that nobody knows is not final", { text: "id:7 stat:PENDING err:000" }, "7", "held", 0],
      [
        "an impossible date",
        { text: "id:7 submit date:9999999999 done date:0000000000 stat:DELIVRD" },
        "7",
        "delivered",
        0,
      ],
      [
        "a delivered message has no error, whatever the code",
        { text: "id:7 stat:DELIVRD err:027" },
        "7",
        "delivered",
        0,
      ],
      ["still under way", { text: "id:7 stat:ACCEPTD err:000" }, "7", "held", 0],
      ["the network does not know", { text: "id:7 stat:UNKNOWN err:000" }, "7", "lost", 255],
      [
        "parameters over the text",
        { text: "id:7 stat:DELIVRD err:000", receiptedMessageId: "8", messageState: 5 },
        "8",
        "undeliverable",
        810,
      ],
      [
        "a state that nobody knows leaves it to the text",
        { text: "id:7 stat:DELIVRD", messageState: 99 },
        "7",
        "delivered",
        0,
      ],
      [
        "the network's error code",
        { receiptedMessageId: "8", messageState: 5, networkErrorCode: Uint8Array.of(3, 0, 1) },
        "8",
        "undeliverable",
        1,
      ],
      [
        "a network error code of zero is none",
        { text: "err:006", receiptedMessageId: "8", messageState: 5, networkErrorCode: Uint8Array.of(3, 0, 0) },
        "8",
        "undeliverable",
        6,
      ],
      ["nothing at all", { esmClass: 4 }, null, "held", 0],
    ];
  for (const [name, change, id, outcome, errorId] of cases) {
    test(name, () => {
      const read = readReceipt(facts(change));
      assert.deepEqual([read.id, read.outcome, read.errorId], [id, outcome, errorId]);
    });
  }

  test("any text can be read without harm", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 0, max: 255 }), (text, state) => {
        const read = readReceipt(facts({ text, messageState: state }));
        assert.ok(typeof read.outcome === "string" && Number.isInteger(read.errorId));
      }),
    );
  });
});

test("a receipt's text is read as far as receipts go, in one pass, whatever is in it", () => {
  // What is looked at is counted: a text that says each time that one of its characters is asked for.
  const asked = (text: string): number => {
    let count = 0;
    const counting = new Proxy(Object(text), {
      get: (target, name) => {
        if (name === "charCodeAt") count++;
        const value = target[name];
        return typeof value === "function" ? value.bind(text) : value;
      },
    });
    readReceipt(facts({ text: counting as string }));
    return count;
  };
  for (const unit of [
    "id:",
    "id :",
    " :",
    "stat",
    "id\t",
    "id : ",
    "a:",
    ":",
    " ",
    "text",
    "submit date:",
    "date:",
    "a date :",
    " date",
    "submit ",
  ]) {
    const long = asked(unit.repeat(65_536 / unit.length));
    assert.ok(long <= 4 * 1_024, `${JSON.stringify(unit)} has ${long} characters looked at`);
  }
});

describe("one id in the spellings of answer and receipt", () => {
  const cases: [
    name: string,
    answer: string,
    receipt: string,
    ids: "same" | "hex then decimal" | "decimal then hex",
  ][] = [
    ["the same", "12345", "12345", "same"],
    ["zeros in front", "0012345", "12345", "same"],
    ["capitals", "ABCDEF12", "abcdef12", "same"],
    ["a UUID", "F47AC10B-58CC-4372-A567-0E02B2C3D479", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "same"],
    ["all zeros", "0000", "0", "same"],
    ["hexadecimal, then decimal", "A5F3", "42483", "hex then decimal"],
    ["hexadecimal with zeros, then decimal with zeros", "0000A5F3", "0000042483", "hex then decimal"],
    ["64 bits, beyond what a double holds", "FFFFFFFFFFFFFFFF", "18446744073709551615", "hex then decimal"],
    ["hexadecimal with its prefix, then decimal", "0xA5F3", "42483", "hex then decimal"],
    ["hexadecimal with its prefix and zeros, then decimal", "0X0000A5F3", "42483", "hex then decimal"],
    ["hexadecimal with its prefix in both", "0xA5F3", "0xa5f3", "hex then decimal"],
    ["decimal, then hexadecimal with its prefix", "42483", "0xA5F3", "decimal then hex"],
    ["hexadecimal with its prefix, then without", "0xA5F3", "a5f3", "decimal then hex"],
    ["with its prefix in both, as it came", "0xA5F3", "0xa5f3", "same"],
    ["decimal, then hexadecimal", "18446744073709551615", "ffffffffffffffff", "decimal then hex"],
  ];
  for (const [name, answer, receipt, ids] of cases) {
    test(name, () => assert.equal(idInReceipt(receipt, ids), idInAnswer(answer, ids)));
  }

  test("different ids stay different", () => {
    const digits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(digits, digits, (one, other) => {
        fc.pre(one !== other);
        assert.notEqual(
          idInAnswer(one.toString(16), "hex then decimal"),
          idInReceipt(other.toString(), "hex then decimal"),
        );
      }),
    );
  });

  test("an id that no part can be kept under is told", () => {
    for (const id of ["", "a".repeat(65), "a\0b", "a\nb", "unknown:41790000001"]) assert.equal(isUsableId(id), false);
    for (const id of ["0", "a".repeat(64), "f47ac10b-58cc-4372", "a b"]) assert.equal(isUsableId(id), true);
  });

  test("one that was kept under the wrong rule is found again, with the prefix of hexadecimal digits or without", () => {
    for (const kept of ["0xA5F3", "A5F3"]) {
      assert.ok(otherSpellings(idInReceipt("42483", "same")).includes(idInAnswer(kept, "same")), kept);
      assert.ok(otherSpellings(idInReceipt(kept, "same")).includes(idInAnswer("42483", "same")), kept);
    }
    assert.ok(otherSpellings(idInReceipt("0xA5F3", "same")).includes(idInAnswer("A5F3", "same")));
    assert.ok(otherSpellings(idInReceipt("A5F3", "same")).includes(idInAnswer("0xA5F3", "same")));
  });

  test("an id that is no number in the base of its carrier is left as it is", () => {
    assert.equal(idInAnswer("msg-17", "hex then decimal"), "msg-17");
  });
});

test("answers to a submit: busy, later and never are told apart", () => {
  const kinds = [0x58, 0x14, 0x08, 0x64, 0x0b, 0x45, 0x400].map((status) => meaningOf(status).kind);
  assert.deepEqual(kinds, ["throttled", "later", "later", "later", "refused", "refused", "refused"]);
});
