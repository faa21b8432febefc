/** Every preset through the whole service: a message, its receipt, and what a phone writes. Errors, faults and polls are in the long run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { callbackUrls } from "../../../src/carriers/http/callbacks.ts";
import { httpFaults } from "../../../src/carriers/http/faults.ts";
import { describe } from "../../../src/carriers/http/presets.ts";
import { type HttpProfile, PRESETS } from "../../../src/carriers/http/profile.ts";
import { readIncoming, readReceipts } from "../../../src/carriers/http/reading.ts";
import { eventually } from "../../support/service.ts";
import { carrierWith, json, startServer } from "./provider-server.ts";
import { startRig } from "./rig.ts";

for (const preset of PRESETS)
  test(`${preset}: a message is taken as it is, its receipt comes, and what a phone writes comes in`, async (t) => {
    const { provider, service, publicUrl, send, report } = await startRig(t, preset);
    const text = 'Grüße, "Zoë" & {text} = 100% ✓';
    const ids = [await send("41793026727", text, "InfoSMS"), await send("41793999003")];
    const { status, smsCount, price } = await report(ids[0]!);
    assert.deepEqual([status.groupName, smsCount, price.pricePerMessage], ["DELIVERED", 1, 0.01]);
    const failed = await report(ids[1]!);
    assert.equal(failed.status.groupName, "UNDELIVERABLE");
    assert.notEqual(failed.error.name, "NO_ERROR");
    const [message, ...others] = provider.messages.filter(({ to }) => to === "41793026727");
    assert.deepEqual([message!.text, others], [text, []]);
    // A telephone has a number of its own.
    if (preset !== "android") assert.equal(message!.from, "InfoSMS");

    const profile = { id: "upstream", kind: "http", callbackSecret: "provider-secret" } as const;
    const written = { from: "41793026727", to: "12345678", text: "STOP it" };
    provider.write(callbackUrls(profile, publicUrl).eventsUrl as string, written);
    const found = await eventually(async () => {
      const { json } = await service.call("GET", "/sms/1/inbox/reports");
      return json.results.length > 0 && json.results;
    });
    assert.deepEqual(
      found.map(({ from, to, text }: Record<string, string>) => ({ from, to, text })),
      [written],
    );
  });

test("android: the SIM of a profile goes as the number that it is", async (t) => {
  const { provider, send, report } = await startRig(t, "android", { profile: 'option = "2"' });
  assert.equal((await report(await send("41793026727"))).status.groupName, "DELIVERED");
  assert.equal(provider.messages.length, 1);
});

const of = (preset: (typeof PRESETS)[number], own: object = {}): HttpProfile =>
  ({ id: "mine", kind: "http", preset, url: "http://127.0.0.1:9", ...own }) as HttpProfile;

test("what a profile says stands over its preset field by field, and an empty template takes a field away", () => {
  const plain = describe(of("twilio")).description;
  const own = {
    send: { form: { From: "", MessagingServiceSid: "MG1" }, errors: { "21608": "EC_ILLEGAL_SUBSCRIBER" } },
    receipts: { outcomes: { archived: "held" }, poll: { everySeconds: 60 } },
  };
  const profile = of("twilio", own);
  assert.deepEqual(httpFaults(profile), []);
  const { send, receipts, ...rest } = describe(profile).description;
  assert.deepEqual(send, {
    ...plain.send,
    form: { ...plain.send!.form, ...own.send.form },
    errors: { ...plain.send!.errors, ...own.send.errors },
  });
  assert.deepEqual(receipts, {
    ...plain.receipts,
    outcomes: { ...plain.receipts!.outcomes, archived: "held" },
    poll: { ...plain.receipts!.poll, everySeconds: 60 },
  });
  const { send: _, receipts: __, ...others } = plain;
  assert.deepEqual(rest, others);
  const other = describe(of("twilio", { send: { json: { to: "{to}" } }, auth: { kind: "bearer", secret: "x" } }));
  assert.deepEqual([other.description.send!.form, other.description.send!.json], [undefined, { to: "{to}" }]);
  assert.deepEqual(other.description.auth, { kind: "bearer", secret: "x" });
});

test("every preset is whole, and what is missing without one is named", () => {
  for (const preset of PRESETS) assert.deepEqual(httpFaults(of(preset)), [], preset);
  const { preset: _, ...alone } = of("twilio", { send: { form: { a: "b" } }, receipts: { poll: { each: true } } });
  const says = httpFaults(alone as HttpProfile).map((fault) => `${fault.field} ${fault.says}`);
  assert.deepEqual(says, [
    "send must have path, or a preset that has it",
    "receipts must have id, status, outcomes, or a preset that has it",
    "receipts must have poll.path, or a preset that has it",
  ]);
});

test("a sender that a messaging service chooses is not named beside it", async (t) => {
  const server = await startServer(t, (_, response) => json(response, 201, { sid: "SM1" }));
  const own = { url: `http://127.0.0.1:${server.port}`, username: "AC1", password: "secret", option: "MG1" };
  const { send: _, ...profile } = of("twilio", own);
  const unnamed = { ...profile, send: { form: { From: "" } } } as unknown as HttpProfile;
  assert.deepEqual(await carrierWith(t, unnamed).submit(), { kind: "accepted", carrierMessageId: "SM1" });
  const form = Object.fromEntries(new URLSearchParams(server.asked[0]!.body));
  assert.deepEqual([form.From, form.MessagingServiceSid, form.To], [undefined, "MG1", "+41793026727"]);
});

test("events of Bandwidth are read from their list, receipts and messages from phones", () => {
  const { receipts, incoming } = describe(of("bandwidth")).description;
  const told = [
    { type: "message-delivered", to: "+41791", message: { id: "1" } },
    { type: "message-failed", to: "+41792", errorCode: 4770, message: { id: "2" } },
    { type: "message-received", to: "+12345", message: { id: "3", from: "+41793", text: "Hi" } },
  ];
  assert.deepEqual(
    readReceipts(receipts!, told, 9).map(({ carrierMessageId, outcome, to }) => [carrierMessageId, outcome, to]),
    [
      ["1", "delivered", "41791"],
      ["2", "undeliverable", "41792"],
    ],
  );
  assert.deepEqual(readIncoming(incoming!, told, 9), [
    { from: "41793", to: "12345", text: "Hi", concatenation: null, carrierMessageId: "3", atMs: 9 },
  ]);
});
