/** Bodies that no client should send, and some do: each is refused with the exact error object, and nothing of it is accepted. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { jsonFault } from "../../src/api/json-fault.ts";
import { startChild } from "../support/child.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import {
  type Answer,
  basic,
  callService,
  DEMO,
  errorObject,
  startTestService,
  temporaryDirectory,
  WHY_UNAUTHORIZED,
} from "../support/service.ts";

const ADVANCED = "/sms/1/text/advanced";
const BODY_BYTES = 200_000;
const service = await startTestService({ after }, { settings: { limits: { bodyBytes: BODY_BYTES } } });
const post = (body: unknown, path = ADVANCED) => service.call("POST", path, { body });

function assertWrong({ status, headers, json }: Answer, variables: string[] | null, says: string, about: string): void {
  assert.deepEqual([status, json], [400, errorObject("BAD_REQUEST", "Bad request", variables, says)], about);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8", about);
}

// --- Not JSON ----------------------------------------------------------------------------------------------------------------------

const BROKEN = [
  "{",
  "}",
  "[",
  '{"messages": [',
  '{"messages": [}]',
  '{"a": 1,}',
  "[1,]",
  "{'a': 1}",
  "{a: 1}",
  '{"a" 1}',
  '{"a": 1} x',
  '{"a": 1}{"b": 2}',
  '{"a": "unfinished',
  '{"a": "raw\nnewline"}',
  '{"a": "raw\0NUL"}',
  '{"a": "\\x41"}',
  '{"a": "\\u12"}',
  '{"a": 01}',
  '{"a": .5}',
  '{"a": +1}',
  "NaN",
  "undefined",
  "nul",
  "// comment\n{}",
  "username=demo&password=x",
  "<messages/>",
  " ",
];

test("broken JSON is told so, with the place where it breaks", async () => {
  for (const body of BROKEN) {
    const answer = await post(body);
    const says: string = answer.json.requestError.serviceException.additionalDescription;
    assert.match(says, /^The body is not valid JSON: line \d+, column \d+ should have .{1,100}\.$/, body);
    assertWrong(answer, null, says, JSON.stringify(body));
  }
  const placed: Readonly<Record<string, string>> = {
    '{"text": "x",}': "line 1, column 14 should have a name in double quotes",
    "{\"to\": 1,\n 'text': 2}": "line 2, column 2 should have a name in double quotes",
    '[{"to": "1"}\r\n{}]': "line 2, column 1 should have a comma or ]",
    '{"text" "x"}': "line 1, column 9 should have a colon",
    '{"text": tru}': "line 1, column 10 should have a value",
    '{"text": "two\nlines"}':
      "line 1, column 14 should have a character that a text can have, or the quote that ends it",
    '{"text": "Hello':
      "line 1, column 16 should have a character that a text can have, or the quote that ends it, and the body ends there",
    '{"a": 1} x': "line 1, column 10 should have nothing more",
  };
  for (const [body, where] of Object.entries(placed))
    assertWrong(await post(body), null, `The body is not valid JSON: ${where}.`, body);
});

test("what is told of broken JSON agrees with the parser, and has nothing of the body in it", () => {
  const signs = ["{", "}", "[", "]", '"', ",", ":", "1", " ", "-", "a", "\\", "n", "0", ".", "e", "true", "null", "\n"];
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let count = 0; count < 20_000; count++) {
    const text = Array.from({ length: random(9) }, () => signs[random(signs.length)]).join("");
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    assert.equal(jsonFault(text) === null, isJson, text);
  }
  const long = jsonFault(`{"text": "${"s3cret ".repeat(100_000)}`)!;
  assert.match(long, /^line 1, column 700011 /);
  assert.ok(!long.includes("s3cret") && long.length < 200);
});

test("bytes that are not UTF-8 are told so, wherever they stand", async () => {
  const wrongs: Record<string, number[]> = {
    "a letter in Latin-1": [0xfc],
    "a character that ends too early": [0xe2, 0x82],
    "a slash in more bytes than it needs": [0xc0, 0xaf],
    "half of a surrogate pair": [0xed, 0xa0, 0xbd],
    "a character above the last": [0xf4, 0x90, 0x80, 0x80],
    "a byte that never occurs": [0xff],
    "UTF-16": [0xfe, 0xff, 0x00, 0x7b],
  };
  for (const [name, bytes] of Object.entries(wrongs)) {
    const body = Buffer.concat([Buffer.from('{"messages": [{"text": "'), Buffer.from(bytes), Buffer.from('"}]}')]);
    assertWrong(await post(body), null, "The body is not valid UTF-8.", name);
    assertWrong(await post(Buffer.from(bytes)), null, "The body is not valid UTF-8.", name);
  }
});

test("no body, an empty one, and JSON that is no object lack everything", async () => {
  for (const path of [ADVANCED, "/sms/2/text/advanced", "/sms/1/text/multi", "/sms/1/text/single", "/sms/1/preview"]) {
    for (const body of [undefined, "", "[]", "5", "true", '"text"', "null"]) {
      assertWrong(await post(body, path), ["body"], "body must be an object.", `${path} ${body}`);
    }
  }
});

// --- The wrong type, at every level --------------------------------------------------------------------------------------------------

/** One value of each type that JSON has; null is absence, and so has a test of its own. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  string: ["x"],
  integer: [1, 0],
  fraction: [1.5],
  boolean: [true, false],
  array: [[], [1], ["x"]],
  object: [{}, { a: 1 }],
};

/** Every field of the fully featured request, and the type that it has. */
const FIELDS: readonly (readonly [path: string, type: string])[] = [
  ["bulkId", "string"],
  ["messages", "array"],
  ["messages[0]", "object"],
  ["messages[0].from", "string"],
  ["messages[0].destinations", "array"],
  ["messages[0].destinations[0]", "object"],
  ["messages[0].destinations[0].to", "string"],
  ["messages[0].destinations[0].messageId", "string"],
  ["messages[0].text", "string"],
  ["messages[0].flash", "boolean"],
  ["messages[0].language", "object"],
  ["messages[0].language.languageCode", "string"],
  ["messages[0].languageCode", "string"],
  ["messages[0].transliteration", "string"],
  ["messages[0].intermediateReport", "boolean"],
  ["messages[0].notifyUrl", "string"],
  ["messages[0].notifyContentType", "string"],
  ["messages[0].callbackData", "string"],
  ["messages[0].campaignReferenceId", "string"],
  ["messages[0].validityPeriod", "integer"],
  ["messages[0].sendAt", "string"],
  ["messages[0].deliveryTimeWindow", "object"],
  ["messages[0].deliveryTimeWindow.days", "array"],
  ["messages[0].deliveryTimeWindow.days[0]", "string"],
  ["messages[0].deliveryTimeWindow.from", "object"],
  ["messages[0].deliveryTimeWindow.from.hour", "integer"],
  ["messages[0].deliveryTimeWindow.from.minute", "integer"],
  ["messages[0].deliveryTimeWindow.to", "object"],
  ["messages[0].deliveryTimeWindow.to.hour", "integer"],
  ["messages[0].deliveryTimeWindow.to.minute", "integer"],
];

