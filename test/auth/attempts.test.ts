/** How wrong logins are slowed down: exact counts under a virtual clock, without a socket. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LoginAttempts, type TallyKind, TooManyAttempts } from "../../src/auth/attempts.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const RIGHT = "the right one";
const [HOME, ELSEWHERE] = ["192.0.2.1", "198.51.100.1"];

/** Attempts on users whose password is RIGHT. Each says what became of it, or how many seconds there are to wait. */
function start({ loginAttempts = 5 } = {}) {
  const clock = new VirtualClock();
  const waits: (readonly [TallyKind, string])[] = [];
  const onWait = (kind: TallyKind, address: string) => waits.push([kind, address]);
  const attempts = new LoginAttempts({ settings: { loginAttempts }, clock, onWait });
  const state = { checks: 0, right: RIGHT };
  const check = (secret: string) => async () => {
    state.checks++;
    await new Promise((resolve) => setImmediate(resolve));
    if (secret === "broken") throw new Error("no store");
    return secret === state.right ? "in" : null;
  };
  const told = (work: Promise<string | null>) =>
    work.catch((error: Error) => (error instanceof TooManyAttempts ? Math.ceil(error.waitMs / 1_000) : error.message));
  const login = (address: string, password: string, username = "owner") =>
    told(attempts.attempt({ address, username, password }, check(password)));
  const use = (address: string, secret: string) => told(attempts.attempt({ address, secret }, check(secret)));
  return { attempts, clock, state, waits, login, use };
}

