/** How the parts of a message from a phone become a text, or octets. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { joinParts, type PartContent } from "../../src/message/incoming.ts";
import { GSM_CHARACTERS } from "../../src/sms/alphabets.ts";
import { type Charset, readReceived, type TextCharset, textOfReceived } from "../../src/sms/received.ts";
import { pack } from "../../src/sms/septets.ts";
import { encodeParts, encodeUserData } from "../../src/sms/userdata.ts";
import fc from "../support/chance.ts";

const join = (...contents: PartContent[]) =>
  joinParts(contents.map((content, index) => ({ sequence: index + 1, content })));
const textOf = (...contents: PartContent[]): string => join(...contents).text;
const piece = (charset: TextCharset, hex: string) => ({ charset, hex });
const binary = (hex: string, header = "", dataCoding = 4) => ({ charset: "binary" as const, hex, header, dataCoding });

/** Cut at these places, which need not be in order. */
function cut(octets: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (octets.length + 1)), octets.length].sort((a, b) => a - b);
  return ends.map((end, index) => octets.subarray(ends[index - 1] ?? 0, end));
}

const places = fc.array(fc.nat(2_000), { maxLength: 6 });
const gsmText = fc.string({ unit: fc.constantFrom(...GSM_CHARACTERS), maxLength: 300 });

describe("a character that is cut between two parts", () => {
  const cases: [name: string, charset: TextCharset, parts: string[], text: string][] = [
    ["an escape and its code", "gsm", ["50726963651b", "65"], "Price€"],
    ["the halves of a surrogate pair", "ucs2", ["0041d83d", "de000042"], "A😀B"],
    ["a unit of UCS-2, by odd octets", "ucs2", ["00410042d8", "3dde000043"], "AB😀C"],
    ["Shift JIS", "shift_jis", ["93fa96", "7b"], "日本"],
    ["ISO-2022-JP, also within an escape", "shift_jis", ["1b24", "42467c4b", "5c1b2842"], "日本"],
    ["EUC-JP with a character of JIS X 0212", "euc-jp", ["c6fccbdc8f", "b0", "a1"], "日本丂"],
    ["EUC-KR", "euc-kr", ["c7", "d1b1", "db"], "한글"],
    ["code page 949, also before a letter", "euc-kr", ["c7d18c", "6342a2", "e6"], "한똠B€"],
    ["Cyrillic, which has no such", "iso-8859-5", ["bfe0d8", "d2d5e2"], "Привет"],
    ["Hebrew, which has no such", "iso-8859-8", ["f9ec", "e5ed"], "שלום"],
  ];
  for (const [name, charset, parts, text] of cases) {
    test(`${name} is read whole`, () => assert.equal(textOf(...parts.map((hex) => piece(charset, hex))), text));
  }

  test("any text of the GSM alphabet, cut anywhere, is the same when it is joined", () => {
    fc.assert(
      fc.property(gsmText, places, (text, where) => {
        fc.pre(text.length > 0);
        const { octets } = encodeUserData(text, "gsm7", { flash: false, unpacked: true });
        const parts = cut(octets, where).map((each) => piece("gsm", Buffer.from(each).toString("hex")));
        assert.equal(textOf(...parts), text);
      }),
    );
  });

  test("so is one whose parts are packed, each behind a header", () => {
    const pieces = fc.array(fc.nat(149), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(gsmText, pieces, (text, where) => {
        const septets = encodeUserData(text.replaceAll("@", "a"), "gsm7", { flash: false, unpacked: true }).octets;
        const parts = cut(septets.subarray(0, 150), where).map((each, index) => {
          const octets = pack(Uint8Array.of(5, 0, 3, 1, where.length + 1, index + 1), each);
          return readReceived({ octets, hasHeader: true, dataCoding: 0, charset: "gsm", packed: true }).content;
        });
        const whole = piece("gsm", Buffer.from(septets.subarray(0, 150)).toString("hex"));
        assert.equal(textOf(...parts), textOf(whole));
      }),
    );
  });

  test("any text of any characters, cut anywhere in UCS-2, is the same when it is joined", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), places, (text, where) => {
        fc.pre(!text.includes("\0"));
        const octets = Buffer.from(text, "utf16le").swap16();
        const cuts = cut(octets, where);
        const odd = cuts.filter(({ length }) => length % 2 !== 0);
        // Those may as well be whole, each with a NUL behind it.
        fc.pre(odd.length === 0 || odd.some((each) => each.at(-1) !== 0));
        assert.equal(textOf(...cuts.map((each) => piece("ucs2", Buffer.from(each).toString("hex")))), text);
      }),
    );
  });
});

