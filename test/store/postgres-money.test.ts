/**
 * Money on nodes that share a database. A group reads wallets without a lock, so what two groups decide at the same moment is what this is about: groups of
 * two nodes, of the two places of a node's line for clients, and of its two lines.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import type { AccountChange } from "../../src/store/port/accounts.ts";
import type { Ending } from "../../src/store/port/delivery.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Acceptance, AcceptanceOutcome, NewMessage } from "../../src/store/port/messages.ts";
import type { PostgresOptions } from "../../src/store/postgres/engine.ts";
import { cutProxy } from "../support/cut-proxy.ts";
import { postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { type Bench, CARRIER, NOW } from "./harness.ts";
import { benchOn, type Node, openNode, prepared, sessionOf, taken, waiting } from "./postgres-node.ts";

const COST = 10n;
const ACCEPTED = STATUS.PENDING_ENROUTE.id;
const TOO_POOR = STATUS.REJECTED_NOT_ENOUGH_CREDITS.id;
const DUPLICATE = STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;
const alertBelow = (belowMicros: bigint) => ({ alert: { belowMicros, url: "http://127.0.0.1:1/" } });

/** Whoever moves the money of accounts waits, in the order in which they come; whoever only reads it goes on. */
const WALLETS = "SELECT 1 FROM wallet WHERE account_id IS NOT NULL FOR NO KEY UPDATE";
/** Who is about to charge has read the wallet by now and waits; who changes an account goes on. */
const POSTINGS = "LOCK TABLE posting IN SHARE MODE";

interface Scene {
  readonly nodes: readonly [Node, Node];
  readonly bench: Bench;
  readonly session: Session;
}

/** An account of its own, as two nodes see it. */
interface Client {
  readonly id: number;
  /** A request of one message to a node. */
  ask(node: Node, change?: Partial<Acceptance>, message?: Partial<NewMessage>): Promise<AcceptanceOutcome>;
  /** The same, and what became of the message. */
  send(node: Node, message?: Partial<NewMessage>, text?: string): Promise<number>;
  change(node: Node, change: AccountChange): Promise<void>;
  /** The balances that alerts have told. */
  told(): Promise<string[]>;
  assertBalance(micros: bigint): Promise<void>;
}

/** The session goes straight to the database, whatever way the nodes have. */
async function openScene(t: TestContext, url: string, options: Partial<PostgresOptions> = {}): Promise<Scene> {
  const nodes = [await openNode(t, url, options), await openNode(t, url, options)] as const;
  return { nodes, bench: await benchOn(t, nodes[0]), session: await sessionOf(t, url) };
}
/** What is under way is kept by these locks until `meanwhile` is done. */
async function holding(session: Session, locks: string, meanwhile: () => Promise<void>): Promise<void> {
  await session.script(`BEGIN; ${locks}`);
  await meanwhile();
  await session.script("COMMIT");
}

let clients = 0;

async function makeClient({ nodes, bench, session }: Scene, openingBalanceMicros: bigint): Promise<Client> {
  const key = `CLIENT${++clients}`;
  const made = await bench.store.createAccount({
    ...{ key, username: key, kind: "client", parentKey: "RESELLER", currency: "EUR", ratePlanId: "standard" },
    ...{ defaultSender: null, callbackSecret: "whsec_AA==", passwordHash: "x", atMs: NOW },
    ...{ creditLimitMicros: 0n, openingBalanceMicros },
  });
  if (made.kind !== "created") throw new Error(made.kind);
  const accountId = made.account.id;
  const ask: Client["ask"] = async ({ store }, change = {}, message = {}) => {
    const messages = [bench.message({ pricePerPartMicros: COST, ...message })];
    return store.accept(bench.acceptance(messages, {}, { accountId, ...change }));
  };
  return {
    id: accountId,
    ask,
    async send(node, message = {}, text = "Hello") {
      const outcome = await ask(node, { contents: [bench.content({ text })] }, message);
      return outcome.kind === "accepted" ? outcome.statusIds[0]! : assert.fail(outcome.kind);
    },
    async change({ store }, change) {
      const by = { name: "operator", address: null };
      const changed = await store.changeAccount({ key, resellerId: null, version: null, change, by, atMs: NOW });
      assert.equal(changed.kind, "changed");
    },
    async told() {
      const { rows } = await session.query<{ items: string }>(
        "SELECT items FROM report WHERE kind = 'alert' AND account_id = $1 ORDER BY id",
        [accountId],
      );
      return rows.flatMap(({ items }) => JSON.parse(items)).map(({ balanceMicros }) => balanceMicros);
    },
    async assertBalance(micros) {
      assert.equal((await nodes[1].store.balance({ accountId })).balanceMicros, micros);
      assert.deepEqual(await nodes[1].store.verifyLedger(), []);
    },
  };
}

