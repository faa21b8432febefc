/** PINs over a real socket: applications, templates, sending, sending again, verifying, and what became of them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { balanceOf } from "../support/sending.ts";
import { basic, eventually, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
const service = await startTestService({ after }, { clock });
const { call } = service;
const APPLICATIONS = "/2fa/2/applications";
const ID = /^[0-9A-F]{32}$/;
const DEFAULTS = {
  pinAttempts: 10,
  allowMultiplePinVerifications: true,
  pinTimeToLive: "15m",
  verifyPinLimit: "1/3s",
  sendPinPerApplicationLimit: "10000/1d",
  sendPinPerPhoneNumberLimit: "3/1d",
};
/** Limits that are in no test's way. */
const WIDE = { verifyPinLimit: "1000000/1s", sendPinPerPhoneNumberLimit: "1000000/1d" };

let numbers = 41_790_000_000;
const freshNumber = (): string => String(numbers++);

async function good(method: string, path: string, body?: unknown, authorization?: string) {
  const answer = await call(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(authorization === undefined ? {} : { authorization }),
  });
  assert.equal(answer.status, 200, answer.text);
  if (path.startsWith("/2fa/")) assert.doesNotMatch(answer.text, /null/);
  assert.match(answer.headers.get("content-type")!, /^application\/json/);
  return answer.json;
}

interface Setting {
  readonly configuration?: object;
  readonly template?: object;
}

async function setUp({ configuration = {}, template = {} }: Setting = {}) {
  const { applicationId } = await good("POST", APPLICATIONS, {
    name: "Login",
    configuration: { ...WIDE, ...configuration },
  });
  const { messageId } = await good("POST", `${APPLICATIONS}/${applicationId}/messages`, {
    messageText: "Your PIN is {{pin}}",
    pinType: "NUMERIC",
    senderId: "Heliograph",
    ...template,
  });
  return { applicationId, messageId };
}

/** What a phone's last message says. */
function lastText(to: string): string {
  return service.handedOn.filter((message) => message.to === to).at(-1)!.text;
}

const lastPin = (to: string): string => /is (\S+)/.exec(lastText(to))![1]!;
const notThe = (pin: string): string => (pin === "0000" ? "1111" : "0000");

async function sent(names: { applicationId: string; messageId: string }, to = freshNumber(), more: object = {}) {
  const answer = await good("POST", "/2fa/2/pin", { ...names, to, ...more });
  assert.equal(answer.smsStatus, "MESSAGE_SENT");
  return { pinId: answer.pinId as string, to, pin: lastPin(to) };
}

const verify = (pinId: string, pin: string) => call("POST", `/2fa/2/pin/${pinId}/verify`, { body: { pin } });

/** An error has the documented fields, and no others. */
function refused(
  answer: { status: number; json: unknown; headers: Headers },
  status: number,
  messageId: string,
  fields?: readonly string[],
): void {
  assert.equal(answer.status, status);
  const { requestError, ...rest } = answer.json as { requestError: { serviceException: Record<string, unknown> } };
  const { serviceException, ...others } = requestError;
  const { messageId: named, text, validationErrors, ...strange } = serviceException;
  assert.deepEqual([rest, others, strange], [{}, {}, {}]);
  assert.equal(named, messageId);
  assert.equal(typeof text, "string");
  if (fields === undefined) assert.equal(validationErrors, undefined);
  else {
    assert.deepEqual(Object.keys(validationErrors as object), fields);
    for (const list of Object.values(validationErrors as object)) assert.ok(Array.isArray(list) && list.length > 0);
  }
}

