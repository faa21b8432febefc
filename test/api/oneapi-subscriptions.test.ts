/** Subscriptions of the OneAPI: made, listed and deleted as each client does it, and what is pushed to them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { XMLParser } from "fast-xml-parser";
import { addAccount } from "../support/accounts.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { basic, CATALOGUE, DEMO, startTestService } from "../support/service.ts";

const PHONE = "41793026727";
const number = (name: string, account: string, more = "") =>
  `[[number]]\naccount = "${account}"\nnumber = "${name}"\n${more}\n`;
const receiver = await ReportReceiver.start();
after(() => receiver.stop());
const OPERATORS_URL = `http://127.0.0.1:${receiver.port}/operator`;
const service = await startTestService(
  { after },
  {
    catalogue:
      CATALOGUE +
      number("12345", "DEMO0001") +
      number("23456", "DEMO0001", `forwardUrl = "${OPERATORS_URL}"\nstopKeywords = ["STOP"]`) +
      number("34567", "SOMEBODYELSE"),
  },
);

const OUTBOUND = "/1/smsmessaging/outbound";
const INBOUND = "/1/smsmessaging/inbound/subscriptions";
const FORM = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
const urlOf = (path: string) => `http://127.0.0.1:${receiver.port}/${path}`;

let accounts = 0;
async function caller(): Promise<string> {
  const { key } = await addAccount(service.store, { key: `SUBSCRIBER${accounts++}`, balanceMicros: 1_000_000_000n });
  return basic(key, "password");
}

async function call(method: string, path: string, authorization: string, body?: string | object, headers = {}) {
  return service.call(method, path, { authorization, headers, ...(body === undefined ? {} : { body }) });
}

/** What has come to a path, once there is so much. */
async function received(path: string, count = 1) {
  for (let wanted = 1; ; wanted++) {
    const found = receiver.requests.filter((each) => each.path === `/${path}`);
    if (found.length >= count) return found;
    await receiver.waitForRequests(Math.max(wanted, receiver.requests.length + 1));
  }
}

test("PY makes one by JSON and deletes it by its URL", async () => {
  const authorization = await caller();
  const made = await call("POST", `${OUTBOUND}/InfoSMS/subscriptions`, authorization, {
    senderAddress: "InfoSMS",
    notifyURL: urlOf("py"),
    criteria: null,
    callbackData: "x",
    clientCorrelator: "cc-1",
  });
  assert.equal(made.status, 201, made.text);
  const { resourceURL } = made.json.deliveryReceiptSubscription;
  const id = resourceURL.split("/").at(-1);
  assert.deepEqual(made.json, {
    deliveryReceiptSubscription: {
      callbackReference: { callbackData: "x", notifyURL: urlOf("py") },
      resourceURL: `${service.url}${OUTBOUND}/subscriptions/${id}`,
    },
  });
  const shown = {
    subscriptionId: id,
    senderAddress: "InfoSMS",
    criteria: null,
    notifyUrl: urlOf("py"),
    callbackData: "x",
  };
  const list = await call("GET", `${OUTBOUND}/subscriptions`, authorization);
  assert.deepEqual(list.json, { deliveryReceiptSubscriptions: [shown] });
  const ofSender = await call("GET", `${OUTBOUND}/InfoSMS/subscriptions?`, authorization);
  assert.deepEqual(ofSender.json, { deliveryReceiptSubscriptions: [shown] });
  const ofOther = await call("GET", `${OUTBOUND}/Other/subscriptions`, authorization);
  assert.deepEqual(ofOther.json, { deliveryReceiptSubscriptions: [] });
  const one = await call("GET", `${OUTBOUND}/subscriptions/${id}`, authorization);
  assert.deepEqual(one.json, { deliveryReceiptSubscription: shown });
  const deleted = await call("DELETE", new URL(resourceURL).pathname, authorization);
  assert.deepEqual([deleted.status, deleted.text], [204, ""]);
  assert.equal((await call("GET", `${OUTBOUND}/subscriptions/${id}`, authorization)).status, 404);
  assert.equal((await call("DELETE", new URL(resourceURL).pathname, authorization)).status, 404);
});

