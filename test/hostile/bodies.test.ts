/** Bodies that cost more than they say: refused before they are parsed, and told of in few words. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parseForm, parseJson } from "../../src/api/body-parsers.ts";
import { ApiError } from "../../src/api/errors.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService({ after });

const MEBIBYTES_8 = 8 * 1024 * 1024;
const MAX_ERROR_BYTES = 4_096;

/** The sentence with which a body is refused; null if it is taken. */
function refused(parse: () => unknown): string | null {
  try {
    parse();
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.body().requestError.serviceException.additionalDescription;
    throw error;
  }
}

const filled = (piece: string, open = "", close = ""): string =>
  open + piece.repeat(Math.floor((MEBIBYTES_8 - 20) / piece.length)) + close;
const numbered = (piece: (index: number) => string, count: number): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join();

test("8 MiB that would take the parser long are refused before it sees them", (t) => {
  const HEAVY: Readonly<Record<string, readonly [body: string, says: string]>> = {
    "open arrays": [filled("["), "The body is nested more than 32 levels deep."],
    "open objects": [filled('{"a":'), "The body is nested more than 32 levels deep."],
    numbers: [filled("0,", "[", "0]"), "The body has more than 500000 values."],
    "empty objects": [filled("{},", "[", "0]"), "The body has more than 500000 values."],
    "empty texts": [filled('"",', "[", "0]"), "The body has more than 500000 values."],
    "a name again and again": [filled('"a":0,', "{", '"a":0}'), "The body has more than 500000 values."],
    "many names": [
      `{${numbered((index) => `"a${index}":{}`, 500_000)}}`,
      "The body has more than 1000 different names of fields.",
    ],
    "objects with a name each": [
      `[${numbered((index) => `{"a${index}":null}`, 200_000)}]`,
      "The body has more than 1000 different names of fields.",
    ],
  };
  const parse = t.mock.method(JSON, "parse");
  for (const [name, [body, says]] of Object.entries(HEAVY)) {
    assert.equal(
      refused(() => parseJson(Buffer.from(body))),
      says,
      name,
    );
  }
  assert.equal(parse.mock.callCount(), 0);
});

test("fields that an operation does not know are few, or the body is refused before it is parsed", async () => {
  const send = (path: string, unknown: number) => {
    const fields = Array.from({ length: 100 }, (_, index) => `"no${index}": 0`).join();
    const messages = Array.from(
      { length: unknown / 100 },
      () => `{"text": "x", "destinations": [{"to": "41790000001"}], ${fields}}`,
    );
    return service.call("POST", path, { body: Buffer.from(`{"messages": [${messages.join()}]}`) });
  };
  for (const path of ["/sms/1/text/advanced", "/sms/2/text/advanced", "/sms/3/messages"]) {
    // Some of the names look like known ones, by chance.
    const { status, text } = await send(path, 70_000);
    assert.equal(status, 400, text);
    assert.match(text, /has more than 50000 fields that this operation does not know/, path);
  }
  assert.equal((await send("/sms/1/text/advanced", 5_000)).status, 200);
});

test("brackets, commas and colons within texts count for nothing", () => {
  const text = `${"[{,:".repeat(200_000)}\\"${"[{,:".repeat(200_000)}\\\\`;
  assert.deepEqual(parseJson(Buffer.from(`{"text": "${text}"}`)), { text: JSON.parse(`"${text}"`) });
});

test("the largest honest request is taken: 10,000 messages that say all that a message can", () => {
  const time = { hour: 6, minute: 0 };
  const days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
  const message = (index: number) => ({
    from: "Sender",
    destinations: [{ to: `4179${10_000_000 + index}`, messageId: `message-${index}` }],
    text: "x".repeat(160),
    flash: false,
    language: { languageCode: "TR", singleShift: true, lockingShift: false },
    languageCode: "TR",
    transliteration: "TURKISH",
    intermediateReport: true,
    notifyUrl: "https://example.com/reports",
    notifyContentType: "application/json",
    callbackData: "data",
    validityPeriod: 720,
    sendAt: "2030-02-12T09:58:20.323+0000",
    deliveryTimeWindow: { from: time, to: time, days },
  });
  const request = { bulkId: "bulk", messages: Array.from({ length: 10_000 }, (_, index) => message(index)) };
  const body = Buffer.from(JSON.stringify(request));
  assert.ok(body.length < MEBIBYTES_8);
  assert.deepEqual(parseJson(body), request);
});

test("a form has at most 100 fields; of a name that stands twice the first counts, whatever the name", () => {
  const TOO_MANY = "The body has more than 100 fields.";
  assert.equal(
    refused(() => parseForm(Buffer.from(filled("a&")))),
    TOO_MANY,
  );
  assert.equal(
    refused(() => parseForm(Buffer.from("&".repeat(100)))),
    TOO_MANY,
  );
  const names = ["a", "__proto__", "constructor", "toString"];
  const form = parseForm(Buffer.from([...names, ...names].map((name, index) => `${name}=${index}`).join("&")));
  assert.deepEqual(
    Object.entries(form),
    names.map((name, index) => [name, String(index)]),
  );
  assert.equal(Object.getPrototypeOf(form), Object.prototype);
});

test("an error tells the beginning of a name that the caller chose, and nothing invisible of it", async () => {
  const bodies = [
    `{"${"k".repeat(4_000_000)}": "\\u0000"}`,
    `{"${"é".repeat(2_000_000)}": {"${"😀".repeat(1_000_000)}": "\\u0000"}}`,
    JSON.stringify({ "\u202e\u0007\u001b[2J\u2028": "\0" }),
  ];
  for (const body of bodies) {
    const { status, text, json } = await service.call("POST", "/sms/1/text/advanced", { body });
    assert.equal(status, 400);
    assert.ok(Buffer.byteLength(text) <= MAX_ERROR_BYTES, `${Buffer.byteLength(text)} octets`);
    const { variables, additionalDescription } = json.requestError.serviceException;
    for (const told of [...variables, additionalDescription])
      assert.match(told, /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*$/u);
    assert.match(additionalDescription, /has a NUL character\.$/);
  }
});

test("10,000 wrong messages are told of by the first of them", async () => {
  const messages = Array.from({ length: 10_000 }, () => ({
    text: "x",
    destinations: [{ to: "41793026727" }],
    sendAt: "x",
  }));
  const { status, text, json } = await service.call("POST", "/sms/1/text/advanced", { body: { messages } });
  assert.equal(status, 400);
  assert.ok(Buffer.byteLength(text) <= MAX_ERROR_BYTES, `${Buffer.byteLength(text)} octets`);
  assert.equal(json.requestError.serviceException.variables[0], "messages[0].sendAt");
});
