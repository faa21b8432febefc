/** A plus sign or two zeros before a number, as programs in the wild write it: it is one number, whoever reads it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { writtenBy } from "../support/client-bytes.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ADVANCED, ADVANCED_V2, MULTI, SINGLE } from "../support/sending.ts";
import { eventually, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const TO = "41793026727";
const WRITTEN = [`+${TO}`, `00${TO}`];

/** The numbers in the answer, of which each has to be on its way. */
async function sentTo(path: string, body: unknown): Promise<string[]> {
  const { status, json, text } = await service.call("POST", path, { body });
  assert.equal(status, 200, text);
  return json.messages.map((message: { to: string; status: { groupName: string } }) => {
    assert.equal(message.status.groupName, "PENDING", text);
    return message.to;
  });
}

test("it is taken off in every version and form, and the answer and the carrier have the number without", async () => {
  const message = { from: "InfoSMS", text: "Hello" };
  const binary = { from: "InfoSMS", binary: { hex: "00 01" } };
  const destinations = WRITTEN.map((to) => ({ to }));
  const before = service.handedOn.length;
  assert.deepEqual(await sentTo(ADVANCED, { messages: [{ ...message, destinations }] }), [TO, TO]);
  assert.deepEqual(await sentTo(ADVANCED_V2, { messages: [{ ...message, destinations }] }), [TO, TO]);
  assert.deepEqual(await sentTo("/sms/1/binary/advanced", { messages: [{ ...binary, destinations }] }), [TO, TO]);
  assert.deepEqual(await sentTo(MULTI, { messages: WRITTEN.map((to) => ({ ...message, to })) }), [TO, TO]);
  assert.deepEqual(await sentTo(SINGLE, { ...message, to: WRITTEN }), [TO, TO]);
  assert.deepEqual(await sentTo(SINGLE, { ...message, to: WRITTEN[0], transliteration: "GREEK" }), [TO]);
  for (const to of ["%2B41793026727", "+41793026727", "0041793026727"]) {
    const line = `GET /sms/1/text/query?username=demo&password=demo-password&from=InfoSMS&to=${to}&text=Hi HTTP/1.1`;
    const { status, json } = await writtenBy(service, "", [line]);
    assert.deepEqual([status, json.messages[0].to], [200, TO]);
  }
  const handedOn = service.handedOn.slice(before);
  assert.equal(handedOn.length, 14);
  for (const { to } of handedOn) assert.equal(to, TO);
});

test("numbers and ids may be whole numbers of JSON: they are their digits", async () => {
  const number = 41780000000;
  const message = { from: 41790000000, text: "Hello" };
  assert.deepEqual(await sentTo(SINGLE, { ...message, to: number, messageId: 7 }), [String(number)]);
  assert.deepEqual(await sentTo(SINGLE, { ...message, to: [number, TO] }), [String(number), TO]);
  const destinations = Array.from({ length: 500 }, (_, index) => ({ to: number + index, messageId: 1_000 + index }));
  const sent = await sentTo(ADVANCED, { bulkId: 12, messages: [{ ...message, destinations }] });
  assert.deepEqual(
    sent,
    destinations.map(({ to }) => String(to)),
  );
  const { json } = await service.call("GET", "/sms/1/logs?messageId=1000");
  assert.deepEqual([json.results[0].bulkId, json.results[0].from], ["12", "41790000000"]);
  for (const to of [41793026727.5, -1, 2 ** 60])
    assert.equal((await service.call("POST", SINGLE, { body: { ...message, to } })).status, 400, String(to));
});

test("what is too short without it is rejected as it then stands", async () => {
  const { json } = await service.call("POST", SINGLE, {
    body: { from: "InfoSMS", to: ["+123", "00123", "+"], text: "x" },
  });
  assert.deepEqual(
    json.messages.map((message: { to: string; status: { id: number } }) => [message.to, message.status.id]),
    [
      ["123", 52],
      ["123", 52],
      ["", 52],
    ],
  );
});

test("reports, logs and searches know the number without, however it is asked for", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const phone = "41793026799";
  const wanted = { from: "InfoSMS", text: "Hello", notifyUrl: receiver.url };
  await sentTo(SINGLE, { ...wanted, to: `+${phone}` });
  const [item] = await receiver.waitForItems(1);
  assert.equal(item!.to, phone);
  for (const to of [phone, `%2B${phone}`, `+${phone}`, `00${phone}`]) {
    const { json } = await service.call("GET", `/sms/1/logs?to=${to}`);
    assert.deepEqual(
      json.results.map((result: { to: string }) => result.to),
      [phone],
      to,
    );
  }
  const quoted = await service.call("GET", `/console/1/quote?to=%2B${phone},00${phone}`);
  assert.deepEqual(
    quoted.json.numbers.map(({ to }: { to: string }) => to),
    [phone, phone],
    quoted.text,
  );
});

test("an opt-out holds for the number, however it was written on the list or in the request", async () => {
  const phone = "41793026798";
  const set = async (method: string, number: string) =>
    assert.equal((await service.call(method, `/account/1/opt-outs/${number}`)).status, 204);
  const statusOf = async (to: string) =>
    (await service.call("POST", SINGLE, { body: { from: "InfoSMS", to, text: "x" } })).json.messages[0].status.id;
  await set("PUT", `%2B${phone}`);
  for (const to of [phone, `+${phone}`, `00${phone}`]) assert.equal(await statusOf(to), 14, to);
  const { json } = await service.call("GET", `/account/1/opt-outs?prefix=%2B4179302679`);
  assert.deepEqual(
    json.results.map(({ number }: { number: string }) => number),
    [phone],
  );
  await set("DELETE", `00${phone}`);
  assert.equal(await statusOf(phone), 7);
});

test("a simulated phone writes under its number without", async () => {
  const body = { from: `+${TO}`, to: "12345", text: "hello" };
  assert.equal((await service.call("POST", "/sandbox/1/incoming", { body })).status, 204);
  const { status, json } = await service.call("PUT", `/sandbox/1/phones/%2B${TO}`, { body: { state: "off" } });
  assert.deepEqual([status, json.number], [200, TO]);
  const operator = `Basic ${Buffer.from("operator:operator-password").toString("base64")}`;
  const unmatched = await eventually(async () => {
    const answer = await service.call("GET", "/operator/1/incoming/unmatched", { authorization: operator });
    return answer.json.results?.[0];
  });
  assert.equal(unmatched.from, TO);
});