test("PHP makes both kinds by forms, and deletes both with a whole URL as the id", async () => {
  const body = `notifyURL=${encodeURIComponent(urlOf("php"))}&criteria=&callbackData=&clientCorrelator=a1`;
  const made = await call("POST", `${OUTBOUND}/InfoSMS/subscriptions`, DEMO, body, FORM);
  assert.equal(made.status, 201, made.text);
  const url = made.json.deliveryReceiptSubscription.resourceURL;
  assert.equal(made.json.deliveryReceiptSubscription.callbackReference.callbackData, null);
  const inbound = await call(
    "POST",
    INBOUND,
    DEMO,
    `destinationAddress=12345&notifyURL=${encodeURIComponent(urlOf("php"))}&criteria=Quiz&notificationFormat=JSON&callbackData=&clientCorrelator=a2`,
    FORM,
  );
  assert.equal(inbound.status, 201, inbound.text);
  for (const whole of [url, inbound.json.resourceReference.resourceURL]) {
    const answer = await call("DELETE", `${OUTBOUND}/subscriptions/${whole}`, DEMO, undefined, FORM);
    assert.deepEqual([answer.status, answer.text], [204, ""], whole);
    const again = await call("DELETE", `${OUTBOUND}/subscriptions/${whole}`, DEMO, undefined, FORM);
    assert.equal(again.status, 404);
  }
  assert.deepEqual((await call("GET", INBOUND, DEMO)).json, { subscriptions: [] });
});

test("JAVA and NET name no sender, and their own ids are the last segment", async () => {
  const authorization = await caller();
  const java = await call("POST", `${OUTBOUND}/subscriptions`, authorization, {
    notifyURL: urlOf("java"),
    criteria: null,
    callbackData: null,
    clientCorrelator: null,
    senderAddress: null,
  });
  assert.equal(java.status, 201, java.text);
  const net = await call(
    "POST",
    `${OUTBOUND}/subscriptions`,
    authorization,
    `notifyURL=${urlOf("net")}&criteria=word`,
    FORM,
  );
  assert.equal(net.status, 201, net.text);
  const { json } = await call("GET", `${OUTBOUND}/subscriptions`, authorization);
  assert.deepEqual(
    json.deliveryReceiptSubscriptions.map((each: Record<string, unknown>) => [each.senderAddress, each.criteria]),
    [
      [null, null],
      [null, "word"],
    ],
  );
});

test("the same again makes nothing else, and a correlator is not for two", async () => {
  const authorization = await caller();
  const make = (fields: object) =>
    call("POST", `${OUTBOUND}/InfoSMS/subscriptions`, authorization, { notifyURL: urlOf("same"), ...fields });
  const first = await make({ clientCorrelator: "c" });
  const again = await make({ clientCorrelator: "c" });
  assert.deepEqual(again.json, first.json);
  assert.deepEqual((await make({ clientCorrelator: "d" })).json, first.json);
  const other = await make({ clientCorrelator: "c", criteria: "word" });
  assert.equal(other.status, 409);
});

test("subscriptions are bounded, and an id is not used again", async () => {
  const authorization = await caller();
  const make = (index: number) =>
    call("POST", `${OUTBOUND}/InfoSMS/subscriptions`, authorization, { notifyURL: urlOf(`many/${index}`) });
  const ids: string[] = [];
  for (let index = 0; index < 20; index++) {
    const { status, json } = await make(index);
    assert.equal(status, 201);
    ids.push(json.deliveryReceiptSubscription.resourceURL.split("/").at(-1));
  }
  const full = await make(20);
  assert.equal(full.status, 400);
  assert.match(full.json.requestError.serviceException.additionalDescription, /no room/);
  assert.equal((await call("DELETE", `${OUTBOUND}/subscriptions/${ids.at(-1)}`, authorization)).status, 204);
  const next = await make(21);
  assert.equal(next.status, 201);
  assert.ok(!ids.includes(next.json.deliveryReceiptSubscription.resourceURL.split("/").at(-1)));
  // Long URLs fill the room sooner.
  const wide = await caller();
  const statuses: number[] = [];
  for (let index = 0; index < 10; index++) {
    const notifyURL = urlOf(`${index}${"x".repeat(2_000)}`);
    statuses.push((await call("POST", `${OUTBOUND}/subscriptions`, wide, { notifyURL })).status);
  }
  assert.deepEqual([...new Set(statuses)].sort(), [201, 400]);
});