test("an application is made with all defaults, read, listed and changed", async () => {
  const made = await good("POST", APPLICATIONS, { name: "Shop" });
  const { applicationId } = made;
  assert.match(applicationId, ID);
  assert.deepEqual(made, { applicationId, name: "Shop", enabled: true, configuration: DEFAULTS });
  assert.deepEqual(await good("GET", `${APPLICATIONS}/${applicationId}`), made);
  assert.deepEqual(await good("GET", `${APPLICATIONS}/${applicationId}/`), made, "with a slash at its end");
  const all = await good("GET", APPLICATIONS);
  assert.ok(Array.isArray(all));
  assert.deepEqual(
    all.find((each: { applicationId: string }) => each.applicationId === applicationId),
    made,
  );

  const changed = await good("PUT", `${APPLICATIONS}/${applicationId}`, {
    name: "Till",
    configuration: { pinAttempts: 3, pinTimeToLive: "m", verifyPinLimit: "2/d" },
    unknown: "is ignored",
  });
  const configuration = { ...DEFAULTS, pinAttempts: 3, pinTimeToLive: "m", verifyPinLimit: "2/d" };
  assert.deepEqual(changed, { ...made, name: "Till", configuration });
  assert.deepEqual(await good("GET", `${APPLICATIONS}/${applicationId}`), changed);
  const off = await good("PUT", `${APPLICATIONS}/${applicationId}`, { name: "Till", enabled: false });
  assert.deepEqual(off, { ...changed, enabled: false });
});

test("what is wrong with an application is said by its field", async () => {
  for (const [body, field] of [
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: "x".repeat(256) }, "name"],
    [{ name: "x", enabled: "yes" }, "enabled"],
    [{ name: "x", configuration: { pinAttempts: 0 } }, "configuration.pinAttempts"],
    [{ name: "x", configuration: { pinAttempts: 101 } }, "configuration.pinAttempts"],
    [{ name: "x", configuration: { pinTimeToLive: "0m" } }, "configuration.pinTimeToLive"],
    [{ name: "x", configuration: { pinTimeToLive: "soon" } }, "configuration.pinTimeToLive"],
    [{ name: "x", configuration: { pinTimeToLive: "366d" } }, "configuration.pinTimeToLive"],
    [{ name: "x", configuration: { verifyPinLimit: "1/25h" } }, "configuration.verifyPinLimit"],
    [{ name: "x", configuration: { verifyPinLimit: "0/1s" } }, "configuration.verifyPinLimit"],
    [
      { name: "x", configuration: { sendPinPerApplicationLimit: "1/366d" } },
      "configuration.sendPinPerApplicationLimit",
    ],
    [{ name: "x", configuration: { sendPinPerPhoneNumberLimit: "d" } }, "configuration.sendPinPerPhoneNumberLimit"],
  ] as const)
    refused(await call("POST", APPLICATIONS, { body }), 400, "BAD_REQUEST", [field]);
  refused(await call("PUT", `${APPLICATIONS}/${"0".repeat(32)}`, { body: { name: "x" } }), 404, "NOT_FOUND");
  refused(await call("GET", `${APPLICATIONS}/nothing`), 404, "NOT_FOUND");
  refused(await call("GET", APPLICATIONS, { authorization: null }), 401, "UNAUTHORIZED");
});

test("a template is made, read, listed and changed; regional fields are kept in either spelling", async () => {
  const { applicationId } = await setUp();
  const path = `${APPLICATIONS}/${applicationId}/messages`;
  const fields = {
    messageText: "Hello {{name}}, {{pin}}",
    pinType: "ALPHANUMERIC",
    pinLength: 6,
    senderId: "Heliograph",
    language: "pt_br",
    repeatDTMF: "1#",
    speechRate: 1.5,
  };
  const indiaDlt = { principalEntityId: "1001", contentTemplateId: "2002" };
  const made = await good("POST", path, { ...fields, regional: { indiaDlt: { ...indiaDlt, telemarketerId: "tm" } } });
  const { messageId } = made;
  assert.match(messageId, ID);
  const told = { messageId, applicationId, pinPlaceholder: "{{pin}}", ...fields };
  assert.deepEqual(made, { ...told, regional: { indiaDlt: { ...indiaDlt, teleMarketerId: "tm" } } });
  assert.deepEqual(await good("GET", `${path}/${messageId}`), made);
  assert.equal((await good("GET", path)).length, 2);

  const regional = { indiaDlt: { principalEntityId: "3003", teleMarketerId: "other" } };
  const changed = await good("PUT", `${path}/${messageId}`, { pinLength: 8, regional });
  assert.deepEqual(changed, { ...told, pinLength: 8, regional });
  assert.deepEqual(await good("GET", `${path}/${messageId}`), changed);

  const plain = await good("POST", path, { messageText: "{{pin}}", pinType: "HEX" });
  assert.deepEqual(plain, {
    messageId: plain.messageId,
    applicationId,
    pinPlaceholder: "{{pin}}",
    messageText: "{{pin}}",
    pinLength: 4,
    pinType: "HEX",
  });
});

