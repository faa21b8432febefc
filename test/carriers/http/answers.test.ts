/** What answers of providers mean, by rules and paths that are data. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readSubmission } from "../../../src/carriers/http/answer.ts";
import { readData } from "../../../src/carriers/http/data.ts";
import { fulfils, listAt, textAt } from "../../../src/carriers/http/paths.ts";
import { describe } from "../../../src/carriers/http/presets.ts";
import type { PresetName } from "../../../src/carriers/http/profile.ts";
import { readIncoming, readReceipts } from "../../../src/carriers/http/reading.ts";
import { errorByName } from "../../../src/sms/errors.ts";
import { microsFor } from "../../support/growth.ts";

const MESSAGE = { key: "1234567890123456789", to: "41793026727" };
const answer = (status: number, data: unknown = {}, retryAfterMs: number | null = null) => ({
  status,
  data,
  retryAfterMs,
});
const read = (description: object, status: number, data: unknown = {}, retryAfterMs: number | null = null) =>
  readSubmission(description, answer(status, data, retryAfterMs), data, MESSAGE);

test("without rules the status decides", () => {
  assert.deepEqual(read({}, 200), { kind: "accepted", carrierMessageId: MESSAGE.key });
  assert.equal(read({}, 429, {}, 7_000).kind, "later");
  assert.deepEqual(read({}, 429, {}, 7_000), { kind: "later", retryAfterMs: 7_000, status: "HTTP 429" });
  assert.equal(read({}, 503).kind, "later");
  for (const status of [401, 403]) assert.equal(read({}, status).kind, "login refused", String(status));
  for (const status of [500, 502, 504]) assert.equal(read({}, status).kind, "not now", String(status));
  for (const status of [400, 404, 422, 302]) assert.equal(read({}, status).kind, "refused", String(status));
});

test("the first rule that fits counts, by status and by what stands at a path", () => {
  const rules = [
    { status: "2xx", where: { "m.status": ["0"] }, is: "accepted" },
    { status: "2xx", where: { "m.status": ["1", "9"] }, is: "later" },
    { status: "2xx", is: "refused", error: "EC_CONTENT_BLOCKED" },
  ];
  assert.equal(read({ rules, id: "m.id" }, 201, { m: { status: 0, id: 7 } }).kind, "accepted");
  assert.equal(read({ rules }, 200, { m: { status: "9" } }).kind, "later");
  const refused = read({ rules }, 200, { m: { status: "4" } });
  assert.deepEqual(refused, { kind: "refused", errorId: errorByName("EC_CONTENT_BLOCKED").id, status: "HTTP 200" });
});

test("a provider's code is one of our errors, and is told as it came", () => {
  const description = { code: "code", errors: { "21211": "EC_INVALID_DESTINATION_ADDRESS" } };
  assert.deepEqual(read(description, 400, { code: 21211 }), {
    kind: "refused",
    errorId: errorByName("EC_INVALID_DESTINATION_ADDRESS").id,
    status: "21211",
  });
  assert.equal(read(description, 400, { code: "toString" }).kind, "refused");
});

test("ids are read from a list, one for each part; without one the phone stands for it", () => {
  assert.deepEqual(read({ id: "ids" }, 200, { ids: ["a", "b"] }), {
    kind: "accepted",
    carrierMessageId: "a",
    others: ["b"],
  });
  assert.deepEqual(read({ id: "m.*.id" }, 200, { m: [{ id: "a" }, { id: "b" }] }), {
    kind: "accepted",
    carrierMessageId: "a",
    others: ["b"],
  });
  for (const data of [{}, { ids: [] }, { ids: "x".repeat(65) }, { ids: "unknown:4179" }, { ids: "a\nb" }])
    assert.deepEqual(read({ id: "ids" }, 200, data), { kind: "accepted", carrierMessageId: "unknown:41793026727" });
});

test("an answer of success that cannot be looked into says nothing", () => {
  const rules = [{ where: { s: "0" }, is: "accepted" }, { is: "refused" }];
  for (const data of ["{]", null, 7]) {
    assert.deepEqual(read({ id: "ids" }, 200, data), { kind: "unknown" });
    assert.deepEqual(read({ rules }, 200, data), { kind: "unknown" });
    assert.equal(read({ rules }, 400, data).kind, "refused");
  }
  assert.equal(read({}, 204, "").kind, "accepted");
});

test("a path reads only what the data has itself", () => {
  assert.equal(textAt({ a: [{ b: 1 }] }, "a.0.b"), "1");
  for (const path of ["constructor.name", "__proto__.x", "length", "a.length"])
    assert.equal(textAt({ a: "text" }, path), undefined, path);
  assert.deepEqual(listAt({ a: { b: 1 } }, "a"), [{ b: 1 }]);
  assert.deepEqual(listAt(null, "a"), []);
  assert.equal(fulfils({ a: 1 }, { a: "1" }), true);
  assert.equal(fulfils({ a: 1 }, { b: ["1"] }), false);
});

test("receipts that can be read are read, and what cannot is left out", () => {
  const description = {
    at: "r",
    id: "id",
    phone: "to",
    network: "net",
    status: "s",
    code: "e",
    outcomes: { ok: "delivered", bad: "undeliverable" },
    errors: { "5": "EC_ABSENT_SUBSCRIBER" },
  } as const;
  const data = {
    r: [
      { id: 1, s: "ok", to: "+41793026727", net: "22801" },
      { id: "2", s: "bad", e: 5 },
      { id: "3", s: "constructor" },
      { s: "ok" },
      { id: "4" },
      null,
      "text",
      { id: "x".repeat(1_000), s: "ok" },
    ],
  };
  assert.deepEqual(readReceipts(description, data, 9), [
    { carrierMessageId: "1", outcome: "delivered", errorId: 0, atMs: 9, mccMnc: "22801", to: "41793026727" },
    {
      carrierMessageId: "2",
      outcome: "undeliverable",
      errorId: errorByName("EC_ABSENT_SUBSCRIBER").id,
      atMs: 9,
      mccMnc: null,
      to: null,
    },
    { carrierMessageId: "3", outcome: "held", errorId: 0, atMs: 9, mccMnc: null, to: null },
  ]);
});

test("messages from phones are read, also in parts", () => {
  const description = { from: "f", to: "t", text: "x", reference: "r", total: "n", sequence: "p" };
  const read = (data: unknown) => readIncoming(description, data, 9);
  assert.deepEqual(read({ f: "+41791", t: "12345", x: "Hi" }), [
    { from: "41791", to: "12345", text: "Hi", concatenation: null, atMs: 9 },
  ]);
  assert.deepEqual(read({ f: "41791", t: "1", x: "a", r: 7, n: "2", p: 1 })[0]!.concatenation, {
    reference: 7,
    total: 2,
    sequence: 1,
  });
  assert.deepEqual(read({ f: "41791" }), []);
});

test("parts whose reference is a name belong together, and to no other's", () => {
  const description = { from: "f", to: "t", text: "x", reference: "r", total: "n", sequence: "p" };
  const reference = (r: string) =>
    readIncoming(description, { f: "41791", t: "1", x: "a", r, n: 2, p: 1 }, 9)[0]!.concatenation?.reference;
  const names = ["08B5", "08b5", "5e", "123456", "99999999999999999999", "-1", "0", "65535"];
  assert.equal(new Set(names.map(reference)).size, names.length);
  assert.equal(reference("08B5"), reference("08B5"));
  for (const name of names) assert.ok(reference(name)! >= 0 && reference(name)! <= 0x7fff_ffff, name);
  assert.equal(reference("65535"), 65_535);
});

const presetOf = (preset: PresetName) => describe({ id: "mine", kind: "http", preset }).description.incoming!;
const OCTETS = { charset: "binary", hex: "ff00ab", dataCoding: 4 };

for (const [preset, told] of [
  ["vonage", { msisdn: "41791", to: "12345", messageId: "1", type: "binary", data: "ff00ab", udh: "06050415811581" }],
  ["sinch", { type: "mo_binary", from: "41791", to: "12345", id: "1", body: "/wCr", udh: "06050415811581" }],
  ["webhook", { messages: [{ from: "41791", to: "12345", id: "1", hex: "ff00ab", header: "06050415811581" }] }],
  [
    "heliograph",
    {
      results: [
        {
          ...{ from: "41791", to: "12345", messageId: "1", text: "06050415811581ff00ab" },
          binary: { hex: "06050415811581ff00ab", dataCoding: 4, esmClass: 64 },
        },
      ],
    },
  ],
] as const)
  test(`${preset}: octets from a phone come in as octets`, () => {
    const [part, ...others] = readIncoming(presetOf(preset), told, 9);
    const { text, octets, carrierMessageId } = part!;
    assert.deepEqual([octets, others], [{ ...OCTETS, header: "06050415811581" }, []]);
    assert.deepEqual([text, carrierMessageId], ["06050415811581ff00ab", "1"]);
  });

test("octets whose header says that they are a part are one", () => {
  const told = { msisdn: "1", to: "2", messageId: "3", type: "binary", data: "ab", udh: "050003070201" };
  const [part] = readIncoming(presetOf("vonage"), told, 9);
  assert.deepEqual(part!.concatenation, { reference: 7, total: 2, sequence: 1 });
});

test("a message to a SIM that does not know its number is to the carrier, or to what the profile says", () => {
  const payload = { message: "Hi", sender: "+41791", recipient: null, simNumber: 1 };
  const told = { event: "sms:received", id: "e1", payload };
  const [part] = readIncoming(presetOf("android"), told, 9);
  assert.deepEqual([part!.from, part!.to, part!.carrierMessageId], ["41791", "mine", "e1"]);
  const { sender: _, ...older } = payload;
  const [known] = readIncoming(
    presetOf("android"),
    { ...told, payload: { ...older, phoneNumber: "+41792", recipient: "+41799" } },
    9,
  );
  assert.deepEqual([known!.from, known!.to], ["41792", "41799"]);
});

test("every part of a long text over Plivo is told of the message", () => {
  const { receipts } = describe({ id: "mine", kind: "http", preset: "plivo" }).description;
  const ids = ["m-1", "m-2"].map((MessageUUID) => {
    const told = { MessageUUID, ParentMessageUUID: "m-1", To: "41791", Status: "delivered" };
    return readReceipts(receipts!, told, 9)[0]!.carrierMessageId;
  });
  assert.deepEqual(ids, ["m-1", "m-1"]);
});

test("a text is read as the first pattern that fits has it, and anything else is itself", () => {
  const patterns = ['Success "{id}"', "{code}|{id}|{rest}", "OK: {id}", "{a}{b}!"];
  for (const [text, data] of [
    ['Success "07033084-5cfd"', { id: "07033084-5cfd" }],
    ['  Success "1" ', { id: "1" }],
    ["0|A|b|c", { code: "0", id: "A", rest: "b|c" }],
    ["0||", { code: "0", id: "", rest: "" }],
    ["ab!", { a: "", b: "ab" }],
    ['Success "1" and more', 'Success "1" and more'],
    ["neither", "neither"],
    ['{"id": 1}', { id: 1 }],
  ] as const)
    assert.deepEqual(readData(text, patterns), data, text);
  assert.equal(readData("4711"), 4_711);
  assert.deepEqual(readData("4711", ["{id}"]), { id: "4711" });
  assert.equal(readData("constructor", ["{constructor}-"]), "constructor");
});

test("white space and a byte order mark before JSON and XML are no part of them", () => {
  for (const before of ["\ufeff", "\n ", "\ufeff \r\n"]) {
    assert.deepEqual(readData(`${before}<id>7</id>`), { id: "7" });
    assert.deepEqual(readData(`${before}{"id": 7}`), { id: 7 });
    assert.deepEqual(readData(`${before}OK: 7`, ["OK: {id}"]), { id: "7" });
  }
});

test("XML is read by the names of its elements, with attributes, lists, and what is escaped", () => {
  const text = `<?xml version="1.0"?><!-- <no/> -->
    <s:response xmlns:s="urn:x" code='0'>
      <message id="1&amp;2"><to>41791</to><status>sent &lt;&#65;&#x42;&gt;</status></message>
      <message id="3"/><empty></empty><said><![CDATA[<a> & b]]></said>
    </s:response>`;
  const data = readData(text);
  assert.equal(textAt(data, "response.@code"), "0");
  assert.deepEqual(
    listAt(data, "response.message").map((each) => [textAt(each, "@id"), textAt(each, "to"), textAt(each, "status")]),
    [
      ["1&2", "41791", "sent <AB>"],
      ["3", undefined, undefined],
    ],
  );
  assert.deepEqual([textAt(data, "response.said"), textAt(data, "response.empty")], ["<a> & b", undefined]);
  assert.deepEqual(readData("<id>7</id>"), { id: "7" });
  const marked = `<a href="?x=1>2" said='it says "ok" > 0'><!-- it's --><b>isn't</b></a>`;
  assert.deepEqual(readData(marked), { a: { "@href": "?x=1>2", "@said": 'it says "ok" > 0', b: "isn't" } });
});

test("XML costs a bounded time, however long its words and however many its values", () => {
  // As many steps at each of its letters as a name may have took this a hundred times as long as a look at each.
  const word = "a".repeat(1_000_000);
  const look = microsFor(() => word.replace(/[\w:.-]{1,100}/g, ""));
  assert.ok(microsFor(() => readData(`<a ${word}/>`)) < 20 * look);
  const receipt = '<message id="1"><to>41791234567</to><status>sent &amp; done</status></message>';
  assert.equal(listAt(readData(`<r>${receipt.repeat(5_000)}</r>`), "r.message").length, 5_000);
  for (const value of ["<a/>", "<a b='1'/>", "&lt;"]) {
    const text = `<r>${value.repeat(200_000)}</r>`;
    assert.equal(readData(text), text, value);
  }
});

test("what is no XML, or has no end, is a text, and nothing of it is anything else's", () => {
  const deep = "<a>".repeat(100_000);
  for (const text of [
    "<",
    "<a",
    "<a>",
    "</a>",
    "<a></b>",
    "<a><![CDATA[",
    "<a b='>",
    "<1>",
    "<>",
    "<!DOCTYPE html>",
    deep,
  ])
    assert.equal(readData(text), text);
  const hostile = readData('<r><__proto__ x="1"/><constructor>2</constructor></r>');
  assert.equal(textAt(hostile, "r.constructor"), "2");
  assert.equal(({} as Record<string, unknown>)["@x"], undefined);
  assert.equal(textAt(readData("<a>&#x110000;&#0;&bad;</a>"), "a"), "&#x110000;\0&bad;");
});