test("wrong subscriptions are told which field is wrong", async () => {
  const rows: [string, object, string][] = [
    [`${OUTBOUND}/subscriptions`, {}, "notifyURL"],
    [`${OUTBOUND}/subscriptions`, { notifyURL: "nowhere" }, "notifyURL"],
    [`${OUTBOUND}/subscriptions`, { notifyURL: urlOf("x"), criteria: "two words" }, "criteria"],
    [`${OUTBOUND}/subscriptions`, { notifyURL: urlOf("x"), senderAddress: "much too long a name" }, "senderAddress"],
    [INBOUND, { notifyURL: urlOf("x") }, "destinationAddress"],
    [INBOUND, { notifyURL: urlOf("x"), destinationAddress: "34567" }, "destinationAddress"],
    [INBOUND, { notifyURL: urlOf("x"), destinationAddress: "12345", notificationFormat: "CSV" }, "notificationFormat"],
  ];
  for (const [path, body, field] of rows) {
    const answer = await call("POST", path, DEMO, body);
    assert.equal(answer.status, 400, answer.text);
    assert.deepEqual(answer.json.requestError.serviceException.variables, [field]);
  }
});

const send = (authorization: string, fields: object) =>
  call("POST", `${OUTBOUND}/InfoSMS/requests`, authorization, { address: PHONE, message: "hello", ...fields });

test("reports go to the closest subscription, in the form of the family that the message was sent by", async () => {
  const authorization = await caller();
  const make = (path: string, fields: object) =>
    call("POST", `${OUTBOUND}/subscriptions`, authorization, { notifyURL: urlOf(path), ...fields });
  assert.equal((await make("any", { callbackData: "standing" })).status, 201);
  assert.equal((await make("sender", { senderAddress: "InfoSMS" })).status, 201);
  assert.equal((await make("both", { senderAddress: "InfoSMS", criteria: "Quiz" })).status, 201);

  await send(authorization, { message: "quiz: what", clientCorrelator: "to both" });
  const [both] = await received("both");
  const { deliveryInfo, callbackData } = JSON.parse(both!.body).deliveryInfoNotification;
  assert.deepEqual([deliveryInfo.clientCorrelator, callbackData], ["to both", null]);

  await send(authorization, { clientCorrelator: "to sender" });
  await received("sender");

  // What is sent by another family is told in its form.
  const sent = await call("POST", "/sms/1/text/single", authorization, { from: "Other", to: PHONE, text: "hello" });
  const [any] = await received("any");
  assert.equal(any!.items[0]!.messageId, sent.json.messages[0].messageId);
  assert.equal(any!.items[0]!.callbackData, "standing");

  // A URL of its own comes first, and so does callbackData of its own.
  await send(authorization, { notifyURL: urlOf("own"), clientCorrelator: "to own" });
  await received("own");
  await call("POST", "/sms/1/text/single", authorization, { from: "Other", to: PHONE, text: "x", callbackData: "own" });
  const found = await received("any", 2);
  assert.equal(found[1]!.items[0]!.callbackData, "own");
  assert.equal((await received("sender")).length, 1);
});

test("what is deleted gets nothing more, from the next message on", async () => {
  const authorization = await caller();
  const made = await call("POST", `${OUTBOUND}/subscriptions`, authorization, { notifyURL: urlOf("gone") });
  await send(authorization, {});
  await received("gone");
  await call("DELETE", new URL(made.json.deliveryReceiptSubscription.resourceURL).pathname, authorization);
  const { json } = await send(authorization, {});
  const { messageId } = json.sendMessageResults[0];
  // Nobody pushes it, so it can be fetched.
  for (;;) {
    const reports = await call("GET", `${OUTBOUND}/requests/deliveryReports?limit=0`, authorization);
    if (reports.json.deliveryReportList.length === 0) continue;
    assert.equal(reports.json.deliveryReportList[0].messageId, messageId);
    break;
  }
  assert.equal((await received("gone")).length, 1);
});

const write = (to: string, text: string) =>
  service.call("POST", "/sandbox/1/incoming", { body: { from: PHONE, to, text } });

