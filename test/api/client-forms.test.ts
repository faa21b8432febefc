/** Paths, numbers for words, and keys as clients of the family write them, to the letter of their bytes. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { writtenBy } from "../support/client-bytes.ts";
import { ADVANCED, ADVANCED_V2, ENROUTE, ID, SINGLE } from "../support/sending.ts";
import { DEMO, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const TO = "41793026727";
const LATER = formatDateTime(Date.now() + 3_600_000);
const JAVA = [
  "Authorization: {auth}",
  "Content-Type: application/json; charset=utf-8",
  "Accept: application/json",
  "User-Agent: infobip-api-client-java/6.4.0",
];
const post = (path: string, body: unknown) =>
  writtenBy(service, DEMO, [`POST ${path} HTTP/1.1`, ...JAVA], JSON.stringify(body));

test("/sms/2/…/single and /multi are the first version's under another path", async () => {
  const message = { from: "InfoSMS", to: TO };
  for (const [kind, says] of [
    ["text", { text: "Hello" }],
    ["binary", { binary: { hex: "0f c2" } }],
  ] as const) {
    const single = await post(`/sms/2/${kind}/single`, { ...message, ...says });
    assert.equal(single.status, 200, JSON.stringify(single.json));
    const [{ messageId, ...rest }] = single.json.messages;
    assert.match(messageId, /^\d{19}$/, ID);
    assert.deepEqual(single.json, { messages: [{ messageId, ...rest }] });
    assert.deepEqual(rest, { to: TO, status: ENROUTE, smsCount: 1 });
    const multi = await post(`/sms/2/${kind}/multi`, { messages: [{ ...message, ...says }] });
    assert.deepEqual(Object.keys(multi.json), ["bulkId", "messages"]);
    assert.deepEqual(multi.json.messages[0].status, ENROUTE);
  }
});

test("days of a window may be their place in the week, as a number or a digit", async () => {
  const window = (days: unknown) => ({ from: "InfoSMS", to: TO, text: "x", deliveryTimeWindow: { days } });
  const daysOf = async (path: string, body: unknown) => {
    const before = service.handedOn.length;
    const { status, json } = await post(path, body);
    assert.equal(status, 200, JSON.stringify(json));
    return service.handedOn[before]?.window?.days;
  };
  const all = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
  assert.deepEqual(await daysOf(SINGLE, window([0, 1, 2, 3, 4, 5, 6])), all);
  assert.deepEqual(await daysOf(SINGLE, window(["0", "1", "WEDNESDAY", 3, "4", 5, "6"])), all);
  assert.deepEqual(await daysOf("/sms/1/text/multi", { messages: [window([6, 0, 1, 2, 3, 4, 5])] }), [
    all[6],
    ...all.slice(0, 6),
  ]);
  const { to, ...message } = window([0, 1, 2, 3, 4, 5, 6]);
  for (const path of [ADVANCED, ADVANCED_V2])
    assert.deepEqual(await daysOf(path, { messages: [{ ...message, destinations: [{ to }] }] }), all);
  for (const wrong of [[7], [-1], [0.5], ["7"], ["00"], [null], ["monday"], [{}], [[0]], 0, "0"]) {
    const { status, json } = await post(SINGLE, window(wrong));
    assert.equal(status, 400, JSON.stringify(wrong));
    assert.match(json.requestError.serviceException.variables[0], /^deliveryTimeWindow\.days/);
  }
});

test("a bulk's status may be its place in the contract's list", async () => {
  await post(SINGLE, { from: "InfoSMS", to: TO, text: "x", bulkId: "numbered", sendAt: LATER });
  const put = (status: unknown) =>
    writtenBy(service, DEMO, ["PUT /sms/1/bulks/status?bulkId=numbered HTTP/1.1", ...JAVA], JSON.stringify({ status }));
  assert.deepEqual((await put(1)).json, { bulkId: "numbered", status: "PAUSED" });
  assert.deepEqual((await put("0")).json, { bulkId: "numbered", status: "PENDING" });
  for (const wrong of [6, -1, "6", 0.5, true, [1]]) assert.equal((await put(wrong)).status, 400, String(wrong));
  assert.deepEqual((await put(3)).json, { bulkId: "numbered", status: "CANCELED" });
});

const query = (more: string) =>
  writtenBy(service, "", [
    `GET /sms/1/text/query?username=demo&password=demo-password&from=InfoSMS&to=${TO}&text=Hi${more} HTTP/1.1`,
    "Accept: */*",
  ]);

