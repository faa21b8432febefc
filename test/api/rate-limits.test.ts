/** What one account may bring a second, over all nodes: exact counts under a virtual clock, and the answer past it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/api/errors.ts";
import { type RateLimitSettings, RateLimits } from "../../src/api/rate-limits.ts";
import type { SendAnswer, SendRequest } from "../../src/intake/request.ts";
import type { Account } from "../../src/store/port/accounts.ts";
import type { Store } from "../../src/store/port/store.ts";
import { DEMO, errorObject, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const account = (id: number) => ({ id, limits: {} }) as Account;
const tooManyOf = (what: string) =>
  errorObject(
    "TOO_MANY_REQUESTS",
    "Too many requests",
    null,
    `The account has sent more ${what} a second than it may.`,
  );

/** Some nodes, each with its share. */
function nodesWith(count: number, settings: Partial<RateLimitSettings>, clock = new VirtualClock()) {
  const nodes = Array.from({ length: count }, () => {
    const limits = new RateLimits(
      {
        requestsPerSecond: 0,
        messagesPerSecond: 0,
        connectionsPerAccount: 0,
        strangerRequestsPerSecond: 0,
        rejectedPerSecond: 0,
        ...settings,
      },
      clock,
    );
    limits.nodes = count;
    return limits;
  });
  return { clock, nodes };
}

/** The seconds that the caller is to wait; 0 when it was let through. */
function waitOf(work: () => void): number {
  try {
    work();
    return 0;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.kind.status, 429);
    return Number(error.details.headers?.["retry-after"]);
  }
}

/** A request of so many messages; what became of it. */
async function send(limits: RateLimits, count: number, answer: SendAnswer["kind"] = "accepted"): Promise<number> {
  const intake = limits.before({ send: async () => ({ kind: answer }) as SendAnswer });
  const destinations = Array.from({ length: count }, () => ({ to: "41790000001" }));
  const request = { messages: [{ path: "", fields: {}, destinations }] } as unknown as SendRequest;
  let wait = 0;
  await intake.send(account(1), request).catch((error: unknown) => {
    wait = waitOf(() => {
      throw error;
    });
  });
  return wait;
}

for (const count of [1, 2, 3]) {
  test(`ten requests a second, however hard ${count} node${count === 1 ? " is" : "s are"} pushed: a second's worth at once, then ten a second`, async () => {
    const { clock, nodes } = nodesWith(count, { requestsPerSecond: 10 });
    let taken = 0;
    const push = () => {
      for (const limits of nodes) while (waitOf(() => limits.takeRequest(account(1))) === 0) taken++;
    };
    push();
    // Where the share is no whole number, its fraction is there a moment later.
    assert.equal(taken, count * Math.floor(10 / count));
    for (let tenth = 0; tenth < 100; tenth++) {
      await clock.advance(100);
      push();
    }
    // Ten seconds' worth, and the second that the buckets held.
    assert.equal(taken, count * Math.floor((10 / count) * 11 + 1e-6));
    for (const limits of nodes)
      assert.equal(
        waitOf(() => limits.takeRequest(account(2))),
        0,
        "another account is not held up",
      );
  });
}

test("a node that joins halves the share at once, and one that goes gives it back", async () => {
  const { clock, nodes } = nodesWith(1, { requestsPerSecond: 10 });
  const [limits] = nodes;
  const push = () => {
    let taken = 0;
    while (waitOf(() => limits!.takeRequest(account(1))) === 0) taken++;
    return taken;
  };
  limits!.nodes = 2;
  assert.equal(push(), 5);
  await clock.advance(1_000);
  assert.equal(push(), 5);
  limits!.nodes = 1;
  await clock.advance(1_000);
  assert.equal(push(), 10);
});