test("what is wrong with a template is said by its field", async () => {
  const { applicationId, messageId } = await setUp();
  const path = `${APPLICATIONS}/${applicationId}/messages`;
  const right = { messageText: "{{pin}}", pinType: "NUMERIC" };
  for (const [body, field] of [
    [{ pinType: "NUMERIC" }, "messageText"],
    [{ messageText: "{{pin}}" }, "pinType"],
    [{ ...right, messageText: "Your code" }, "messageText"],
    [{ ...right, messageText: `{{pin}}${"x".repeat(2_000)}` }, "messageText"],
    [{ ...right, pinType: "EMOJI" }, "pinType"],
    [{ ...right, pinLength: 3 }, "pinLength"],
    [{ ...right, pinLength: 21 }, "pinLength"],
    [{ ...right, senderId: "much too long a sender" }, "senderId"],
    [{ ...right, language: "xx" }, "language"],
    [{ ...right, speechRate: 3 }, "speechRate"],
    [{ ...right, regional: { indiaDlt: {} } }, "regional.indiaDlt.principalEntityId"],
  ] as const)
    refused(await call("POST", path, { body }), 400, "BAD_REQUEST", [field]);
  refused(await call("PUT", `${path}/${messageId}`, { body: { messageText: "none" } }), 400, "BAD_REQUEST", [
    "messageText",
  ]);
  const nobody = "0".repeat(32);
  refused(await call("GET", `${path}/${nobody}`), 404, "NOT_FOUND");
  refused(await call("PUT", `${path}/${nobody}`, { body: right }), 404, "NOT_FOUND");
  refused(await call("GET", `${APPLICATIONS}/${nobody}/messages`), 404, "NOT_FOUND");
  refused(await call("POST", `${APPLICATIONS}/${nobody}/messages`, { body: right }), 404, "NOT_FOUND");
});

test("a PIN is sent, charged as a message, sent again as the same PIN, and verified", async () => {
  const names = await setUp();
  const to = freshNumber();
  const before = await balanceOf(service);
  const answer = await good("POST", "/2fa/2/pin/?ncNeeded=undefined", { ...names, to: `+${to}` });
  const { pinId } = answer;
  assert.match(pinId, ID);
  assert.deepEqual(answer, { pinId, to, ncStatus: "NC_NOT_CONFIGURED", smsStatus: "MESSAGE_SENT" });
  assert.equal(await balanceOf(service), Math.round((before - 0.01) * 100) / 100);
  const text = lastText(to);
  assert.match(text, /^Your PIN is \d{4}$/);

  const again = await good("POST", `/2fa/2/pin/${pinId}/resend`, { trackDelivery: true });
  assert.match(again.externalMessageId, /^\d{19}$/);
  const { externalMessageId, ...rest } = again;
  assert.deepEqual(rest, answer);
  assert.equal(lastText(to), text);
  assert.equal(service.handedOn.filter((message) => message.to === to).length, 2);

  const pin = lastPin(to);
  const wrong = await verify(pinId, notThe(pin));
  assert.equal(wrong.status, 200);
  assert.deepEqual(wrong.json, { pinId, msisdn: to, verified: false, attemptsRemaining: 9, pinError: "WRONG_PIN" });
  const right = await verify(pinId, pin);
  assert.deepEqual([right.status, right.json], [200, { pinId, msisdn: to, verified: true, attemptsRemaining: 0 }]);
  assert.equal((await verify(pinId, pin)).json.verified, true, "it may be verified again");
  assert.equal(externalMessageId !== undefined, true);
});

