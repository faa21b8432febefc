/** The OneAPI beside sending: reports by pull, messages from phones, and the log, with what each of its clients asks and can read. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { basic, CATALOGUE, eventually, startTestService, type TestService } from "../support/service.ts";

const PHONE = "41793026727";
const NUMBER = "12345";
const NUMBERS = `[[number]]\naccount = "DEMO0001"\nnumber = "${NUMBER}"\n`;
const service = await startTestService({ after }, { catalogue: CATALOGUE + NUMBERS });

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/;
const REPORTS = "/1/smsmessaging/outbound/requests/deliveryReports";

let accounts = 0;
/** An account of its own for a test. */
async function caller(of: TestService = service): Promise<{ key: string; authorization: string }> {
  const { key } = await addAccount(of.store, { key: `TRACK${accounts++}`, balanceMicros: 1_000_000_000n });
  return { key, authorization: basic(key, "password") };
}

async function send(authorization: string, fields: object, sender = "InfoSMS") {
  const answer = await service.call("POST", `/1/smsmessaging/outbound/${sender}/requests`, {
    authorization,
    body: { address: PHONE, message: "hello", ...fields },
  });
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}

test("reports are fetched once, all of them or a request's; a limit of 0 is none", async () => {
  const { authorization } = await caller();
  const get = async (path: string) => {
    const answer = await service.call("GET", path, { authorization });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.deliveryReportList;
  };
  const first = await send(authorization, { clientCorrelator: "one" });
  await send(authorization, { clientCorrelator: "two", address: [PHONE, "41793026728", "41793026729"] });
  const [report] = await eventually(async () => {
    const found = await get("/1/smsmessaging/outbound/requests/one/deliveryReports?limit=0");
    return found.length > 0 ? found : null;
  });
  assert.match(report.sentDate, MOMENT);
  assert.match(report.doneDate, MOMENT);
  assert.deepEqual(report, {
    messageId: first.sendMessageResults[0].messageId,
    sentDate: report.sentDate,
    doneDate: report.doneDate,
    status: "MessageDelivered",
    price: 0.01,
  });
  assert.deepEqual(await get("/1/smsmessaging/outbound/requests/one/deliveryReports?limit=0"), []);
  const found: unknown[] = [];
  await eventually(async () => {
    const page = await get(`${REPORTS}?limit=2`);
    assert.ok(page.length <= 2);
    found.push(...page);
    return found.length === 3;
  });
  assert.deepEqual(await get(`${REPORTS}?limit=0`), []);
  assert.deepEqual(await get(REPORTS), []);
  const wrong = await service.call("GET", `${REPORTS}?limit=many`, { authorization });
  assert.equal(wrong.status, 400);
});

test("rejected messages are in the reports with the family's word", async () => {
  const { authorization } = await caller();
  await send(authorization, { address: "12" });
  const { json } = await service.call("GET", `${REPORTS}?limit=0`, { authorization });
  assert.deepEqual(
    json.deliveryReportList.map(({ status, price }: { status: string; price: number }) => [status, price]),
    [["InvalidDestinationAddress", 0]],
  );
});

test("messages from phones are fetched once, in the form that all clients read", async () => {
  const path = "/1/smsmessaging/inbound/registrations/INBOUND/messages";
  const write = (text: string) =>
    service.call("POST", "/sandbox/1/incoming", { body: { from: PHONE, to: NUMBER, text } });
  await write("hello ü");
  await write("two");
  const answer = await service.call("GET", `${path}?maxBatchSize=1`, {
    headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
  });
  assert.equal(answer.status, 200, answer.text);
  const [message] = answer.json.inboundSMSMessageList.inboundSMSMessage;
  assert.match(message.dateTime, MOMENT);
  assert.match(message.messageId, /^\d{19}$/);
  assert.deepEqual(answer.json, {
    inboundSMSMessageList: {
      inboundSMSMessage: [
        {
          dateTime: message.dateTime,
          destinationAddress: NUMBER,
          messageId: message.messageId,
          message: "hello ü",
          resourceURL: null,
          senderAddress: PHONE,
          moSessionId: 0,
          moResponseKey: null,
          callbackData: null,
          price: 0,
        },
      ],
      numberOfMessagesInThisBatch: 1,
      totalNumberOfPendingMessages: 1,
      resourceURL: `${service.url}${path}`,
      callbackData: null,
    },
  });
  const rest = await service.call("GET", path, { headers: { "content-type": "application/json" } });
  const list = rest.json.inboundSMSMessageList;
  assert.deepEqual(
    list.inboundSMSMessage.map((each: { message: string }) => each.message),
    ["two"],
  );
  const empty = await service.call("GET", `${path}?`);
  assert.equal(empty.json.inboundSMSMessageList.numberOfMessagesInThisBatch, 0);
  const types = await service.call("GET", "/1/smsmessaging/inbound/numberTypes");
  assert.equal(types.status, 200);
  for (const { id, noType, description } of types.json.moNoTypes)
    assert.deepEqual([typeof id, typeof noType, typeof description], ["number", "string", "string"]);
});

