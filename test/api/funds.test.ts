/** A reseller gives its clients money, or takes it: parameters, limits, currencies, whose account it is, and that no cent is lost. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import fc, { cases } from "../support/chance.ts";
import { writtenBy } from "../support/client-bytes.ts";
import {
  type Answer,
  assertUnauthorized,
  basic,
  CATALOGUE,
  CHALLENGES,
  errorObject,
  startTestService,
} from "../support/service.ts";

const FUNDS = "/1/customerProfile/payments/funds";
const MORE_RATES = `
[[exchangeRate]]
from = "VND"
to = "EUR"
rate = "0.000037"
[[exchangeRate]]
from = "XTS"
to = "EUR"
rate = "0.5"
`;
const service = await startTestService({ after }, { catalogue: CATALOGUE + MORE_RATES });
const { store } = service;

async function tokenOf(username: string, password: string): Promise<string> {
  const authorization = basic(username, password);
  const { json } = await service.call("POST", "/1/customerProfile/login", { authorization });
  return `IBSSO ${json.login.ibAuthCookie}`;
}

const RESELLER = await tokenOf("reseller", "reseller-password");

interface Parameters {
  [name: string]: unknown;
}

const post = (body: unknown, headers: Record<string, string> = {}, authorization: string | null = RESELLER) =>
  service.call("POST", FUNDS, { body, headers, authorization });

function postForm(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return post(new URLSearchParams(fields).toString(), { ...type, ...headers });
}

const postQuery = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  service.call("POST", `${FUNDS}?${new URLSearchParams(fields)}`, { authorization: RESELLER, headers });

let accounts = 0;
/** A client of the demo reseller with so much money; its key. */
async function client(balanceMicros = 0n, more: { currency?: string; parentKey?: string | null } = {}) {
  const key = `CLIENT${++accounts}`;
  const { id } = await addAccount(store, { key, balanceMicros, ...more });
  const balance = async (): Promise<bigint> => (await store.balance({ accountId: id })).balanceMicros;
  return { key, balance };
}

function assertPosted({ status, headers, text, json }: Answer): number {
  assert.equal(status, 200, text);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.ok(Number.isSafeInteger(json.transactionId) && json.transactionId > 0, text);
  assert.deepEqual(json, { transactionId: json.transactionId });
  return json.transactionId;
}