test("without a lookup asked for there is no ncStatus", async () => {
  const names = await setUp();
  const answer = await good("POST", "/2fa/2/pin?ncNeeded=false", { ...names, to: freshNumber() });
  assert.deepEqual(Object.keys(answer), ["pinId", "to", "smsStatus"]);
});

test("PINs are of the type and length that the template says, and letters may be typed small", async () => {
  for (const [pinType, form] of [
    ["NUMERIC", /^[0-9]{12}$/],
    ["ALPHA", /^[A-Z]{12}$/],
    ["HEX", /^[0-9A-F]{12}$/],
    ["ALPHANUMERIC", /^[0-9A-Z]{12}$/],
  ] as const) {
    const names = await setUp({ template: { pinType, pinLength: 12 } });
    const { pinId, pin } = await sent(names);
    assert.match(pin, form);
    assert.equal((await verify(pinId, pin.toLowerCase())).json.verified, true);
    assert.notEqual((await sent(names)).pin, pin);
  }
});

test("placeholders are filled in; missing ones and pin are refused before anything is charged, and of unknown ones it is told", async () => {
  const names = await setUp({ template: { messageText: "{{name}}: your PIN is {{pin}} {{pin}} {{shop.id}}" } });
  const before = await balanceOf(service);
  const to = freshNumber();
  for (const placeholders of [undefined, {}, { name: "Ann" }, { name: "Ann", "shop.id": "7", pin: "0000" }])
    refused(await call("POST", "/2fa/2/pin", { body: { ...names, to, placeholders } }), 400, "BAD_REQUEST", [
      "placeholders",
    ]);
  assert.equal(await balanceOf(service), before);
  const placeholders = { name: "{{pin}} $& {{shop.id}}", "shop.id": "7" };
  const { pinId, pin } = await sent(names, to, { placeholders, from: "Shop" });
  assert.equal(lastText(to), `{{pin}} $& {{shop.id}}: your PIN is ${pin} ${pin} 7`, "what a value says stays a text");
  assert.equal(service.handedOn.findLast((message) => message.to === to)!.from, "Shop");
  await good("POST", `/2fa/2/pin/${pinId}/resend`, {});
  assert.equal(lastText(to), `{{pin}} $& {{shop.id}}: your PIN is ${pin} ${pin} 7`, "as the first time");
  assert.equal(service.handedOn.findLast((message) => message.to === to)!.from, "Shop");
  await good("POST", `/2fa/2/pin/${pinId}/resend`, { placeholders: { name: "Bob", "shop.id": "8" } });
  assert.equal(lastText(to), `Bob: your PIN is ${pin} ${pin} 8`);
  const more = { name: "Ann", "shop.id": "7", firstName: "Ann" };
  const answer = await call("POST", "/2fa/2/pin", { body: { ...names, to, placeholders: more } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(
    answer.headers.get("x-heliograph-warnings"),
    "placeholders.firstName has no place in the text of the template",
  );
});

test("an unknown application or template, a number that is none, and a disabled application are 400s by field", async () => {
  const names = await setUp();
  const other = await setUp();
  const to = freshNumber();
  for (const [body, field] of [
    [{ ...names, applicationId: "0".repeat(32), to }, "applicationId"],
    [{ ...names, messageId: "nothing", to }, "messageId"],
    [{ ...names, messageId: other.messageId, to }, "messageId"],
    [{ ...names, to: "call me" }, "to"],
    [{ ...names }, "to"],
    [{ ...names, to, placeholders: { a: 1 } }, "placeholders.a"],
  ] as const)
    refused(await call("POST", "/2fa/2/pin", { body }), 400, "BAD_REQUEST", [field]);
  const { pinId, pin } = await sent(names, to);
  await good("PUT", `${APPLICATIONS}/${names.applicationId}`, { name: "off", enabled: false });
  refused(await call("POST", "/2fa/2/pin", { body: { ...names, to } }), 400, "BAD_REQUEST", ["applicationId"]);
  refused(await call("POST", `/2fa/2/pin/${pinId}/resend`, { body: {} }), 400, "BAD_REQUEST", ["applicationId"]);
  assert.equal((await verify(pinId, pin)).json.verified, true, "what was sent and paid for can be verified");
});

test("an unknown PIN is a 404", async () => {
  for (const id of ["0".repeat(32), "nothing", "%00", "x".repeat(90)]) {
    refused(await call("POST", `/2fa/2/pin/${id}/verify`, { body: { pin: "1234" } }), 404, "NOT_FOUND");
    refused(await call("POST", `/2fa/2/pin/${id}/resend`, { body: {} }), 404, "NOT_FOUND");
  }
  const { pinId } = await sent(await setUp());
  for (const pin of [undefined, "", 1234, "1".repeat(101)])
    refused(await call("POST", `/2fa/2/pin/${pinId}/verify`, { body: { pin } }), 400, "BAD_REQUEST", ["pin"]);
});

test("a PIN is used up after its attempts, and is not sent again", async () => {
  const names = await setUp({ configuration: { pinAttempts: 2 } });
  const { pinId, pin, to } = await sent(names);
  assert.equal((await verify(pinId, notThe(pin))).json.attemptsRemaining, 1);
  const last = await verify(pinId, notThe(pin));
  assert.deepEqual(last.json, { pinId, msisdn: to, verified: false, attemptsRemaining: 0, pinError: "WRONG_PIN" });
  const late = await verify(pinId, pin);
  assert.deepEqual(late.json, { ...last.json, pinError: "NO_MORE_PIN_ATTEMPTS" });
  const before = await balanceOf(service);
  refused(await call("POST", `/2fa/2/pin/${pinId}/resend`, { body: {} }), 400, "BAD_REQUEST", ["pinId"]);
  assert.equal(await balanceOf(service), before);
});

test("a PIN that may be verified once is verified once", async () => {
  const names = await setUp({ configuration: { allowMultiplePinVerifications: false } });
  const { pinId, pin } = await sent(names);
  const answers = await Promise.all(Array.from({ length: 20 }, () => verify(pinId, pin)));
  assert.equal(answers.filter(({ json }) => json.verified === true).length, 1);
  for (const { json } of answers.filter((each) => each.json.verified === false))
    assert.deepEqual([json.attemptsRemaining, json.pinError], [0, "NO_MORE_PIN_ATTEMPTS"]);
});

test("a PIN is good for its time, which begins anew when it is sent again", async () => {
  const names = await setUp({ configuration: { pinTimeToLive: "10m" } });
  const { pinId, pin } = await sent(names);
  await clock.advance(10 * 60_000 - 1);
  assert.equal((await verify(pinId, pin)).json.verified, true);
  await clock.advance(1);
  const late = await verify(pinId, pin);
  assert.deepEqual([late.status, late.json.verified, late.json.pinError], [200, false, "TTL_EXPIRED"]);
  assert.equal(late.json.attemptsRemaining, 9, "it cost no attempt");
  await good("POST", `/2fa/2/pin/${pinId}/resend`, {});
  assert.equal((await verify(pinId, pin)).json.verified, true);
});

test("verifications of a number are limited; one too many is not looked at and costs no attempt", async () => {
  const names = await setUp({ configuration: { verifyPinLimit: "1/3s" } });
  const { pinId, pin } = await sent(names);
  assert.equal((await verify(pinId, notThe(pin))).json.attemptsRemaining, 9);
  await clock.advance(500);
  const early = await verify(pinId, pin);
  refused(early, 429, "TOO_MANY_REQUESTS");
  assert.equal(early.headers.get("retry-after"), "3");
  await clock.advance(2_499);
  assert.equal((await verify(pinId, pin)).status, 429);
  await clock.advance(1);
  assert.equal((await verify(pinId, notThe(pin))).json.attemptsRemaining, 8);
});

test("PINs to a number, and of an application, are limited", async () => {
  const names = await setUp({
    configuration: { sendPinPerPhoneNumberLimit: "2/1h", sendPinPerApplicationLimit: "3/1d" },
  });
  const to = freshNumber();
  const { pinId } = await sent(names, to);
  await clock.advance(60_000);
  await good("POST", `/2fa/2/pin/${pinId}/resend`, {});
  const before = await balanceOf(service);
  const third = await call("POST", "/2fa/2/pin", { body: { ...names, to: `00${to}` } });
  refused(third, 429, "TOO_MANY_REQUESTS");
  assert.equal(third.headers.get("retry-after"), String(59 * 60));
  refused(await call("POST", `/2fa/2/pin/${pinId}/resend`, { body: {} }), 429, "TOO_MANY_REQUESTS");
  await sent(names);
  const fourth = await call("POST", "/2fa/2/pin", { body: { ...names, to: freshNumber() } });
  refused(fourth, 429, "TOO_MANY_REQUESTS");
  // Those of the same sixtieth of the day leave together.
  assert.equal(fourth.headers.get("retry-after"), String(86_400));
  assert.equal(await balanceOf(service), Math.round((before - 0.01) * 100) / 100);
});

test("attempts are kept when a PIN is sent again, by a client that sends no body too", async () => {
  const { pinId, pin, to } = await sent(await setUp({ configuration: { pinAttempts: 3 } }));
  assert.equal((await verify(pinId, notThe(pin))).json.attemptsRemaining, 2);
  const again = await good("POST", `/2fa/2/pin/${pinId}/resend`);
  assert.deepEqual(again, { pinId, to, ncStatus: "NC_NOT_CONFIGURED", smsStatus: "MESSAGE_SENT" });
  assert.equal((await verify(pinId, notThe(pin))).json.attemptsRemaining, 1);
  const headers = { "content-type": "application/json" };
  assert.equal((await call("POST", `/2fa/2/pin/${pinId}/resend`, { headers, body: "" })).status, 200);
  assert.equal((await verify(pinId, notThe(pin))).json.attemptsRemaining, 0);
  refused(await call("POST", `/2fa/2/pin/${pinId}/resend`), 400, "BAD_REQUEST", ["pinId"]);
  refused(await call("POST", `/2fa/2/pin/${pinId}/resend`, { body: "null" }), 400, "BAD_REQUEST", ["body"]);
});

test("verifications of a number are limited over all its PINs", async () => {
  const names = await setUp({ configuration: { verifyPinLimit: "1/3s" } });
  const to = freshNumber();
  const first = await sent(names, to);
  const second = await sent(names, to);
  assert.equal((await verify(first.pinId, notThe(first.pin))).json.pinError, "WRONG_PIN");
  refused(await verify(second.pinId, second.pin), 429, "TOO_MANY_REQUESTS");
  await clock.advance(3_000);
  assert.equal((await verify(second.pinId, second.pin)).json.verified, true);
});

test("of a number whose messages are rejected no PIN can be guessed, and no more are made than the limit says", async () => {
  const account = await addAccount(service.store, { key: "BROKE", balanceMicros: 0n });
  const broke = basic(account.key, "password");
  const { applicationId } = await good("POST", APPLICATIONS, { name: "Login" }, broke);
  const text = { messageText: "PIN is {{pin}}", pinType: "NUMERIC", senderId: "Broke" };
  const { messageId } = await good("POST", `${APPLICATIONS}/${applicationId}/messages`, text, broke);
  const to = freshNumber();
  const answers = [];
  for (let sending = 0; sending < 8; sending++)
    answers.push(await call("POST", "/2fa/2/pin", { body: { applicationId, messageId, to }, authorization: broke }));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 429, 429, 429, 429, 429],
  );
  const { pinId } = answers[0]!.json;
  for (let guess = 0; guess < 30; guess++) {
    const verdict = await good("POST", `/2fa/2/pin/${pinId}/verify`, { pin: String(1_000 + guess) }, broke);
    const not = { verified: false, pinError: "WRONG_PIN" };
    assert.deepEqual(verdict, { pinId, msisdn: to, attemptsRemaining: 10, ...not }, "it is not looked at");
  }
});