const LOGS = "/2/messaging/outbound/logs/";

test("the log is told newest first, with a trailing slash and empty fields", async () => {
  const { authorization } = await caller();
  const { sendMessageResults } = await send(authorization, {
    clientCorrelator: "logged",
    callbackData: "cb",
    message: "Áé",
  });
  const { messageId } = sendMessageResults[0];
  const log = await eventually(async () => {
    const from = encodeURIComponent("2026-01-01T00:00:00.000+0000");
    const { json, status, text } = await service.call("GET", `${LOGS}?from=${from}&to=&messageId=`, { authorization });
    assert.equal(status, 200, text);
    return json.logs[0].deliveryReportTime === null ? null : json;
  });
  const [item] = log.logs;
  assert.match(item.sendDateTime, MOMENT);
  assert.match(item.deliveryReportTime, MOMENT);
  const { destinationNetwork, ...rest } = item;
  assert.deepEqual(rest, {
    sendDateTime: item.sendDateTime,
    messageId,
    smsCount: 1,
    destinationAddress: PHONE,
    sender: "InfoSMS",
    clientMetadata: "cb",
    messageText: "Áé",
    status: {
      id: 5,
      status: "DELIVERED_TO_HANDSET",
      description: "Message delivered to handset",
      failureReason: null,
    },
    bulkId: "logged",
    deliveryReportTime: item.deliveryReportTime,
    ported: false,
    pricePerMessage: { price: 0.01, currency: "EUR" },
  });
  assert.deepEqual(destinationNetwork.country, { id: 41, code: "CH", prefix: "41", name: "Switzerland", locale: "" });
  assert.deepEqual([log.from, log.to, log.hasMoreLogs], ["2026-01-01T00:00:00.000+0000", null, false]);
  const one = await service.call("GET", `${LOGS}?messageId=${messageId}`, { authorization });
  assert.equal(one.json.logs.length, 1);
  const wrong = await service.call("GET", `${LOGS}?from=yesterday`, { authorization });
  assert.equal(wrong.status, 400);
});

test("whoever asks on with the time of the last message gets every message once", async () => {
  const { authorization } = await caller();
  const numbers = Array.from({ length: 1_500 }, (_, index) => `4179${2_000_000 + index}`);
  const sent = await send(authorization, { address: numbers, clientCorrelator: "long" });
  await eventually(async () => {
    const infos = await service.call("GET", "/1/smsmessaging/outbound/requests/long/deliveryInfos", { authorization });
    return infos.json.deliveryInfoList.deliveryInfo.every(
      ({ deliveryStatus }: { deliveryStatus: string }) => deliveryStatus === "DeliveredToTerminal",
    );
  });
  const seen: string[] = [];
  let to = "";
  for (let more = true; more; ) {
    const { json, status, text } = await service.call("GET", `${LOGS}?to=${encodeURIComponent(to)}`, { authorization });
    assert.equal(status, 200, text.slice(0, 300));
    seen.push(...json.logs.map(({ messageId }: { messageId: string }) => messageId));
    to = json.logs.at(-1).sendDateTime;
    more = json.hasMoreLogs;
  }
  const ids = sent.sendMessageResults.map(({ messageId }: { messageId: string }) => messageId);
  assert.equal(seen.length, 1_500);
  assert.deepEqual(seen.sort(), ids.sort());
});
