/** How often watched views are read, what is written to a stream and what is not: under a clock that the test moves. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Type } from "typebox";
import { MemoryBudget } from "../../src/api/budget.ts";
import { LiveStream } from "../../src/api/console/live-stream.ts";
import { type News, type Question, SharedViews } from "../../src/api/console/shared-views.ts";
import { sleep } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import type { Account } from "../../src/store/port/accounts.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const accountOf = (id: number, username = "user") =>
  ({ id, user: { username, secondFactor: false }, apiKey: null, passwordOfReseller: false }) as unknown as Account;

/** A view whose reads take as long as the test says, and what they bring. */
function bench() {
  const clock = new VirtualClock();
  const shared = new SharedViews({ clock, log: silentLog });
  const state = { reads: 0, tookMs: 0, answer: (query: unknown): unknown => ({ query }), underWay: 0, most: 0 };
  const view = {
    name: "thing",
    summary: "",
    auth: "account",
    scope: "track",
    answer: Type.Any(),
    async read(_: Account, query: unknown) {
      state.reads++;
      state.most = Math.max(state.most, ++state.underWay);
      await sleep(clock, state.tookMs);
      state.underWay--;
      return state.answer(query);
    },
  } as const;
  const question = (query = ""): Question => ({ view, query, serialize: JSON.stringify });
  return { clock, shared, state, question };
}

test("a view is read at once, then every 700 ms, and once for all who watch it", async () => {
  const { clock, shared, state, question } = bench();
  const heard: News[][] = [[], [], []];
  const watches = heard.map((news) => shared.watch(question("a=1&a=2&b=%2B"), accountOf(1), (one) => news.push(one)));
  await clock.advance(0);
  assert.equal(state.reads, 1);
  assert.deepEqual(
    heard.map(([news]) => news?.fields),
    Array(3).fill('"answer":{"query":{"a":["1","2"],"b":"+"}}'),
  );
  await clock.advance(7_000);
  assert.equal(state.reads, 11);
  for (const watch of watches.slice(1)) watch.stop();
  await clock.advance(700);
  assert.deepEqual([state.reads, heard[0]!.length, heard[1]!.length], [12, 12, 11]);
  watches[0]!.stop();
  await clock.advance(10_000);
  assert.deepEqual([state.reads, shared.size], [12, 0], "nobody watches, and nothing is read");
});

test("another query, another account and another user have an answer of their own", async () => {
  const { clock, shared, state, question } = bench();
  for (const [query, account] of [
    ["", accountOf(1)],
    ["a=1", accountOf(1)],
    ["", accountOf(2)],
    ["", accountOf(1, "other")],
  ] as const)
    shared.watch(question(query), account, () => undefined);
  await clock.advance(0);
  assert.deepEqual([state.reads, shared.size], [4, 4]);
});

test("an account that does something has its views read soon, and others do not", async () => {
  const { clock, shared, state, question } = bench();
  shared.watch(question(), accountOf(1), () => undefined);
  shared.watch(question(), accountOf(2), () => undefined);
  await clock.advance(100);
  shared.touch(1);
  shared.touch(3);
  await clock.advance(0);
  assert.equal(state.reads, 3);
  for (let count = 0; count < 1_000; count++) shared.touch(1);
  await clock.advance(60);
  assert.equal(state.reads, 4, "and a thousand changes are one more read");
});

test("a change during a read is read once more", async () => {
  const { clock, shared, state, question } = bench();
  state.tookMs = 20;
  shared.watch(question(), accountOf(1), () => undefined);
  await clock.advance(10);
  shared.touch(1);
  await clock.advance(10 + 200);
  assert.equal(state.reads, 2, "ten times the 20 ms later");
});

test("a store that is slow is asked less: after ten times as long as it took", async () => {
  const { clock, shared, state, question } = bench();
  state.tookMs = 500;
  shared.watch(question(), accountOf(1), () => undefined);
  await clock.advance(500 + 4_999);
  shared.touch(1);
  assert.equal(state.reads, 1);
  await clock.advance(1);
  assert.equal(state.reads, 2);
});

test("however many watch, two views are read at a time, and their places rest: a fifth of the store's time", async () => {
  const { clock, shared, state, question } = bench();
  state.tookMs = 5;
  for (let account = 1; account <= 20; account++)
    for (let query = 0; query < 8; query++) shared.watch(question(`${query}`), accountOf(account), () => undefined);
  await clock.advance(20_000);
  assert.equal(state.most, 2);
  assert.ok(state.reads * state.tookMs <= 20_000 / 5 + 2 * state.tookMs, `${state.reads} reads`);
  assert.ok(state.reads * state.tookMs > 20_000 / 6, `${state.reads} reads`);
});

