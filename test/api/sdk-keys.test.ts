/** The published npm client of the API family, unmodified, with an API key. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AuthType, Infobip } from "@infobip-api/sdk";
import { ACCEPTED } from "../support/sending.ts";
import { errorObject, startTestService } from "../support/service.ts";

const service = await startTestService({ after });

const clientWith = (apiKey: string) => new Infobip({ baseUrl: service.url, authType: AuthType.ApiKey, apiKey });

test("it sends with an API key", async () => {
  const { status, data } = await clientWith("demo-api-key").channels.sms.send({
    messages: [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "Hello" }],
  });
  assert.equal(status, 200);
  assert.deepEqual(data.messages[0].status, ACCEPTED);
  assert.equal(service.handedOn.at(-1)!.text, "Hello");
});

test("it learns that its key is wrong", async () => {
  const { response } = await clientWith("demo-api-key-of-another").channels.sms.send({
    messages: [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "Hello" }],
  });
  assert.equal(response.status, 401);
  assert.deepEqual(response.data, errorObject("UNAUTHORIZED", "Unauthorized"));
});
