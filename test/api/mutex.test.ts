/** What there is one of is used by accounts in turn, and nobody can fill the line for others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/api/errors.ts";
import { MAX_SEARCHES_PER_ACCOUNT, Mutex } from "../../src/api/mutex.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import type { Store } from "../../src/store/port/store.ts";
import { addAccount } from "../support/accounts.ts";
import { operating } from "../support/operator.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { type Answer, basic, DEMO, eventually, startTestService } from "../support/service.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("accounts take turns, and of one account whoever came first goes first", async () => {
  const mutex = new Mutex();
  const order: string[] = [];
  const look = (name: string) => async () => {
    await turn();
    order.push(name);
  };
  const greedy = Array.from({ length: 100 }, (_, index) => mutex.take(look(`a${index}`), 1));
  await Promise.all([mutex.take(look("b0"), 2), mutex.take(look("b1"), 2), mutex.take(look("c0"), 3)]);
  assert.deepEqual(order.slice(0, 6), ["a0", "a1", "b0", "c0", "a2", "b1"]);
  await Promise.all(greedy);
  assert.deepEqual(
    order.filter((name) => name.startsWith("a")),
    Array.from({ length: 100 }, (_, index) => `a${index}`),
  );
});

test("as many run at a time as may, and a failure is its own caller's", async () => {
  const mutex = new Mutex(3);
  let running = 0;
  let most = 0;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) =>
      mutex.take(async () => {
        most = Math.max(most, ++running);
        await turn();
        running--;
        if (index % 2 === 0) throw new Error("its own");
        return index;
      }, index % 4),
    ),
  );
  assert.equal(most, 3);
  assert.equal(outcomes.filter(({ status }) => status === "rejected").length, 15);
});

test("an account may have so many searches, and another one others; what ends makes room", async () => {
  const mutex = new Mutex();
  let end = (): void => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const mine = Array.from({ length: MAX_SEARCHES_PER_ACCOUNT }, () => mutex.search(1, () => held));
  await assert.rejects(
    mutex.search(1, () => held),
    (error: unknown) => error instanceof ApiError && error.statusCode === 429,
  );
  assert.equal(await mutex.search(2, (take) => take(async () => "found")), "found");
  end();
  await Promise.all(mine);
  assert.equal(await mutex.search(1, async () => "again"), "again");
});

/** Commands that never end for one account until they are let go, counted. */
class HeldStore {
  readonly looks = new Map<number, number>();
  #letGo: () => void = () => {};
  readonly #held = new Promise<void>((resolve) => {
    this.#letGo = resolve;
  });

  letGo(): void {
    this.#letGo();
  }

  before = (store: Store): Store => {
    const wait = async (accountId: number): Promise<void> => {
      this.looks.set(accountId, (this.looks.get(accountId) ?? 0) + 1);
      await this.#held;
    };
    return {
      ...store,
      logs: async (query) => {
        await wait(query.accountId);
        return store.logs(query);
      },
      fetchReports: async (fetch) => {
        await wait(fetch.accountId);
        return store.fetchReports(fetch);
      },
      fetchIncoming: async (fetch) => {
        await wait(fetch.accountId);
        return store.fetchIncoming(fetch);
      },
      lookThroughBulk: async (place) => {
        await wait(place.accountId);
        return store.lookThroughBulk(place);
      },
    };
  };
}

for (const path of ["/sms/1/logs", "/sms/1/reports", "/sms/1/inbox/reports", "/sms/1/bulks/status?bulkId=b"]) {
  test(`${path}: the twenty-first at a time gets 429, and another account's request goes through`, async (t) => {
    const held = new HeldStore();
    const service = await startTestService(t, { edgeStore: held.before });
    await addAccount(service.store, { key: "OTHER" });
    const other = basic("OTHER", "password");
    const sent = { from: "InfoSMS", to: ["41793026727", "41793026728"], text: "x", bulkId: "b" };
    for (const authorization of [DEMO, other])
      assert.equal((await service.call("POST", "/sms/1/text/single", { authorization, body: sent })).status, 200);

    const refused: Answer[] = [];
    const mine = Array.from({ length: MAX_SEARCHES_PER_ACCOUNT + 100 }, async () => {
      const answer = await service.call("GET", path);
      if (answer.status === 429) refused.push(answer);
      return answer.status;
    });
    await eventually(async () => refused.length === 100);
    for (const { headers } of refused) assert.equal(headers.get("retry-after"), "1");

    const theirs = service.call("GET", path, { authorization: other });
    held.letGo();
    assert.equal((await theirs).status, 200);
    const statuses = await Promise.all(mine);
    assert.equal(statuses.filter((status) => status === 200).length, MAX_SEARCHES_PER_ACCOUNT);
    assert.equal(refused.length, 100);
  });
}

