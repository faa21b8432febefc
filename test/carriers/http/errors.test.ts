/** Every code that a preset knows, through the whole service: refusals, words that say "later", reasons of receipts; and each preset where the provider cannot call us. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AnswerRule } from "../../../src/carriers/http/description.ts";
import { describe } from "../../../src/carriers/http/presets.ts";
import { PRESETS, type PresetName } from "../../../src/carriers/http/profile.ts";
import { type Rig, startRig } from "./rig.ts";

const descriptionOf = (preset: PresetName) => describe({ id: "upstream", kind: "http", preset }).description;

/** Phones one after the other, so that nothing is taken for another's. */
function phones(): () => string {
  let count = 0;
  return () => String(41_790_000_000 + ++count);
}

async function chargeOf({ service }: Rig, work: () => Promise<void>): Promise<string> {
  const balance = async (): Promise<number> => (await service.call("GET", "/account/1/balance")).json.balance;
  const before = await balance();
  await work();
  return (before - (await balance())).toFixed(2);
}

/** The codes with which an answer of the provider's refusing form is not a refusal. */
function codesOf(preset: PresetName, meaning: AnswerRule["is"]): string[] {
  const { rules = [] } = descriptionOf(preset).send!;
  return rules.filter(({ is }) => is === meaning).flatMap(({ where = {} }) => Object.values(where).flat());
}

async function eachError(t: TestContext, preset: PresetName): Promise<void> {
  const { send, receipts } = descriptionOf(preset);
  const rig = await startRig(t, preset);
  const next = phones();
  for (const [code, name] of Object.entries(send!.errors ?? {})) {
    rig.provider.faults = { refused: { code } };
    const charged = await chargeOf(rig, async () => {
      const { status, error } = await rig.report(await rig.send(next()));
      assert.deepEqual([status.groupName, error.name], ["UNDELIVERABLE", name], `refused with ${code}`);
    });
    assert.equal(charged, "0.00", `refused with ${code}`);
  }
  rig.provider.faults = { refused: { code: "none of these" } };
  const { status, error } = await rig.report(await rig.send(next()));
  assert.deepEqual([status.groupName, error.name], ["UNDELIVERABLE", "EC_SMS_REJECTED_BY_MOBILE_OPERATOR"]);
  assert.deepEqual(rig.provider.messages, []);

  // Those of the same family, and a program of one's own, call errors as we do.
  const ours = preset === "heliograph" || preset === "webhook" ? { EC_ABSENT_SUBSCRIBER: "EC_ABSENT_SUBSCRIBER" } : {};
  for (const [code, name] of Object.entries({ ...receipts!.errors, ...ours })) {
    rig.provider.faults = { receiptsFailed: { code } };
    const charged = await chargeOf(rig, async () => {
      const { status, error } = await rig.report(await rig.send(next()));
      assert.notEqual(status.groupName, "DELIVERED");
      assert.equal(error.name, name, `a receipt with ${code}`);
    });
    assert.equal(charged, "0.01", `a receipt with ${code}`);
  }
}

for (const preset of PRESETS) {
  test(`${preset}: each code of a refusal and of a receipt is told as the error that it is`, (t) =>
    eachError(t, preset));

  test(`${preset}: a long text is one message, whoever cuts it`, async (t) => {
    const { provider, send, report } = await startRig(t, preset);
    const { status, smsCount } = await report(await send("41793026727", "long ".repeat(60)));
    assert.equal(status.groupName, "DELIVERED");
    assert.equal(smsCount, 2);
    assert.ok(provider.messages.every(({ text }) => text === "long ".repeat(60)));
  });
}

/** The others say it by the status alone, which is one of the faults. */
const SAY_LATER: readonly PresetName[] = ["heliograph", "twilio", "vonage"];

for (const preset of SAY_LATER)
  test(`${preset}: what means "later" is no refusal, and the message goes once`, async (t) => {
    const codes = [...codesOf(preset, "later"), ...codesOf(preset, "not now")];
    assert.notDeepEqual(codes, []);
    const rig = await startRig(t, preset);
    const next = phones();
    for (const code of codes) {
      rig.provider.faults = { refused: { code, count: 1 } };
      const to = next();
      assert.equal((await rig.report(await rig.send(to))).status.groupName, "DELIVERED", code);
      assert.equal(rig.provider.messages.filter((message) => message.to === to).length, 1, code);
    }
  });

for (const preset of PRESETS.filter((each) => descriptionOf(each).receipts?.poll !== undefined))
  test(`${preset}: without a public address the provider is asked for receipts`, async (t) => {
    const { provider, send, report } = await startRig(t, preset, { isPublic: false });
    const [good, bad] = [await send("41793026727"), await send("41793999003")];
    assert.equal((await report(good)).status.groupName, "DELIVERED");
    const { status, error } = await report(bad);
    assert.equal(status.groupName, "UNDELIVERABLE");
    assert.notEqual(error.name, "NO_ERROR");
    assert.deepEqual(
      provider.messages.map(({ callbackUrl }) => callbackUrl),
      [null, null],
    );
  });

test("which presets can be asked is what the docs say", () => {
  const asked = PRESETS.filter((each) => descriptionOf(each).receipts?.poll !== undefined);
  assert.deepEqual(asked, ["twilio", "sinch", "plivo", "telnyx", "bandwidth", "heliograph", "android"]);
});
