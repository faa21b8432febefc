/** Fields that look mistyped are told of: in a header of the answer, in the log, and in the sandbox's output. They are accepted all the same. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { knownRequest } from "../../src/api/known-fields.ts";
import { nearMisses, WARNINGS_HEADER } from "../../src/api/near-misses.ts";
import { SendingRequests } from "../../src/api/schemas.ts";
import { type Child, startChild } from "../support/child.ts";
import { callService, eventually, temporaryDirectory } from "../support/service.ts";

const SINGLE = "/sms/1/text/single";
const MESSAGE = { from: "Sender", to: "41793026727", text: "Hello" };

let sandbox: Child;
const cleanups: (() => unknown)[] = [];
before(async () => {
  const t = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) };
  const data = await temporaryDirectory(t);
  sandbox = await startChild(t, ["sandbox", "--port", "0", "--data", data], { HELIOGRAPH_LOG_LEVEL: "info" });
});
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function send(path: string, body: object) {
  const { status, headers, json } = await callService(sandbox.url, "POST", path, { body });
  return { status, warnings: headers.get(WARNINGS_HEADER), json };
}

const missed = (field: string, known: string): string => `${field} is not known here; did you mean ${known}?`;

test("notifyURL and sendat are reported, and the message is sent as if they were not there", async () => {
  const fields = { notifyURL: "http://127.0.0.1:9/", sendat: "2030-01-01T00:00:00.000+0000" };
  const { status, warnings, json } = await send(SINGLE, { ...MESSAGE, ...fields });
  assert.equal(status, 200);
  assert.equal(json.messages[0].status.name, "PENDING_ENROUTE", "it waits for no time");
  assert.equal(warnings, `${missed("notifyURL", "notifyUrl")}, ${missed("sendat", "sendAt")}`);

  const line = `POST ${SINGLE}: ${missed("notifyURL", "notifyUrl")} ${missed("sendat", "sendAt")}`;
  await eventually(async () => sandbox.output().includes(line));
  await eventually(async () => /"msg":"a request has fields that look mistyped"/.test(sandbox.output()));
});

test("other spellings, letters too many, too few, wrong or in the wrong order are near; other words are not", async () => {
  const near: Readonly<Record<string, string>> = {
    notify_url: "notifyUrl",
    "callback-data": "callbackData",
    CallBackData: "callbackData",
    validityperiods: "validityPeriod",
    transliteratoin: "transliteration",
    flush: "flash",
    From: "from",
  };
  for (const [name, meant] of Object.entries(near))
    assert.equal((await send(SINGLE, { ...MESSAGE, [name]: "x" })).warnings, missed(name, meant), name);
  for (const name of ["tag", "do", "applicationName", "messageGroup", "n".repeat(500), "x-notify-url-of-mine"])
    assert.deepEqual(
      await send(SINGLE, { ...MESSAGE, [name]: "x" }).then(({ status, warnings }) => [status, warnings]),
      [200, null],
      name,
    );
  assert.equal((await send(SINGLE, { ...MESSAGE, notifyUrl: "http://127.0.0.1:9/", flash: false })).warnings, null);
});

test("a field is reported where it stands, and once for all objects of its place", async () => {
  const destinations = [
    { to: "41793026727" },
    { to: "41793026728", messageID: "a" },
    { to: "41793026729", messageID: "b" },
  ];
  const messages = [
    { text: "one", destinations: [{ to: "41793026727" }], language: { languagecode: "TR" } },
    { text: "two", destinations, notifyURL: "http://127.0.0.1:9/" },
    { text: "three", destinations: [{ to: "41793026730" }], notifyURL: "http://127.0.0.1:9/" },
  ];
  const { status, warnings } = await send("/sms/1/text/advanced", { messages, bulkID: "mine" });
  assert.equal(status, 200);
  assert.deepEqual(warnings?.split(", "), [
    missed("messages[0].language.languagecode", "languageCode"),
    missed("messages[1].destinations[1].messageID", "messageId"),
    missed("messages[1].notifyURL", "notifyUrl"),
    missed("bulkID", "bulkId"),
  ]);
});

test("an answer that refuses the request says it too", async () => {
  const { status, warnings } = await send(SINGLE, { from: "Sender", to: "41793026727", Text: "Hello" });
  assert.deepEqual([status, warnings], [400, missed("Text", "text")]);
});

test("each family has its own names: what is right in one is a near miss in the other", async () => {
  const outbound = { address: "41793026727", message: "Hello" };
  const path = "/1/smsmessaging/outbound/Sender/requests";
  const url = "http://127.0.0.1:9/";
  assert.deepEqual(
    await Promise.all(
      [
        { ...outbound, notifyURL: url },
        { ...outbound, client_correlator: "mine" },
        { ...outbound, notifyUrl: url },
      ].map(async (body) => (await send(path, body)).warnings),
    ),
    [null, null, missed("notifyUrl", "notifyURL")],
  );
  const v3 = { messages: [{ destinations: [{ to: "41793026727" }], content: { text: "Hello" }, webHooks: {} }] };
  assert.equal((await send("/sms/3/messages", v3)).warnings, missed("messages[0].webHooks", "webhooks"));

  const query = async (target: string) => {
    const { status, headers } = await callService(sandbox.url, "GET", target);
    return [status, headers.get(WARNINGS_HEADER)];
  };
  const plain = "to=41793026727&text=Hello&from=Sender";
  assert.deepEqual(await query(`/sms/1/text/query?${plain}&notifyURL=${url}`), [200, missed("notifyURL", "notifyUrl")]);
  assert.deepEqual(await query("/sms/1/logs?limits=1"), [200, missed("limits", "limit")]);
  assert.deepEqual(await query("/sms/1/logs?messageId[]=1"), [200, null]);
  const kannel = `/cgi-bin/sendsms?username=demo&password=demo-password&${plain}`;
  assert.deepEqual(await query(`${kannel}&dlr_mask=1`), [202, missed("dlr_mask", "dlr-mask")]);
  assert.deepEqual(await query(`${kannel}&dlrmask=1&dlrurl=${url}`), [202, null], "names of older versions of Kannel");
});

test("a field that is right in another version, or at another level, is reported with its place here", async () => {
  const sendAt = "2030-01-01T00:00:00.000+0000";
  const url = "http://127.0.0.1:9/";
  const advanced = { messages: [{ text: "Hello", from: "Sender", destinations: [{ to: "41793026727" }] }] };
  const v3 = { messages: [{ sender: "Sender", destinations: [{ to: "41793026727" }], content: { text: "Hello" } }] };
  const inV3 = (more: object) => ({ messages: [{ ...v3.messages[0], ...more }] });
  for (const [path, body, field, place] of [
    ["/sms/1/text/advanced", { ...advanced, sendAt }, "sendAt", "messages[].sendAt"],
    ["/sms/2/text/advanced", { ...advanced, notifyUrl: url }, "notifyUrl", "messages[].notifyUrl"],
    ["/sms/1/text/advanced", { ...advanced, from: "X" }, "from", "messages[].from"],
    ["/sms/1/text/advanced", { ...advanced, to: "1" }, "to", "messages[].destinations[].to"],
    [SINGLE, { ...MESSAGE, callbackUrl: url }, "callbackUrl", "notifyUrl"],
    [SINGLE, { ...MESSAGE, webhooks: {} }, "webhooks", "notifyUrl"],
    [SINGLE, { ...MESSAGE, sender: "X" }, "sender", "from"],
    ["/sms/3/messages", inV3({ notifyUrl: url }), "messages[0].notifyUrl", "messages[].webhooks.delivery.url"],
    ["/sms/3/messages", inV3({ callbackData: "x" }), "messages[0].callbackData", "messages[].webhooks.callbackData"],
    ["/sms/3/messages", inV3({ validityPeriod: 5 }), "messages[0].validityPeriod", "messages[].options.validityPeriod"],
    ["/sms/3/messages", { ...v3, sendAt }, "sendAt", "options.schedule.sendAt"],
    ["/sms/3/messages", { ...v3, bulkId: "mine" }, "bulkId", "options.schedule.bulkId"],
  ] as const) {
    const { status, warnings } = await send(path, body);
    assert.deepEqual([status, warnings], [200, missed(field, place)], `${path} ${field}`);
  }
  // Fields that the family has and that mean nothing here are read past in silence, and so is what nobody can place.
  const ignored = { type: "x", priority: 1, campaignId: "x", operatorClientId: "x", title: "x", url: "x" };
  assert.equal((await send("/sms/1/text/advanced", { ...advanced, ...ignored })).warnings, null);
  // Of what comes in one second not every line is printed.
  const line = `POST /sms/1/text/advanced: ${missed("sendAt", "messages[].sendAt")}`;
  await eventually(async () => {
    await send("/sms/1/text/advanced", { ...advanced, sendAt });
    return sandbox.output().includes(line);
  });
});

test("a number without its country code is reported, by whichever door it comes, and sent all the same", async () => {
  const says = (first: number, others = "") =>
    `the number of destination ${first} begins with 0${others}: no country code does; write it with its country code, as +41793026727 for Switzerland's 0793026727`;
  const { status, warnings, json } = await send(SINGLE, { ...MESSAGE, to: "0793026727" });
  assert.deepEqual([status, warnings], [200, says(1)]);
  assert.deepEqual([json.messages[0].to, json.messages[0].status.name], ["0793026727", "PENDING_ENROUTE"]);
  const destinations = ["41793026727", "0793026727", "0041793026727", "0793026728", "0abc"].map((to) => ({ to }));
  const several = await send("/sms/1/text/advanced", {
    messages: [{ from: "Sender", text: "Hello", destinations }],
    bulkID: "x",
  });
  assert.equal(
    several.warnings,
    `${missed("bulkID", "bulkId")}, the number of destination 5 is not of digits alone: a number has 4 to 15 digits, with its country's code, ${says(2, " (so does another)")}`,
  );
  const v3 = { messages: [{ sender: "Sender", destinations: [{ to: "0793026727" }], content: { text: "Hello" } }] };
  assert.equal((await send("/sms/3/messages", v3)).warnings, says(1));
  const query = "/sms/1/text/query?to=0793026727&text=Hello&from=Sender";
  assert.equal((await callService(sandbox.url, "GET", query)).headers.get(WARNINGS_HEADER), says(1));
  for (const to of ["+41793026727", "0041793026727", "41793026727"])
    assert.equal((await send(SINGLE, { ...MESSAGE, to })).warnings, null, to);
  await eventually(async () => {
    await send(SINGLE, { ...MESSAGE, to: "0793026727" });
    return sandbox.output().includes(`warning   POST ${SINGLE}: ${says(1)}`);
  });
  await eventually(async () => /"msg":"a request looks odd"/.test(sandbox.output()));
});

test("whatever a caller names its fields, the header is short and in ASCII", async () => {
  const names = Array.from({ length: 500 }, (_, index) => `notifyUrl${String.fromCodePoint(0x100 + index)}`);
  const fields = Object.fromEntries([...names, "notifyUr\u0000l", "notify\r\nUrl"].map((name) => [name, "x"]));
  const { status, warnings } = await send(SINGLE, { ...MESSAGE, ...fields });
  assert.equal(status, 200);
  assert.match(warnings!, /^[\x20-\x7e]{50,1000}$/);
  assert.ok(warnings!.split(", ").length <= 10);
});

test("a request without unknown fields makes nothing, and one with very many has a bound", () => {
  const known = knownRequest({ body: SendingRequests.text.advanced }, [])!;
  const plain = { messages: [{ text: "Hello", destinations: [{ to: "41793026727", messageId: "a" }] }] };
  assert.equal(nearMisses(known, plain, {}), nearMisses(known, plain, {}), "the one empty list");
  assert.equal(nearMisses(known, null, {}).length + nearMisses(known, "text", {}).length, 0);
  const many = { messages: Array.from({ length: 100_000 }, () => ({ text: "Hello" })), notifyURL: "x", bulkID: "x" };
  assert.deepEqual(nearMisses(known, many, {}), [], "only the first fields of a request are looked at");
  let deep: object = { text: "x" };
  for (let depth = 0; depth < 1_000; depth++) deep = { messages: [deep] };
  assert.deepEqual(nearMisses(known, deep, {}), []);
});

test("the description of the API has the header", async () => {
  const { json } = await callService(sandbox.url, "GET", "/openapi.json", { authorization: null });
  assert.deepEqual(json.paths[SINGLE].post.responses["200"].headers, {
    [WARNINGS_HEADER]: { $ref: "#/components/headers/Warnings" },
  });
  assert.match(json.components.headers.Warnings.description, /did you mean/);
  assert.equal(json.paths["/account/1/balance"].get.responses["200"].headers, undefined, "it takes no fields");
});