/** There a whole number is as good as its digits. */
const TAKES_DIGITS = /(days\[0\]|bulkId|messageId|\.to|\]\.from)$/;

interface Tree {
  [name: string | number]: unknown;
}

const wholeRequest = (): Tree => ({
  bulkId: "B",
  messages: [
    {
      from: "InfoSMS",
      destinations: [{ to: "41793026727", messageId: "M" }],
      text: "Hello",
      flash: false,
      language: { languageCode: "TR" },
      languageCode: "TR",
      transliteration: "TURKISH",
      intermediateReport: true,
      notifyUrl: "https://client.example/reports",
      notifyContentType: "application/json",
      callbackData: "data",
      campaignReferenceId: "spring",
      validityPeriod: 10,
      sendAt: "2026-02-12T09:58:20.323+0000",
      deliveryTimeWindow: { days: ["MONDAY"], from: { hour: 1, minute: 2 }, to: { hour: 3, minute: 4 } },
    },
  ],
});

/** The whole request with one value exchanged, at a path like "messages[0].text". */
function withValue(path: string, value: unknown): Tree {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  const request = wholeRequest();
  let place: Tree = request;
  for (const step of steps.slice(0, -1)) place = place[step] as Tree;
  const last = steps.at(-1)!;
  assert.ok(last in place, `the request has no ${path}`);
  place[last] = value;
  return request;
}

