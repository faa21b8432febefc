/** PINs with the published npm client of the API family, unmodified: only its baseUrl is changed. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AuthType, Infobip } from "@infobip-api/sdk";
import { startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const { twoFA } = new Infobip({
  baseUrl: service.url,
  authType: AuthType.Basic,
  username: "demo",
  password: "demo-password",
}).service;

/** The client resolves with an error instead of rejecting with it. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into by the test that knows its shape
async function answered(call: Promise<unknown>): Promise<{ status: number; data: any }> {
  const result = (await call) as { status?: number; data?: unknown; response?: { status: number; data: unknown } };
  return (result.response ?? result) as { status: number; data: unknown };
}

// biome-ignore lint/suspicious/noExplicitAny: as above
async function good(call: Promise<unknown>): Promise<any> {
  const { status, data } = await answered(call);
  assert.equal(status, 200, JSON.stringify(data));
  return data;
}

test("it makes an application and a template, sends a PIN, sends it again, verifies it, and asks what became of it", async () => {
  const made = await good(twoFA.createApplication({ name: "Login", configuration: { verifyPinLimit: "100/1s" } }));
  const { applicationId } = made;
  assert.deepEqual(await good(twoFA.getApplication(applicationId)), made);
  const changed = await good(twoFA.updateApplication(applicationId, { name: "Door" }));
  assert.deepEqual(changed, { ...made, name: "Door" });
  assert.deepEqual(await good(twoFA.getApplications()), [changed]);

  const wish = { messageText: "Your PIN is {{pin}}", pinType: "NUMERIC", senderId: "Login" };
  const template = await good(twoFA.createMessageTemplate(applicationId, wish));
  const { messageId } = template;
  const longer = await good(twoFA.updateMessageTemplate(applicationId, messageId, { pinLength: 6 }));
  assert.deepEqual(longer, { ...template, pinLength: 6 });
  assert.deepEqual(await good(twoFA.getMessageTemplate(applicationId, messageId)), longer);
  assert.deepEqual(await good(twoFA.getMessageTemplates(applicationId)), [longer]);

  const to = "41793026727";
  const { pinId, smsStatus } = await good(twoFA.sendPINCodeSMS({ applicationId, messageId, to }));
  assert.equal(smsStatus, "MESSAGE_SENT");
  assert.equal(
    (await good(twoFA.sendPINCodeSMS({ applicationId, messageId, to: "41793026834" }, true))).to,
    "41793026834",
  );
  const { text } = service.handedOn.find((message) => message.to === to)!;
  assert.equal((await good(twoFA.resendPINCodeSMS(pinId))).pinId, pinId);
  assert.deepEqual(
    service.handedOn.filter((message) => message.to === to).map((message) => message.text),
    [text, text],
  );

  const wrong = await good(twoFA.verifyPhoneNumber(pinId, { pin: "none" }));
  assert.deepEqual([wrong.verified, wrong.attemptsRemaining, wrong.pinError], [false, 9, "WRONG_PIN"]);
  const right = await good(twoFA.verifyPhoneNumber(pinId, { pin: /\d{6}$/.exec(text)![0] }));
  assert.deepEqual(right, { pinId, msisdn: to, verified: true, attemptsRemaining: 0 });
  const { verifications } = await good(twoFA.getVerificationStatus(applicationId, { msisdn: to }));
  assert.equal(verifications.length, 1);
  assert.deepEqual([verifications[0].msisdn, verifications[0].verified], [to, true]);
});

test("it gets the family's error", async () => {
  const { status, data } = await answered(twoFA.verifyPhoneNumber("0".repeat(32), { pin: "1234" }));
  assert.equal(status, 404);
  assert.deepEqual(Object.keys(data.requestError.serviceException), ["messageId", "text"]);
});
