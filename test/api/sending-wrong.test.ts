/** Requests that are wrong as a whole: each is told which field is wrong and why, and nothing of it is accepted or charged. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ADVANCED, ADVANCED_V2, balanceOf, MULTI, SINGLE } from "../support/sending.ts";
import { assertUnauthorized, basic, errorObject, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const service = await startTestService({ after }, { clock: new VirtualClock(Date.UTC(2026, 0, 5, 12)) });

interface Fields {
  [name: string]: unknown;
}

/** Field, sentence: what is wrong with a request. The sentence goes on from the field's name. */
type Wrong = readonly [field: string, says: string];

async function refused(path: string, body: unknown, ...wrongs: readonly Wrong[]): Promise<void> {
  const answer = await service.call("POST", path, { body });
  const fields = wrongs.map(([field]) => field);
  const sentence = `${wrongs.map((wrong) => wrong.join(" ")).join("; ")}.`;
  assert.deepEqual(answer.json, errorObject("BAD_REQUEST", "Bad request", fields, sentence), JSON.stringify(body));
  assert.equal(answer.status, 400);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
}

const GOOD = { from: "InfoSMS", text: "Hello" };
const TO = "41793026727";

/** One operation: how a message with these fields stands in its body, and where. */
interface Shape {
  readonly path: string;
  readonly at: string;
  readonly body: (fields: Fields) => Fields;
}

const SHAPES: readonly Shape[] = [
  { path: SINGLE, at: "", body: (fields) => ({ ...GOOD, to: TO, ...fields }) },
  {
    path: MULTI,
    at: "messages[1].",
    body: (fields) => ({
      messages: [
        { ...GOOD, to: TO },
        { ...GOOD, to: TO, ...fields },
      ],
    }),
  },
  ...[ADVANCED, ADVANCED_V2].map((path) => ({
    path,
    at: "messages[1].",
    body: (fields: Fields) => ({
      messages: [
        { ...GOOD, destinations: [{ to: TO }] },
        { ...GOOD, destinations: [{ to: TO }], ...fields },
      ],
    }),
  })),
];

const noon = { hour: 12, minute: 0 };
const six = { hour: 18, minute: 0 };
const week = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
const NO_DATE = "is not a date and time like 2026-02-12T09:58:20.323+0000";
const NO_URL = "is not an absolute http or https URL";
const A_DAY = `must be one of ${week.join(", ")}`;
const BOTH = "is missing: from and to are given both or not at all";

