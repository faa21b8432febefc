/** Sealed secrets: opened at their own place, by the keys that are there, and by nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  makeSecretKey,
  NO_KEYS,
  parseSecretKeys,
  SecretFault,
  sealedBy,
  secretBox,
} from "../../src/runtime/secrets.ts";

const PLACE = "account/ACME/callback_secret";
const boxOf = (...keys: string[]) => secretBox(parseSecretKeys(keys.join("\n"))!);

test("what was sealed opens at its place, and the same text is sealed differently each time", () => {
  const box = boxOf(makeSecretKey());
  const first = box.seal(PLACE, "whsec_ünïcode");
  const second = box.seal(PLACE, "whsec_ünïcode");
  assert.match(first, /^sealed:1:[0-9a-f]{12}:[\w-]+$/);
  assert.notEqual(first, second);
  assert.equal(box.open(PLACE, first), "whsec_ünïcode");
  assert.equal(box.open(PLACE, box.seal(PLACE, "")), "");
});

test("a value that was moved to another place, or changed in any octet, does not open", () => {
  const box = boxOf(makeSecretKey());
  const sealed = box.seal(PLACE, "secret");
  assert.throws(() => box.open("account/OTHER/callback_secret", sealed), SecretFault);
  const [head, body] = [sealed.slice(0, sealed.lastIndexOf(":") + 1), sealed.slice(sealed.lastIndexOf(":") + 1)];
  const octets = Buffer.from(body, "base64url");
  for (let index = 0; index < octets.length; index++) {
    const changed = Buffer.from(octets);
    changed[index]! ^= 1;
    assert.throws(() => box.open(PLACE, head + changed.toString("base64url")), SecretFault, `octet ${index}`);
  }
});

test("the newest key seals, and the ones before it still open", () => {
  const [oldKey, newKey] = [makeSecretKey(), makeSecretKey()];
  const before = boxOf(oldKey).seal(PLACE, "secret");
  const both = boxOf(newKey, oldKey);
  assert.equal(both.open(PLACE, before), "secret");
  assert.equal(sealedBy(both.seal(PLACE, "secret")), both.keyIds[0]);
  assert.equal(boxOf(newKey).open(PLACE, both.seal(PLACE, "secret")), "secret");
});

test("without its key a sealed value is refused with the name of the setting, and never the key", () => {
  const sealed = boxOf(makeSecretKey()).seal(PLACE, "secret");
  const other = makeSecretKey();
  for (const box of [NO_KEYS, boxOf(other)]) {
    assert.throws(
      () => box.open(PLACE, sealed),
      (error: Error) =>
        error instanceof SecretFault && /secretKeyFile/.test(error.message) && !error.message.includes(other),
    );
  }
});

test("without a key everything is kept as it is, and what was kept so opens once there is a key", () => {
  assert.equal(NO_KEYS.seal(PLACE, "secret"), "secret");
  assert.equal(boxOf(makeSecretKey()).open(PLACE, "secret"), "secret");
  assert.equal(sealedBy("secret"), null);
});

test("a key is 32 octets in base64, with or without its padding; anything else is none", () => {
  const key = makeSecretKey();
  assert.equal(parseSecretKeys(key)?.length, 1);
  assert.equal(parseSecretKeys(key.replace("=", ""))?.length, 1);
  assert.equal(parseSecretKeys(` ${key},\n${makeSecretKey()}\n`)?.length, 2);
  assert.deepEqual(parseSecretKeys(" \n"), []);
  for (const wrong of ["short", key.slice(4), `${key}AAAA`, `${key.slice(0, 20)} ${key.slice(20)}`, "!".repeat(44)])
    assert.equal(parseSecretKeys(wrong), null, wrong);
});
