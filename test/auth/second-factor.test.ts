/** Codes of a second factor: the vectors of the RFCs, and which code fits when. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  codeAt,
  factorUri,
  fromBase32,
  newFactorSecret,
  newRecoveryCodes,
  proofOf,
  stepAt,
} from "../../src/auth/second-factor.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** "12345678901234567890", the secret of the RFCs. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const FACTOR = { secret: SECRET, begunAtMs: 7, confirmedAtMs: 8, lastStep: 0, recoveryCodes: 10 };

test("the codes are those of RFC 4226 by counter, and of RFC 6238 by time", () => {
  const byCounter = "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489".split(" ");
  assert.deepEqual(
    byCounter.map((_, counter) => codeAt(SECRET, counter)),
    byCounter,
  );
  // The RFC gives eight digits; six are the last six of them.
  const byTime: readonly (readonly [seconds: number, code: string])[] = [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ];
  for (const [seconds, code] of byTime) assert.equal(codeAt(SECRET, stepAt(seconds * 1_000)), code.slice(2));
});

test("secrets are in base32, as RFC 4648 has it", () => {
  const vectors = { f: "MY", fo: "MZXQ", foo: "MZXW6", foob: "MZXW6YQ", fooba: "MZXW6YTB", foobar: "MZXW6YTBOI" };
  for (const [text, base32] of Object.entries(vectors)) {
    assert.equal(fromBase32(base32).toString(), text);
  }
  const secret = newFactorSecret();
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.equal(fromBase32(secret).length, 20);
  assert.notEqual(newFactorSecret(), secret);
});

test("a code is good in its own thirty seconds, in those before and in those after", async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
  const step = stepAt(clock.now());
  const code = codeAt(SECRET, step + 2);
  const fits: boolean[] = [];
  for (let turn = 0; turn < 5; turn++) {
    fits.push(proofOf(code, FACTOR, clock.now()) !== null);
    await clock.advance(29_999);
    fits.push(proofOf(code, FACTOR, clock.now()) !== null);
    await clock.advance(1);
  }
  assert.deepEqual(fits, [false, false, true, true, true, true, true, true, false, false]);
  assert.deepEqual(proofOf(codeAt(SECRET, step + 6), FACTOR, clock.now()), {
    kind: "code",
    begunAtMs: 7,
    step: step + 6,
  });
});

test("a step that was taken fits no more, and the one after it does", () => {
  const nowMs = Date.UTC(2026, 0, 5, 12);
  const step = stepAt(nowMs);
  const after = { ...FACTOR, lastStep: step };
  const fitting = [-1, 0, 1].map((offset) => proofOf(codeAt(SECRET, step + offset), after, nowMs) !== null);
  assert.deepEqual(fitting, [false, false, true]);
});

test("codes are read as people write them, and nothing else is", () => {
  const nowMs = Date.UTC(2026, 0, 5, 12);
  const code = codeAt(SECRET, stepAt(nowMs));
  const proof = proofOf(code, FACTOR, nowMs);
  assert.equal(proof?.kind, "code");
  for (const written of [` ${code}`, `${code.slice(0, 3)} ${code.slice(3)}`, `${code.slice(0, 3)}-${code.slice(3)}`])
    assert.deepEqual(proofOf(written, FACTOR, nowMs), proof);
  const wrong = ["", "12345", `${code}0`, "١٢٣٤٥٦", "12345a", `${code}\n`, " ".repeat(20) + code, "a".repeat(100_000)];
  for (const written of wrong) assert.equal(proofOf(written, FACTOR, nowMs), null, written.slice(0, 20));
});

test("there are ten recovery codes, each another one, known again by their hashes however they are written", () => {
  const { shown, hashes } = newRecoveryCodes();
  assert.equal(new Set(shown).size, 10);
  shown.forEach((code, index) => {
    assert.match(code, /^[a-z2-7]{5}-[a-z2-7]{5}-[a-z2-7]{4}$/);
    for (const written of [code, code.toUpperCase(), code.replaceAll("-", ""), code.replaceAll("-", " ")])
      assert.deepEqual(proofOf(written, FACTOR, 0), { kind: "recovery code", codeHash: hashes[index] });
  });
});

test("the link says all that an app has to know, whatever the user is called", () => {
  const uri = new URL(factorUri("käufer & co", SECRET));
  assert.deepEqual([uri.protocol, uri.host], ["otpauth:", "totp"]);
  assert.equal(decodeURIComponent(uri.pathname), "/Heliograph:käufer & co");
  const said = { secret: SECRET, issuer: "Heliograph", algorithm: "SHA1", digits: "6", period: "30" };
  assert.deepEqual(Object.fromEntries(uri.searchParams), said);
});
