/** Amounts have a bound, what many accounts have together has none, and nobody's money stands in the way of others. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { onRows } from "../support/accounts.ts";
import { good, OPERATOR, operating, RESELLER, refusal } from "../support/operator.ts";
import { basic, CATALOGUE, startTestService, TEST_STORE, temporaryDirectory } from "../support/service.ts";

const FRANCS = `
[[ratePlan]]
id = "francs"
currency = "CHF"
rate = [{ prefix = "", price = "0.01" }]
`;
const DEAR = `
[[exchangeRate]]
from = "XTS"
to = "CHF"
rate = "999999999.999999"
`;
const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { catalogue: CATALOGUE + FRANCS + DEAR, data });
const call = operating(service);
const as = (authorization: string) => ({ authorization });
const MOST = "1000000000";

/** What a service of an earlier version has taken in a currency: as much as its store can hold, less this. On PostgreSQL any node may have. */
async function takeEarlier(currency: string, less: bigint): Promise<void> {
  const amount = 2n ** 63n - 1n - less;
  const shards = TEST_STORE === "sqlite" ? [null] : Array.from({ length: 8 }, (_, shard) => shard);
  for (const shard of shards) {
    const [column, value] = shard === null ? ["", ""] : [", shard", `, ${shard}`];
    const open = async (name: string, balance: bigint): Promise<unknown> => {
      const sql = `INSERT INTO wallet (name, currency, balance_micros${column}) VALUES ('${name}', '${currency}', ${balance}${value}) RETURNING id`;
      return (await onRows(data, sql))[0]!.id;
    };
    const [from, to] = [await open("payments", -amount), await open("earlier", amount)];
    await onRows(
      data,
      `INSERT INTO posting (at_ms, kind, from_wallet, to_wallet, amount_micros) VALUES (0, 'funds', ${from}, ${to}, ${amount}) RETURNING id`,
    );
  }
}

let clients = 0;
const create = (openingBalance: string, more: object = {}) =>
  call(
    "POST",
    "/accounts",
    { username: `reseller1-${++clients}`, ratePlan: "francs", openingBalance, ...more },
    as(RESELLER),
  );

test("however much a reseller gives its clients to begin with, everybody goes on, and the books agree", async () => {
  await takeEarlier("CHF", 1_500_000_000_000_000n);
  const made = [];
  for (let count = 0; count < 3; count++) made.push(good(await create(MOST)));
  assert.deepEqual(
    made.map(({ balance }) => balance),
    [1_000_000_000, 1_000_000_000, 1_000_000_000],
  );
  const message = { messages: [{ from: "Sender", destinations: [{ to: "41793026727" }], text: "Hello" }] };
  const sent = good(await service.call("POST", "/sms/1/text/advanced", { body: message }));
  assert.equal(sent.messages[0].status.groupName, "PENDING");
  good(await service.call("GET", "/account/1/balance"));
  for (const { key } of made) assert.equal(good(await call("GET", `/accounts/${key}`)).balance, 1_000_000_000);
  assert.deepEqual(await service.store.verifyLedger(), []);
  assert.equal((await service.store.quarantined({ limit: 1 })).count, 0);
});

test("an amount beyond the bound is refused with a sentence, wherever one is named", async () => {
  const more = "1000000000.000001";
  const says = (field: string) => [400, [field], `${field} is too large.`];
  assert.deepEqual(refusal(await create(more)), says("openingBalance"));
  assert.deepEqual(refusal(await create("1", { creditLimit: more })), says("creditLimit"));
  assert.deepEqual(refusal(await create("9".repeat(13))), says("openingBalance"));
  assert.deepEqual(refusal(await create("1", { creditLimit: 1e15 })), says("creditLimit"));
  const alert = { below: more, url: "https://client.example/low" };
  assert.deepEqual(refusal(await create("1", { alert })), says("alert.below"));
  const { key, version } = good(await create(MOST));
  const patch = await call("PATCH", `/accounts/${key}`, { version, creditLimit: more }, as(RESELLER));
  assert.deepEqual(refusal(patch), says("creditLimit"));
  const price = { currency: "CHF", rate: [{ prefix: "", price: MOST }] };
  const [status, , sentence] = refusal(await call("PUT", "/rate-plans/dear", price, as(OPERATOR)));
  assert.equal(status, 400);
  assert.match(sentence!, /must be a decimal number of 0 or more, below 1,000,000,000, with at most 6 places/);
});

test("what an exchange makes of an amount has the same bound, and a charge is no more than there is", async () => {
  const { key, password } = good(await create("1"));
  const login = await service.call("POST", "/1/customerProfile/login", as(RESELLER));
  const session = as(`IBSSO ${login.json.login.ibAuthCookie}`);
  const fund = (ammount: string) => {
    const body = { accountKey: key, ammount, currencycode: "XTS", description: "x" };
    return service.call("POST", "/1/customerProfile/payments/funds", { ...session, body });
  };
  assert.deepEqual(refusal(await fund(MOST)), [400, ["ammount"], "ammount would make the balance too large."]);
  assert.deepEqual(refusal(await fund(`-${MOST}`)), [400, ["ammount"], "ammount would take the balance below zero."]);
  const price = { currency: "CHF", rate: [{ prefix: "", price: "999999999.999999" }] };
  good(await call("PUT", "/rate-plans/dear", price, as(OPERATOR)));
  good(
    await call("PATCH", `/accounts/${key}`, { ratePlan: "dear" }, { headers: { "if-match": "*" }, ...as(OPERATOR) }),
  );
  const client = as(basic(`reseller1-${clients}`, password));
  const destinations = Array.from({ length: 1_000 }, (_, index) => ({ to: `4179302${1_000 + index}` }));
  const body = { messages: [{ from: "Sender", destinations, text: "x".repeat(3_000) }] };
  const sent = good(await service.call("POST", "/sms/1/text/advanced", { ...client, body }));
  const names = new Set(sent.messages.map(({ status }: { status: { name: string } }) => status.name));
  assert.deepEqual([...names], ["REJECTED_NOT_ENOUGH_CREDITS"]);
  assert.equal(good(await call("GET", `/accounts/${key}`)).balance, 1);
  assert.deepEqual(await service.store.verifyLedger(), []);
});
