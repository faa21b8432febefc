/** The published npm client of the API family, unmodified: with an API key, and in the other forms of sending. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AuthType, Infobip } from "@infobip-api/sdk";
import { ACCEPTED, ENROUTE } from "../support/sending.ts";
import { assertUnauthorized, startTestService } from "../support/service.ts";

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
  assertUnauthorized({ status: response.status, json: response.data }, "key");
});

test("it sends a message in a URL, with its password there", async () => {
  const client = new Infobip({
    baseUrl: service.url,
    authType: AuthType.Basic,
    username: "demo",
    password: "demo-password",
  });
  const before = service.handedOn.length;
  const { status, data } = await client.channels.sms.send({
    type: "query",
    from: "InfoSMS",
    to: ["41793026727", "41793026834"],
    text: "Hello & goodbye",
    flash: true,
  });
  assert.equal(status, 200);
  assert.deepEqual(
    data.messages.map(({ to, status }: { to: string; status: unknown }) => [to, status]),
    [
      ["41793026727", ENROUTE],
      ["41793026834", ENROUTE],
    ],
  );
  assert.deepEqual(
    service.handedOn.slice(before).map(({ to, text, flash }) => [to, text, flash]),
    [
      ["41793026727", "Hello & goodbye", true],
      ["41793026834", "Hello & goodbye", true],
    ],
  );
});

test("it sends octets", async () => {
  const { status, data } = await clientWith("demo-api-key").channels.sms.send({
    type: "binary",
    messages: [
      {
        from: "InfoSMS",
        destinations: [{ to: "41793026727" }],
        binary: { hex: "0f c2 4a bf 34 13 ba", dataCoding: 4, esmClass: 0 },
      },
    ],
  });
  assert.equal(status, 200);
  assert.deepEqual(data.messages[0].status, ACCEPTED);
  const { text, encoding } = service.handedOn.at(-1)!;
  assert.deepEqual([text, encoding], ["0fc24abf3413ba", { dataCoding: 4, esmClass: 0 }]);
});
