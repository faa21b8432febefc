/** Two services in a row: what the first takes goes through the second to its phones, and comes back. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { OPERATOR } from "../../support/operator.ts";
import { SINGLE } from "../../support/sending.ts";
import { eventually, startTestService, type TestService } from "../../support/service.ts";
import { startFront } from "./rig.ts";

interface Row {
  readonly first: TestService;
  readonly second: TestService;
}

async function startRow(t: TestContext, { isPublic = true, publicUrl = "", profile = "" } = {}): Promise<Row> {
  const second = await startTestService(t);
  const front = await startFront(t);
  const catalogue = `
[[carrier]]
id = "upstream"
kind = "http"
preset = "heliograph"
url = "${second.url}"
apiKey = "demo-api-key"
pollSeconds = 1
${profile}
[[route]]
prefix = ""
carrier = "upstream"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.05" }]
[[number]]
number = "12345678"
account = "DEMO0001"
`;
  const first = await startTestService(t, {
    catalogue,
    settings: { server: { publicUrl: publicUrl || (isPublic ? front.url : "") } },
  });
  front.lead(first.url);
  return { first, second };
}

async function balanceOf(service: TestService): Promise<number> {
  return (await service.call("GET", "/account/1/balance")).json.balance;
}

function reportOf(service: TestService, messageId: string) {
  return eventually(async () => {
    const { json } = await service.call("GET", `/sms/1/logs?messageId=${messageId}`);
    const [found] = json.results;
    return found?.status.groupName !== "PENDING" && found;
  });
}

for (const [name, isPublic] of [
  ["pushes its reports", true],
  ["is asked for them", false],
] as const)
  test(`a message goes through both, and is charged once on each: the second ${name}`, async (t) => {
    const { first, second } = await startRow(t, { isPublic });
    const [before, beforeThere] = [await balanceOf(first), await balanceOf(second)];
    const { json } = await first.call("POST", SINGLE, {
      body: { from: "InfoSMS", to: "41793026727", text: "Through both" },
    });
    const { messageId } = json.messages[0];
    const report = await reportOf(first, messageId);
    assert.equal(report.status.name, "DELIVERED_TO_HANDSET");
    const there = await reportOf(second, messageId);
    assert.deepEqual([there.text, there.from, there.to], ["Through both", "InfoSMS", "41793026727"]);
    assert.equal((before - (await balanceOf(first))).toFixed(2), "0.05");
    assert.equal((beforeThere - (await balanceOf(second))).toFixed(2), "0.01");
  });

test("in a private network the second says that it pushes nothing: the operator of the first is told, and it is asked", async (t) => {
  const { first, second } = await startRow(t, { publicUrl: "http://10.255.255.1" });
  const numbers = Array.from({ length: 150 }, (_, index) => String(41_790_000_000 + index));
  const body = { messages: [{ from: "InfoSMS", destinations: numbers.map((to) => ({ to })), text: "To all" }] };
  const { json } = await first.call("POST", "/sms/1/text/advanced", { body });
  const octets = { from: "InfoSMS", to: "41793026727", binary: { hex: "00ff", dataCoding: 4, esmClass: 0 } };
  const binary = await first.call("POST", "/sms/1/binary/single", { body: octets });
  for (const { messageId } of [...json.messages, ...binary.json.messages])
    assert.equal((await reportOf(first, messageId)).status.name, "DELIVERED_TO_HANDSET");
  await eventually(async () => {
    const { text } = await first.call("GET", "/operator/1/carrier-states", { authorization: OPERATOR });
    return /nothing is pushed to http:\/\/10\.255\.255\.1: address not allowed/.test(text);
  });
  const waiting = await second.call("GET", "/sms/1/reports");
  assert.deepEqual(waiting.json.results, [], "nothing was taken from the reports that are given out once");
});

test("what ends on the second more than 48 hours after it was sent is heard of on the first, which asks for it", async (t) => {
  const { first, second } = await startRow(t, { isPublic: false });
  assert.equal((await second.call("PUT", "/sandbox/1/phones/41793026727", { body: { state: "off" } })).status, 200);
  const { json } = await first.call("POST", SINGLE, { body: { from: "InfoSMS", to: "41793026727", text: "Too late" } });
  const { messageId } = json.messages[0];
  await eventually(async () => second.handedOn.length === 1);
  assert.equal((await second.call("PUT", "/sandbox/1/clock", { body: { by: "49h" } })).status, 200);
  assert.equal((await reportOf(first, messageId)).status.name, "EXPIRED_EXPIRED");
});

test("many go together, each with its own outcome and error", async (t) => {
  const { first, second } = await startRow(t);
  const numbers = Array.from({ length: 120 }, (_, index) =>
    index % 10 === 3 ? `4179${1_000 + index}999003` : String(41_790_000_000 + index),
  );
  const body = { messages: [{ from: "InfoSMS", destinations: numbers.map((to) => ({ to })), text: "To all" }] };
  const { json } = await first.call("POST", "/sms/1/text/advanced", { body });
  for (const [index, { messageId }] of json.messages.entries()) {
    const { status, error } = await reportOf(first, messageId);
    const isBad = numbers[index]!.endsWith("999003");
    assert.equal(status.groupName, isBad ? "UNDELIVERABLE" : "DELIVERED");
    assert.equal(error.name, isBad ? "EC_UNKNOWN_SUBSCRIBER" : "NO_ERROR");
  }
  assert.ok(second.handedOn.length === numbers.length, `${second.handedOn.length} messages there`);
});

test("what the second refuses is refused here, and not charged", async (t) => {
  const { first, second } = await startRow(t);
  assert.equal((await second.call("PUT", "/account/1/opt-outs/41793026799")).status, 204);
  const before = await balanceOf(first);
  const { json } = await first.call("POST", SINGLE, {
    body: { from: "InfoSMS", to: "41793026799", text: "To nobody" },
  });
  const { status } = await reportOf(first, json.messages[0].messageId);
  assert.equal(status.groupName, "UNDELIVERABLE");
  assert.equal(await balanceOf(first), before);
});

test("octets go as octets, and a long text as one", async (t) => {
  const { first, second } = await startRow(t);
  const binary = { hex: "0003abcd", dataCoding: 4, esmClass: 0 };
  const { json } = await first.call("POST", "/sms/1/binary/single", {
    body: { from: "InfoSMS", to: "41793026727", binary },
  });
  assert.equal((await reportOf(first, json.messages[0].messageId)).status.groupName, "DELIVERED");
  const long = await first.call("POST", SINGLE, {
    body: { from: "InfoSMS", to: "41793026728", text: "long ".repeat(60) },
  });
  const report = await reportOf(first, long.json.messages[0].messageId);
  assert.deepEqual([report.status.groupName, report.smsCount], ["DELIVERED", 2]);
  assert.deepEqual(
    second.handedOn.map(({ text }) => text),
    ["0003abcd", "long ".repeat(60)],
  );
});
