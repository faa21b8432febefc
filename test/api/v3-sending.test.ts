/** POST /sms/3/messages and GET /sms/3/text/query: every field of the request, every field of the answer, and the errors in version 3's own body. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEMO_SENDER } from "../../src/auth/demo-accounts.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ACCEPTED, accepted, balanceOf, ID, REJECTED } from "../support/sending.ts";
import { type Answer, DEMO, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** Monday noon. The clock stands still, so what depends on the time can be told to the millisecond. */
const NOW = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const MESSAGES = "/sms/3/messages";
const TO = "41793026727";

const service = await startTestService({ after }, { clock: new VirtualClock(NOW) });

interface Fields {
  [name: string]: unknown;
}

function message(fields: Fields = {}): Fields {
  return { sender: "Shop", destinations: [{ to: TO }], content: { text: "Hello" }, ...fields };
}

const send = (messages: Fields[], options?: Fields): Promise<Answer> =>
  service.call("POST", MESSAGES, { body: { messages, ...(options === undefined ? {} : { options }) } });

/** Sends one message and returns it as it went to the carrier. */
async function handedOn(fields: Fields, options?: Fields): Promise<QueuedMessage> {
  const before = service.handedOn.length;
  const body = accepted(await send([message(fields)], options));
  assert.equal(service.handedOn.length, before + 1, JSON.stringify(body));
  return service.handedOn[before]!;
}

/** The properties that an answer complains of, after a look at its form. */
function violated(answer: Answer): Record<string, string> {
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.deepEqual(Object.keys(answer.json), ["errorCode", "description", "action", "violations", "resources"]);
  assert.equal(answer.json.errorCode, "E400");
  for (const violation of answer.json.violations) assert.deepEqual(Object.keys(violation), ["property", "violation"]);
  return Object.fromEntries(
    answer.json.violations.map((each: { property: string; violation: string }) => [each.property, each.violation]),
  );
}

test("each destination has an item, in order, with version 3's names", async () => {
  const answer = await send([
    message({ destinations: [{ to: TO, messageId: "mine-v3" }, { to: "12" }] }),
    message({ content: { hex: "0f c2 4a" } }),
  ]);
  const { action, ...invalid } = { ...REJECTED.destination, action: "Check to parameter." };
  assert.deepEqual(accepted(answer), {
    bulkId: ID,
    messages: [
      { messageId: "mine-v3", status: ACCEPTED, destination: TO },
      { messageId: ID, status: { ...invalid, action }, destination: "12" },
      { messageId: ID, status: ACCEPTED, destination: TO },
    ],
  });
});

test("parts are counted for whoever asks, of texts and not of binary messages", async () => {
  const messages = [message({ content: { text: "x".repeat(161) } }), message({ content: { hex: "0f" } })];
  const { json } = await send(messages, { includeSmsCountInResponse: true });
  assert.deepEqual(
    json.messages.map((each: Fields) => each.details),
    [{ messageCount: 2 }, undefined],
  );
});

test("a full request as Java's client writes it is taken", async () => {
  const body = `{"messages":[{"sender":"Heliograph","destinations":[{"to":"41793026727","messageId":"m-1"},{"to":"41793026728"}],
    "content":{"text":"\u015eimdi","transliteration":"TURKISH","language":{"languageCode":"TR"}},
    "options":{"platform":{"entityId":"promotions","applicationId":"shop"},"validityPeriod":{"amount":12,"timeUnit":"HOURS"},"flash":false,
      "deliveryTimeWindow":{"days":["MONDAY","SUNDAY"],"from":{"hour":6,"minute":0},"to":{"hour":20,"minute":30}},"campaignReferenceId":"spring"},
    "webhooks":{"delivery":{"url":"https://example.com/dlr","intermediateReport":true,"notify":true},"contentType":"application/json","callbackData":"order 7"}},
    {"destinations":[{"to":"41793026727"}],"content":{"dataCoding":4,"esmClass":0,"hex":"0f c2 4a"}}],
    "options":{"schedule":{"bulkId":"b-1","sendAt":"2026-01-06T17:06:46.735+0000"},"includeSmsCountInResponse":true,
      "conversionTracking":{"useConversionTracking":true,"conversionTrackingName":"ONE_TIME_PIN"}}}`;
  const answer = await service.call("POST", MESSAGES, {
    body,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "user-agent": "infobip-api-client-java/6.4.0",
      accept: "application/json",
    },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.bulkId, "b-1");
  assert.deepEqual(
    answer.json.messages.map((each: { status: { id: number } }) => each.status.id),
    // The binary one has no sender: it has that of the demo account.
    [26, 26, 26],
  );
});

