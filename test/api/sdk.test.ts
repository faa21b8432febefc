/** The published npm client of the API family, unmodified: only its baseUrl is changed. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AuthType, Infobip } from "@infobip-api/sdk";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ACCEPTED, balanceOf, passUntil, REJECTED, submittedCount } from "../support/sending.ts";
import { assertUnauthorized, errorObject, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
const service = await startTestService({ after }, { clock });
const client = new Infobip({
  baseUrl: service.url,
  authType: AuthType.Basic,
  username: "demo",
  password: "demo-password",
});

/** The client resolves with an error instead of rejecting with it. */
interface Failure {
  readonly response: { readonly status: number; readonly data: unknown };
}

test("it sends text messages and reads the answer", async () => {
  const balance = await balanceOf(service);
  const before = service.handedOn.length;
  const { status, data } = await client.channels.sms.send({
    type: "text",
    bulkId: "from-the-client",
    messages: [
      {
        from: "InfoSMS",
        destinations: [{ to: "41793026727", messageId: "one" }, { to: "41793026834" }],
        text: "Hello",
      },
      { from: "InfoSMS", destinations: [{ to: "nobody" }], text: "Hello" },
    ],
  });

  assert.equal(status, 200);
  const [, { messageId }] = data.messages;
  assert.match(messageId, /^[0-9]{19}$/);
  assert.deepEqual(data, {
    bulkId: "from-the-client",
    messages: [
      { to: "41793026727", status: ACCEPTED, messageId: "one" },
      { to: "41793026834", status: ACCEPTED, messageId },
      { to: "nobody", status: REJECTED.destination },
    ],
  });
  assert.deepEqual(
    service.handedOn.slice(before).map(({ to, text }) => [to, text]),
    [
      ["41793026727", "Hello"],
      ["41793026834", "Hello"],
    ],
  );
  assert.equal(Math.round((balance - (await balanceOf(service))) * 100), 2);
});

test("it sends without naming a type, and asks for the number of parts", async () => {
  const { status, data } = await client.channels.sms.send({
    messages: [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "x".repeat(161), flash: true }],
    includeSmsCountInResponse: true,
  });

  assert.equal(status, 200);
  assert.deepEqual([data.messages[0].smsCount, service.handedOn.at(-1)!.flash], [2, true]);
});

test("it schedules a message, which waits for its time, and its report reaches the client's URL", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const sendAtMs = clock.now() + 60_000;
  const before = await submittedCount(service);
  const { status, data } = await client.channels.sms.send({
    messages: [
      {
        from: "InfoSMS",
        destinations: [{ to: "41793026727" }],
        text: "Later",
        sendAt: new Date(sendAtMs).toISOString(),
        deliveryTimeWindow: {
          days: ["MONDAY"],
          from: { hour: 12, minute: 0 },
          to: { hour: 15, minute: 30 },
        },
        notifyUrl: receiver.url,
        callbackData: "scheduled",
      },
    ],
  });
  await clock.advance(59_999);
  const early = await submittedCount(service);

  assert.equal(status, 200);
  assert.deepEqual(data.messages[0].status, ACCEPTED);
  assert.equal(early, before);
  const [report] = await passUntil(clock, () => receiver.items.length > 0 && receiver.items);
  const { messageId, sentAt, callbackData } = report!;
  assert.deepEqual(
    { messageId, sentAt, callbackData },
    { messageId: data.messages[0].messageId, sentAt: formatDateTime(sendAtMs), callbackData: "scheduled" },
  );
});

test("it previews a text", async () => {
  const { status, data } = await client.channels.sms.preview({ text: "Iğdır", transliteration: "TURKISH" });

  assert.equal(status, 200);
  assert.deepEqual(data, {
    originalText: "Iğdır",
    previews: [
      { textPreview: "Iğdır", messageCount: 1, charactersRemaining: 65, configuration: {} },
      {
        textPreview: "Igdir",
        messageCount: 1,
        charactersRemaining: 155,
        configuration: { transliteration: "TURKISH" },
      },
    ],
  });
});

test("it reads what is wrong with a request", async () => {
  const messages = [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "Hello", notifyUrl: "nowhere" }];
  const { response }: Failure = await client.channels.sms.send({ messages });

  const field = "messages[0].notifyUrl";
  const says = `${field} is not an absolute http or https URL.`;
  assert.equal(response.status, 400);
  assert.deepEqual(response.data, errorObject("BAD_REQUEST", "Bad request", [field], says));
});

test("it sends with a session token", async () => {
  const login = { username: "demo", password: "demo-password" };
  const { json } = await service.call("POST", "/1/customerProfile/login", { body: login, authorization: null });
  const { ibAuthCookie } = json.login;
  const withToken = new Infobip({ baseUrl: service.url, authType: AuthType.IBSSO, ibssoToken: ibAuthCookie });
  const { status, data } = await withToken.channels.sms.send({
    messages: [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "Hello" }],
  });

  assert.equal(status, 200);
  assert.deepEqual(data.messages[0].status, ACCEPTED);
});

test("it learns that its password is wrong", async () => {
  const stranger = new Infobip({
    baseUrl: service.url,
    authType: AuthType.Basic,
    username: "demo",
    password: "wrong",
  });
  const balance = await balanceOf(service);
  const { response }: Failure = await stranger.channels.sms.send({
    messages: [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "Hello" }],
  });

  assertUnauthorized({ status: response.status, json: response.data }, "password");
  assert.equal(await balanceOf(service), balance);
});