test("messages from phones go to the account's own subscription, else where the operator says, and never to both", async () => {
  const make = (fields: object, headers = {}) => call("POST", INBOUND, DEMO, fields, headers);
  const json = await make({
    destinationAddress: "tel:+23456",
    notifyURL: urlOf("quiz"),
    criteria: "QUIZ",
    callbackData: "mo",
  });
  assert.equal(json.status, 201, json.text);
  const body = `destinationAddress=12345&notifyURL=${encodeURIComponent(urlOf("xml"))}&notificationFormat=XML&client_correlator=py`;
  const xml = await call("POST", INBOUND, DEMO, body, FORM);
  assert.equal(xml.status, 201, xml.text);

  await write("23456", "quiz Paris");
  const [quiz] = await received("quiz");
  assert.equal(quiz!.headers["content-type"], "application/json");
  const pushed = JSON.parse(quiz!.body);
  const [message] = pushed.inboundSMSMessage;
  const list = {
    inboundSMSMessage: [
      {
        dateTime: message.dateTime,
        destinationAddress: "23456",
        messageId: message.messageId,
        message: "quiz Paris",
        resourceURL: null,
        senderAddress: PHONE,
        moSessionId: 0,
        moResponseKey: null,
        callbackData: "mo",
        price: 0,
      },
    ],
    numberOfMessagesInThisBatch: 1,
    totalNumberOfPendingMessages: 0,
    resourceURL: null,
    callbackData: "mo",
  };
  assert.deepEqual(pushed, { inboundSMSMessageList: list, ...list });

  await write("23456", "something else");
  const [operators] = await received("operator");
  assert.deepEqual(
    operators!.items.map(({ text }) => text),
    ["something else"],
  );

  await write("12345", "<hello> & ü");
  const [document] = await received("xml");
  assert.equal(document!.headers["content-type"], "application/xml");
  const read = new XMLParser({ parseTagValue: false }).parse(document!.body).inboundSMSMessageList;
  assert.equal(read.inboundSMSMessage.message, "<hello> & ü");
  assert.equal(read.inboundSMSMessage.senderAddress, PHONE);
  assert.equal(read.numberOfMessagesInThisBatch, "1");

  // Nothing of it waits to be fetched.
  const inbox = await call("GET", "/1/smsmessaging/inbound/registrations/INBOUND/messages?maxBatchSize=100", DEMO);
  assert.equal(inbox.json.inboundSMSMessageList.numberOfMessagesInThisBatch, 0);
  assert.equal((await received("quiz")).length, 1);

  // JS lists them by pages, sends one elsewhere, and deletes it.
  const listed = await call("GET", `${INBOUND}?page=1&pageSize=1`, DEMO);
  const id = listed.json.subscriptions[0].subscriptionId;
  assert.deepEqual(listed.json, {
    subscriptions: [
      {
        subscriptionId: id,
        notifyURL: urlOf("quiz"),
        callbackData: "mo",
        criteria: "QUIZ",
        destinationAddress: "23456",
        notificationFormat: "JSON",
      },
    ],
  });
  const second = await call("GET", `${INBOUND}?page=2&pageSize=1`, DEMO);
  assert.equal(second.json.subscriptions[0].notificationFormat, "XML");
  const one = await call("GET", `${INBOUND}/${id}`, DEMO);
  assert.equal(one.json.subscription.subscriptionId, id);
  const moved = await call(
    "PUT",
    INBOUND,
    DEMO,
    `notifyURL=${encodeURIComponent(urlOf("moved"))}&subscriptionId=${id}`,
    FORM,
  );
  assert.equal(moved.status, 201, moved.text);
  assert.equal(moved.json.resourceReference.resourceURL, `${service.url}${INBOUND}/${id}`);
  await write("23456", "Quiz, again");
  await received("moved");
  assert.equal((await call("PUT", INBOUND, DEMO, `notifyURL=${urlOf("x")}&subscriptionId=m99`, FORM)).status, 404);
  assert.equal((await call("DELETE", `${INBOUND}/${id}`, DEMO)).status, 204);
  await write("23456", "quiz for the operator");
  const forwarded = await received("operator", 2);
  assert.equal(forwarded[1]!.items[0]!.text, "quiz for the operator");
});

test("whoever stops is on the opt-out list, wherever his message goes", async () => {
  await call("POST", INBOUND, DEMO, { destinationAddress: "23456", notifyURL: urlOf("stops") });
  await service.call("POST", "/sandbox/1/incoming", { body: { from: "41793026799", to: "23456", text: "stop" } });
  await received("stops");
  const { json } = await call("POST", `${OUTBOUND}/InfoSMS/requests`, DEMO, { address: "41793026799", message: "x" });
  assert.notEqual(json.sendMessageResults[0].messageStatus, "MessageAccepted");
});
