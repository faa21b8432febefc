/** Signatures of callbacks, against the providers' own libraries: they know ours for theirs, and ours takes what they make. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AlgorithmTypes, Auth } from "@vonage/auth";
import twilio from "twilio";
import { type Callback, fieldsIn, isSigned, readCallback } from "../../../src/carriers/http/callbacks.ts";
import type { HttpProfile, PresetName } from "../../../src/carriers/http/profile.ts";
import { PROVIDERS } from "../../../src/provider/apis.ts";
import type { OutCall, TakenMessage } from "../../../src/provider/port.ts";
import { signVonage } from "../../../src/provider/signing.ts";

const SECRET = "s3cret & more = all";
const URL_OF_OURS = "https://sms.example.com/carriers/upstream/t0ken/receipts?a=1";
const MESSAGE: TakenMessage = {
  id: "SM0123",
  from: "Info & Co",
  to: "41793026727",
  text: "",
  reference: "a=b&c",
  callbackUrl: URL_OF_OURS,
};
const SETTINGS = { username: "AC0123", password: SECRET, secret: SECRET };
const profileOf = (preset: PresetName): HttpProfile => ({
  id: "upstream",
  kind: "http",
  preset,
  username: "AC0123",
  password: SECRET,
  apiKey: SECRET,
  callbackSecret: SECRET,
});

/** All that a simulated provider calls us with. */
function callsOf(preset: PresetName): OutCall[] {
  const api = PROVIDERS[preset]!;
  const receipts = (["delivered", "undeliverable"] as const).flatMap(
    (outcome) => api.receipt?.(URL_OF_OURS, MESSAGE, { outcome, code: null }, SETTINGS) ?? [],
  );
  const written = { id: "1", from: "41793026727", to: "12345678", text: "Zoë & me = 100% ✓ +1" };
  return [...receipts, api.incoming(URL_OF_OURS, written, SETTINGS)];
}

const heard = ({
  method = "POST",
  url,
  headers,
  body,
}: Omit<OutCall, "method"> & { readonly method?: string }): Callback => ({
  method,
  url,
  headers,
  body: Buffer.from(body),
  address: "127.0.0.1",
});

const fieldsOf = (body: string): Record<string, string> => Object.fromEntries(new URLSearchParams(body));

test("Twilio's library takes our simulated callbacks for Twilio's", () => {
  for (const { url, headers, body } of callsOf("twilio")) {
    const signature = headers["x-twilio-signature"]!;
    assert.equal(twilio.validateRequest(SECRET, signature, url, fieldsOf(body)), true);
    assert.equal(twilio.validateRequest("another", signature, url, fieldsOf(body)), false);
    assert.equal(twilio.validateRequest(SECRET, signature, url, { ...fieldsOf(body), To: "+4179" }), false);
  }
});

