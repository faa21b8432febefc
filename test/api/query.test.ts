/** GET /sms/1/text/query: a message in a plain URL. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount, changeAccounts } from "../support/accounts.ts";
import { startChild } from "../support/child.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { ACCEPTED, accepted, balanceOf, ENROUTE, ID, REJECTED } from "../support/sending.ts";
import {
  type Answer,
  assertUnauthorized,
  basic,
  type CallOptions,
  CHALLENGES,
  callService,
  errorObject,
  startTestService,
  temporaryDirectory,
} from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const QUERY = "/sms/1/text/query";
const NOW = Date.UTC(2026, 0, 5, 12);
const TO = "41793026727";
const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { clock: new VirtualClock(NOW), data });

type Parameters = Record<string, string>;
const LOGIN: Parameters = { username: "demo", password: "demo-password" };
const MESSAGE: Parameters = { from: "InfoSMS", to: TO, text: "Hello" };

function send(parameters: Parameters, options: CallOptions = {}): Promise<Answer> {
  const query = new URLSearchParams({ ...LOGIN, ...parameters });
  return service.call("GET", `${QUERY}?${query}`, { authorization: null, ...options });
}

function badRequest(field: string, says: string) {
  return [400, errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`)];
}

test("one destination is answered as by single", async () => {
  const balance = await balanceOf(service);
  const before = service.handedOn.length;
  const answer = await send({ ...MESSAGE, text: "Grüße & more = 1+1" });

  assert.deepEqual(accepted(answer), { messages: [{ to: TO, status: ENROUTE, smsCount: 1, messageId: ID }] });
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { from, to, text } = service.handedOn[before]!;
  assert.deepEqual({ from, to, text }, { from: "InfoSMS", to: TO, text: "Grüße & more = 1+1" });
  assert.equal(Math.round((balance - (await balanceOf(service))) * 100), 1);
});

test("several destinations are separated by commas, or named one by one, and have a bulkId", async () => {
  const messages = [
    { to: TO, status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "41793026728", status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "nobody", status: REJECTED.destination, smsCount: 1 },
  ];
  const answer = await send({ ...MESSAGE, to: `${TO}, 41793026728,nobody,` });
  assert.deepEqual(accepted(answer), { bulkId: ID, messages });
  const query = new URLSearchParams({ ...LOGIN, from: "InfoSMS", text: "Hello" });
  const again = await service.call("GET", `${QUERY}?${query}&to=${TO}&to=41793026728,nobody`, { authorization: null });
  assert.deepEqual(accepted(again), { bulkId: ID, messages });
});

test("the fields of a message stand flat in the query, and are read as what they are", async () => {
  const before = service.handedOn.length;
  const answer = await send({
    ...MESSAGE,
    text: "Привет",
    flash: "true",
    transliteration: "CYRILLIC",
    validityPeriod: "10",
    notifyUrl: "https://example.com/reports?a=b",
    notifyContentType: "application/xml",
    intermediateReport: "True",
    callbackData: "order 7",
    messageId: "by-query",
  });

  assert.equal(accepted(answer).messages[0]!.messageId, "by-query");
  const { text, flash, intermediateReport, expiresAtMs } = service.handedOn[before]!;
  assert.deepEqual(
    { text, flash, intermediateReport, expiresAtMs },
    { text: "Privet", flash: true, intermediateReport: true, expiresAtMs: NOW + 10 * 60_000 },
  );
  await send({ ...MESSAGE, text: "ş", languageCode: "TR", flash: "false" });
  const { encoding, flash: plain } = service.handedOn.at(-1)!;
  assert.deepEqual([encoding, plain], ["gsm7+tr.s", false]);
});

test("sendAt holds the message, also with a plus sign that was not escaped", async () => {
  const held = { bulkId: ID, messages: [{ to: TO, status: ACCEPTED, messageId: ID }] };
  assert.deepEqual(accepted(await send({ ...MESSAGE, sendAt: "2026-01-05T12:30:00.000+0000" })), held);
  assert.deepEqual(accepted(await send({ ...MESSAGE, sendAt: "2026-01-05T12:30:00.000 0000" })), held);
});

test("an empty parameter is as good as none, and an unknown one is ignored", async () => {
  const answer = await send({ ...MESSAGE, flash: "", sendAt: "", bulkId: "", validityPeriod: "", track: "SMS" });
  assert.deepEqual(accepted(answer).messages[0], { to: TO, status: ENROUTE, smsCount: 1, messageId: ID });
});

test("what is wrong is told as everywhere, and nothing is sent", async () => {
  const before = [service.handedOn.length, await balanceOf(service)];
  const { to: _, ...nowhere } = MESSAGE;
  const { text: __, ...silent } = MESSAGE;
  const cases: readonly (readonly [parameters: Parameters, field: string, says: string])[] = [
    [nowhere, "to", "is required"],
    [{ ...MESSAGE, to: "" }, "to", "is required"],
    [{ ...MESSAGE, to: " , " }, "to", "must not be empty"],
    [silent, "text", "is required"],
    [{ ...MESSAGE, text: "" }, "text", "is required"],
    [{ ...MESSAGE, text: "a\0b" }, "text", "has a NUL character"],
    [{ ...MESSAGE, flash: "yes" }, "flash", "must be a boolean"],
    [{ ...MESSAGE, intermediateReport: "1" }, "intermediateReport", "must be a boolean"],
    [{ ...MESSAGE, validityPeriod: "soon" }, "validityPeriod", "must be an integer"],
    [{ ...MESSAGE, validityPeriod: "1.5" }, "validityPeriod", "must be an integer"],
    [{ ...MESSAGE, validityPeriod: "-1" }, "validityPeriod", "must be 1 or more"],
    [{ ...MESSAGE, languageCode: "XX" }, "languageCode", "must be one of TR, ES, PT, AUTODETECT, NONE"],
    [{ ...MESSAGE, callbackData: "x".repeat(201) }, "callbackData", "must be at most 200 characters long"],
    [{ ...MESSAGE, notifyUrl: "nowhere" }, "notifyUrl", "is not an absolute http or https URL"],
    [{ ...MESSAGE, sendAt: "soon" }, "sendAt", "is not a date and time like 2026-02-12T09:58:20.323+0000"],
    [{ ...MESSAGE, deliveryTimeWindow: "MONDAY" }, "deliveryTimeWindow", "cannot be given in a query"],
    [{ ...MESSAGE, language: "TR" }, "language", "cannot be given in a query"],
  ];
  for (const [parameters, field, says] of cases) {
    const { status, json } = await send(parameters);
    assert.deepEqual([status, json], badRequest(field, says));
  }
  const query = new URLSearchParams({ ...LOGIN, ...MESSAGE });
  const twice = await service.call("GET", `${QUERY}?${query}&text=again`, { authorization: null });
  assert.deepEqual([twice.status, twice.json], badRequest("text", "must be given once"));
  assert.deepEqual([service.handedOn.length, await balanceOf(service)], before);
});

test("who sends it stands in the query or in a header, and the query counts first", async () => {
  const query = new URLSearchParams(MESSAGE);
  const ask = async (authorization: string | null, more = "") =>
    (await service.call("GET", `${QUERY}?${query}${more}`, { authorization })).status;
  const { json } = await service.call("POST", "/auth/1/session", { body: LOGIN, authorization: null });
  assert.equal(await ask(basic("demo", "demo-password")), 200);
  assert.equal(await ask("App demo-api-key"), 200);
  assert.equal(await ask(`IBSSO ${json.token}`), 200);
  assert.equal(await ask(basic("demo", "wrong"), "&username=demo&password=demo-password"), 200);
  assert.equal(await ask("App demo-api-key", "&username=demo"), 200, "a username alone is not an attempt to log in");
  assert.equal(await ask("App demo-api-key", "&username=demo&password=wrong"), 401);
});

test("nobody else sends anything, and it is settled before the message is looked at", async () => {
  for (const parameters of [
    { password: "wrong" },
    { username: "nobody" },
    { password: "" },
    { ...MESSAGE, password: "wrong" },
  ]) {
    const { status, json, headers } = await send(parameters as Parameters);
    assertUnauthorized({ status, json }, "password");
    assert.equal(headers.get("www-authenticate"), CHALLENGES);
  }
  await addAccount(service.store, { key: "SUSPENDED" });
  await changeAccounts(data, "UPDATE account SET suspended = 1 WHERE key = 'SUSPENDED'");
  const suspended = await send({ ...MESSAGE, username: "SUSPENDED", password: "password" });
  const says = errorObject("FORBIDDEN", "Forbidden", null, "The account is suspended.");
  assert.deepEqual([suspended.status, suspended.json], [403, says]);
});

test("a request that comes again is answered as the first time, by bulkId and by Idempotency-Key", async () => {
  const several = { ...MESSAGE, to: `${TO},41793026728` };
  for (const [parameters, headers] of [
    [{ ...several, bulkId: "query-bulk" }, {}],
    [several, { "idempotency-key": "query-key" }],
  ] as const) {
    const first = await send(parameters, { headers });
    const balance = await balanceOf(service);
    assert.equal((await send(parameters, { headers })).text, first.text);
    assert.equal(await balanceOf(service), balance);
    const byKey = await service.call("GET", `${QUERY}?${new URLSearchParams(parameters)}`, {
      headers,
      authorization: "App demo-api-key",
    });
    assert.equal(byKey.text, first.text, "whoever the account shows to be, it is the same request");
  }
  const other = await send({ ...several, text: "Other" }, { headers: { "idempotency-key": "query-key" } });
  assert.equal(other.status, 409);
});

test("a URL that is longer than the headers may be is refused", async () => {
  const { status } = await rawCall(service.url, rawRequestText("GET", `${QUERY}?text=${"x".repeat(17_000)}`, {}));
  assert.equal(status, 431);
  const long = accepted(await send({ ...MESSAGE, text: "x".repeat(3_000) }));
  assert.deepEqual(long.messages[0], { to: TO, status: ENROUTE, smsCount: 20, messageId: ID });
});

test("a HEAD sends nothing", async () => {
  const before = service.handedOn.length;
  const head = await service.call("HEAD", `${QUERY}?${new URLSearchParams({ ...LOGIN, ...MESSAGE })}`);
  assert.deepEqual([head.status, head.headers.get("allow")], [405, "GET"]);
  assert.equal(service.handedOn.length, before);
});

test("the password of a URL is in no line of the log, whatever becomes of the request", {
  timeout: 600_000,
}, async (t) => {
  const directory = await temporaryDirectory(t);
  const settings = { HELIOGRAPH_LOG_LEVEL: "debug" };
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", directory], settings);
  const ask = async (parameters: Parameters) => {
    const query = new URLSearchParams({ ...MESSAGE, username: "demo", ...parameters });
    return (await callService(child.url, "GET", `${QUERY}?${query}`, { authorization: null })).status;
  };
  // Its own words: the sandbox's greeting tells the demo account's password.
  const statuses = [
    await ask({ password: "not-to-be-seen" }),
    await ask({ password: "not-to-be-seen", flash: "x" }),
    await ask({ password: "not-to-be-seen\0" }),
    (await callService(child.url, "GET", `${QUERY}/%zz?password=not-to-be-seen`)).status,
    (await callService(child.url, "POST", `${QUERY}?password=not-to-be-seen`)).status,
  ];
  assert.deepEqual(statuses, [401, 401, 401, 404, 405]);
  assert.equal(await child.end("SIGTERM"), 0);
  assert.match(child.output(), /Heliograph stops/);
  assert.doesNotMatch(child.output(), /not-to-be-seen/);
});