/** The fields that every sending operation has: the wrong ones, the field that is named, and what is said of it. */
const ROWS: readonly (readonly [name: string, fields: Fields, field: string, says: string])[] = [
  ["text is missing", { text: undefined }, "text", "is required"],
  ["text is empty", { text: "" }, "text", "must not be empty"],
  ["text is no string", { text: 5 }, "text", "must be a string"],
  ["from is no string", { from: true }, "from", "must be a string"],
  ["flash is no boolean", { flash: "true" }, "flash", "must be a boolean"],
  ["language is no object", { language: "TR" }, "language", "must be an object"],
  [
    "language.languageCode is unknown",
    { language: { languageCode: "DE" } },
    "language.languageCode",
    "must be one of TR, ES, PT, AUTODETECT, NONE",
  ],
  ["languageCode is unknown", { languageCode: "tr" }, "languageCode", "must be one of TR, ES, PT, AUTODETECT, NONE"],
  [
    "transliteration is unknown",
    { transliteration: "KLINGON" },
    "transliteration",
    "must be one of TURKISH, GREEK, CYRILLIC, SERBIAN_CYRILLIC, BULGARIAN_CYRILLIC, CENTRAL_EUROPEAN, BALTIC, PORTUGUESE, COLOMBIAN, NON_UNICODE, ALL, NONE",
  ],
  ["intermediateReport is no boolean", { intermediateReport: 1 }, "intermediateReport", "must be a boolean"],
  ["notifyUrl is no string", { notifyUrl: ["https://example.com"] }, "notifyUrl", "must be a string"],
  ["notifyUrl is relative", { notifyUrl: "/reports" }, "notifyUrl", NO_URL],
  ["notifyUrl has no scheme", { notifyUrl: "www.example.com/reports" }, "notifyUrl", NO_URL],
  ["notifyUrl is neither http nor https", { notifyUrl: "ftp://example.com/reports" }, "notifyUrl", NO_URL],
  ["notifyUrl has no host", { notifyUrl: "https://" }, "notifyUrl", NO_URL],
  ["notifyUrl is empty", { notifyUrl: "" }, "notifyUrl", NO_URL],
  [
    "notifyContentType is unknown",
    { notifyContentType: "text/xml" },
    "notifyContentType",
    "must be one of application/json, application/xml",
  ],
  [
    "callbackData has 201 characters",
    { callbackData: "x".repeat(201) },
    "callbackData",
    "must be at most 200 characters long",
  ],
  [
    "callbackData has 201 characters of two units each",
    { callbackData: "😀".repeat(201) },
    "callbackData",
    "must be at most 200 characters long",
  ],
  ["callbackData is no string", { callbackData: { id: 7 } }, "callbackData", "must be a string"],
  ["validityPeriod is 0", { validityPeriod: 0 }, "validityPeriod", "must be 1 or more"],
  ["validityPeriod is negative", { validityPeriod: -720 }, "validityPeriod", "must be 1 or more"],
  ["validityPeriod is a fraction", { validityPeriod: 1.5 }, "validityPeriod", "must be an integer"],
  ["validityPeriod is a string", { validityPeriod: "720" }, "validityPeriod", "must be an integer"],
  ["sendAt is no string", { sendAt: 1767614400000 }, "sendAt", "must be a string"],
  ["sendAt is no date", { sendAt: "tomorrow" }, "sendAt", NO_DATE],
  ["sendAt is empty", { sendAt: "" }, "sendAt", NO_DATE],
  ["sendAt is no date", { sendAt: "infobip.Time value" }, "sendAt", NO_DATE],
  ["sendAt is on a day that does not exist", { sendAt: "2026-02-30T12:00:00.000+0000" }, "sendAt", NO_DATE],
  [
    "sendAt is a millisecond more than 180 days ahead",
    { sendAt: "2026-07-04T12:00:00.001+0000" },
    "sendAt",
    "is more than 180 days ahead",
  ],
  [
    "deliveryTimeWindow has no days",
    { deliveryTimeWindow: { from: noon, to: six } },
    "deliveryTimeWindow.days",
    "is required",
  ],
  [
    "deliveryTimeWindow has an empty list of days",
    { deliveryTimeWindow: { days: [] } },
    "deliveryTimeWindow.days",
    "must not be empty",
  ],
  ["a day is unknown", { deliveryTimeWindow: { days: ["MONDAY", "monday"] } }, "deliveryTimeWindow.days[1]", A_DAY],
  [
    "deliveryTimeWindow has only from",
    { deliveryTimeWindow: { days: week, from: noon } },
    "deliveryTimeWindow.to",
    BOTH,
  ],
  ["deliveryTimeWindow has only to", { deliveryTimeWindow: { days: week, to: noon } }, "deliveryTimeWindow.from", BOTH],
  [
    "from equals to",
    { deliveryTimeWindow: { days: week, from: noon, to: noon } },
    "deliveryTimeWindow.to",
    "is the same time as from",
  ],
  ...(["from", "to"] as const).flatMap((end) =>
    (
      [
        ["has no hour", { minute: 0 }, "hour", "is required"],
        ["has no minute", { hour: 12 }, "minute", "is required"],
        ["has an hour of 24", { hour: 24, minute: 0 }, "hour", "must be 23 or less"],
        ["has a minute of 60", { hour: 12, minute: 60 }, "minute", "must be 59 or less"],
        ["has a negative hour", { hour: -1, minute: 0 }, "hour", "must be 0 or more"],
        ["has a fraction for a minute", { hour: 12, minute: 0.5 }, "minute", "must be an integer"],
        ["has a string for an hour", { hour: "12", minute: 0 }, "hour", "must be an integer"],
      ] as const
    ).map(
      ([name, time, field, says]) =>
        [
          `deliveryTimeWindow.${end} ${name}`,
          { deliveryTimeWindow: { days: week, from: six, to: noon, [end]: time } },
          `deliveryTimeWindow.${end}.${field}`,
          says,
        ] as const,
    ),
  ),
];

for (const { path, at, body } of SHAPES) {
  test(`POST ${path} refuses a message in which`, async (t) => {
    const balance = await balanceOf(service);
    for (const [name, fields, field, says] of ROWS) {
      await t.test(name, () => refused(path, body(fields), [at + field, says]));
    }
    await t.test("and nothing of all that was accepted or charged", async () => {
      assert.equal(service.handedOn.length, 0);
      assert.equal(await balanceOf(service), balance);
    });
  });
}

for (const path of [ADVANCED, ADVANCED_V2, MULTI]) {
  test(`POST ${path} refuses a body without messages`, async () => {
    await refused(path, {}, ["messages", "is required"]);
    await refused(path, { messages: null }, ["messages", "is required"]);
    await refused(path, { messages: [] }, ["messages", "must not be empty"]);
    await refused(path, { messages: {} }, ["messages", "must be an array"]);
    await refused(path, { messages: ["Hello"] }, ["messages[0]", "must be an object"]);
    await refused(path, { messages: [null] }, ["messages[0]", "must be an object"]);
    await refused(path, [], ["body", "must be an object"]);
  });
}