test("a share of less than one a second is one in so many seconds", async () => {
  const { clock, nodes } = nodesWith(4, { requestsPerSecond: 1 });
  const take = () => waitOf(() => nodes[0]!.takeRequest(account(1)));
  assert.equal(take(), 0);
  assert.equal(take(), 4);
  await clock.advance(3_999);
  assert.equal(take(), 1);
  await clock.advance(1);
  assert.equal(take(), 0);
});

test("a request of more messages than a second's goes when nothing is owed, and is then paid for", async () => {
  const { clock, nodes } = nodesWith(2, { messagesPerSecond: 20 });
  const [limits] = nodes;
  assert.equal(await send(limits!, 45), 0, "ten are there, 35 are owed");
  assert.equal(await send(limits!, 1), 4, "in 3.6 seconds there is one");
  await clock.advance(3_500);
  assert.equal(await send(limits!, 1), 1);
  await clock.advance(100);
  assert.equal(await send(limits!, 1), 0);
  assert.equal(await send(limits!, 45), 1, "as large a one waits until all of a second's worth is there");
  await clock.advance(1_000);
  assert.equal(await send(limits!, 45), 0);
});

test("what is not accepted costs nothing", async () => {
  const { nodes } = nodesWith(1, { messagesPerSecond: 10 });
  for (let times = 0; times < 5; times++) assert.equal(await send(nodes[0]!, 10, "wrong"), 0);
  assert.equal(await send(nodes[0]!, 10), 0);
  assert.equal(await send(nodes[0]!, 1), 1);
});

test("over HTTP: the error object, Retry-After, and the share of a node among two", async (t) => {
  const clock = new VirtualClock();
  const edgeStore = (store: Store): Store => ({
    ...store,
    cluster: async () => ({ nodes: { api: 2, dispatch: 2, reports: 2 }, leads: true }),
  });
  const service = await startTestService(t, {
    clock,
    edgeStore,
    settings: { limits: { requestsPerSecond: 6, messagesPerSecond: 4 } },
  });
  const body = (count: number) => ({
    messages: [
      {
        from: "Sender",
        text: "Hello",
        destinations: Array.from({ length: count }, (_, index) => ({ to: `4179000000${index}` })),
      },
    ],
  });
  const send = (count: number) => service.call("POST", "/sms/1/text/advanced", { body: body(count) });
  assert.equal((await send(2)).status, 200);
  const messages = await send(1);
  assert.deepEqual([messages.status, messages.json], [429, tooManyOf("messages")]);
  assert.equal(messages.headers.get("retry-after"), "1");
  assert.equal((await service.call("GET", "/account/1/balance")).status, 200, "the third request of this second");
  const requests = await service.call("GET", "/account/1/balance");
  assert.deepEqual([requests.status, requests.json], [429, tooManyOf("requests")]);
  assert.equal(requests.headers.get("retry-after"), "1");
  assert.equal((await service.call("GET", "/healthz", { authorization: DEMO })).status, 200, "probes are not counted");
  await clock.advance(1_000);
  assert.equal((await send(2)).status, 200);
});

test("whoever has many messages rejected waits until it is made up for, and others do not", async (t) => {
  const clock = new VirtualClock();
  const service = await startTestService(t, { clock, settings: { limits: { rejectedPerSecond: 10 } } });
  const send = (count: number, to: string) =>
    service.call("POST", "/sms/1/text/advanced", {
      body: { messages: [{ from: "a1", text: "x", destinations: Array.from({ length: count }, () => ({ to })) }] },
    });
  assert.equal((await send(10, "41793026727")).status, 200, "good ones cost nothing of it");
  assert.equal((await send(60, "no number")).status, 200, "a request is answered whole");
  const late = await send(1, "41793026727");
  assert.deepEqual(
    [late.status, late.json],
    [
      429,
      errorObject("TOO_MANY_REQUESTS", "Too many requests", null, "Too many messages of the account were rejected."),
    ],
  );
  assert.equal(late.headers.get("retry-after"), "5");
  await clock.advance(5_000);
  assert.equal((await send(1, "41793026727")).status, 200);
});