test("a resend that is rejected does not make the PIN good for longer", async () => {
  const price = 10_000n;
  const account = await addAccount(service.store, { key: "ONCE", balanceMicros: price });
  const once = basic(account.key, "password");
  const configuration = { ...WIDE, pinTimeToLive: "10m" };
  const { applicationId } = await good("POST", APPLICATIONS, { name: "Login", configuration }, once);
  const text = { messageText: "PIN is {{pin}}", pinType: "NUMERIC", senderId: "Once" };
  const { messageId } = await good("POST", `${APPLICATIONS}/${applicationId}/messages`, text, once);
  const to = freshNumber();
  const { pinId, smsStatus } = await good("POST", "/2fa/2/pin", { applicationId, messageId, to }, once);
  assert.equal(smsStatus, "MESSAGE_SENT");
  await clock.advance(5 * 60_000);
  const again = await good("POST", `/2fa/2/pin/${pinId}/resend`, {}, once);
  assert.equal(again.smsStatus, "MESSAGE_NOT_SENT");
  const verified = () => good("POST", `/2fa/2/pin/${pinId}/verify`, { pin: lastPin(to) }, once);
  assert.equal((await verified()).verified, true);
  await clock.advance(5 * 60_000);
  assert.equal((await verified()).pinError, "TTL_EXPIRED");
});