function assertWrong({ status, json }: Answer, field: string, says: string): void {
  assert.deepEqual([status, json], [400, errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`)]);
}

test("funds are added with parameters in JSON, in a form or in the query, and the client's balance shows them", async () => {
  await addAccount(store, { key: "SHOWN", balanceMicros: 0n });
  const balance = async () =>
    (await service.call("GET", "/account/1/balance", { authorization: basic("SHOWN", "password") })).text;
  const payment = { accountKey: "SHOWN", ammount: "47.79134", description: "Invoice 7" };
  assertPosted(await post({ ...payment, ammount: 47.79134 }));
  assert.equal(await balance(), '{"balance":47.79134,"currency":"EUR"}');
  assertPosted(await postForm(payment));
  assert.equal(await balance(), '{"balance":95.58268,"currency":"EUR"}');
  assertPosted(await postQuery(payment));
  assert.equal(await balance(), '{"balance":143.37402,"currency":"EUR"}');
});

test("what stands in the body counts more than the query, parameter by parameter", async () => {
  const [one, other] = [await client(), await client()];
  const query = new URLSearchParams({ accountKey: other.key, ammount: "5", description: "from the query" });
  const body = { accountKey: one.key, ammount: 7, description: null };
  assertPosted(await service.call("POST", `${FUNDS}?${query}`, { authorization: RESELLER, body }));
  assert.deepEqual([await one.balance(), await other.balance()], [7_000_000n, 0n]);
});

test("the transaction's number grows", async () => {
  const { key } = await client();
  const numbers: number[] = [];
  for (let time = 0; time < 5; time++) {
    numbers.push(assertPosted(await post({ accountKey: key, ammount: 1, description: "x" })));
  }
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
});

const AMOUNTS: readonly (readonly [written: number | string, micros: bigint])[] = [
  [1, 1_000_000n],
  ["1", 1_000_000n],
  [0.1, 100_000n],
  ["0.000001", 1n],
  [0.000001, 1n],
  ["1.500000", 1_500_000n],
  ["1.5000000000", 1_500_000n],
  ["007.5", 7_500_000n],
  [`${"0".repeat(40)}7.5`, 7_500_000n],
  [999_999_999.999999, 999_999_999_999_999n],
  ["1000000000", 1_000_000_000_000_000n],
];

test("an amount is a decimal number of up to six places, and is booked to the millionth", async (t) => {
  for (const [written, micros] of AMOUNTS) {
    await t.test(JSON.stringify(written), async () => {
      const { key, balance } = await client();
      assertPosted(await post({ accountKey: key, ammount: written, description: "x" }));
      assert.equal(await balance(), micros);
    });
  }
});

const NO_DECIMAL = "must be a decimal number with at most 6 places";
const REQUIRED = "is required";
const LENGTH = "must be 1 to 255 characters long";
const KEY = "must be 1 to 64 letters and digits, with dashes between them if you like";
const CODE = "must be an ISO 4217 code of three letters";
const WRONG: readonly (readonly [change: Parameters, field: string, says: string])[] = [
  [{ accountKey: undefined }, "accountKey", REQUIRED],
  [{ accountKey: null }, "accountKey", REQUIRED],
  [{ accountKey: "" }, "accountKey", KEY],
  [{ accountKey: "DEMO-" }, "accountKey", KEY],
  [{ accountKey: "DEMO0001 " }, "accountKey", KEY],
  [{ accountKey: "DÉMO" }, "accountKey", KEY],
  [{ accountKey: "A".repeat(65) }, "accountKey", KEY],
  [{ accountKey: 1 }, "accountKey", KEY],
  [{ accountKey: ["DEMO0001"] }, "accountKey", KEY],
  [{ ammount: undefined }, "ammount", REQUIRED],
  [{ ammount: null }, "ammount", REQUIRED],
  [{ ammount: "" }, "ammount", REQUIRED],
  [{ ammount: undefined, amount: 5 }, "amount", "is not known here: the field is spelled ammount"],
  [{ ammount: 0 }, "ammount", "must not be zero"],
  [{ ammount: "-0.000000" }, "ammount", "must not be zero"],
  [{ ammount: "0.0000001" }, "ammount", NO_DECIMAL],
  [{ ammount: 0.0000001 }, "ammount", NO_DECIMAL],
  [{ ammount: "1.0000001" }, "ammount", NO_DECIMAL],
  [{ ammount: "1e3" }, "ammount", NO_DECIMAL],
  [{ ammount: 1e300 }, "ammount", NO_DECIMAL],
  [{ ammount: "1,5" }, "ammount", NO_DECIMAL],
  [{ ammount: ".5" }, "ammount", NO_DECIMAL],
  [{ ammount: "5." }, "ammount", NO_DECIMAL],
  [{ ammount: "+5" }, "ammount", NO_DECIMAL],
  [{ ammount: " 5" }, "ammount", NO_DECIMAL],
  [{ ammount: "0x10" }, "ammount", NO_DECIMAL],
  [{ ammount: "five" }, "ammount", NO_DECIMAL],
  [{ ammount: "NaN" }, "ammount", NO_DECIMAL],
  [{ ammount: true }, "ammount", NO_DECIMAL],
  [{ ammount: [5] }, "ammount", NO_DECIMAL],
  [{ ammount: { value: 5 } }, "ammount", NO_DECIMAL],
  [{ ammount: "1000000000.000001" }, "ammount", "is too large"],
  [{ ammount: "-1000000000.000001" }, "ammount", "is too large"],
  [{ ammount: "1000000000000" }, "ammount", "is too large"],
  [{ ammount: 1e12 }, "ammount", "is too large"],
  [{ ammount: `-${"9".repeat(40)}` }, "ammount", "is too large"],
  [{ ammount: "9".repeat(1_000) }, "ammount", "is too large"],
  [{ currencycode: "" }, "currencycode", CODE],
  [{ currencycode: "EU" }, "currencycode", CODE],
  [{ currencycode: "EURO" }, "currencycode", CODE],
  [{ currencycode: "978" }, "currencycode", CODE],
  [{ currencycode: 978 }, "currencycode", CODE],
  [{ description: undefined }, "description", REQUIRED],
  [{ description: null }, "description", REQUIRED],
  [{ description: "" }, "description", LENGTH],
  [{ description: "x".repeat(256) }, "description", LENGTH],
  [{ description: "😀".repeat(256) }, "description", LENGTH],
  [{ description: 5 }, "description", LENGTH],
  [{ description: "a\0b" }, "description", "has a NUL character"],
  [{ description: "\ud83d" }, "description", "has half of a surrogate pair"],
];

test("refused, with the name of the parameter and what is wrong with it, and without effect, is", async (t) => {
  const { key, balance } = await client(5_000_000n);
  for (const [change, field, says] of WRONG) {
    await t.test(JSON.stringify(change, (_, value) => value ?? "(none)").slice(0, 60), async () => {
      assertWrong(await post({ accountKey: key, ammount: 1, description: "x", ...change }), field, says);
    });
  }
  assert.equal(await balance(), 5_000_000n);
});

/** As the .NET client of the older family writes it. */
const writtenByNet = (body: string) =>
  writtenBy(
    service,
    RESELLER,
    [
      `POST ${FUNDS} HTTP/1.1`,
      "Accept: */*",
      "User-Agent: OneApi-C#-1.0.0.0",
      "Authorization: {auth}",
      "Content-Type: application/json",
    ],
    body,
  );

test("a client that spells it currencyCode has its money exchanged, not booked as it stands", async () => {
  const { key, balance } = await client();
  const written = (code: string) =>
    `{"currencyCode": ${code}, "accountKey": "${key}", "description": "invoice 3", "ammount": 10.0}`;
  const dollars = await writtenByNet(written('"USD"'));
  assert.equal(dollars.status, 200, JSON.stringify(dollars.json));
  assert.equal(await balance(), 9_200_000n);
  // It reads the number as one of 32 bits.
  assert.ok(dollars.json.transactionId > 0 && dollars.json.transactionId < 2 ** 31);
  const none = await writtenByNet(written("null"));
  assert.equal(none.status, 200, JSON.stringify(none.json));
  assert.equal(await balance(), 19_200_000n);
  const unknown = await writtenByNet(written('"QQQ"'));
  assert.deepEqual(
    unknown.json,
    errorObject("BAD_REQUEST", "Bad request", ["currencycode"], "currencycode has no exchange rate: from QQQ to EUR."),
  );
  assert.equal(unknown.status, 400);
  assert.equal(await balance(), 19_200_000n);
});

test("both spellings of the currency have to say the same, wherever they stand", async () => {
  const { key, balance } = await client();
  const good = { accountKey: key, ammount: "1", description: "x" };
  const differs = "is another one than currencycode: give one of them";
  for (const send of [post, postForm, postQuery]) {
    assertWrong(await send({ ...good, currencycode: "EUR", currencyCode: "USD" }), "currencyCode", differs);
    assertPosted(await send({ ...good, currencycode: "usd", currencyCode: "USD" }));
    assertWrong(await send({ ...good, currencyCode: "EURO" }), "currencyCode", CODE);
  }
  const apart = await service.call("POST", `${FUNDS}?currencycode=EUR`, {
    authorization: RESELLER,
    body: { ...good, currencyCode: "USD" },
  });
  assertWrong(apart, "currencyCode", differs);
  assert.equal(await balance(), 2_760_000n);
});

test("a field that nobody knows is refused beside an amount, in JSON, in a form and in the query; credentials may stand there", async () => {
  const { key, balance } = await client();
  const good = { accountKey: key, ammount: "1", description: "x" };
  for (const send of [post, postForm, postQuery]) {
    for (const name of ["CurrencyCode", "currency_code", "unit", "code", "constructor", "__proto__"]) {
      assertWrong(
        await send(JSON.parse(`{"${name}": "USD", ${JSON.stringify(good).slice(1)}`)),
        name,
        "is not known here",
      );
    }
    assertWrong(
      await send({ ...good, currency: "USD" }),
      "currency",
      "is not known here: the field is spelled currencycode",
    );
    assertWrong(await send({ ...good, amount: "5" }), "amount", "is not known here: the field is spelled ammount");
    assertPosted(await send({ ...good, username: "reseller", password: "reseller-password" }));
  }
  // Absent, as everywhere.
  assertPosted(await post({ ...good, unit: null }));
  const apart = await service.call("POST", `${FUNDS}?unit=USD`, { authorization: RESELLER, body: good });
  assertWrong(apart, "unit", "is not known here");
  assert.equal(await balance(), 4_000_000n);
});

test("the same holds in a form and in the query, where a name may also stand twice", async () => {
  const { key, balance } = await client();
  const good = { accountKey: key, ammount: "1", description: "x" };
  for (const send of [postForm, postQuery]) {
    assertWrong(await send({ ...good, ammount: "1e3" }), "ammount", NO_DECIMAL);
    assertWrong(await send({ ...good, description: "" }), "description", LENGTH);
    assertWrong(await send({ ...good, description: "a\0b" }), "description", "has a NUL character");
    assertWrong(await send({ accountKey: key, ammount: "1" }), "description", REQUIRED);
  }
  const twice = `${new URLSearchParams(good)}&ammount=2`;
  const inQuery = await service.call("POST", `${FUNDS}?${twice}`, { authorization: RESELLER });
  assertWrong(inQuery, "ammount", NO_DECIMAL);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  for (const [again, field] of [
    ["ammount=2", "ammount"],
    ["ammount=1", "ammount"],
    ["accountKey=DEMO0001", "accountKey"],
    ["description=y", "description"],
  ] as const) {
    const body = `${new URLSearchParams(good)}&${again}`;
    const { status, json } = await service.call("POST", FUNDS, { authorization: RESELLER, headers, body });
    assert.deepEqual([status, json.requestError.serviceException.variables], [400, [field]], body);
  }
  assert.equal(await balance(), 0n);
});

test("a body that is not an object is refused, even beside a query that has everything", async () => {
  const { key, balance } = await client();
  const query = new URLSearchParams({ accountKey: key, ammount: "5", description: "x" });
  for (const body of ["5", '"x"', "[]", "true"]) {
    const answer = await service.call("POST", `${FUNDS}?${query}`, { authorization: RESELLER, body });
    assertWrong(answer, "body", "must be an object");
  }
  assert.equal(await balance(), 0n);
});

test("a description may have 255 characters of any script", async () => {
  const { key } = await client();
  for (const description of ["x", "x".repeat(255), "😀".repeat(255), "Überweisung № 7 — 支付"]) {
    assertPosted(await post({ accountKey: key, ammount: 1, description }));
    assertPosted(await postForm({ accountKey: key, ammount: "1", description }));
  }
});

test("a negative amount takes money away, down to nothing and not below", async () => {
  const { key, balance } = await client(10_000_000n);
  const take = (ammount: number | string) => post({ accountKey: key, ammount, description: "back" });
  assertPosted(await take(-2.5));
  assert.equal(await balance(), 7_500_000n);
  assertWrong(await take("-7.500001"), "ammount", "would take the balance below zero");
  assert.equal(await balance(), 7_500_000n);
  assertPosted(await take("-7.5"));
  assert.equal(await balance(), 0n);
  assertWrong(await take("-0.000001"), "ammount", "would take the balance below zero");
});

test("a balance has an end above too", async () => {
  const { key, balance } = await client(999_999_999_000_000n);
  const add = (ammount: string) => post({ accountKey: key, ammount, description: "x" });
  assertWrong(await add("1.000001"), "ammount", "would make the balance too large");
  assertPosted(await add("1"));
  assert.equal(await balance(), 1_000_000_000_000_000n);
});

test("of many that take at the same time, only as many as the balance covers succeed", async () => {
  const { key, balance } = await client(10_000_000n);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => post({ accountKey: key, ammount: -1, description: "x" })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  assert.equal(answers.filter(({ status }) => status === 400).length, 20);
  assert.equal(await balance(), 0n);
});

const CONVERTED: readonly (readonly [code: string, amount: string, micros: bigint])[] = [
  ["EUR", "10", 10_000_000n],
  ["eur", "10", 10_000_000n],
  ["USD", "10", 9_200_000n],
  ["Usd", "0.000001", 1n], // 0.92 of a millionth
  ["XTS", "0.000001", 1n], // half of one goes away from zero
  ["XTS", "0.000003", 2n],
  ["VND", "1000000", 37_000_000n],
];

test("an amount in another currency is converted at the operator's rate, to the nearest millionth", async (t) => {
  for (const [currencycode, amount, micros] of CONVERTED) {
    await t.test(`${amount} ${currencycode}`, async () => {
      const { key, balance } = await client(100_000_000n);
      assertPosted(await post({ accountKey: key, ammount: amount, currencycode, description: "x" }));
      assert.equal(await balance(), 100_000_000n + micros);
      assertPosted(await postForm({ accountKey: key, ammount: `-${amount}`, currencycode, description: "x" }));
      assert.equal(await balance(), 100_000_000n);
    });
  }
});

test("without a rate for it, a currency is refused; a rate works in its own direction only", async () => {
  const euros = await client();
  const dollars = await client(0n, { currency: "USD" });
  const give = (accountKey: string, currencycode: string) =>
    post({ accountKey, ammount: 1, currencycode, description: "x" });
  assertWrong(await give(euros.key, "CHF"), "currencycode", "has no exchange rate: from CHF to EUR");
  assertWrong(await give(dollars.key, "EUR"), "currencycode", "has no exchange rate: from EUR to USD");
  assertPosted(await post({ accountKey: dollars.key, ammount: 3, description: "in its own currency" }));
  assert.deepEqual([await euros.balance(), await dollars.balance()], [0n, 3_000_000n]);
});

test("an amount that is nothing in the account's currency is refused", async () => {
  const { key } = await client();
  const tiny = await post({ accountKey: key, ammount: "0.000001", currencycode: "VND", description: "x" });
  assertWrong(tiny, "ammount", "is nothing in the account's currency");
});

test("an account that is not the reseller's client does not exist for it", async () => {
  await addAccount(store, { key: "OTHERRESELLER", kind: "reseller" });
  const foreign = await client(0n, { parentKey: "OTHERRESELLER" });
  const direct = await client(0n, { parentKey: null });
  for (const accountKey of ["NOBODY", "demo0001", "RESELLER1", "OPERATOR1", "OTHERRESELLER", foreign.key, direct.key]) {
    const { status, json } = await post({ accountKey, ammount: 1, description: "x" });
    assert.deepEqual([status, json], [404, errorObject("NOT_FOUND", "Account not found")], accountKey);
  }
  assert.deepEqual([await foreign.balance(), await direct.balance()], [0n, 0n]);
  const other = await tokenOf("OTHERRESELLER", "password");
  assertPosted(await post({ accountKey: foreign.key, ammount: 1, description: "x" }, {}, other));
});

test("without reseller rights a token is not enough", async () => {
  const payment = { accountKey: "DEMO0001", ammount: 1, description: "x" };
  for (const name of ["demo", "operator"]) {
    const { status, json, headers } = await post(payment, {}, await tokenOf(name, `${name}-password`));
    const says = "The account has no reseller rights.";
    assert.deepEqual([status, json], [403, errorObject("UNAUTHORIZED", "Unauthorized", null, says)], name);
    assert.equal(headers.get("www-authenticate"), null);
  }
});

test("without a token, with a wrong one, or with a password in its place, it is unauthorized", async () => {
  const payment = { accountKey: "DEMO0001", ammount: 1, description: "x" };
  const strangers = [null, "", "IBSSO", "IBSSO wrong", RESELLER.slice(0, -1), RESELLER.replace("IBSSO", "Digest")];
  for (const authorization of [...strangers, basic("reseller", "reseller-password")]) {
    const { status, json, headers } = await post(payment, {}, authorization);
    assertUnauthorized({ status, json }, undefined, String(authorization));
    assert.equal(headers.get("www-authenticate"), CHALLENGES);
  }
});

// --- Idempotency-Key -----------------------------------------------------------------------------------------------------------

test("the same request under the same Idempotency-Key is booked once and answered alike", async () => {
  const { key, balance } = await client();
  const payment = { accountKey: key, ammount: "5", description: "x" };
  for (const [name, send] of Object.entries({ post, postForm, postQuery })) {
    const headers = { "idempotency-key": `retry-${name}` };
    const before = await balance();
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(payment, headers)));
    const numbers = new Set([...answers.map(assertPosted), assertPosted(await send(payment, headers))]);
    assert.equal(numbers.size, 1, name);
    assert.equal((await balance()) - before, 5_000_000n, name);
  }
});

test("the same Idempotency-Key with other parameters is a conflict, wherever they stand", async () => {
  const { key, balance } = await client();
  const payment = { accountKey: key, ammount: "5", description: "x" };
  for (const [name, send] of Object.entries({ post, postForm, postQuery })) {
    const headers = { "idempotency-key": `reused-${name}` };
    assertPosted(await send(payment, headers));
    const before = await balance();
    const { status, json } = await send({ ...payment, ammount: "6" }, headers);
    const says = "The Idempotency-Key was used for another request.";
    assert.deepEqual([status, json], [409, errorObject("CONFLICT", "Conflict", null, says)], name);
    assert.equal(await balance(), before, name);
  }
});

test("another key, another reseller, or a request that failed, is no repetition", async () => {
  const { key, balance } = await client();
  const payment = { accountKey: key, ammount: 5, description: "x" };
  const first = assertPosted(await post(payment, { "idempotency-key": "one" }));
  assert.notEqual(assertPosted(await post(payment, { "idempotency-key": "two" })), first);
  assert.equal(await balance(), 10_000_000n);

  const failed = await post({ ...payment, ammount: -11 }, { "idempotency-key": "three" });
  assert.equal(failed.status, 400);
  assertPosted(await post({ ...payment, ammount: -10 }, { "idempotency-key": "three" }));
  assert.equal(await balance(), 0n);

  await addAccount(store, { key: "NEIGHBOUR", kind: "reseller" });
  const theirs = await client(0n, { parentKey: "NEIGHBOUR" });
  const token = await tokenOf("NEIGHBOUR", "password");
  assertPosted(await post({ ...payment, accountKey: theirs.key }, { "idempotency-key": "one" }, token));
});

test("an Idempotency-Key has 1 to 255 characters", async () => {
  const { key } = await client();
  const payment = { accountKey: key, ammount: 5, description: "x" };
  assertPosted(await post(payment, { "idempotency-key": "k".repeat(255) }));
  for (const wrong of ["", "k".repeat(256)]) {
    assertWrong(
      await post(payment, { "idempotency-key": wrong }),
      "Idempotency-Key",
      "must be 1 to 255 characters long",
    );
  }
});

// --- No cent is lost -------------------------------------------------------------------------------------------------------------

type Step = { kind: "funds"; micros: bigint; usd: boolean } | { kind: "send"; destinations: number };

const PRICE = 10_000n; // of one part, in the test's catalogue
const RATE = 920_000n;

/** Six places, in digits, so that nothing is rounded on the way into the request. */
function decimal(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, "0");
  return `${micros < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** The same as the shortest number, as a balance is written. */
const shortest = (micros: bigint): string => decimal(micros).replace(/\.?0+$/, "");

function converted(micros: bigint): bigint {
  const product = micros * RATE;
  const rounded = ((product < 0n ? -product : product) + 500_000n) / 1_000_000n;
  return product < 0n ? -rounded : rounded;
}

test("after any sequence of payments and messages the balance is exact to the millionth, and the books agree", async () => {
  const amount = fc.bigInt({ min: -300_000n, max: 300_000n }).filter((micros) => micros !== 0n);
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant("funds" as const), micros: amount, usd: fc.boolean() }),
    fc.record({ kind: fc.constant("send" as const), destinations: fc.integer({ min: 1, max: 12 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { key } = await client(100_000n);
      const authorization = await tokenOf(key, "password");
      let balance = 100_000n;
      for (const step of steps) {
        if (step.kind === "funds") {
          const moved = step.usd ? converted(step.micros) : step.micros;
          const currency = step.usd ? { currencycode: "USD" } : {};
          const { status } = await post({
            accountKey: key,
            ammount: decimal(step.micros),
            description: "x",
            ...currency,
          });
          assert.equal(status, moved < 0n && balance + moved < 0n ? 400 : 200);
          if (status === 200) balance += moved;
        } else {
          const to = Array.from({ length: step.destinations }, (_, index) => `4179302${1000 + index}`);
          const body = { from: "InfoSMS", to, text: "x" };
          const { json } = await service.call("POST", "/sms/1/text/single", { authorization, body });
          const covered = Math.min(step.destinations, Number(balance / PRICE));
          const sent = json.messages.filter((message: { status: { id: number } }) => message.status.id === 7);
          assert.equal(sent.length, covered);
          balance -= BigInt(covered) * PRICE;
        }
        const { text } = await service.call("GET", "/account/1/balance", { authorization });
        assert.equal(text, `{"balance":${shortest(balance)},"currency":"EUR"}`);
      }
    }),
    { numRuns: cases(15) },
  );
  assert.deepEqual(await store.verifyLedger(), []);
});