test("validityPeriod=0 in a query is none, and in a body it is wrong", async () => {
  const before = service.handedOn.length;
  assert.equal((await query("&validityPeriod=0")).status, 200);
  const left = service.handedOn[before]!.expiresAtMs - Date.now();
  assert.ok(left > 47 * 3_600_000, `valid for ${left} ms`);
  assert.equal((await query("&validityPeriod=-1")).status, 400);
  assert.equal((await post(SINGLE, { from: "InfoSMS", to: TO, text: "x", validityPeriod: 0 })).status, 400);
});

test("the unit of a validity is heeded, and one that nobody knows is wrong", async () => {
  const validFor = async (path: string, body: object) => {
    const before = service.handedOn.length;
    const { status, json } = await post(path, body);
    assert.equal(status, 200, JSON.stringify(json));
    return Math.round((service.handedOn[before]!.expiresAtMs - Date.now()) / 60_000);
  };
  const hours = { from: "InfoSMS", text: "x", validityPeriod: 2, validityPeriodTimeUnit: "HOURS" };
  assert.equal(await validFor(SINGLE, { ...hours, to: TO }), 120);
  assert.equal(await validFor("/sms/1/text/multi", { messages: [{ ...hours, to: TO }] }), 120);
  assert.equal(await validFor(ADVANCED_V2, { messages: [{ ...hours, destinations: [{ to: TO }] }] }), 120);
  const before = service.handedOn.length;
  assert.equal((await query("&validityPeriod=600&validityPeriodTimeUnit=SECONDS")).status, 200);
  assert.equal(Math.round((service.handedOn[before]!.expiresAtMs - Date.now()) / 60_000), 10);
  const unknown = await post(SINGLE, { ...hours, to: TO, validityPeriodTimeUnit: "DAYS" });
  assert.deepEqual(unknown.json.requestError.serviceException.variables, ["validityPeriodTimeUnit"]);
});

test("links that are to be tracked by the old way are refused, not sent as they are", async () => {
  const messages = [{ from: "InfoSMS", destinations: [{ to: TO }], text: "https://example.com" }];
  for (const path of [ADVANCED, ADVANCED_V2]) {
    const { status, json } = await post(path, { tracking: { track: "URL", baseUrl: "http://x.test/" }, messages });
    assert.deepEqual([status, json.requestError.serviceException.variables], [400, ["tracking.track"]]);
  }
  assert.equal((await query("&track=URL")).status, 400);
  assert.equal((await query("&track=SMS")).status, 200);
});

test("a query that is scheduled is told its bulkId, by which it is called off", async () => {
  assert.equal("bulkId" in (await query("")).json, false);
  const { json } = await query(`&sendAt=${encodeURIComponent(LATER)}`);
  assert.match(json.bulkId, /^\d{19}$/);
  const path = `/sms/1/bulks/status?bulkId=${json.bulkId}`;
  const canceled = await service.call("PUT", path, { body: { status: "CANCELED" } });
  assert.deepEqual(canceled.json, { bulkId: json.bulkId, status: "CANCELED" });
});

test("a client's own processKey is the trackingProcessKey of the answer, also of an answer that is given again", async () => {
  const body = {
    bulkId: "tracked",
    tracking: { track: "SMS", type: "SIGN_UP", baseUrl: null, processKey: "my-process" },
    messages: [{ from: "InfoSMS", destinations: [{ to: TO }], text: "Hello" }],
  };
  const first = await post(ADVANCED, body);
  assert.deepEqual([first.status, first.json.trackingProcessKey], [200, "my-process"]);
  assert.deepEqual((await post(ADVANCED, body)).json, first.json);
  const without = { ...body, bulkId: undefined, tracking: { track: "SMS", processKey: "" } };
  assert.match((await post(ADVANCED, without)).json.trackingProcessKey, /^[0-9a-f]{32}$/);
  assert.equal("trackingProcessKey" in (await post(ADVANCED_V2, { ...body, bulkId: "v2" })).json, false);
  const long = await post(ADVANCED, { ...body, tracking: { processKey: "x".repeat(256) } });
  assert.deepEqual([long.status, long.json.requestError.serviceException.variables], [400, ["tracking.processKey"]]);
});

