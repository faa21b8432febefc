/** What is done on one node holds on all of them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { addAccount } from "../support/accounts.ts";
import { startCluster } from "../support/cluster.ts";
import { ADVANCED, ENROUTE, REJECTED, SINGLE } from "../support/sending.ts";
import { basic, CATALOGUE, eventually, type TestService } from "../support/service.ts";

const SEED = Number(process.env.SEED ?? systemClock.now() % 1_000_000);
const { nodes } = await startCluster({ after }, 3);
const [first, second, third] = nodes as [TestService, TestService, TestService];

const BALANCE = "/account/1/balance";
const message = { from: "Sender", to: "41793026727", text: "Hello" };

/** A client of its own for each test. */
async function makeClient(key: string, cents: number): Promise<string> {
  await addAccount(first.store, { key, balanceMicros: BigInt(cents) * 10_000n });
  return basic(key, "password");
}

const balanceOf = async (node: TestService, authorization: string): Promise<number> =>
  Math.round((await node.call("GET", BALANCE, { authorization })).json.balance * 100);

test("a session that was opened on one node is good on another, and ended there it is gone everywhere", async () => {
  const body = { username: "demo", password: "demo-password" };
  const { json } = await first.call("POST", "/auth/1/session", { body, authorization: null });
  const authorization = `IBSSO ${json.token}`;
  const statuses = () =>
    Promise.all(nodes.map(async (node) => (await node.call("GET", BALANCE, { authorization })).status));
  assert.deepEqual(await statuses(), [200, 200, 200]);
  assert.equal((await second.call("DELETE", "/auth/1/session", { authorization })).status, 204);
  assert.deepEqual(await statuses(), [401, 401, 401]);
});

test("a number that opts out on one node gets nothing from another", async () => {
  const to = "41793026999";
  const send = async () => (await second.call("POST", SINGLE, { body: { ...message, to } })).json.messages[0].status;
  assert.deepEqual(await send(), ENROUTE);
  await first.store.optOut({ accountKey: null, number: to, atMs: systemClock.now() });
  assert.deepEqual(await send(), REJECTED.optedOut);
});

test("an API key that one node has revoked is soon refused by the others, which knew it", async () => {
  const key = newApiKey();
  await first.store.createApiKey({ ...storedForm(key), accountKey: "DEMO0001", name: null, atMs: 0 });
  const authorization = `App ${key}`;
  const statuses = () =>
    Promise.all(nodes.map(async (node) => (await node.call("GET", BALANCE, { authorization })).status));
  await eventually(async () => String(await statuses()) === "200,200,200");
  await first.store.revokeApiKey({ id: storedForm(key).id });
  await eventually(async () => String(await statuses()) === "401,401,401");
});

test("a catalogue that was set on one node is soon in force on the others", async () => {
  const authorization = await makeClient("PRICES", 10_000);
  const costs = (node: TestService) => async (): Promise<number> => {
    const before = await balanceOf(node, authorization);
    await node.call("POST", SINGLE, { authorization, body: message });
    return before - (await balanceOf(node, authorization));
  };
  const prices = async () => [await costs(second)(), await costs(third)()];
  assert.deepEqual(await prices(), [1, 1]);
  await first.store.putCatalogue({ items: readCatalogueFile(CATALOGUE.replace('price = "0.01"', 'price = "0.02"')) });
  await eventually(async () => String(await prices()) === "2,2");
  await first.store.putCatalogue({ items: readCatalogueFile(CATALOGUE) });
  await eventually(async () => String(await prices()) === "1,1");
});

test(`one key at several nodes at the same moment is one message, and one answer (SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const authorization = await makeClient("ONCE", 1_000);
  for (let round = 0; round < 50; round++) {
    const headers = { "idempotency-key": `key ${round}` };
    const messages = [{ ...message, text: `Round ${round}`, destinations: [{ to: message.to }] }];
    const asked = Array.from({ length: 2 + Math.floor(random.next() * 4) }, () => {
      const node = nodes[Math.floor(random.next() * nodes.length)]!;
      return node.call("POST", ADVANCED, { authorization, headers, body: { messages } });
    });
    const answers = await Promise.all(asked);
    assert.deepEqual(
      answers.map(({ status, text }) => [status, text]),
      answers.map(() => [200, answers[0]!.text]),
    );
    assert.equal(await balanceOf(first, authorization), 1_000 - round - 1);
  }
});

test("one key for several requests at the same moment belongs to one of them", async () => {
  const authorization = await makeClient("WHOSE", 1_000);
  for (let round = 0; round < 20; round++) {
    const headers = { "idempotency-key": `key ${round}` };
    const asked = nodes.map((node, index) =>
      node.call("POST", SINGLE, { authorization, headers, body: { ...message, text: `Of node ${index}` } }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [200, 409, 409]);
    assert.equal(await balanceOf(second, authorization), 1_000 - round - 1);
  }
});

test("one key for funds at several nodes at the same moment moves them once, and the books of all nodes agree", async () => {
  const authorization = await makeClient("FILLED", 0);
  const path = "/operator/1/accounts/FILLED/funds";
  const as = { authorization: basic("operator", "operator-password") };
  for (let round = 0; round < 10; round++) {
    const headers = { "idempotency-key": `payment ${round}` };
    const body = { kind: "topUp", amount: 1, reason: `invoice ${round}` };
    const asked = [...nodes, ...nodes].map((node) => node.call("POST", path, { ...as, headers, body }));
    const answers = await Promise.all(asked);
    assert.deepEqual(
      answers.map(({ status, text }) => [status, text]),
      answers.map(() => [200, answers[0]!.text]),
    );
    assert.equal(await balanceOf(second, authorization), (round + 1) * 100);
  }
  const corrections = nodes.map((node, index) =>
    node.call("POST", path, { ...as, body: { kind: "correction", amount: -1 - index, reason: "at once" } }),
  );
  assert.deepEqual(
    (await Promise.all(corrections)).map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(await balanceOf(third, authorization), 400);
  assert.deepEqual(await first.store.verifyLedger(), []);
});

test("money for fifty is spent fifty times, however many nodes spend it", async () => {
  const authorization = await makeClient("FIFTY", 50);
  const asked = Array.from({ length: 200 }, (_, index) =>
    nodes[index % nodes.length]!.call("POST", SINGLE, { authorization, body: { ...message, text: `Number ${index}` } }),
  );
  const answers = await Promise.all(asked);
  const count = (wanted: { id: number }) =>
    answers.filter(({ json }) => json?.messages?.[0].status.id === wanted.id).length;
  assert.deepEqual([count(ENROUTE), count(REJECTED.credits)], [50, 150]);
  for (const node of nodes) assert.equal(await balanceOf(node, authorization), 0);
  assert.deepEqual(await third.store.verifyLedger(), []);
});