for (const path of [ADVANCED, ADVANCED_V2]) {
  const destinations = (value: unknown) => ({ messages: [{ ...GOOD, destinations: value }] });

  test(`POST ${path} refuses a message without destinations, and a destination without to`, async () => {
    await refused(path, destinations(undefined), ["messages[0].destinations", "is required"]);
    await refused(path, destinations([]), ["messages[0].destinations", "must not be empty"]);
    await refused(path, destinations({ to: TO }), ["messages[0].destinations", "must be an array"]);
    await refused(path, destinations([TO]), ["messages[0].destinations[0]", "must be an object"]);
    await refused(path, destinations([{ to: TO }, {}]), ["messages[0].destinations[1].to", "is required"]);
    await refused(path, destinations([{ to: null }]), ["messages[0].destinations[0].to", "is required"]);
    await refused(path, destinations([{ to: true }]), ["messages[0].destinations[0].to", "must be a string"]);
  });

  test(`POST ${path} refuses a messageId of more than 200 characters`, async () => {
    const says = "must be at most 200 characters long";
    const field = "messages[0].destinations[0].messageId";
    await refused(path, destinations([{ to: TO, messageId: "m".repeat(201) }]), [field, says]);
    await refused(path, destinations([{ to: TO, messageId: true }]), [field, "must be a string"]);
  });
}

test("single and multi refuse a message without to, with an empty array for it, or with what is no number in it", async () => {
  for (const { path, at, body } of SHAPES.slice(0, 2)) {
    await refused(path, body({ to: undefined }), [`${at}to`, "is required"]);
    await refused(path, body({ to: null }), [`${at}to`, "is required"]);
    await refused(path, body({ to: [] }), [`${at}to`, "must not be empty"]);
    await refused(path, body({ to: [TO, true] }), [`${at}to[1]`, "must be a string"]);
    await refused(path, body({ to: true }), [`${at}to`, "must be a string or an array"]);
  }
});

test("every sending operation refuses a bulkId of more than 100 characters", async () => {
  for (const { path, body } of SHAPES) {
    const says = "must be at most 100 characters long";
    await refused(path, { ...body({}), bulkId: "b".repeat(101) }, ["bulkId", says]);
    await refused(path, { ...body({}), bulkId: true }, ["bulkId", "must be a string"]);
  }
});

test("single refuses a messageId of more than 200 characters", async () => {
  const body = { ...GOOD, to: TO, messageId: "m".repeat(201) };
  await refused(SINGLE, body, ["messageId", "must be at most 200 characters long"]);
});

test("v2 refuses an includeSmsCountInResponse that is no boolean", async () => {
  const body = { messages: [{ ...GOOD, destinations: [{ to: TO }] }], includeSmsCountInResponse: "yes" };
  await refused(ADVANCED_V2, body, ["includeSmsCountInResponse", "must be a boolean"]);
});

test("one message that is wrong spoils the request: of the others none is sent", async () => {
  const balance = await balanceOf(service);
  const fine = { ...GOOD, destinations: [{ to: TO }] };
  const body = { bulkId: "spoiled", messages: [fine, { ...fine, sendAt: "never" }, fine] };

  await refused(ADVANCED, body, ["messages[1].sendAt", NO_DATE]);

  assert.equal(await balanceOf(service), balance);
  assert.equal(service.handedOn.length, 0);
});

test("several things that are wrong are told of together", async () => {
  const fine = { ...GOOD, destinations: [{ to: TO }] };
  const body = { messages: [{ ...fine, sendAt: "never", notifyUrl: "/reports" }, fine, { ...fine, sendAt: "now" }] };

  await refused(
    ADVANCED,
    body,
    ["messages[0].sendAt", NO_DATE],
    ["messages[0].notifyUrl", NO_URL],
    ["messages[2].sendAt", NO_DATE],
  );
});

for (const path of [ADVANCED, ADVANCED_V2, MULTI, SINGLE]) {
  const { body } = SHAPES.find((shape) => shape.path === path)!;

  test(`POST ${path} needs an Authorization header that is right`, async () => {
    for (const authorization of [null, "Basic", "Basic ZGVtbw==", basic("demo", "wrong"), "IBSSO unknown"]) {
      const answer = await service.call("POST", path, { body: body({}), authorization });
      assertUnauthorized(answer);
      assert.match(answer.headers.get("www-authenticate")!, /^Basic /);
    }
    assert.equal(service.handedOn.length, 0);
  });

  test(`POST ${path} takes JSON and gives JSON, and nothing else`, async () => {
    for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
      const answer = await service.call("POST", path, { body: body({}), headers: { "content-type": type } });
      assert.equal(answer.status, 415);
      const says = "Content-Type must be application/json.";
      assert.deepEqual(answer.json, errorObject("UNSUPPORTED_MEDIA_TYPE", "Unsupported media type", null, says));
    }
    for (const accept of ["application/xml", "text/html", "application/json;q=0"]) {
      const answer = await service.call("POST", path, { body: body({}), headers: { accept } });
      assert.equal(answer.status, 406);
      const says = "The answer is application/json, and Accept does not allow it.";
      assert.deepEqual(answer.json, errorObject("NOT_ACCEPTABLE", "Not acceptable", null, says));
    }
    assert.equal(service.handedOn.length, 0);
  });

  test(`${path} is for POST only`, async () => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await service.call(method, path);
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get("allow"), "POST");
      const says = `This path does not take ${method}, but POST.`;
      assert.deepEqual(answer.json, errorObject("METHOD_NOT_ALLOWED", "Method not allowed", null, says));
    }
  });
}