test("what a message says goes on to its carrier", async () => {
  const got = await handedOn({
    content: { text: "Hello" },
    options: {
      flash: true,
      validityPeriod: { amount: 90, timeUnit: "SECONDS" },
      platform: { entityId: "e", applicationId: "a" },
      regional: {
        indiaDlt: { principalEntityId: "1", contentTemplateId: "2", telemarketerId: "3", more: "x" },
        turkeyIys: { recipientType: "TACIR", brandCode: 7 },
        southKorea: { resellerCode: 8, title: "News" },
      },
    },
  });
  assert.equal(got.flash, true);
  assert.equal(got.expiresAtMs, NOW + 90_000);
  assert.deepEqual(got.regional, {
    indiaDlt: { principalEntityId: "1", contentTemplateId: "2", telemarketerId: "3" },
    turkeyIys: { recipientType: "TACIR", brandCode: 7 },
    southKorea: { resellerCode: 8, title: "News" },
  });
});

test("validity has units, and is cut to 48 hours", async () => {
  for (const [validityPeriod, minutes] of [
    [{ amount: 3 }, 3],
    [{ amount: 3, timeUnit: "MINUTES" }, 3],
    [{ amount: 2, timeUnit: "HOURS" }, 120],
    [{ amount: 30, timeUnit: "SECONDS" }, 0.5],
    [{ amount: 720, timeUnit: "HOURS" }, 2880],
    [undefined, 2880],
  ] as const) {
    const { expiresAtMs } = await handedOn({ options: validityPeriod === undefined ? {} : { validityPeriod } });
    assert.equal(expiresAtMs, NOW + minutes * MINUTE_MS, JSON.stringify(validityPeriod));
  }
});

test("a sender may be called from; an empty one is none", async () => {
  const { sender: _, ...nameless } = message();
  const before = service.handedOn.length;
  assert.equal((await send([{ ...nameless, from: "Courier" }])).json.messages[0].status.id, 26);
  assert.equal(service.handedOn[before]!.from, "Courier");
  assert.equal((await send([{ ...nameless, sender: "", from: "Courier" }])).json.messages[0].status.id, 26);
  assert.equal((await send([{ ...nameless, sender: "" }])).json.messages[0].status.id, 26);
  assert.equal(service.handedOn.at(-1)!.from, DEMO_SENDER, "the account's own stands in for it");
});

test("binary messages have their coding; Go sends both numbers always", async () => {
  const got = await handedOn({ content: { hex: "0fc2 4a", dataCoding: 4, esmClass: 0 } });
  assert.deepEqual([got.text, got.encoding], ["0fc24a", { dataCoding: 4, esmClass: 0 }]);
});

test("one time holds for the whole request", async () => {
  const before = service.handedOn.length;
  const schedule = { bulkId: "v3-later", sendAt: "2026-01-06T10:00:00.000+00:00" };
  await send([message(), message({ content: { text: "Two" } })], { schedule });
  assert.equal(service.handedOn.length, before);
  const { json } = await service.call("GET", "/sms/1/bulks?bulkId=v3-later");
  assert.deepEqual(json, { bulkId: "v3-later", sendAt: "2026-01-06T10:00:00.000+0000" });
});