test("a view that fails, or answers too much, says so, and is read again", async () => {
  const { clock, shared, state, question } = bench();
  const heard: News[] = [];
  shared.watch(question(), accountOf(1), (news) => heard.push(news));
  state.answer = () => {
    throw new Error("secret");
  };
  await clock.advance(0);
  assert.deepEqual(
    [heard[0]!.event, heard[0]!.fields],
    ["problem", '"problem":"Something went wrong","status":500,"fields":[]'],
  );
  state.answer = () => "a".repeat(600_000);
  await clock.advance(700);
  assert.match(heard[1]!.fields, /more than 524288 octets/);
  state.answer = () => 1;
  await clock.advance(700);
  assert.equal(heard[2]!.fields, '"answer":1');
});

const news = (fields: string): News => ({ event: "view", fields, hash: fields });

function streamOf(check: () => Promise<boolean> = async () => true, budget = new MemoryBudget(10_000_000)) {
  const clock = new VirtualClock();
  const stream = new LiveStream({ clock, account: accountOf(1), token: null, budget, check });
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second++) {
      await clock.advance(1_000);
      stream.tick();
    }
  };
  const read = (): string => String(stream.read() ?? "");
  return { clock, stream, seconds, read };
}

test("what is the same as before is not written again", () => {
  const { stream, read } = streamOf();
  assert.equal(read(), "retry: 1000\n\n");
  stream.offer(0, news('"answer":1'));
  stream.offer(1, news('"answer":1'));
  stream.offer(0, news('"answer":1'));
  stream.offer(0, news('"answer":2'));
  assert.deepEqual(read().match(/data: .*/g), [
    'data: {"view":0,"answer":1}',
    'data: {"view":1,"answer":1}',
    'data: {"view":0,"answer":2}',
  ]);
});

test("a slow reader gets the newest and not what was between; meanwhile no more than one answer waits", async () => {
  const budget = new MemoryBudget(10_000_000);
  const { stream, read } = streamOf(async () => true, budget);
  read();
  let touched = 0;
  stream.watches.push({ touch: () => touched++, renew: () => undefined, stop: () => undefined });
  const large = (letter: string) => news(`"answer":"${letter.repeat(100_000)}"`);
  for (const letter of ["a", "b", "c", "d"]) stream.offer(0, large(letter));
  assert.ok(stream.readableLength < 110_000);
  assert.ok(budget.held > 100_000);
  assert.match(read(), /aaaa/);
  assert.deepEqual([budget.held, touched], [0, 1], "it asks for what it has missed");
  stream.offer(0, large("d"));
  assert.match(read(), /dddd/);
  stream.destroy();
  assert.equal(budget.held, 0);
});

test("where all readers together have too much that they have not taken, nothing is written", () => {
  const { stream, read } = streamOf(async () => true, new MemoryBudget(50_000));
  read();
  stream.offer(0, news(`"answer":"${"a".repeat(60_000)}"`));
  assert.equal(read(), "");
  stream.offer(0, news('"answer":"b"'));
  assert.match(read(), /"b"/);
});

test("a quiet stream is heard of every 5 seconds, and ends after 15 minutes", async () => {
  const { stream, seconds, read } = streamOf();
  read();
  await seconds(4);
  assert.equal(read(), "");
  await seconds(2);
  assert.equal(read(), ":\n\n");
  const ended = once(stream, "close");
  stream.resume();
  await seconds(15 * 60);
  await ended;
});

test("a reader that takes nothing for 30 seconds is gone", async () => {
  const { stream, seconds } = streamOf();
  stream.offer(0, news(`"answer":"${"a".repeat(100_000)}"`));
  const ended = once(stream, "close");
  await seconds(30);
  assert.equal(stream.destroyed, false);
  await seconds(2);
  await ended;
});

test("who watches is looked at every ten seconds; a store that does not answer signs nobody out, and is asked again soon", async () => {
  const outcomes: (boolean | Error)[] = [true, new Error("the store does not answer"), false];
  let checks = 0;
  const { stream, seconds, read } = streamOf(async () => {
    const outcome = outcomes[checks++]!;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  read();
  await seconds(22);
  assert.equal(checks, 2);
  await seconds(1);
  assert.equal(checks, 3);
  assert.match(read(), /event: signed-out\ndata: \{\}\n\n$/);
  stream.resume();
  await once(stream, "close");
});