test("a stray octet at the end of a part in UCS-2 does not shift what follows", () => {
  assert.equal(textOf(piece("ucs2", "004142"), piece("ucs2", "00430044")), "ACD");
});

describe("a NUL that ends each part, and is counted", () => {
  const ucs2 = (text: string) => Buffer.from(text, "utf16le").swap16().toString("hex");
  const cases: [name: string, charset: TextCharset, parts: string[], text: string][] = [
    [
      "in UCS-2, two parts",
      "ucs2",
      [`${ucs2("Добрый день, ")}00`, `${ucs2("STOP, пожалуйста")}00`],
      "Добрый день, STOP, пожалуйста",
    ],
    ["in UCS-2, three parts", "ucs2", [`${ucs2("один ")}00`, `${ucs2("два ")}00`, `${ucs2("три")}00`], "один два три"],
    [
      "in UCS-2, the first and the third of three",
      "ucs2",
      [`${ucs2("один ")}00`, ucs2("два "), `${ucs2("три")}00`],
      "один два три",
    ],
    ["in UCS-2, in ASCII", "ucs2", [`${ucs2("Hello ")}00`, `${ucs2("World")}00`], "Hello World"],
    [
      "in UCS-2, in Chinese",
      "ucs2",
      [`${ucs2("你好，我们明天")}00`, `${ucs2("早上九点见面")}00`],
      "你好，我们明天早上九点见面",
    ],
    [
      "in UCS-2, the last of three, the others of which share a character",
      "ucs2",
      ["004104", "1f00420043", "0044004500"],
      "AПBCDE",
    ],
    ["in Latin-1", "latin1", ["e900", "6100"], "éa"],
    ["in Shift JIS, within a character", "shift_jis", ["93fa9600", "7b00"], "日本"],
  ];
  for (const [name, charset, parts, text] of cases) {
    test(`${name}: is no part of the text`, () => {
      assert.equal(textOf(...parts.map((hex) => piece(charset, hex))), text);
    });
  }

  test("in the GSM alphabet it is an at sign, as any NUL there is", () => {
    assert.equal(textOf(piece("gsm", "4100"), piece("gsm", "4200")), "A@B@");
  });

  test("half a character of ASCII, and a character that ends with a NUL, are none", () => {
    const octets = Buffer.from("No. 1 in Latin letters, and then 一", "utf16le").swap16().toString("hex");
    assert.equal(
      textOf(piece("ucs2", octets.slice(0, 30)), piece("ucs2", octets.slice(30))),
      "No. 1 in Latin letters, and then 一",
    );
  });
});

describe("the header's bit over a text without a header", () => {
  const read = (charset: Charset, octets: Uint8Array) =>
    readReceived({ octets, hasHeader: true, dataCoding: 0, charset, packed: false });
  const cases: [name: string, charset: TextCharset, octets: Buffer, text: string][] = [
    ["a length that is a letter", "gsm", Buffer.from("STOP"), "STOP"],
    ["a length that fits, of elements that do not", "latin1", Buffer.from("\x05STOP all"), "\x05STOP all"],
    ["UCS-2, whose NUL would be an empty header", "ucs2", Buffer.from("STOP", "utf16le").swap16(), "STOP"],
    [
      "UCS-2 behind an empty header",
      "ucs2",
      Buffer.concat([Buffer.alloc(1), Buffer.from("STOP", "utf16le").swap16()]),
      "STOP",
    ],
    ["Cyrillic", "ucs2", Buffer.from("Стоп", "utf16le").swap16(), "Стоп"],
    ["a header", "gsm", Buffer.from("\x05\0\x03\x07\x02\x01STOP"), "STOP"],
  ];
  for (const [name, charset, octets, text] of cases) {
    test(`${name}: the text is whole`, () => assert.equal(textOfReceived(read(charset, octets).content), text));
  }
});

