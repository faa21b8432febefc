/**
 * Money on nodes that share a database. A group reads wallets without a lock, so what two groups decide at the same moment is what this is about: groups of
 * two nodes, of the two places of a node's line for clients, and of its two lines.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import type { Session } from "../../src/drivers/postgres/link.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { nthId } from "../../src/runtime/ids.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import type { AccountChange } from "../../src/store/port/accounts.ts";
import type { Ending } from "../../src/store/port/delivery.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Acceptance, AcceptanceOutcome, NewMessage } from "../../src/store/port/messages.ts";
import type { PostgresOptions } from "../../src/store/postgres/engine.ts";
import { fence } from "../../src/store/postgres/nodes.ts";
import fc, { cases } from "../support/chance.ts";
import { cutProxy } from "../support/cut-proxy.ts";
import { postgresUrl } from "../support/postgres.ts";
import { eventually } from "../support/service.ts";
import { type Bench, CARRIER, NOW } from "./harness.ts";
import { isExplained, type Made, type Money, type Request, sorted } from "./money-model.ts";
import { benchOn, type Node, openNode, prepared, sessionOf, taken, waiting } from "./postgres-node.ts";

const COST = 10n;
const ACCEPTED = STATUS.PENDING_ENROUTE.id;
const TOO_POOR = STATUS.REJECTED_NOT_ENOUGH_CREDITS.id;
const DUPLICATE = STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;
const OPERATOR = { name: "operator", address: null };
const alertBelow = (belowMicros: bigint) => ({ alert: { belowMicros, url: "http://127.0.0.1:1/" } });

/** Whoever moves the money of accounts waits, in the order in which they come; whoever only reads it goes on. */
const WALLETS = "SELECT 1 FROM wallet WHERE account_id IS NOT NULL FOR NO KEY UPDATE";
/** Who is about to charge has read the wallet by now and waits; who changes an account goes on. */
const POSTINGS = "LOCK TABLE posting IN SHARE MODE";
/** Who is about to keep an answer has read the wallet by now and waits; who has none to keep charges and goes on. */
const REPLAYS = "LOCK TABLE replay IN SHARE MODE";

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
  /** Another request about its money, and its answer. */
  manage(node: Node, request: Exclude<Request, { kind: "send" | "refund" }>): Promise<string>;
  /** As it is at rest. */
  money(): Promise<Money>;
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
  const changed = async ({ store }: Node, change: AccountChange): Promise<string> =>
    (await store.changeAccount({ key, resellerId: null, version: null, change, by: OPERATOR, atMs: NOW })).kind;
  const told = async (): Promise<string[]> => {
    const { rows } = await session.query<{ items: string }>(
      "SELECT items FROM report WHERE kind = 'alert' AND account_id = $1 ORDER BY id",
      [accountId],
    );
    return rows.flatMap(({ items }) => JSON.parse(items)).map(({ balanceMicros }) => balanceMicros);
  };
  return {
    id: accountId,
    ask,
    async send(node, message = {}, text = "Hello") {
      const outcome = await ask(node, { contents: [bench.content({ text })] }, message);
      return outcome.kind === "accepted" ? outcome.statusIds[0]! : assert.fail(outcome.kind);
    },
    async change(node, change) {
      assert.equal(await changed(node, change), "changed");
    },
    async manage(node, request) {
      if (request.kind === "limit") return changed(node, { creditLimitMicros: request.limit });
      if (request.kind === "alert")
        return changed(node, request.mark === null ? { alert: null } : alertBelow(request.mark));
      const of = { accountKey: key, amountMicros: request.amount, replay: null, by: OPERATOR, atMs: NOW };
      if (request.kind === "correct")
        return (await node.store.moveFunds({ ...of, kind: "correction", operatorId: null, reason: "x" })).kind;
      const paid = { currency: null, ratesMicros: {}, description: "x" };
      return (await node.store.fund({ ...of, ...paid, resellerId: bench.resellerId })).kind;
    },
    async money() {
      const { rows } = await session.query<{ balance: string; limit: string; mark: string | null }>(
        `SELECT CAST(balance_micros AS text) AS balance, CAST(credit_limit_micros AS text) AS limit, CAST(alert_below_micros AS text) AS mark
         FROM account JOIN wallet ON wallet.account_id = account.id WHERE account.id = $1`,
        [accountId],
      );
      const { balance, limit, mark } = rows[0]!;
      return {
        balance: BigInt(balance),
        limit: BigInt(limit),
        mark: mark === null ? null : BigInt(mark),
        told: sorted((await told()).map(BigInt)),
      };
    },
    told,
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

  /** The other node charges and tops up. Its charge can be paid before what was asked for here, and not after it; so that comes last of all. */
  const toppedUpMeanwhile = async <Answer>(
    client: Client,
    charged: bigint,
    toppedUp: bigint,
    ask: (change: Partial<Acceptance>) => Promise<Answer>,
  ): Promise<Answer> => {
    let answer: Promise<Answer> | undefined;
    await holding(session, REPLAYS, async () => {
      answer = ask({ replay: { key: "key", bulk: false, bodyHash: "same" } });
      await waiting(session, 1);
      assert.equal(await client.send(second, { pricePerPartMicros: charged }), ACCEPTED);
      assert.equal(await client.manage(second, { kind: "correct", amount: toppedUp }), "moved");
    });
    return answer!;
  };
  const statusesOf = (outcomes: readonly AcceptanceOutcome[]): number[] =>
    outcomes.flatMap((outcome) => (outcome.kind === "accepted" ? outcome.statusIds : assert.fail(outcome.kind)));
  const dearAndCheap = [{ pricePerPartMicros: 10n }, { pricePerPartMicros: 6n }];
  const askBoth = {
    "of its request": async (client: Client, change: Partial<Acceptance>) => {
      const messages = dearAndCheap.map((message) => all.bench.message(message));
      return [await client.ask(first, { ...change, messages, firstKey: all.bench.ids.take(messages.length) })];
    },
    "of its group": (client: Client, change: Partial<Acceptance>) =>
      Promise.all(dearAndCheap.map((message, index) => client.ask(first, index === 0 ? change : {}, message))),
  };

  for (const [where, ask] of Object.entries(askBoth))
    await t.test(`a message that another ${where} left too little for is paid by a top-up in between`, async () => {
      const client = await makeClient(all, 15n);
      const sent = await toppedUpMeanwhile(client, 8n, 100n, (change) => ask(client, change));
      assert.deepEqual(statusesOf(sent), [ACCEPTED, ACCEPTED]);
      await client.assertBalance(91n);
    });

  await t.test(
    "a charge of a balance below its mark that a top-up has raised above it passes the mark again",
    async () => {
      const client = await makeClient(all, 10n);
      await client.change(first, alertBelow(15n));
      const sent = await toppedUpMeanwhile(client, 5n, 18n, (change) => client.ask(first, change));
      assert.deepEqual(statusesOf([sent]), [ACCEPTED]);
      await client.assertBalance(13n);
      assert.deepEqual(await client.told(), ["10", "13"]);
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

// --- Any requests to any nodes -----------------------------------------------------------------------------------------------

const NODES = 3;
const ACCOUNTS = 2;
const ROOMY = { lanes: { lane: 1_000_000, total: 1_000_000 } };

/** A message that can be given back, and whose node still has it. */
interface Live {
  readonly node: number;
  readonly who: number;
  readonly key: string;
  readonly cost: bigint;
}

/** Several nodes and the clients of one case, each with what its money must be. */
class World {
  readonly #t: TestContext;
  readonly #all: Scene;
  readonly #url: string;
  readonly #nodes: Node[];
  #clients: Client[] = [];
  #moneys: Money[] = [];
  #live: Live[] = [];

  constructor(t: TestContext, all: Scene, url: string, nodes: Node[]) {
    this.#t = t;
    this.#all = all;
    this.#url = url;
    this.#nodes = nodes;
  }

  async begin(balances: readonly bigint[]): Promise<void> {
    this.#clients = [];
    for (const balance of balances) this.#clients.push(await makeClient(this.#all, balance));
    this.#moneys = balances.map((balance) => ({ balance, limit: 0n, mark: null, told: [] }));
    this.#live = [];
  }

  available(who: number): bigint {
    const { balance, limit } = this.#moneys[who]!;
    return balance + limit;
  }

  /** All at once, or nearly. Afterwards each account must be in a state to which some order of its requests leads. */
  async step({ asked, end }: Step): Promise<void> {
    const ended = end === null ? null : this.#end(end);
    const made = await Promise.all(asked.map((one) => this.#make(one, end?.node ?? null)));
    await ended;
    for (const [who, before] of this.#moneys.entries()) {
      const now = await this.#clients[who]!.money();
      const of = made.flatMap((one) => (one?.who === who ? [one] : []));
      const told = { before, of: of.map(({ request, answer }) => ({ ...request, answer })), now };
      assert.ok(isExplained(before, of, now), `no order explains ${inspect(told, { depth: 5 })}`);
      this.#moneys[who] = now;
    }
  }

  async assertBooksAgree(): Promise<void> {
    assert.deepEqual(await this.#nodes[0]!.store.verifyLedger(), []);
  }

  /** A node dies, or others take it for dead. Either way it is known then what has become of its transactions, and another takes its place. */
  async #end({ node, turns, isKilled }: End): Promise<void> {
    await turnsOfLoop(turns);
    const { engine } = this.#nodes[node]!;
    if (isKilled) await engine.abandon();
    await fence(this.#all.session, engine.epoch);
    await engine.abandon();
    this.#live = this.#live.filter((message) => message.node !== node);
    this.#nodes[node] = await openNode(this.#t, this.#url, ROOMY);
  }

  async #make({ who, node, turns, wish }: Asked, ending: number | null): Promise<(Made & { who: number }) | null> {
    const live = wish.kind === "refund" ? this.#live.find((message) => message.who === who) : undefined;
    if (live !== undefined) this.#live = this.#live.filter((message) => message !== live);
    else if (wish.kind === "refund") return null;
    const request =
      wish.kind === "refund" ? ({ kind: "refund", cost: live!.cost } as const) : requestOf(wish, this.#moneys[who]!);
    const index = live?.node ?? node;
    const asked = this.#nodes[index]!;
    await turnsOfLoop(turns);
    try {
      return { who, request, answer: await this.#answer(asked, index, who, request, live) };
    } catch (error) {
      if (index !== ending || !(error instanceof StoreUnavailable)) throw error;
      return { who, request, answer: null };
    }
  }

  async #answer(asked: Node, node: number, who: number, request: Request, live: Live | undefined): Promise<string> {
    const client = this.#clients[who]!;
    const { bench } = this.#all;
    if (request.kind === "send") {
      const messages = request.costs.map((cost) => bench.message({ pricePerPartMicros: cost }));
      const firstKey = asked.engine.ids.take(messages.length);
      const outcome = await asked.store.accept(bench.acceptance(messages, {}, { accountId: client.id, firstKey }));
      if (outcome.kind !== "accepted") throw new Error(outcome.kind);
      const taken = outcome.statusIds.map((statusId) => statusId === ACCEPTED);
      for (const [index, isTaken] of taken.entries())
        if (isTaken) this.#live.push({ node, who, key: nthId(firstKey, index), cost: request.costs[index]! });
      return taken.join();
    }
    if (request.kind === "refund") {
      await asked.delivery.finish({ endings: [{ key: live!.key, event: "no route", errorId: 0, atMs: NOW }] });
      return "";
    }
    return client.manage(asked, request);
  }
}

async function turnsOfLoop(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** What somebody wants of an account, by what it has when the step begins: most of it is near where the answer becomes another. */
type Wish =
  | { readonly kind: "send"; readonly costs: readonly (bigint | "half" | "all")[] }
  | { readonly kind: "refund" }
  | { readonly kind: "fund" | "correct"; readonly amount: bigint }
  | { readonly kind: "limit"; readonly leaves: bigint }
  | { readonly kind: "alert"; readonly above: bigint | null };

function requestOf(wish: Exclude<Wish, { kind: "refund" }>, { balance, limit }: Money): Request {
  if (wish.kind === "alert") return { kind: "alert", mark: wish.above === null ? null : balance + wish.above };
  if (wish.kind === "limit") return { kind: "limit", limit: wish.leaves > balance ? wish.leaves - balance : 0n };
  if (wish.kind !== "send") return wish;
  const all = balance + limit;
  return { kind: "send", costs: wish.costs.map((cost) => (cost === "all" ? all : cost === "half" ? all / 2n : cost)) };
}

interface Asked {
  readonly who: number;
  readonly node: number;
  readonly turns: number;
  readonly wish: Wish;
}

interface End {
  readonly node: number;
  readonly turns: number;
  readonly isKilled: boolean;
}

interface Step {
  readonly asked: readonly Asked[];
  readonly end: End | null;
}

const anyAmount = fc.constantFrom(-1_000n, -20n, -7n, -1n, 1n, 7n, 20n, 1_000n);
const anyWish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      costs: fc.array(fc.constantFrom<bigint | "half" | "all">(1n, 10n, 25n, "half", "all"), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "refund" as const }) },
  fc.record({ kind: fc.constantFrom("fund" as const, "correct" as const), amount: anyAmount }),
  fc.record({ kind: fc.constant("limit" as const), leaves: fc.constantFrom(0n, 5n, 10n, 20n) }),
  fc.record({ kind: fc.constant("alert" as const), above: fc.constantFrom(null, -20n, -10n, -5n, 0n, 5n) }),
);
/** A few of them are within a group's reading, many go by until it has ended. */
const anyTurns = fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: 300 }));
const anyNode = fc.nat({ max: NODES - 1 });
const anyStep: fc.Arbitrary<Step> = fc.record({
  asked: fc.array(fc.record({ who: fc.constantFrom(0, 0, 0, 1), node: anyNode, turns: anyTurns, wish: anyWish }), {
    minLength: 1,
    maxLength: 8,
  }),
  end: fc.oneof(
    { weight: 9, arbitrary: fc.constant(null) },
    fc.record({ node: anyNode, turns: anyTurns, isKilled: fc.boolean() }),
  ),
});
const anyBalance = fc.constantFrom(0n, 10n, 19n, 50n, 100_000n);

test("whatever is asked of whichever nodes at once, some order of it explains the answers, the balances and the alerts", async (t) => {
  const url = await postgresUrl(t);
  const all = await openScene(t, url, ROOMY);
  const nodes: Node[] = [];
  while (nodes.length < NODES) nodes.push(await openNode(t, url, ROOMY));
  const world = new World(t, all, url, nodes);
  const script = fc.record({
    balances: fc.array(anyBalance, { minLength: ACCOUNTS, maxLength: ACCOUNTS }),
    steps: fc.array(anyStep, { minLength: 1, maxLength: 8 }),
    last: anyNode,
  });
  await fc.assert(
    fc.asyncProperty(script, async ({ balances, steps, last }) => {
      await world.begin(balances);
      const sendToEach = (costOf: (who: number) => bigint) => {
        const sends = [...balances.keys()].map((who): Asked => {
          return { who, node: last, turns: 0, wish: { kind: "send", costs: [costOf(who)] } };
        });
        return world.step({ asked: sends, end: null });
      };
      for (const step of steps) {
        await world.step(step);
        // At rest what does not fit is refused.
        await sendToEach((who) => world.available(who) + 1n);
        await world.assertBooksAgree();
      }
      await sendToEach((who) => world.available(who));
    }),
    // Another run of the same may go another way: there is nothing to be made smaller.
    { numRuns: cases(6), endOnFailure: true },
  );
});
