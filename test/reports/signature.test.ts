/** Signatures, checked with the library that clients use. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { signatures, signingKey } from "../../src/reports/pushing/report-request.ts";

const OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const BODY = '{"results":[{"callbackData":"žluťoučký 😀"}]}';

function headersFor(body: string, secrets: readonly string[]) {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  return {
    "webhook-id": "batch-1",
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures({ id: "batch-1", timestampSeconds, body }, secrets.map(signingKey)),
  };
}

test("the published vector of the standard comes out", () => {
  const signed = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestampSeconds: 1614265330, body: '{"test": 2432232314}' };
  assert.equal(signatures(signed, [signingKey(OLD)]), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("a signature is accepted by the client's library", () => {
  assert.deepEqual(new Webhook(OLD).verify(BODY, headersFor(BODY, [OLD])), JSON.parse(BODY));
});

test("while a secret is being changed, both verify", () => {
  const headers = headersFor(BODY, [NEW, OLD]);
  new Webhook(OLD).verify(BODY, headers);
  new Webhook(NEW).verify(BODY, headers);
  assert.equal(headers["webhook-signature"].split(" ").length, 2);
});

test("another body, id, time or secret is not accepted", () => {
  const headers = headersFor(BODY, [OLD]);
  const later = String(Number(headers["webhook-timestamp"]) + 1);
  assert.throws(() => new Webhook(OLD).verify(`${BODY} `, headers));
  assert.throws(() => new Webhook(OLD).verify(BODY, { ...headers, "webhook-id": "batch-2" }));
  assert.throws(() => new Webhook(OLD).verify(BODY, { ...headers, "webhook-timestamp": later }));
  assert.throws(() => new Webhook(NEW).verify(BODY, headers));
});