test("a 401 names every scheme, a line each, Basic first; the console's names none that opens a dialog", async () => {
  const lines = ({ head }: { head: string }) => head.split("\r\n").filter((line) => /^www-authenticate:/i.test(line));
  const refused = [
    await writtenBy(service, "", ["GET /account/1/balance HTTP/1.1"]),
    await writtenBy(service, "App wrong", ["GET /sms/1/logs HTTP/1.1", "Authorization: {auth}"]),
    await writtenBy(service, "", ["POST /1/customerProfile/login HTTP/1.1"]),
    await writtenBy(service, "IBSSO wrong", [
      "POST /1/customerProfile/payments/funds HTTP/1.1",
      "Authorization: {auth}",
    ]),
  ];
  for (const answer of refused) {
    assert.equal(answer.status, 401);
    assert.deepEqual(
      lines(answer).map((line) => line.replace(/^www-authenticate: /i, "")),
      [
        'Basic realm="heliograph", charset="UTF-8"',
        'App realm="heliograph"',
        'IBSSO realm="heliograph"',
        'Bearer realm="heliograph"',
      ],
    );
  }
  const login = await writtenBy(service, "", ["POST /1/customerProfile/login HTTP/1.1"]);
  assert.equal(login.json.requestError.serviceException.messageId, "LOGIN_ERROR");
});

test("a list in a query or a form may be written as to[]= or to[0]=, escaped or not", async () => {
  for (const [first, second] of [
    ["to[]", "to[]"],
    ["to[0]", "to[1]"],
    ["to%5B0%5D", "to%5b1%5d"],
  ]) {
    const query = `from=InfoSMS&text=a[0]=b&${first}=${TO}&${second}=41793026728`;
    const { status, json } = await service.call("GET", `/sms/1/text/query?${query}`);
    assert.equal(status, 200, query);
    assert.deepEqual(
      json.messages.map(({ to }: { to: string }) => to),
      [TO, "41793026728"],
      query,
    );
    const form = `senderAddress=InfoSMS&message=x&${first!.replace("to", "address")}=${TO}&${second!.replace("to", "address")}=41793026728`;
    const sent = await service.call("POST", "/1/smsmessaging/outbound/InfoSMS/requests", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: form,
    });
    assert.equal(sent.status, 201, sent.text);
    const id = /requests\/([^/]+)/.exec(sent.text)![1];
    const states = await service.call("GET", `/1/smsmessaging/outbound/InfoSMS/requests/${id}/deliveryInfos`);
    assert.equal(states.json.deliveryInfoList.deliveryInfo.length, 2, states.text);
  }
});

test("ApiKey is another word for App, a path may begin with two slashes, and a text with a byte order mark", async () => {
  const body = Buffer.from(`\ufeff${JSON.stringify({ from: "InfoSMS", to: TO, text: "x" })}`);
  const authorization = "ApiKey demo-api-key";
  for (const path of [SINGLE, `/${SINGLE}`, `//${SINGLE}`]) {
    const { status, text } = await service.call("POST", path, { authorization, body });
    assert.equal(status, 200, text);
  }
  assert.equal((await service.call("POST", SINGLE, { authorization: "ApiKey wrong", body })).status, 401);
});

test("a body that is compressed is told so, on both ways", async () => {
  const body = JSON.stringify({ from: "InfoSMS", to: TO, text: "x" });
  for (const [coding, status] of [
    ["gzip", 415],
    ["deflate, br", 415],
    ["identity", 200],
  ] as const) {
    const answer = await service.call("POST", SINGLE, { body, headers: { "content-encoding": coding } });
    assert.equal(answer.status, status, coding);
    if (status === 415) assert.match(answer.text, /must not be compressed/);
  }
});
