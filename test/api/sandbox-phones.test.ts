/** The sandbox's phones: what they show and to whom, their switches, and the faults of their network. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { basic, eventually, startTestService, type TestService } from "../support/service.ts";

const OPERATOR = basic("operator", "operator-password");
const RESELLER = basic("reseller", "reseller-password");
const CATALOGUE = `
[[carrier]]
id = "simulator"
kind = "simulator"
answerAfterMs = 10
[[route]]
prefix = ""
carrier = "simulator"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
[[number]]
number = "12345"
account = "DEMO0001"
`;

const service = await startTestService({ after }, { catalogue: CATALOGUE });

interface PhoneAnswer {
  readonly state: string;
  readonly messages: {
    readonly direction: string;
    readonly peer: string;
    readonly text: string;
    readonly flash: boolean;
    readonly binary: boolean;
    readonly dataCoding: number | null;
    readonly parts: number;
    readonly at: string;
    readonly messageKey: string | null;
  }[];
}

async function phone(number: string, authorization?: string): Promise<PhoneAnswer> {
  const options = authorization === undefined ? {} : { authorization };
  const { status, json } = await service.call("GET", `/console/1/phone?number=${number}`, options);
  assert.equal(status, 200);
  return json;
}

async function send(message: object): Promise<string> {
  const body = { messages: [{ from: "Shop", ...message }] };
  const { status, json } = await service.call("POST", "/sms/1/text/advanced", { body });
  assert.equal(status, 200);
  return json.messages[0].messageId;
}

const sendText = (to: string, text: string) => send({ destinations: [{ to }], text });

/** The status of a message as the log has it. */
async function statusOf(
  messageId: string,
  of: TestService = service,
): Promise<{ name: string; error: string; mccMnc: string }> {
  const { json } = await of.call("GET", `/sms/1/logs?messageId=${messageId}`);
  const [entry] = json.results;
  return { name: entry.status.name, error: entry.error?.name, mccMnc: entry.mccMnc };
}

async function switchTo(number: string, state: string): Promise<void> {
  const { status, json } = await service.call("PUT", `/sandbox/1/phones/${number}`, { body: { state } });
  assert.deepEqual([status, json], [200, { number, state }]);
}

async function setFaults(body: object): Promise<void> {
  assert.equal((await service.call("PUT", "/sandbox/1/network", { body })).status, 200);
}

const arrived = (number: string, count = 1) =>
  eventually(async () => {
    const seen = await phone(number);
    return seen.messages.length >= count && seen;
  });

const ends = (messageId: string, name: string) =>
  eventually(async () => {
    const status = await statusOf(messageId);
    return status.name === name && status;
  });

describe("a phone shows", () => {
  test("a text with its sender, its time and the message that brought it", async () => {
    const messageId = await sendText("41790000001", "Hello from my own phone network");
    const { messages, state } = await arrived("41790000001");
    const { messageKey, at, ...message } = messages[0]! as PhoneAnswer["messages"][number] & { place: number };
    assert.equal(state, "on");
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    const { place: _, ...shown } = message;
    assert.deepEqual(shown, {
      direction: "received",
      peer: "Shop",
      text: "Hello from my own phone network",
      clipped: false,
      binary: false,
      dataCoding: 0,
      flash: false,
      parts: 1,
    });
    assert.equal(messageKey, messageId);
  });

  test("a long text as one message, whatever its letters", async () => {
    const texts = { "41790000002": "Grüße, ".repeat(60), "41790000003": "שלום 👋 ".repeat(40) };
    for (const [number, text] of Object.entries(texts)) {
      await sendText(number, text.trim());
      const { messages } = await arrived(number);
      assert.equal(messages.length, 1);
      assert.equal(messages[0]!.text, text.trim());
      assert.ok(messages[0]!.parts > 1);
    }
  });

  test("a text that ends in an @ whole", async () => {
    await sendText("41790000004", "1234567@");
    assert.equal((await arrived("41790000004")).messages[0]!.text, "1234567@");
  });

  test("flash messages marked", async () => {
    await send({ destinations: [{ to: "41790000005" }], text: "Now!", flash: true });
    const [message] = (await arrived("41790000005")).messages;
    assert.deepEqual([message!.flash, message!.dataCoding], [true, 0x10]);
  });

  test("what is no text as hex, with its data coding, the parts of it joined", async () => {
    const hex = "0a1b".repeat(100);
    const body = {
      messages: [{ from: "Shop", destinations: [{ to: "41790000006" }], binary: { hex, dataCoding: 4, esmClass: 0 } }],
    };
    assert.equal((await service.call("POST", "/sms/1/binary/advanced", { body })).status, 200);
    const [message] = (await arrived("41790000006")).messages;
    assert.deepEqual([message!.text, message!.binary, message!.dataCoding, message!.parts], [hex, true, 4, 2]);
  });

  test("what it wrote to a number of the account", async () => {
    const body = { from: "41790000007", to: "12345", text: "Who is there?" };
    assert.equal((await service.call("POST", "/sandbox/1/incoming", { body })).status, 204);
    const [message] = (await arrived("41790000007")).messages;
    assert.deepEqual([message!.direction, message!.peer, message!.text], ["written", "12345", "Who is there?"]);
  });
});

