/** Every preset through the whole service: a message, its receipt, what a phone writes, and each way in which the provider refuses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { callbackUrls } from "../../../src/carriers/http/callbacks.ts";
import { PRESETS } from "../../../src/carriers/http/profile.ts";
import { eventually } from "../../support/service.ts";
import { startRig } from "./rig.ts";

const PROVIDERS = PRESETS.filter((preset) => preset !== "heliograph");

for (const preset of PROVIDERS) {
  test(`${preset}: a message is taken as it is, and its receipt comes`, async (t) => {
    const { provider, send, report } = await startRig(t, preset);
    const text = 'Grüße, "Zoë" & {text} = 100% ✓';
    const { status, smsCount, price } = await report(await send("41793026727", text, "InfoSMS"));
    assert.equal(status.groupName, "DELIVERED");
    assert.equal(smsCount, 1);
    assert.equal(price.pricePerMessage, 0.01);
    const [message, ...others] = provider.messages;
    assert.deepEqual(others, []);
    assert.equal(message!.text, text);
    assert.equal(message!.to, "41793026727");
    if (preset !== "android") assert.equal(message!.from, "InfoSMS");
  });

  test(`${preset}: a phone that does not take it is told with its error`, async (t) => {
    const { send, report } = await startRig(t, preset);
    const { status, error } = await report(await send("41793999003"));
    assert.equal(status.groupName, "UNDELIVERABLE");
    assert.notEqual(error.name, "NO_ERROR");
  });

  test(`${preset}: a long text is one message, whoever cuts it`, async (t) => {
    const { provider, send, report } = await startRig(t, preset);
    const { status, smsCount } = await report(await send("41793026727", "long ".repeat(60)));
    assert.equal(status.groupName, "DELIVERED");
    assert.equal(smsCount, 2);
    assert.ok(provider.messages.every(({ text }) => text === "long ".repeat(60)));
  });

  test(`${preset}: what a phone writes comes in`, async (t) => {
    const { provider, service, publicUrl } = await startRig(t, preset);
    const profile = { id: "upstream", kind: "http", callbackSecret: "provider-secret" } as const;
    provider.write(callbackUrls(profile, publicUrl).eventsUrl as string, {
      from: "41793026727",
      to: "12345678",
      text: "STOP it",
    });
    const found = await eventually(async () => {
      const { json } = await service.call("GET", "/sms/1/inbox/reports");
      return json.results.length > 0 && json.results;
    });
    assert.deepEqual(
      found.map(({ from, to, text }: Record<string, string>) => ({ from, to, text })),
      [{ from: "41793026727", to: "12345678", text: "STOP it" }],
    );
  });

  test(`${preset}: said to be too fast, or broken, the message goes again and once`, async (t) => {
    for (const fault of ["tooFast", "broken"] as const) {
      const { provider, send, report } = await startRig(t, preset, { faults: { [fault]: { count: 1 } } });
      assert.equal((await report(await send("41793026727"))).status.groupName, "DELIVERED");
      assert.equal(provider.messages.length, 1);
    }
  });
}