/** What refunds all messages of a client that a node was given to send since the last time. */
function endingsOf(node: Node, { id }: Client): Ending[] {
  const messages = taken(node).filter(({ accountId }) => accountId === id);
  assert.equal(messages.length, 1);
  return messages.map(({ key }) => ({ key, event: "no route", errorId: 0, atMs: NOW }));
}

/** Two requests that have both read all that they go by before either has ended; the first of them ends first. */
async function atOnce<Answer>(
  { session, nodes }: Scene,
  by: "two nodes" | "two places",
  request: (node: Node) => Promise<Answer>,
): Promise<[Answer, Answer]> {
  const answers: Promise<Answer>[] = [];
  await holding(session, WALLETS, async () => {
    answers.push(request(nodes[0]));
    await waiting(session, 1);
    answers.push(request(nodes[by === "two nodes" ? 1 : 0]));
    await (by === "two nodes" ? waiting(session, 2) : prepared(session, 1));
  });
  return Promise.all(answers) as Promise<[Answer, Answer]>;
}

test("what two groups decide at once about one account is as if one had come after the other", async (t) => {
  const all = await openScene(t, await postgresUrl(t));
  const { nodes, session } = all;
  const [first, second] = nodes;

  for (const by of ["two nodes", "two places"] as const) {
    await t.test(`the last money pays for one of two messages: ${by}`, async () => {
      const client = await makeClient(all, 2n * COST - 1n);
      assert.deepEqual(await atOnce(all, by, client.send), [ACCEPTED, TOO_POOR]);
      await client.assertBalance(COST - 1n);
    });

    await t.test(`an alert's mark that both would pass is told once, by the first: ${by}`, async () => {
      const client = await makeClient(all, 2n * COST);
      await client.change(first, alertBelow(2n * COST));
      assert.deepEqual(await atOnce(all, by, client.send), [ACCEPTED, ACCEPTED]);
      await client.assertBalance(0n);
      assert.deepEqual(await client.told(), [`${COST}`]);
    });

    await t.test(`a mark that none of the two passes, but both together do, is told by the second: ${by}`, async () => {
      const client = await makeClient(all, 3n * COST);
      await client.change(first, alertBelow(2n * COST));
      assert.deepEqual(await atOnce(all, by, client.send), [ACCEPTED, ACCEPTED]);
      await client.assertBalance(COST);
      assert.deepEqual(await client.told(), [`${COST}`]);
    });

    await t.test(`a request that comes again is answered as the first time, and charged once: ${by}`, async () => {
      const client = await makeClient(all, 10n * COST);
      const replay = { key: "key", bulk: false, bodyHash: "same" };
      const [answer, again] = await atOnce(all, by, (node) => client.ask(node, { replay }));
      assert.deepEqual(again, { ...answer, replayed: true, partCounts: [1], pricesMicros: [COST] });
      await client.assertBalance(9n * COST);
    });

    await t.test(`of two requests with one key, and of other bodies, one is a conflict: ${by}`, async () => {
      const client = await makeClient(all, 10n * COST);
      let bodies = 0;
      const replay = () => ({ key: "key", bulk: false, bodyHash: `body ${++bodies}` });
      const answers = await atOnce(all, by, (node) => client.ask(node, { replay: replay() }));
      assert.deepEqual(
        answers.map(({ kind }) => kind),
        ["accepted", "conflict"],
      );
      await client.assertBalance(9n * COST);
    });

    await t.test(
      `of two messages with one clientMessageId the second is a duplicate, and costs nothing: ${by}`,
      async () => {
        const client = await makeClient(all, 10n * COST);
        const sent = await atOnce(all, by, (node) => client.send(node, { clientMessageId: "mine" }));
        assert.deepEqual(sent, [ACCEPTED, DUPLICATE]);
        await client.assertBalance(9n * COST);
      },
    );
  }

  const changedMeanwhile = async (client: Client, change: AccountChange): Promise<number> => {
    let sent: Promise<number> | undefined;
    await holding(session, POSTINGS, async () => {
      sent = client.send(first);
      await waiting(session, 1);
      await client.change(second, change);
    });
    return sent!;
  };

  await t.test("a credit limit that is lowered between a charge's look at it and its end is kept", async () => {
    const client = await makeClient(all, 0n);
    await client.change(first, { creditLimitMicros: COST });
    assert.equal(await changedMeanwhile(client, { creditLimitMicros: COST - 1n }), TOO_POOR);
    await client.assertBalance(0n);
  });

  await t.test(
    "an alert that is set between a charge's look at its account and its end is told when that passes its mark",
    async () => {
      const client = await makeClient(all, 2n * COST);
      assert.equal(await changedMeanwhile(client, alertBelow(2n * COST)), ACCEPTED);
      await client.assertBalance(COST);
      assert.deepEqual(await client.told(), [`${COST}`]);
    },
  );

  await t.test(
    "a charge and a refund both count, and an alert is told by what the first of them has left",
    async () => {
      const client = await makeClient(all, 2n * COST);
      await client.send(first);
      await client.change(second, alertBelow(COST));
      const charge = () => client.send(first);
      const refund = () => first.delivery.finish({ endings: endingsOf(first, client) });
      const both = async (...requests: (() => Promise<unknown>)[]): Promise<void> => {
        const answers: Promise<unknown>[] = [];
        await holding(session, WALLETS, async () => {
          for (const request of requests) {
            answers.push(request());
            await waiting(session, answers.length);
          }
        });
        await Promise.all(answers);
        await client.assertBalance(COST);
      };
      await both(refund, charge);
      assert.deepEqual(await client.told(), [], "what came back was there before the charge");
      await both(charge, refund);
      assert.deepEqual(await client.told(), ["0"]);
    },
  );
});