test("we take what Twilio's library signs, with the port in the address or without", () => {
  const fields = { MessageSid: "SM1", To: "+41793026727", Body: "Zoë & me = 100% ✓", b: "", A: "2" };
  const body = new URLSearchParams(fields).toString();
  const headers = (signature: string) => ({
    "content-type": "application/x-www-form-urlencoded",
    "x-twilio-signature": signature,
  });
  for (const url of [
    URL_OF_OURS,
    URL_OF_OURS.replace(".com/", ".com:443/"),
    URL_OF_OURS.replace(".com/", ".com:8443/"),
  ])
    for (const signedUrl of [url, url.replace(/:\d+\//, "/")]) {
      const signature = twilio.getExpectedTwilioSignature(SECRET, signedUrl, fields);
      const callback = heard({ url, headers: headers(signature), body });
      assert.equal(isSigned(profileOf("twilio"), callback), true, signedUrl);
      assert.equal(isSigned({ ...profileOf("twilio"), password: "another" }, callback), false);
      const other = { ...callback, body: Buffer.from(body.replace("SM1", "SM2")) };
      assert.equal(isSigned(profileOf("twilio"), other), false);
    }
});

/** The library signs what it sends with the key of its account among the fields. */
async function signedByVonage(fields: Record<string, string>): Promise<Record<string, string>> {
  const auth = new Auth({
    apiKey: "AC0123",
    apiSecret: "unused",
    signature: { secret: SECRET, algorithm: AlgorithmTypes.sha256hmac },
  });
  return (await auth.createSignatureHash({ ...fields })) as unknown as Record<string, string>;
}

test("Vonage's library signs the fields of our simulated callbacks as we do", async () => {
  for (const { body } of callsOf("vonage")) {
    const { sig, ...fields } = fieldsOf(body);
    assert.match(sig!, /^[0-9a-f]{64}$/);
    const signed = await signedByVonage(fields);
    const { sig: theirs, ...all } = signed;
    assert.equal(signVonage(new URLSearchParams(all), SECRET), theirs);
  }
});

test("we take what Vonage's library signs, and nothing that was changed after", async () => {
  const fields = { msisdn: "41793026727", messageId: "0A01", text: "Zoë & me = 100% ✓", timestamp: "1700000000" };
  const signed = await signedByVonage(fields);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const asForm = (all: Record<string, string>): Callback =>
    heard({ url: URL_OF_OURS, headers, body: new URLSearchParams(all).toString() });
  assert.equal(isSigned(profileOf("vonage"), asForm(signed)), true);
  assert.equal(isSigned(profileOf("vonage"), asForm({ ...signed, sig: signed.sig!.toUpperCase() })), true);
  assert.equal(isSigned(profileOf("vonage"), asForm({ ...signed, text: "another" })), false);
  const query = `${URL_OF_OURS.split("?")[0]}?${new URLSearchParams(signed)}`;
  assert.equal(isSigned(profileOf("vonage"), heard({ method: "GET", url: query, headers: {}, body: "" })), true);
  const { sig, ...unsigned } = signed;
  assert.ok(sig !== undefined);
  assert.equal(isSigned(profileOf("vonage"), asForm(unsigned)), false);
});

test("callbacks of Vonage as POST-JSON are proved by the same signature, and nothing that was changed after", async () => {
  const fields = {
    msisdn: "41793026727",
    to: "12345",
    messageId: "0A01",
    text: "Zoë & me = 100% ✓",
    timestamp: "1700000000",
  };
  const signed = await signedByVonage(fields);
  const asJson = (all: Record<string, unknown>): Callback =>
    heard({ url: URL_OF_OURS, headers: { "content-type": "application/json" }, body: JSON.stringify(all) });
  const profile = profileOf("vonage");
  assert.equal(isSigned(profile, asJson(signed)), true);
  for (const change of [{ text: "another" }, { more: { nested: true } }, { sig: "" }, { sig: 7 }])
    assert.equal(isSigned(profile, asJson({ ...signed, ...change })), false, JSON.stringify(change));
  const { incoming } = readCallback(profile, "incoming", fieldsIn(asJson(signed)), 9);
  assert.deepEqual(
    incoming.map(({ from, to, text, carrierMessageId }) => [from, to, text, carrierMessageId]),
    [["41793026727", "12345", fields.text, "0A01"]],
  );
});

test("what each simulated provider signs is taken, and not with another secret, nor without its signature", () => {
  for (const preset of ["twilio", "vonage", "sinch", "plivo", "android"] as const)
    for (const call of callsOf(preset)) {
      const callback = heard(call);
      const profile = profileOf(preset);
      assert.equal(isSigned(profile, callback), true, preset);
      const another = { ...profile, password: "another", callbackSecret: "another" };
      assert.equal(isSigned(another, callback), false, `${preset}, with another secret`);
      const { "content-type": type } = call.headers;
      const body = Buffer.from(call.body.replace(/&sig=[^&]*/, ""));
      assert.equal(isSigned(profile, { ...callback, headers: { "content-type": type }, body }), false, preset);
    }
});
