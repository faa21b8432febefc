/** An operator moves money over the API: once for each Idempotency-Key, seen by the client at once, and never made or lost. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { good, OPERATOR, operating, RESELLER, refusal } from "../support/operator.ts";
import { basic, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const call = operating(service);

let accounts = 0;
async function client(balanceMicros = 0n, more: { creditLimitMicros?: bigint } = {}) {
  const key = `FUNDED${++accounts}`;
  await addAccount(service.store, { key, balanceMicros, ...more });
  const authorization = basic(key, "password");
  const balance = async (): Promise<number> =>
    good(await service.call("GET", "/account/1/balance", { authorization })).balance;
  const move = (body: object, headers: Record<string, string> = {}) =>
    call("POST", `/accounts/${key}/funds`, body, { headers });
  const send = async (): Promise<string> => {
    const body = { from: "Shop", to: "41793026727", text: "paid" };
    const { json } = await service.call("POST", "/sms/1/text/single", { authorization, body });
    return json.messages[0].status.name;
  };
  return { key, authorization, balance, move, send };
}

async function assertRight(): Promise<void> {
  assert.deepEqual(good(await call("GET", "/ledger/verify")), { right: true, faults: [] });
}

test("an account that has spent all sends again after a top-up, and sees it in its own statement", async () => {
  const { key, authorization, balance, move, send } = await client(10_000n);
  assert.equal(await send(), "PENDING_ENROUTE");
  assert.equal(await send(), "REJECTED_NOT_ENOUGH_CREDITS");
  const moved = good(await move({ kind: "topUp", amount: 0.02, reason: "invoice 8" }));
  assert.ok(Number.isSafeInteger(moved.transactionId));
  const { transactionId, ...said } = moved;
  assert.deepEqual(said, { account: key, amount: 0.02, balance: 0.02, currency: "EUR" });
  assert.equal(await send(), "PENDING_ENROUTE");
  assert.equal(await balance(), 0.01);
  const statement = await service.call("GET", "/account/1/statement?from=2020-01-01T00:00:00Z", { authorization });
  const line = good(statement).results.find(({ id }: { id: string }) => id === String(transactionId));
  assert.deepEqual([line.kind, line.amount, line.description], ["funds", 0.02, "invoice 8"]);
  await assertRight();
});

test("the same request under the same Idempotency-Key moves once, also when it comes many times at once", async () => {
  const { balance, move } = await client();
  const headers = { "idempotency-key": "payment 1" };
  const body = { kind: "topUp", amount: 5, reason: "invoice 9" };
  const answers = await Promise.all(Array.from({ length: 6 }, () => move(body, headers)));
  for (const answer of answers) assert.deepEqual(good(answer), answers[0]!.json);
  assert.equal(await balance(), 5);
  await move({ kind: "topUp", amount: 1 });
  assert.deepEqual(good(await move(body, headers)), answers[0]!.json, "it is answered as it was then");
  assert.equal(await balance(), 6);
  const says = "The Idempotency-Key was used for another request.";
  assert.deepEqual(refusal(await move({ ...body, amount: 6 }, headers)), [409, null, says]);
  assert.equal(await balance(), 6);
});

test("one key with one body is two requests where it names two accounts: the second is refused, and nothing is moved twice", async () => {
  const [one, other] = [await client(), await client()];
  const headers = { "idempotency-key": "payment 2" };
  const body = { kind: "topUp", amount: 5 };
  good(await one.move(body, headers));
  assert.equal((await other.move(body, headers)).status, 409);
  assert.deepEqual([await one.balance(), await other.balance()], [5, 0]);
  good(await other.move(body, { "idempotency-key": "payment 3" }));
  assert.equal(await other.balance(), 5);
});

test("what was refused did nothing, and its key is free", async () => {
  const { balance, move } = await client(1_000_000n);
  const headers = { "idempotency-key": "too much" };
  const [status, fields, says] = refusal(await move({ kind: "takeBack", amount: 2 }, headers));
  assert.deepEqual([status, fields], [409, ["amount"]]);
  assert.equal(says, "The account has 1 EUR: no more than 1 EUR can be taken from it.");
  assert.equal(good(await move({ kind: "takeBack", amount: 1 }, headers)).balance, 0);
  assert.equal(await balance(), 0);
});

test("fields that are wrong are named, and nothing is moved", async () => {
  const { balance, move } = await client(1_000_000n);
  for (const [body, field] of [
    [{ amount: 1 }, "kind"],
    [{ kind: "gift", amount: 1 }, "kind"],
    [{ kind: "topUp" }, "amount"],
    [{ kind: "topUp", amount: true }, "amount"],
    [{ kind: "topUp", amount: "1".repeat(41) }, "amount"],
    [{ kind: "topUp", amount: 1e21 }, "amount"],
    [{ kind: "topUp", amount: 1, currency: "USD" }, "currency"],
    [{ kind: "topUp", amount: 1, reason: "x".repeat(256) }, "reason"],
    [{ kind: "topUp", amount: 1, reason: "" }, "reason"],
    [{ kind: "topUp", amount: 1, reason: 7 }, "reason"],
  ] as const) {
    const [status, fields] = refusal(await move(body));
    assert.deepEqual([status, fields?.[0]], [400, field], JSON.stringify(body));
  }
  good(await move({ kind: "topUp", amount: 1, reason: "🔑".repeat(255) }));
  assert.equal(await balance(), 2);
});

test("a reseller moves the money of its clients by its own request alone, and all of it is in the audit", async () => {
  const { key } = await client();
  const as = { authorization: RESELLER };
  assert.equal((await call("POST", `/accounts/${key}/funds`, { kind: "topUp", amount: 1 }, as)).status, 403);
  const login = await service.call("POST", "/1/customerProfile/login", as);
  const body = { accountKey: key, ammount: 2, description: "first payment" };
  const authorization = `IBSSO ${login.json.login.ibAuthCookie}`;
  const { transactionId } = good(
    await service.call("POST", "/1/customerProfile/payments/funds", { authorization, body }),
  );
  const { results } = good(await call("GET", `/audit?kind=funds&subject=${key}`, undefined, as));
  assert.equal(results.length, 1);
  const [{ actor, action, address, before, after: since }] = results;
  assert.deepEqual([actor, action, address], ["RESELLER1", "topUp", "127.0.0.1"]);
  assert.deepEqual(before, { balance: "0 EUR" });
  assert.deepEqual(since, { balance: "2 EUR", amount: "2 EUR", reason: "first payment", transactionId });
  const made = { key: "WITHMONEY", username: "withmoney", ratePlan: "standard", openingBalance: 3 };
  good(await call("POST", "/accounts", made));
  const opening = good(await call("GET", "/audit?kind=funds&subject=WITHMONEY")).results;
  assert.deepEqual(
    opening.map(({ action, after: { amount, reason } }: { action: string; after: Record<string, string> }) => [
      action,
      amount,
      reason,
    ]),
    [["topUp", "3 EUR", "opening balance"]],
  );
});

test("an account with money is retired only with a place for it: another account, paid out, or written off", async () => {
  const heir = await client(1_000_000n);
  const retire = (key: string, query = "", authorization = OPERATOR) =>
    call("DELETE", `/accounts/${key}?version=1${query}`, undefined, { authorization });
  const rich = await client(2_500_000n);
  const [status, fields, says] = refusal(await retire(rich.key));
  const ways = "to another account, paid out, or written off for a reason";
  assert.deepEqual(
    [status, fields, says],
    [409, ["balanceTo"], `The account has 2.5 EUR: say where that goes, ${ways}.`],
  );
  assert.equal(await rich.balance(), 2.5, "it goes on");
  good(await retire(rich.key, `&balanceTo=${heir.key}`, RESELLER), 204);
  assert.equal(await heir.balance(), 3.5);
  const shown = good(await call("GET", `/accounts/${rich.key}`));
  assert.deepEqual([shown.balance, shown.retiredAt === null], [0, false]);

  const paid = await client(4_000_000n);
  good(await retire(paid.key, "&paidOut=true"), 204);
  const lost = await client(5_000_000n);
  good(await retire(lost.key, "&writeOff=nobody%20answers"), 204);
  const kinds = async (key: string): Promise<string[]> => {
    const { results } = good(await call("GET", `/accounts/${key}/statement?from=2020-01-01T00:00:00Z`));
    return results.map(({ kind, amount }: { kind: string; amount: number }) => `${kind} ${amount}`);
  };
  assert.deepEqual(await kinds(rich.key), ["funds 2.5", "transfer -2.5"]);
  assert.deepEqual(await kinds(heir.key), ["funds 1", "transfer 2.5"]);
  assert.deepEqual(await kinds(paid.key), ["funds 4", "funds -4"]);
  assert.deepEqual(await kinds(lost.key), ["funds 5", "writeOff -5"]);
  const { results } = good(await call("GET", `/audit?kind=funds&subject=${lost.key}`));
  assert.deepEqual([results[0].action, results[0].after.reason], ["writeOff", "nobody answers"]);
  good(await retire((await client()).key), 204);
  await assertRight();
});