describe("an account", () => {
  test("sees on a phone what it sent, and not what others sent; the operator sees all", async () => {
    await sendText("41790000010", "mine");
    await service.call("POST", "/sandbox/1/incoming", { body: { from: "41790000010", to: "12345", text: "and back" } });
    await arrived("41790000010", 2);
    assert.deepEqual((await phone("41790000010", RESELLER)).messages, []);
    assert.equal((await phone("41790000010", OPERATOR)).messages.length, 2);
    const numbers = async (authorization: string) => {
      const { json } = await service.call("GET", "/console/1/phones", { authorization });
      return json.phones.map(({ number }: { number: string }) => number);
    };
    assert.deepEqual(await numbers(RESELLER), []);
    assert.ok((await numbers(OPERATOR)).includes("41790000010"));
  });

  test("lists its phones with their last message, the one used last first, and one that it asked for", async () => {
    await sendText("41790000011", "one");
    await arrived("41790000011");
    assert.equal((await service.call("PUT", "/sandbox/1/phones/41790000012", { body: {} })).status, 200);
    const { json } = await service.call("GET", "/console/1/phones");
    const [newest, next] = json.phones;
    assert.deepEqual([newest.number, newest.state, newest.last], ["41790000012", "on", null]);
    assert.deepEqual([next.number, next.messageCount, next.last.text], ["41790000011", 1, "one"]);
  });

  test("is offered the numbers to which a phone can write", async () => {
    const { json } = await service.call("GET", "/console/1/sandbox");
    assert.deepEqual(json.numbers, ["12345"]);
    const other = await service.call("GET", "/console/1/sandbox", { authorization: RESELLER });
    assert.deepEqual(other.json.numbers, []);
  });

  test("is told what is wrong with a number, a state or a fault", async () => {
    for (const [method, path, body] of [
      ["GET", "/console/1/phone?number=abc", undefined],
      ["GET", "/console/1/phone", undefined],
      ["PUT", "/sandbox/1/phones/12", { state: "on" }],
      ["PUT", "/sandbox/1/phones/41790000001", { state: "broken" }],
      ["PUT", "/sandbox/1/phones/41790000001", { sate: "on" }],
      ["PUT", "/sandbox/1/network", { slowAnswersMs: 60_001 }],
      ["PUT", "/sandbox/1/network", { trottling: true }],
    ] as const) {
      const { status } = await service.call(method, path, body === undefined ? {} : { body });
      assert.equal(status, 400, `${method} ${path}`);
    }
  });
});

describe("a phone that is switched", () => {
  test("off has its message wait, and gets it when it is on again", async () => {
    await switchTo("41790000020", "off");
    const messageId = await sendText("41790000020", "Are you there?");
    await eventually(async () => (await statusOf(messageId)).error === "EC_ABSENT_SUBSCRIBER");
    assert.equal((await statusOf(messageId)).name, "PENDING_WAITING_DELIVERY");
    assert.deepEqual((await phone("41790000020")).messages, []);
    await switchTo("41790000020", "on");
    await ends(messageId, "DELIVERED_TO_HANDSET");
    assert.equal((await arrived("41790000020")).messages[0]!.text, "Are you there?");
  });

  test("full or unknown fails, abroad is on another network, and none of it stays when it is on again", async () => {
    for (const [state, name, error] of [
      ["full", "UNDELIVERABLE_NOT_DELIVERED", "EC_SM_DF_MEMORYCAPACITYEXCEEDED"],
      ["unknown", "UNDELIVERABLE_NOT_DELIVERED", "EC_UNKNOWN_SUBSCRIBER"],
      ["abroad", "DELIVERED_TO_HANDSET", "NO_ERROR"],
      ["on", "DELIVERED_TO_HANDSET", "NO_ERROR"],
    ]) {
      await switchTo("41790000021", state!);
      const status = await ends(await sendText("41790000021", state!), name!);
      assert.deepEqual([status.error, status.mccMnc], [error, state === "abroad" ? "99901" : "00101"]);
    }
    assert.deepEqual(
      (await phone("41790000021")).messages.map(({ text }) => text),
      ["abroad", "on"],
    );
  });
});