test("five wrong ones, and the next waits: a second, then twice as long each time, up to five minutes", async () => {
  const { clock, state, login, waits } = start();
  for (let time = 0; time < 5; time++) assert.equal(await login(HOME, `guess ${time}`), null);
  assert.equal(state.checks, 5);
  const seconds: number[] = [];
  for (let time = 0; time < 12; time++) {
    const wait = (await login(HOME, RIGHT)) as number;
    seconds.push(wait);
    await clock.advance(wait * 1_000 - 1);
    assert.equal(await login(HOME, RIGHT), 1, "not even the right one, a moment too early");
    await clock.advance(1);
    assert.equal(await login(HOME, "another guess"), null);
  }
  assert.deepEqual(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
  assert.equal(state.checks, 17);
  assert.deepEqual(waits[0], ["pair", HOME]);
  await clock.advance(300_000);
  assert.equal(await login(HOME, RIGHT), "in");
  for (let time = 0; time < 5; time++) assert.equal(await login(HOME, "wrong"), null, "a right one forgives");
});

test("a thousand at once are no more than five", async () => {
  const { state, login } = start();
  const outcomes = await Promise.all(Array.from({ length: 1_000 }, (_, index) => login(HOME, `guess ${index}`)));
  assert.equal(state.checks, 5);
  assert.deepEqual(outcomes.filter((outcome) => outcome === null).length, 5);
  assert.deepEqual(new Set(outcomes.slice(5)), new Set([1]));
});

test("a thousand of the same at once are one when it is right, and five when it is wrong", async () => {
  const right = start();
  const outcomes = await Promise.all(Array.from({ length: 1_000 }, () => right.login(HOME, RIGHT)));
  assert.deepEqual(new Set(outcomes), new Set(["in"]));
  const wrong = start();
  await Promise.all(Array.from({ length: 1_000 }, () => wrong.login(HOME, "wrong")));
  assert.equal(wrong.state.checks, 5);
});

test("who guesses at a name from one address does not stand in the way of others", async () => {
  const { login } = start();
  for (let time = 0; time < 1_000; time++) await login(ELSEWHERE, `guess ${time}`);
  assert.equal(await login(HOME, RIGHT), "in");
  assert.equal(await login(ELSEWHERE, RIGHT), 1);
});

test("an address that tries many users waits after twenty, but for users who have logged in from there", async () => {
  const { clock, state, login } = start();
  assert.equal(await login(HOME, RIGHT, "neighbour"), "in");
  for (let user = 0; user < 1_000; user++) await login(HOME, "12345", `user ${user}`);
  assert.equal(state.checks, 21);
  assert.equal(await login(HOME, RIGHT, "somebody"), 1);
  assert.equal(await login(HOME, RIGHT, "neighbour"), "in");
  assert.equal(await login(ELSEWHERE, RIGHT, "somebody"), "in");
  await clock.advance(1_000);
  assert.equal(await login(HOME, RIGHT, "somebody"), "in");
});

test("a name that is guessed at from everywhere is slowed down for strangers, not where its owner was before", async () => {
  const { state, login } = start();
  assert.equal(await login(HOME, RIGHT), "in");
  for (let index = 0; index < 1_000; index++) await login(`203.0.113.${index % 256}`, `guess ${index}`);
  assert.equal(state.checks, 21);
  assert.equal(await login(ELSEWHERE, RIGHT), 1, "a stranger, as far as can be told");
  assert.equal(await login(HOME, RIGHT), "in");
  assert.equal(await login(HOME, "a slip"), null);
  assert.equal(await login(HOME, RIGHT), "in");
});

test("a right password goes on working at its address beside an old one that is tried again and again", async () => {
  const { state, login } = start();
  assert.equal(await login(HOME, RIGHT), "in");
  for (let time = 0; time < 100; time++) {
    await login(HOME, "the old one");
    assert.equal(await login(HOME, RIGHT), "in");
  }
  assert.equal(state.checks, 1 + 5 + 100);
});

test("but it is no way to guess on: past a thousand it waits as well", async () => {
  const { login } = start();
  await login(HOME, RIGHT);
  for (let time = 0; time < 1_100; time++) await login(HOME, `guess ${time}`);
  assert.equal(await login(HOME, RIGHT), 1);
});

test("a password that was changed is not proven any more", async () => {
  const { state, login } = start();
  assert.equal(await login(HOME, RIGHT), "in");
  state.right = "a new one";
  for (let time = 0; time < 1_000; time++) await login(HOME, RIGHT);
  assert.equal(state.checks, 1 + 5);
});

test("after a quarter of an hour of quiet all is forgotten", async () => {
  const { clock, login } = start();
  for (let time = 0; time < 5; time++) await login(HOME, "wrong");
  await clock.advance(15 * 60_000 - 1);
  assert.equal(await login(HOME, "wrong"), null);
  assert.equal(await login(HOME, "wrong"), 2, "not quite: it goes on where it was");
  await clock.advance(15 * 60_000);
  for (let time = 0; time < 5; time++) assert.equal(await login(HOME, "wrong"), null);
  assert.equal(await login(HOME, "wrong"), 1);
});

test("all addresses of a /64 are one", async () => {
  const { state, login } = start();
  for (let index = 0; index < 100; index++) await login(`2001:db8:1:2::${index.toString(16)}`, `guess ${index}`);
  assert.equal(state.checks, 5);
  assert.equal(await login("2001:db8:1:3::1", RIGHT), "in");
});

test("what could not be checked is neither right nor wrong", async () => {
  const { state, login } = start();
  for (let time = 0; time < 20; time++) assert.equal(await login(HOME, "broken"), "no store");
  assert.equal(state.checks, 20);
  assert.equal(await login(HOME, RIGHT), "in");
});

test("wrong keys and tokens are counted by address, and stop neither those that were right there nor passwords", async () => {
  const { clock, state, login, use } = start();
  assert.equal(await use(HOME, RIGHT), "in");
  for (let time = 0; time < 1_000; time++) await use(HOME, `guess ${time}`);
  assert.equal(state.checks, 101);
  assert.equal(await use(HOME, "one more"), 1);
  assert.equal(await use(HOME, RIGHT), "in");
  assert.equal(await use(ELSEWHERE, RIGHT), "in");
  assert.equal(await login(HOME, RIGHT), "in");
  await clock.advance(1_000);
  assert.equal(await use(HOME, "one more"), null);
  state.right = "another";
  for (let time = 0; time < 10; time++) await use(HOME, RIGHT);
  assert.equal(await use(HOME, RIGHT), 4, "one that has ended is like any other");
});

test("ten thousand are counted at a time: the one used longest ago makes room", async () => {
  const { login } = start({ loginAttempts: 1 });
  const addressOf = (index: number) => `10.0.${index >> 8}.${index & 255}`;
  assert.equal(await login(HOME, "wrong"), null);
  for (let index = 0; index < 9_999; index++) await login(addressOf(index), "wrong", `user ${index}`);
  assert.equal(await login(HOME, "wrong"), 1);
  assert.equal(await login(addressOf(0), "wrong", "user 0"), 1);
  for (let index = 9_999; index < 20_001; index++) await login(addressOf(index), "wrong", `user ${index}`);
  assert.equal(await login(addressOf(20_000), "wrong", "user 20000"), 1);
  assert.equal(await login(HOME, "wrong"), null, "forgotten");
});

test("a token that was just given out works where its owner is, whatever others there have tried", async () => {
  const { attempts, use } = start();
  for (let time = 0; time < 100; time++) assert.equal(await use(HOME, `guess ${time}`), null);
  assert.equal(await use(HOME, RIGHT), 1, "a secret that nobody knows there has to wait");
  attempts.knows(RIGHT, HOME);
  assert.equal(await use(HOME, RIGHT), "in");
  assert.equal(await use(HOME, "another guess"), 1);
});