test("what stands on both sides of a part that is missing is not taken together", () => {
  const gap = (one: PartContent, other: PartContent) =>
    joinParts([
      { sequence: 1, content: one },
      { sequence: 3, content: other },
    ]).text;
  assert.equal(gap(piece("gsm", "411b"), piece("gsm", "6542")), "A eB");
  assert.equal(gap(piece("ucs2", "0041d83d"), piece("ucs2", "de000042")), "A\ufffd\ufffdB");
  assert.equal(gap("A\ud83d", "\ude00B"), "A\ufffd\ufffdB");
});

test("parts in several alphabets, and texts as they were kept before octets were, make one text", () => {
  const turkish = { ...piece("gsm", "1b73"), singleShift: 1 };
  const text = textOf(piece("gsm", "41"), turkish, "kept \ud83d", piece("ucs2", "de00"), piece("latin1", "e9"));
  assert.equal(text, "Aşkept 😀é");
});

test("septets that come packed are read, and the bits behind the last of seven are no at sign", () => {
  const read = (text: string) => {
    const parts = encodeParts({ text, encoding: "gsm7" }, { flash: false, reference: 1 });
    return textOf(
      ...parts.map(({ octets, hasHeader, dataCoding }) => {
        return readReceived({ octets, hasHeader, dataCoding, charset: "gsm", packed: true }).content;
      }),
    );
  };
  assert.equal(read("1234567"), "1234567");
  assert.equal(read("x".repeat(300)), "x".repeat(300));
});

describe("octets that are no text", () => {
  test("are joined as they came, and say how a client would send them", () => {
    assert.deepEqual(join(binary("0102")), { text: "0102", binary: { dataCoding: 4, esmClass: 0 } });
    assert.deepEqual(join(binary("01", "", 246), binary("ff", "", 246)), {
      text: "01ff",
      binary: { dataCoding: 246, esmClass: 0 },
    });
  });

  test("have the header of their first part, without what it says of parts", () => {
    // Ports 5505 (vCard) and 0, and part 1 and 2 of 2.
    const read = (hex: string) =>
      readReceived({
        octets: Buffer.from(hex, "hex"),
        hasHeader: true,
        dataCoding: 4,
        charset: "binary",
        packed: false,
      });
    const [one, two] = [read("0b0504158100000003070201aabb"), read("0b0504158100000003070202cc")];
    assert.deepEqual(one.concatenation, { reference: 7, total: 2, sequence: 1 });
    const whole = { text: "06050415810000aabbcc", binary: { dataCoding: 4, esmClass: 64 } };
    assert.deepEqual(join(one.content, two.content), whole);
    assert.deepEqual(join(read("050003070201aabb").content).text, "aabb", "only of parts: none is left");
    assert.deepEqual(join(read("0805aa").content).text, "0805aa", "one that cannot be read is left whole");
  });

  test("among parts of a text stand as hex", () => {
    assert.deepEqual(join(piece("gsm", "4869"), binary("ff")), { text: "Hiff", binary: null });
  });
});

test("whatever octets come, in whatever coding, they are read, and their hex is whole", () => {
  const charsets: Charset[] = [
    "gsm",
    "latin1",
    "ucs2",
    "iso-8859-5",
    "iso-8859-8",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "binary",
  ];
  const field = fc.record({
    octets: fc.uint8Array({ maxLength: 300 }),
    hasHeader: fc.boolean(),
    dataCoding: fc.nat(255),
    charset: fc.constantFrom(...charsets),
    packed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 4 }), (fields) => {
      const contents = fields.map((each) => readReceived(each).content);
      for (const content of contents) assert.equal(typeof textOfReceived(content), "string");
      const { text } = join(...contents);
      assert.ok(text.isWellFormed() && !text.includes("\0"));
      for (const { octets, hasHeader, charset } of fields) {
        if (charset !== "binary" || hasHeader) continue;
        const alone = readReceived({ octets, hasHeader, charset, dataCoding: 4, packed: false }).content;
        assert.equal(join(alone).text, Buffer.from(octets).toString("hex"));
      }
    }),
  );
});