const WRONG: readonly (readonly [Fields, string, RegExp])[] = [
  [{ messages: [] }, "messages", /empty/],
  [{}, "messages", /required/],
  [{ messages: [message({ destinations: [] })] }, "messages[0].destinations", /empty/],
  [{ messages: [message({ content: undefined })] }, "messages[0].content", /required/],
  [{ messages: [message({ content: {} })] }, "messages[0].content", /either text or hex/],
  [{ messages: [message({ content: { text: "x", hex: "0f" } })] }, "messages[0].content", /either text or hex/],
  [{ messages: [message({ content: { text: "" } })] }, "messages[0].content.text", /empty/],
  [{ messages: [message({ content: { hex: "0" } })] }, "messages[0].content.hex", /even/],
  [{ messages: [message({ destinations: [{}] })] }, "messages[0].destinations[0].to", /required/],
  [
    { messages: [message({ destinations: [{ to: TO, messageId: "x".repeat(201) }] })] },
    "messages[0].destinations[0].messageId",
    /200/,
  ],
  [
    { messages: [message({ content: { text: "x", transliteration: "KLINGON" } })] },
    "messages[0].content.transliteration",
    /one of/,
  ],
  [
    { messages: [message({ content: { text: "x", language: { languageCode: "XX" } } })] },
    "messages[0].content.language.languageCode",
    /one of/,
  ],
  [
    { messages: [message({ options: { validityPeriod: { timeUnit: "HOURS" } } })] },
    "messages[0].options.validityPeriod.amount",
    /required/,
  ],
  [
    { messages: [message({ options: { validityPeriod: { amount: 1, timeUnit: "DAYS" } } })] },
    "messages[0].options.validityPeriod.timeUnit",
    /one of/,
  ],
  [
    { messages: [message({ options: { deliveryTimeWindow: {} } })] },
    "messages[0].options.deliveryTimeWindow.days",
    /required/,
  ],
  [
    { messages: [message({ options: { deliveryTimeWindow: { days: ["MONDAY"], from: { hour: 1, minute: 0 } } } })] },
    "messages[0].options.deliveryTimeWindow.to",
    /both or not at all/,
  ],
  [
    {
      messages: [
        message({
          options: {
            deliveryTimeWindow: { days: ["MONDAY"], from: { hour: 23, minute: 30 }, to: { hour: 0, minute: 29 } },
          },
        }),
      ],
    },
    "messages[0].options.deliveryTimeWindow.to",
    /an hour/,
  ],
  [
    { messages: [message({ options: { campaignReferenceId: "x".repeat(256) } })] },
    "messages[0].options.campaignReferenceId",
    /255/,
  ],
  [
    { messages: [message({ options: { platform: { entityId: "x".repeat(256) } } })] },
    "messages[0].options.platform.entityId",
    /255/,
  ],
  [
    { messages: [message({ options: { regional: { indiaDlt: {} } } })] },
    "messages[0].options.regional.indiaDlt.principalEntityId",
    /required/,
  ],
  [
    { messages: [message({ options: { regional: { turkeyIys: { recipientType: "X" } } } })] },
    "messages[0].options.regional.turkeyIys.recipientType",
    /one of/,
  ],
  [
    { messages: [message({ options: { regional: { southKorea: { title: "x".repeat(67) } } } })] },
    "messages[0].options.regional.southKorea.title",
    /66/,
  ],
  [
    { messages: [message({ webhooks: { delivery: { url: "ftp://x" } } })] },
    "messages[0].webhooks.delivery.url",
    /http/,
  ],
  [{ messages: [message({ webhooks: { contentType: "text/plain" } })] }, "messages[0].webhooks.contentType", /one of/],
  [
    { messages: [message({ webhooks: { callbackData: "x".repeat(4_001) } })] },
    "messages[0].webhooks.callbackData",
    /4000/,
  ],
  [
    { messages: [message()], options: { schedule: { sendAt: "infobip.Time value" } } },
    "options.schedule.sendAt",
    /date/,
  ],
  [
    { messages: [message(), message()], options: { schedule: { sendAt: "2027-01-06T10:00:00.000+0000" } } },
    "options.schedule.sendAt",
    /180 days/,
  ],
  [{ messages: [message()], options: { schedule: { bulkId: "x".repeat(101) } } }, "options.schedule.bulkId", /100/],
  [
    { messages: [message()], options: { schedule: { sendingSpeedLimit: {} } } },
    "options.schedule.sendingSpeedLimit.amount",
    /required/,
  ],
  [
    { messages: [message()], options: { schedule: { sendingSpeedLimit: { amount: 0 } } } },
    "options.schedule.sendingSpeedLimit.amount",
    /1 or more/,
  ],
  [
    { messages: [message()], options: { schedule: { sendingSpeedLimit: { amount: 1, timeUnit: "WEEK" } } } },
    "options.schedule.sendingSpeedLimit.timeUnit",
    /one of/,
  ],
];

test("a wrong request is refused as a whole, with the violation under its own name, and costs nothing", async () => {
  const before = await balanceOf(service);
  for (const [body, property, says] of WRONG) {
    const violations = violated(await service.call("POST", MESSAGES, { body }));
    assert.deepEqual(Object.keys(violations), [property], JSON.stringify(body).slice(0, 200));
    assert.match(violations[property]!, says);
  }
  assert.equal(await balanceOf(service), before);
});

test("errors before and beside the operation have the same body", async () => {
  for (const [answer, code] of [
    [await service.call("POST", MESSAGES, { authorization: null, body: {} }), 401],
    [await service.call("POST", "/sms/3/nothing", { body: {} }), 404],
    [await service.call("PUT", MESSAGES, { body: {} }), 405],
    [await service.call("POST", MESSAGES, { body: "{", headers: { "content-type": "application/json" } }), 400],
    [await service.call("POST", MESSAGES, { body: "x", headers: { "content-type": "text/plain" } }), 415],
  ] as const) {
    assert.deepEqual(Object.keys(answer.json), ["errorCode", "description", "action", "violations", "resources"]);
    assert.deepEqual([answer.status, answer.json.errorCode], [code, `E${code}`]);
  }
});

