/** How real clients write their requests, beyond the letter of the contract: every way was seen on the wire. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  ADVANCED,
  ADVANCED_V2,
  accepted,
  ENROUTE,
  ID,
  MULTI,
  rawRequest,
  SINGLE,
  TRACKING,
} from "../support/sending.ts";
import { DEMO, startTestService } from "../support/service.ts";

const service = await startTestService({ after });

const TO = "41793026727";
const SENT = { messages: [{ to: TO, status: ENROUTE, smsCount: 1, messageId: ID }] };
const HELLO = JSON.stringify({ from: "InfoSMS", to: TO, text: "Hello" });

/** Sends a request in the client's own words, and returns the one message as it went to the carrier. */
async function handedOn(body: string, path = SINGLE, headers: Record<string, string> = {}) {
  const before = service.handedOn.length;
  const answer = await service.call("POST", path, { body, headers });
  assert.deepEqual(accepted(answer).messages, SENT.messages);
  assert.equal(service.handedOn.length, before + 1);
  return service.handedOn[before]!;
}

test("an explicit null means absent, in every place", async () => {
  const options = {
    flash: null,
    language: null,
    languageCode: null,
    transliteration: null,
    intermediateReport: null,
    notifyUrl: null,
    notifyContentType: null,
    callbackData: null,
    validityPeriod: null,
    sendAt: null,
    deliveryTimeWindow: null,
  };
  const message = { from: "InfoSMS", text: "Hello", ...options };
  const destinations = [{ to: TO, messageId: null }];
  for (const [path, body] of [
    [ADVANCED, { bulkId: null, messages: [{ ...message, destinations }] }],
    [MULTI, { bulkId: null, messages: [{ ...message, to: TO }] }],
    [SINGLE, { ...message, to: TO, bulkId: null, messageId: null }],
  ] as const) {
    const { text, flash } = await handedOn(JSON.stringify(body), path);
    assert.deepEqual({ text, flash }, { text: "Hello", flash: false });
  }
  const v2 = { bulkId: null, includeSmsCountInResponse: null, messages: [{ ...message, destinations }] };
  assert.equal((await service.call("POST", ADVANCED_V2, { body: v2 })).status, 200);
});

test("null inside of an object means absent too", async () => {
  const deliveryTimeWindow = {
    days: ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"],
    from: null,
    to: null,
  };
  const language = { languageCode: null, singleShift: null, lockingShift: null };
  const sent = await handedOn(JSON.stringify({ from: "InfoSMS", to: TO, text: "ş", deliveryTimeWindow, language }));

  assert.equal(sent.encoding, "ucs2");
  assert.equal(sent.window!.hours, null);
});

test("unknown keys are ignored, at every level", async () => {
  const body = {
    type: "text",
    tracking: { track: "SMS", type: "MY_CAMPAIGN" },
    messages: [
      {
        from: "InfoSMS",
        destinations: [{ to: TO, networkId: 7 }],
        text: "Hello",
        regional: { indiaDlt: { principalEntityId: "1" } },
        __proto__x: 1,
      },
    ],
    sendingSpeedLimit: { amount: 10, timeUnit: "MINUTE" },
  };
  await handedOn(JSON.stringify(body), ADVANCED);
});

test("escaped slashes, unicode escapes, and white space around the JSON are JSON", async () => {
  const body = `\r\n  {"from":"InfoSMS","to":"${TO}","text":"1\\/2 \\u00e4\\ud83d\\ude00","notifyUrl":"https:\\/\\/example.com\\/r"}\n`;
  assert.equal((await handedOn(body)).text, "1/2 ä😀");
});

test("Content-Type may name a charset or be missing; Accept may be anything that JSON satisfies, or missing", async () => {
  for (const type of ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"]) {
    await handedOn(HELLO, SINGLE, { "content-type": type });
  }
  for (const accept of ["*/*", "application/*", "application/json", "text/html, application/json;q=0.9, */*;q=0.1"]) {
    await handedOn(HELLO, SINGLE, { accept });
  }
  const request = ["POST /sms/1/text/single HTTP/1.1", "Host: localhost", `Authorization: ${DEMO}`];
  const { status, body } = await rawRequest(service.url, rawPost(request));
  assert.deepEqual([status, JSON.parse(body).messages[0].status], [200, ENROUTE]);
});

/** A whole request with these first lines, whose connection ends with its answer. */
function rawPost(lines: readonly string[]): string {
  return [...lines, `Content-Length: ${HELLO.length}`, "Connection: close", "", HELLO].join("\r\n");
}

test("a request target in absolute form is served by its path", async () => {
  for (const target of ["http://localhost/sms/1/text/single", "HTTPS://localhost:8443/sms/1/text/single?"]) {
    const head = [`POST ${target} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: ${DEMO}`];
    const request = rawPost([...head, "Content-Type: application/json"]);
    const { status, body } = await rawRequest(service.url, request);
    assert.equal(status, 200, body);
    assert.deepEqual(JSON.parse(body).messages[0].status, ENROUTE);
  }
});

test("a trailing slash, a bare question mark, both, and an unknown query change nothing", async () => {
  for (const ending of ["/", "?", "/?", "?x=1", "/?x=1"]) {
    await handedOn(HELLO, SINGLE + ending);
    const body = { messages: [{ from: "InfoSMS", destinations: [{ to: TO }], text: "Hello" }] };
    const answer = await service.call("POST", ADVANCED + ending, { body });
    assert.deepEqual(accepted(answer), { bulkId: ID, trackingProcessKey: TRACKING, ...SENT });
  }
});
