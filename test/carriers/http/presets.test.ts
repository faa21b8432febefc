/** Every preset through the whole service: a message, its receipt, and what a phone writes. Errors, faults and polls are in the long run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { callbackUrls } from "../../../src/carriers/http/callbacks.ts";
import { PRESETS } from "../../../src/carriers/http/profile.ts";
import { eventually } from "../../support/service.ts";
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