test("a PIN that the balance does not cover is not sent and not charged, and can be sent later", async () => {
  const account = await addAccount(service.store, { key: "POOR", balanceMicros: 0n });
  const poor = basic("POOR", "password");
  const limits = { sendPinPerPhoneNumberLimit: "2/1d", sendPinPerApplicationLimit: "2/1d" };
  const { applicationId } = await good(
    "POST",
    APPLICATIONS,
    { name: "x", configuration: { ...WIDE, ...limits } },
    poor,
  );
  const text = { messageText: "PIN is {{pin}}", pinType: "NUMERIC", senderId: "Poor" };
  const { messageId } = await good("POST", `${APPLICATIONS}/${applicationId}/messages`, text, poor);
  const to = freshNumber();
  const first = await good("POST", "/2fa/2/pin", { applicationId, messageId, to }, poor);
  assert.equal(first.smsStatus, "MESSAGE_NOT_SENT");
  const path = `${APPLICATIONS}/${applicationId}/verifications?msisdn=${to}`;
  assert.deepEqual(await good("GET", path, undefined, poor), { verifications: [{ msisdn: to, verified: false }] });
  const by = { by: { name: "test", address: null }, atMs: clock.now() };
  const change = { creditLimitMicros: 1_000_000n };
  await service.store.changeAccount({ key: account.key, resellerId: null, version: null, change, ...by });
  const again = await good("POST", `/2fa/2/pin/${first.pinId}/resend`, {}, poor);
  assert.equal(again.smsStatus, "MESSAGE_SENT");
  const verified = await good("POST", `/2fa/2/pin/${first.pinId}/verify`, { pin: lastPin(to) }, poor);
  assert.equal(verified.verified, true);
  const more = await call("POST", "/2fa/2/pin", { body: { applicationId, messageId, to }, authorization: poor });
  refused(more, 429, "TOO_MANY_REQUESTS");
});