test("callbackData of 4,000 characters comes back; courier's place for the content type is taken", async (t) => {
  const own = await startTestService(t);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const callbackData = "é".repeat(4_000);
  const webhooks = { delivery: { url: `${receiver.url}/v3`, contentType: "application/xml" }, callbackData };
  const options = { platform: { entityId: "promotions", applicationId: "shop" }, campaignReferenceId: "spring" };
  const { json } = await own.call("POST", MESSAGES, { body: { messages: [message({ webhooks, options })] } });
  const [report] = await receiver.waitForRequests(1);
  const { headers, body } = report!;
  assert.equal(headers["content-type"], "application/xml");
  assert.match(body, /^<\?xml version="1.0" encoding="UTF-8"\?><DeliveryReports><results><result><bulkId>/);
  for (const part of [
    `<messageId>${json.messages[0].messageId}</messageId>`,
    "<sender>Shop</sender>",
    "<messageCount>1</messageCount>",
    `<callbackData>${callbackData}</callbackData>`,
    "<platform><entityId>promotions</entityId><applicationId>shop</applicationId></platform>",
    "<campaignReferenceId>spring</campaignReferenceId>",
  ])
    assert.ok(body.includes(part), part.slice(0, 80));
});

test("with notify: false there is no report, neither pushed nor to be fetched", async (t) => {
  const own = await startTestService(t);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const url = `${receiver.url}/v3`;
  const silent = message({ webhooks: { delivery: { url, notify: false } } });
  const fetched = message({ webhooks: { delivery: { notify: false } } });
  const told = message({ webhooks: { delivery: { url, notify: true } } });
  // The last one is the sign that the others had their time.
  const refused = message({ ...silent, destinations: [{ to: "12" }] });
  const { json } = await own.call("POST", MESSAGES, { body: { messages: [silent, fetched, refused, told] } });
  await receiver.waitForItems(1);
  const ids = json.messages.map((each: { messageId: string }) => each.messageId);
  const isDone = async (): Promise<boolean> => {
    const logs = await own.call("GET", `/sms/1/logs?messageId=${ids[0]},${ids[1]}`);
    return logs.json.results.every((each: { status: { groupName: string } }) => each.status.groupName === "DELIVERED");
  };
  while (!(await isDone()));
  assert.deepEqual(
    receiver.requests.flatMap(({ items }) => items.map(({ messageId }) => messageId)),
    [ids[3]],
  );
  assert.deepEqual((await own.call("GET", "/sms/1/reports")).json, { results: [] });
});

test("a text in a plain URL has all its parameters", async () => {
  const before = service.handedOn.length;
  const query = new URLSearchParams({
    to: `${TO},12`,
    text: "Hello",
    from: "Shop",
    bulkId: "v3-query",
    flash: "true",
    includeSmsCountInResponse: "true",
    validityPeriod: "5",
    callbackData: "x".repeat(4_000),
    notifyContentType: "application/xml",
    indiaDltPrincipalEntityId: "1",
    indiaDltContentTemplateId: "2",
    southKoreaTitle: "News",
  });
  const answer = await service.call("GET", `/sms/3/text/query?${query}`);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { action, ...invalid } = { ...REJECTED.destination, action: "Check to parameter." };
  assert.deepEqual(accepted(answer), {
    bulkId: "v3-query",
    messages: [
      { messageId: ID, status: ACCEPTED, destination: TO, details: { messageCount: 1 } },
      { messageId: ID, status: { ...invalid, action }, destination: "12", details: { messageCount: 1 } },
    ],
  });
  const got = service.handedOn[before]!;
  assert.deepEqual([got.flash, got.expiresAtMs], [true, NOW + 5 * MINUTE_MS]);
  assert.deepEqual(got.regional, {
    indiaDlt: { principalEntityId: "1", contentTemplateId: "2" },
    southKorea: { title: "News" },
  });
});

test("a plain URL of version 3 takes no password, and names what is wrong", async () => {
  for (const [query, property] of [
    [`to=${TO}&text=x&username=demo&password=x`, "username"],
    [`to=${TO}`, "text"],
    ["text=x", "to"],
    [`to=${TO}&text=x&flash=perhaps`, "flash"],
    [`to=${TO}&text=x&indiaDltTelemarketerId=3`, "indiaDltPrincipalEntityId"],
    [`to=${TO}&text=x&turkeyIysBrandCode=3`, "turkeyIysRecipientType"],
    [`to=${TO}&text=x&sendAt=tomorrow`, "sendAt"],
    [`to=${TO}&text=x&notifyUrl=nowhere`, "notifyUrl"],
  ]) {
    const answer = await service.call("GET", `/sms/3/text/query?${query}`, { authorization: DEMO });
    assert.deepEqual(Object.keys(violated(answer)), [property], query);
  }
});