describe("a network", () => {
  const clean = () => setFaults({});

  test("has no faults but those that are set, and what is left out is off", async () => {
    await setFaults({ throttling: true, slowAnswersMs: 5 });
    const { json } = await service.call("GET", "/sandbox/1/network");
    assert.deepEqual(json, {
      throttling: true,
      refusing: false,
      connectionLost: false,
      slowAnswersMs: 5,
      noReceipts: false,
      duplicatedReceipts: false,
      lateReceiptsMs: 0,
    });
    assert.deepEqual((await service.call("GET", "/console/1/sandbox")).json.network, json);
    await clean();
    assert.equal((await service.call("GET", "/sandbox/1/network")).json.throttling, false);
  });

  test("that refuses fails messages at once, and gives their money back", async () => {
    await setFaults({ refusing: true });
    const status = await ends(await sendText("41790000030", "no"), "UNDELIVERABLE_REJECTED_OPERATOR");
    assert.equal(status.error, "EC_SMS_REJECTED_BY_MOBILE_OPERATOR");
    await clean();
  });

  test("that throttles, or is away, has messages wait until it is well", async () => {
    for (const fault of ["throttling", "connectionLost"]) {
      await setFaults({ [fault]: true });
      const messageId = await sendText("41790000031", fault);
      await eventually(async () => service.handedOn.some(({ key }) => key === messageId));
      assert.match((await statusOf(messageId)).name, /^PENDING/);
      await clean();
      await ends(messageId, "DELIVERED_TO_HANDSET");
    }
  });

  test("that loses the connection while an answer is awaited has the message sent again", async () => {
    await setFaults({ slowAnswersMs: 60_000 });
    const messageId = await sendText("41790000032", "slow");
    await eventually(async () => service.handedOn.some(({ key }) => key === messageId));
    await setFaults({ connectionLost: true });
    await clean();
    await ends(messageId, "DELIVERED_TO_HANDSET");
    assert.equal((await phone("41790000032")).messages.length, 1);
  });

  test("without receipts delivers, and nobody hears of it; with late ones they come", async () => {
    await setFaults({ noReceipts: true });
    const silent = await sendText("41790000033", "silent");
    await arrived("41790000033");
    assert.match((await statusOf(silent)).name, /^PENDING/);
    await setFaults({ lateReceiptsMs: 200 });
    const late = await sendText("41790000034", "late");
    await arrived("41790000034");
    await ends(late, "DELIVERED_TO_HANDSET");
    assert.match((await statusOf(silent)).name, /^PENDING/);
    await clean();
  });

  test("that says everything twice has each message delivered once", async () => {
    await setFaults({ duplicatedReceipts: true });
    const messageId = await sendText("41790000035", "twice");
    await ends(messageId, "DELIVERED_TO_HANDSET");
    assert.equal((await arrived("41790000035")).messages.length, 1);
    await clean();
  });
});

test("outside the sandbox there is none of this", async (t) => {
  const real = await startTestService(t, { sandbox: false });
  for (const [method, path] of [
    ["GET", "/console/1/phones"],
    ["GET", "/console/1/phone?number=41790000001"],
    ["GET", "/console/1/sandbox"],
    ["PUT", "/sandbox/1/phones/41790000001"],
    ["GET", "/sandbox/1/network"],
    ["PUT", "/sandbox/1/network"],
    ["GET", "/sandbox/1/clock"],
    ["PUT", "/sandbox/1/clock"],
  ] as const) {
    const { status } = await real.call(method, path, method === "PUT" ? { body: {} } : {});
    assert.equal(status, 404, `${method} ${path}`);
  }
});

test("phones write also when another simulated carrier has come and gone", async () => {
  const authorization = OPERATOR;
  const isServed = async () =>
    JSON.stringify((await service.call("GET", "/operator/1/carrier-states", { authorization })).json).includes(
      '"another"',
    );
  const body = { kind: "simulator" };
  const made = await service.call("PUT", "/operator/1/carriers/another", { authorization, body });
  assert.equal(made.status, 200, made.text);
  await eventually(isServed);
  const headers = { "if-match": "*" };
  assert.equal((await service.call("DELETE", "/operator/1/carriers/another", { authorization, headers })).status, 204);
  await eventually(async () => !(await isServed()));
  const wrote = await service.call("POST", "/sandbox/1/incoming", {
    body: { from: "41790000077", to: "12345", text: "Hello" },
  });
  assert.equal(wrote.status, 204, wrote.text);
});
