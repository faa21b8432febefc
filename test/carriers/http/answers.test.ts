/** What answers of providers mean, by rules and paths that are data. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readSubmission } from "../../../src/carriers/http/answer.ts";
import { fulfils, listAt, textAt } from "../../../src/carriers/http/paths.ts";
import { readIncoming, readReceipts } from "../../../src/carriers/http/reading.ts";
import { errorByName } from "../../../src/sms/errors.ts";

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