test("what became of a number's PINs is told, newest first", async () => {
  const names = await setUp();
  const to = freshNumber();
  const sentAt = clock.now();
  const { pinId, pin } = await sent(names, to);
  await clock.advance(1_000);
  await verify(pinId, pin);
  await clock.advance(1_000);
  await sent(names, to);
  const path = `${APPLICATIONS}/${names.applicationId}/verifications/?msisdn=${to}`;
  const old = { msisdn: to, verified: true, verifiedAt: sentAt + 1_000, sentAt };
  const fresh = { msisdn: to, verified: false, sentAt: sentAt + 2_000 };
  assert.deepEqual(await good("GET", path), { verifications: [fresh, old] });
  assert.deepEqual(await good("GET", `${path}&verified=undefined&sent=true`), { verifications: [fresh, old] });
  assert.deepEqual(await good("GET", `${path}&verified=true`), { verifications: [old] });
  assert.deepEqual(await good("GET", `${path}&verified=false&sent=true`), { verifications: [fresh] });
  assert.deepEqual(await good("GET", `${path}&sent=false`), { verifications: [] });
  refused(await call("GET", `${path}&sent=maybe`), 400, "BAD_REQUEST", ["sent"]);
  refused(await call("GET", path.split("?")[0]!), 400, "BAD_REQUEST", ["msisdn"]);
  refused(await call("GET", path.replace(names.applicationId, "0".repeat(32))), 404, "NOT_FOUND");
});