test("between two pages of a search there is one of another account's searches, however many these are", async (t) => {
  const next = { atMs: 1, key: "1" };
  const pages: number[] = [];
  const service = await startTestService(t, {
    settings: { limits: { searchMessages: 1_000_000_000 } },
    edgeStore: (store) => ({
      ...store,
      async logs(query) {
        await store.logs(query);
        pages.push(query.accountId);
        const isOver = query.to !== "1" && pages.filter((accountId) => accountId === query.accountId).length >= 10;
        return { messages: [], next: isOver ? null : next };
      },
    }),
  });
  const { id } = await addAccount(service.store, { key: "OTHER" });
  const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.connect(service.url)));
  for (const client of clients) await client.write(rawRequestText("GET", "/sms/1/logs?to=1", { authorization: DEMO }));
  await eventually(async () => pages.length > 40);

  const answer = await service.call("GET", "/sms/1/logs", { authorization: basic("OTHER", "password") });
  assert.equal(answer.status, 200);
  const own = pages.flatMap((accountId, place) => (accountId === id ? [place] : []));
  // The eleventh is the look at what was sent meanwhile, and it may have to wait for one more.
  assert.equal(own.length, 11);
  assert.equal(own.at(-2)! - own[0]!, 2 * 9);
  assert.ok(own.at(-1)! - own.at(-2)! <= 3);
  for (const client of clients) client.vanish();
});

test("a search through more messages than it may look at is told to ask for less, and an answer is never cut short", async (t) => {
  const service = await startTestService(t, { settings: { limits: { searchMessages: 2_000 } } });
  const destinations = Array.from({ length: 4_100 }, (_, index) => ({ to: String(41_790_000_000 + index) }));
  // Scheduled, so that none of them changes its place in the logs while they are read.
  const sendAt = formatDateTime(systemClock.now() + 3_600_000);
  const sent = await service.call("POST", "/sms/1/text/advanced", {
    body: { messages: [{ from: "InfoSMS", destinations, text: "x", sendAt }] },
  });
  assert.equal(sent.status, 200);

  const rare = await service.call("GET", "/sms/1/logs?to=41790000000");
  assert.equal(rare.status, 400);
  assert.deepEqual(rare.json.requestError.serviceException.variables, ["sentSince", "sentUntil"]);
  // As many as are asked for are found at once, by id too.
  assert.equal((await service.call("GET", "/sms/1/logs?limit=1000")).json.results.length, 1000);
  const { messageId } = sent.json.messages[0];
  const named = await service.call("GET", `/sms/1/logs?messageId=${messageId}`);
  assert.deepEqual([named.status, named.json.results.length], [200, 1]);
});

test("statements that one manager reads are bounded too, and those that are over make room", async (t) => {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const service = await startTestService(t, {
    edgeStore: (store) => ({
      ...store,
      async turnover(range) {
        await held;
        return store.turnover(range);
      },
    }),
  });
  const call = operating(service);
  await addAccount(service.store, { key: "READ" });
  const path = "/accounts/READ/statement?from=2026-02-01T00:00:00Z";
  let refused = 0;
  const mine = Array.from({ length: MAX_SEARCHES_PER_ACCOUNT + 10 }, async (_, index) => {
    const { status } = await call("GET", index % 2 === 0 ? path : `${path}&format=csv`);
    if (status === 429) refused++;
    return status;
  });
  await eventually(async () => refused === 10);
  letGo();
  const statuses = await Promise.all(mine);
  assert.equal(statuses.filter((status) => status === 200).length, MAX_SEARCHES_PER_ACCOUNT);
  await eventually(async () => (await call("GET", `${path}&format=csv`)).status === 200);
});