const article = (type: string): string => `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;

test("a value of the wrong type is named with its whole path, at every level of the request", async (t) => {
  for (const [path, type] of FIELDS) {
    await t.test(`${path} must be ${article(type)}`, async () => {
      for (const [other, values] of Object.entries(VALUES)) {
        if (other === type || (TAKES_DIGITS.test(path) && other === "integer")) continue;
        for (const value of values) {
          const answer = await post(withValue(path, value));
          assertWrong(answer, [path], `${path} must be ${article(type)}.`, JSON.stringify(value));
        }
      }
    });
  }
});

test("null in a list is no absence but the wrong type", async () => {
  for (const [path, type] of FIELDS.filter(([name]) => name.endsWith("]"))) {
    assertWrong(await post(withValue(path, null)), [path], `${path} must be ${article(type)}.`, path);
  }
});

test("what is required cannot be absent or null", async () => {
  for (const path of [
    "messages",
    "messages[0].text",
    "messages[0].destinations",
    "messages[0].destinations[0].to",
    "messages[0].deliveryTimeWindow.days",
    "messages[0].deliveryTimeWindow.from.hour",
    "messages[0].deliveryTimeWindow.to.minute",
  ]) {
    for (const value of [undefined, null]) {
      assertWrong(await post(withValue(path, value)), [path], `${path} is required.`, path);
    }
  }
});

test("names that mean something to JavaScript mean nothing here", async () => {
  const text = '"text": "x", "destinations": []';
  for (const name of ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString"]) {
    const body = `{"${name}": {"polluted": true}, "messages": [{${text}, "${name}": {"polluted": true}}]}`;
    assertWrong(await post(body), ["messages[0].destinations"], "messages[0].destinations must not be empty.", name);
  }
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

// --- Too deep, too odd -----------------------------------------------------------------------------------------------------------------

test("a thousand levels are too deep, and so are a hundred thousand, wherever they stand", async () => {
  const says = "The body is nested more than 32 levels deep.";
  for (const levels of [1_000, 90_000]) {
    const lists = "[".repeat(levels) + "]".repeat(levels);
    const objects = `${'{"a":'.repeat(levels / 4)}1${"}".repeat(levels / 4)}`;
    const good = JSON.stringify(wholeRequest()).slice(0, -1);
    for (const deep of [lists, objects]) {
      assertWrong(await post(deep), null, says, `${levels} alone`);
      assertWrong(await post(`{"messages": ${deep}}`), null, says, `${levels} in messages`);
      assertWrong(await post(`${good}, "unknown": ${deep}}`), null, says, `${levels} in an unknown key`);
    }
    // A small one is parsed first; a large one is not.
    const cutOff = `The body is not valid JSON: line 1, column ${levels + 1} should have a value, and the body ends there.`;
    const unfinished = levels === 1_000 ? cutOff : says;
    assertWrong(await post("[".repeat(levels)), null, unfinished, `${levels} unfinished`);
  }
});

const STRINGS = FIELDS.filter(([, type]) => type === "string").map(([path]) => path);

test("a NUL character is refused in every text, and its field is named", async () => {
  for (const path of STRINGS) {
    for (const value of ["\0", "a\0b", "end\0"]) {
      assertWrong(await post(withValue(path, value)), [path], `${path} has a NUL character.`, JSON.stringify(value));
    }
  }
});

test("half of a surrogate pair is refused in every text, and its field is named", async () => {
  for (const path of STRINGS) {
    for (const half of ["\\ud83d", "\\ude00", "\\ude00\\ud83d", "ok\\ud83dx"]) {
      const body = JSON.stringify(withValue(path, "HALF")).replace('"HALF"', `"${half}"`);
      assertWrong(await post(body), [path], `${path} has half of a surrogate pair.`, half);
    }
  }
});

test("odd characters are refused in fields that nobody knows, too", async () => {
  const body = '{"unknown": {"list": ["fine", "not \\u0000"]}}';
  assertWrong(await post(body), ["unknown.list[1]"], "unknown.list[1] has a NUL character.", body);
});

// --- Too large -------------------------------------------------------------------------------------------------------------------------

const tooLarge = (limit: number) =>
  errorObject(
    "REQUEST_TOO_LARGE",
    "Request too large",
    null,
    `The body is larger than the ${limit} octets that are taken here.`,
  );
const TOO_LARGE = tooLarge(BODY_BYTES);

test("a body of the limit is read; one byte more is too large, whether its length was told or not", async () => {
  const padded = (bytes: number) => '{"messages": 5}'.padEnd(bytes);
  assertWrong(await post(padded(BODY_BYTES)), ["messages"], "messages must be an array.", "the limit");
  const more = padded(BODY_BYTES + 1);
  const told = await post(more);
  assert.deepEqual([told.status, told.json], [413, TOO_LARGE]);
  assert.equal(told.headers.get("content-type"), "application/json; charset=utf-8");

  const client = await RawClient.connect(service.url);
  const head = { authorization: DEMO, "transfer-encoding": "chunked" };
  await client.write(rawRequestText("POST", ADVANCED, head));
  for (const piece of [more.slice(0, 100_000), more.slice(100_000)]) {
    await client.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  }
  await client.write("0\r\n\r\n");
  const { status, body } = await client.answer();
  assert.deepEqual([status, JSON.parse(body)], [413, TOO_LARGE]);
  client.destroy();
});

test("every operation with a body has a limit, and whoever asks before it has shown who it is a small one", async () => {
  const login = await service.call("POST", "/1/customerProfile/login", {
    authorization: basic("reseller", "reseller-password"),
  });
  const token = `IBSSO ${login.json.login.ibAuthCookie}`;
  const body = "x".repeat(BODY_BYTES + 1);
  for (const path of ["/sms/2/text/advanced", "/sms/1/text/multi", "/sms/1/text/single", "/sms/1/preview"]) {
    assert.deepEqual((await post(body, path)).json, TOO_LARGE, path);
  }
  for (const [path, limit] of [
    ["/1/customerProfile/login", 4_096],
    ["/auth/1/session", 4_096],
    ["/1/customerProfile/payments/funds", 65_536],
  ] as const) {
    for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
      const headers = { "content-type": type };
      const { status, json } = await service.call("POST", path, { authorization: token, body, headers });
      assert.deepEqual([status, json], [413, tooLarge(limit)], `${path} ${type}`);
    }
  }
});

test("and of all that nothing was charged, and nothing was sent", async () => {
  assert.deepEqual((await service.call("GET", "/account/1/balance")).json, { balance: 100, currency: "EUR" });
  assert.equal(service.handedOn.length, 0);
});

const MEGABYTE = Buffer.alloc(1_000_000, " ");
const MEGABYTES = 100;

/** The most memory that the process has ever had, in bytes. Only Linux tells. */
function peakMemory(pid: number): number {
  if (process.platform !== "linux") return 0;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

test("100 MB are not kept in memory, and whoever writes more than is taken before it reads still reads why not", async (t) => {
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", await temporaryDirectory(t)]);
  const pid = child.process.pid!;
  const type = { "content-type": "application/json" };
  const sized = (megabytes: number) => ({ ...type, "content-length": String(megabytes * MEGABYTE.length) });
  const untold = { ...type, "transfer-encoding": "chunked" };
  const last = { connection: "close" };
  const uploads: readonly (readonly [name: string, status: number, megabytes: number, Record<string, string>])[] = [
    ["with its length", 413, 12, { authorization: DEMO, ...sized(12) }],
    ["without its length", 413, 12, { authorization: DEMO, ...untold }],
    ["with its length, as the last on its connection", 413, 12, { authorization: DEMO, ...sized(12), ...last }],
    ["without its length, as the last on its connection", 413, 12, { authorization: DEMO, ...untold, ...last }],
    ["from a stranger", 401, 1, sized(1)],
    ["from a stranger, as the last on its connection", 401, 1, { ...sized(1), ...last }],
    ["more than is dropped", 413, MEGABYTES, { authorization: DEMO, ...sized(MEGABYTES) }],
    ["more than is dropped of a stranger", 401, MEGABYTES, sized(MEGABYTES)],
  ];
  // Warmed up by a request that is too large by a byte, so that what is measured is what the bodies cost.
  const limit = 8 * 1024 * 1024;
  const warm = await callService(child.url, "POST", ADVANCED, { body: " ".repeat(limit + 1) });
  assert.deepEqual([warm.status, warm.json], [413, tooLarge(limit)]);
  const before = peakMemory(pid);

  for (const [name, expected, megabytes, headers] of uploads) {
    const client = await RawClient.connect(child.url);
    const readsFirst = megabytes === MEGABYTES;
    if (!readsFirst) client.pause();
    await client.write(rawRequestText("POST", ADVANCED, headers));
    const chunked = "transfer-encoding" in headers;
    const write = async (): Promise<void> => {
      for (let megabyte = 0; megabyte < megabytes; megabyte++) {
        if (chunked) await client.write(`${MEGABYTE.length.toString(16)}\r\n`);
        await client.write(MEGABYTE);
        if (chunked) await client.write("\r\n");
      }
      if (chunked) await client.write("0\r\n\r\n");
    };
    const written = write();
    if (readsFirst) void written.catch(() => undefined);
    else await written;
    client.resume();
    const { status, body } = await client.answer();
    const object =
      expected === 413 ? tooLarge(limit) : errorObject("UNAUTHORIZED", "Unauthorized", null, WHY_UNAUTHORIZED.missing);
    assert.deepEqual([status, JSON.parse(body)], [expected, object], name);
    assert.equal(await client.closed(), "", name);
    client.destroy();
  }
  const grown = peakMemory(pid) - before;
  const oneBody = MEGABYTES * MEGABYTE.length;
  // A service that gathered a body would hold it twice, in pieces and whole; what passes through leaves some garbage behind.
  assert.ok(grown < 1.8 * oneBody, `memory grew by ${grown} bytes over ${uploads.length} bodies of ${oneBody}`);
});