test("messages of a lane that overflows while delivery finds nothing more of it in the store keep their order", async (t) => {
  const all = await openScene(t, await postgresUrl(t), { lanes: { lane: 1, total: 10 } });
  const client = await makeClient(all, 10n * COST);
  const { session } = all;
  const [node] = all.nodes;
  await client.send(node, { to: "41790000001" });
  const submit = () =>
    node.delivery.submitted({
      messages: taken(node).map(({ key, to }) => {
        order.push(to);
        const parts = [{ carrierMessageId: key, counts: true }];
        return { key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW };
      }),
    });
  const claim = () => node.delivery.claimLane({ accountId: client.id, carrierId: CARRIER, limit: 10 });
  const order: string[] = [];
  const sent: Promise<number>[] = [];
  await holding(session, WALLETS, async () => {
    sent.push(client.send(node, { to: "41790000002" }));
    await waiting(session, 1);
    // The first one goes, and there is room; what has overflowed is not to be seen yet.
    await submit();
    assert.deepEqual(await claim(), { claimed: 0, more: false });
    sent.push(client.send(node, { to: "41790000003" }));
    await prepared(session, 1);
  });
  assert.deepEqual(await Promise.all(sent), [ACCEPTED, ACCEPTED]);
  while (order.length < 3) {
    await claim();
    await submit();
  }
  assert.deepEqual(order, ["41790000001", "41790000002", "41790000003"]);
  assert.deepEqual(await claim(), { claimed: 0, more: false });
  await client.send(node, { to: "41790000004" });
  assert.equal(taken(node).length, 1, "the lane has not overflowed any more");
});

// --- A commit whose answer is lost while the next group is ready -------------------------------------------------------------

test("a commit whose answer was lost while the next group was ready counts once, and the next is refused or counts once", async (t) => {
  const url = await postgresUrl(t);
  const proxy = await cutProxy(t, url);
  const all = await openScene(t, url, { url: proxy.url });
  const client = await makeClient(all, 3n * COST);
  const { session } = all;
  const [node] = all.nodes;
  const cut = proxy.cutAtCommit("the first of two");
  let first: Promise<number> | undefined;
  let second: Promise<number> | undefined;
  await holding(session, WALLETS, async () => {
    first = client.send(node, {}, "the first of two");
    await waiting(session, 1);
    second = client.send(node, {}, "the second of two");
    second.catch(() => undefined);
    await prepared(session, 1);
  });
  await cut;
  proxy.mend();
  assert.equal(await first, ACCEPTED);
  await assert.rejects(second!, StoreUnavailable);
  assert.equal(await eventually(() => client.send(node).catch(() => null)), ACCEPTED);
  assert.equal(taken(node).length, 2);
  await client.assertBalance(COST);
});

test("a commit whose answer is lost for long is looked up before the next group, and its messages go before those of that", async (t) => {
  const url = await postgresUrl(t);
  const proxy = await cutProxy(t, url);
  let aheadMs = 0;
  let stepMs = 0;
  // From the cut on, every look at the clock makes it half a second later.
  t.mock.method(systemClock, "monotonic", () => {
    aheadMs += stepMs;
    return performance.now() + aheadMs;
  });
  const all = await openScene(t, url, { url: proxy.url });
  const client = await makeClient(all, 3n * COST);
  const { session } = all;
  const [node] = all.nodes;
  await node.start();
  const cut = proxy.cutAtCommit("the first of two");
  const refused: Promise<void>[] = [];
  await holding(session, WALLETS, async () => {
    refused.push(assert.rejects(client.send(node, { to: "41790000001" }, "the first of two"), StoreUnavailable));
    await waiting(session, 1);
    refused.push(assert.rejects(client.send(node, { to: "41790000002" }), StoreUnavailable));
    await prepared(session, 1);
  });
  await cut;
  stepMs = 500;
  await Promise.all(refused);
  proxy.mend();
  assert.equal(await eventually(() => client.send(node, { to: "41790000003" }).catch(() => null)), ACCEPTED);
  const sent = taken(node).map(({ to }) => to);
  assert.deepEqual(sent, ["41790000001", "41790000003"]);
  const { rows } = await session.query("SELECT recipient FROM message ORDER BY key");
  assert.deepEqual(
    rows,
    sent.map((recipient) => ({ recipient })),
  );
});