test("nobody sees, sends or verifies what is another account's", async () => {
  await addAccount(service.store, { key: "STRANGER", balanceMicros: 1_000_000n });
  const authorization = basic("STRANGER", "password");
  const { applicationId, messageId } = await setUp();
  const { pinId, pin, to } = await sent({ applicationId, messageId });
  const path = `${APPLICATIONS}/${applicationId}`;
  const stranger = (method: string, at: string, body?: unknown) =>
    call(method, at, { authorization, ...(body === undefined ? {} : { body }) });
  assert.deepEqual((await stranger("GET", APPLICATIONS)).json, []);
  const text = { messageText: "{{pin}}", pinType: "NUMERIC" };
  for (const [method, at, body] of [
    ["GET", path],
    ["PUT", path, { name: "mine" }],
    ["GET", `${path}/messages`],
    ["POST", `${path}/messages`, text],
    ["GET", `${path}/messages/${messageId}`],
    ["PUT", `${path}/messages/${messageId}`, text],
    ["GET", `${path}/verifications?msisdn=${to}`],
    ["POST", `/2fa/2/pin/${pinId}/resend`, {}],
    ["POST", `/2fa/2/pin/${pinId}/verify`, { pin }],
  ] as const)
    refused(await stranger(method, at, body), 404, "NOT_FOUND");
  refused(await stranger("POST", "/2fa/2/pin", { applicationId, messageId, to }), 400, "BAD_REQUEST", [
    "applicationId",
  ]);
});

test("the phone gets the PIN; logs, the console and the store after the end have it masked", async () => {
  const names = await setUp({ template: { messageText: "Your PIN is {{pin}} at {{shop}}" } });
  const to = freshNumber();
  const answer = await good("POST", "/2fa/2/pin", {
    ...names,
    to,
    placeholders: { shop: "the till" },
    trackDelivery: true,
  });
  const pin = lastPin(to);
  assert.match(lastText(to), /^Your PIN is \d{4} at the till$/);
  const masked = "Your PIN is **** at the till";
  const logged = async () => (await good("GET", `/sms/1/logs?to=${to}`)).results[0];
  assert.equal((await logged()).text, masked, "while it is on its way");
  await eventually(async () => {
    await clock.advance(1_000);
    return (await logged()).status.groupName === "DELIVERED";
  });
  assert.equal((await logged()).text, masked);
  const life = await service.store.messageLife({ accountId: null, messageId: answer.externalMessageId });
  assert.doesNotMatch(
    JSON.stringify(life, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    new RegExp(pin),
  );
  const phones = await call("GET", `/console/1/phone?number=${to}`);
  assert.match(phones.text, new RegExp(`Your PIN is ${pin}`), "in the sandbox the phone shows it");
  await verify(answer.pinId, pin);
  const requests = await call("GET", "/console/1/requests");
  assert.equal(requests.status, 200);
  assert.match(requests.text, /2fa/);
  assert.doesNotMatch(requests.text, new RegExp(`"${pin}`));
});

test("the reports of a PIN come to whoever asked for them", async () => {
  const names = await setUp();
  const to = freshNumber();
  const quiet = freshNumber();
  const { externalMessageId } = await good("POST", "/2fa/2/pin", { ...names, to, trackDelivery: true });
  await sent(names, quiet);
  const found: { to: string; messageId: string }[] = [];
  await eventually(async () => {
    await clock.advance(1_000);
    found.push(...(await good("GET", "/sms/1/reports?limit=1000")).results);
    return found.some((report) => report.messageId === externalMessageId);
  });
  await eventually(async () => {
    await clock.advance(1_000);
    return (await good("GET", `/sms/1/logs?to=${quiet}`)).results[0].status.groupName === "DELIVERED";
  });
  found.push(...(await call("GET", "/sms/1/reports?limit=1000")).json.results);
  assert.deepEqual(
    found.filter((report) => report.to === quiet),
    [],
  );
});
