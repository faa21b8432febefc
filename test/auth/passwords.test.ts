/** Passwords are checked few at a time, and who goes first of those that wait is not decided by who comes in the largest numbers. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { hashPassword, PasswordChecker, TooManyLogins } from "../../src/auth/passwords.ts";
import { networkOf } from "../../src/runtime/networks.ts";
import { watchScrypt } from "../support/accounts.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const kept = await hashPassword("right");

/** Checks passwords, which are names here, and notes in which order that began. */
function checking(t: TestContext) {
  const clock = new VirtualClock();
  const checker = new PasswordChecker(clock);
  const scrypts = watchScrypt(t);
  const order = (): string[] => scrypts.map(({ password }) => String(password));
  const ask = (name: string, network: string, wasLetIn = false): Promise<string> =>
    checker.check(name, kept, { network, wasLetIn }).then(
      () => "checked",
      (error: unknown) => {
        assert.ok(error instanceof TooManyLogins);
        return "busy";
      },
    );
  return { clock, ask, order };
}

test("guesses from one network hold up nobody elsewhere, and whoever was let in before goes first", async (t) => {
  const { ask, order } = checking(t);
  const guesses = Array.from({ length: 40 }, (_, index) => ask(`guess ${index}`, "192.0.2."));
  const others = [ask("new", "198.51.100."), ask("home", "203.0.113.", true)];
  assert.deepEqual(await Promise.all(others), ["checked", "checked"]);
  assert.deepEqual(order().slice(0, 5), ["guess 0", "guess 1", "home", "guess 2", "new"]);
  assert.ok((await Promise.all(guesses)).every((outcome) => outcome === "checked"));
});

test("guesses from very many networks do not hold up whoever was let in before", async (t) => {
  const { ask, order } = checking(t);
  const guesses = Array.from({ length: 60 }, (_, index) => ask(`guess ${index}`, `10.0.${index}.`));
  assert.equal(await ask("home", "203.0.113.", true), "checked");
  assert.equal(order().indexOf("home"), 2);
  await Promise.all(guesses);
});

test("too many of one network, of all together, and whoever waits for long are told to come again", async (t) => {
  const { ask, clock } = checking(t);
  const outcomes = (asked: readonly Promise<string>[]) =>
    Promise.all(asked.map((each) => Promise.race([each, soon()])));
  const soon = (): Promise<string> => new Promise((resolve) => setImmediate(() => resolve("waits")));
  const first = Array.from({ length: 67 }, () => ask("guess", "192.0.2."));
  assert.deepEqual((await outcomes(first)).slice(-2), ["waits", "busy"], "two are checked, and 64 wait");
  const many = Array.from({ length: 200 }, (_, index) => ask("guess", `10.0.${index}.`));
  assert.equal((await outcomes(many)).filter((outcome) => outcome === "busy").length, 200 - (256 - 64));
  await clock.advance(10_000);
  const late = await Promise.all([...first, ...many]);
  assert.ok(late.filter((outcome) => outcome === "checked").length <= 10, "only those that were being checked");
  assert.equal(await ask("next", "192.0.2."), "checked");
});

test("a network is the beginning of an address", () => {
  assert.equal(networkOf("192.0.2.17"), networkOf("192.0.2.200"));
  assert.notEqual(networkOf("192.0.2.17"), networkOf("192.0.3.17"));
  assert.equal(networkOf("::ffff:192.0.2.17"), networkOf("192.0.2.17"));
  assert.equal(networkOf("2001:db8:1:2::1"), networkOf("2001:db8:1:ffff::2"));
  assert.notEqual(networkOf("2001:db8:1::1"), networkOf("2001:db8:2::1"));
});
