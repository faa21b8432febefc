/** "Where would this number go, what would it cost, and why": what is answered agrees with what becomes of a message that is sent. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import type { Scope } from "../../src/store/port/accounts.ts";
import { addAccount } from "../support/accounts.ts";
import { type Answer, basic, startTestService } from "../support/service.ts";

/** Nobody listens on port 1, so these are down. */
const smpp = (id: string, more = "") => `
[[carrier]]
id = "${id}"
kind = "smpp"
hosts = ["127.0.0.1:1"]
systemId = "${id}"
password = "secret"
${more}`;

const CATALOGUE = `
[[carrier]]
id = "simulator"
kind = "simulator"
answerAfterMs = 10
${smpp("down")}
${smpp("plain", 'nameAlphabet = "ascii"\nalphabet = "latin1"')}
[[route]]
prefix = ""
carrier = "simulator"
[[route]]
prefix = "41"
groups = [[{ carrier = "down", weight = 3 }, { carrier = "simulator" }], [{ carrier = "plain" }]]
[[route]]
prefix = "4179"
groups = [[{ carrier = "plain" }, { carrier = "down", weight = 3 }]]
[[route]]
prefix = "4178"
carrier = "plain"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "41", price = "0.045" }, { prefix = "4179", price = "0.05" }, { prefix = "385", price = "0.02" }]
[[exchangeRate]]
from = "EUR"
to = "USD"
rate = "1.1"
`;

const service = await startTestService({ after }, { catalogue: CATALOGUE });
await addAccount(service.store, { key: "STRICT", allowedSenders: ["Shop"], defaultSender: "Acme" });
const unnamed = { change: { defaultSender: null }, by: { name: "test", address: null }, atMs: Date.now() };
await service.store.changeAccount({ resellerId: null, key: "DEMO0001", version: null, ...unnamed });
await addAccount(service.store, { key: "FOREIGN", parentKey: null });
await addAccount(service.store, { key: "DOLLARS", currency: "USD" });

const OPERATOR = basic("operator", "operator-password");
const RESELLER = basic("reseller", "reseller-password");
const ROUTE = "/console/1/quote";

function ask(query: Readonly<Record<string, string>>, authorization?: string): Promise<Answer> {
  const path = `${ROUTE}?${new URLSearchParams(query)}`;
  return service.call("GET", path, authorization === undefined ? {} : { authorization });
}

async function quote(query: Readonly<Record<string, string>>, authorization?: string) {
  const { status, json, text } = await ask(query, authorization);
  assert.equal(status, 200, text);
  return json;
}

/** What the way looks like: each carrier with its chance, group by group. */
const wayOf = ({ groups }: { groups: { carriers: { id: string; chance: number }[] }[] }) =>
  groups.map(({ carriers }) => carriers.map(({ id, chance }) => `${id} ${chance}`));

test("a number is told its country, route, carriers and price, each with its reason", async () => {
  const answer = await quote({ to: "385991234567", from: "Heliograph", parts: "3" });
  assert.deepEqual(answer.numbers, [
    {
      to: "385991234567",
      country: { code: "HR", name: "Croatia" },
      sent: true,
      status: "PENDING_ENROUTE",
      problem: null,
      route: "",
      pricePrefix: "385",
      pricePerPart: "0.02",
      carriers: [{ id: "simulator", chance: 1 }],
    },
  ]);
  assert.equal(answer.amount, "0.06");
  assert.deepEqual(answer.otherCurrencies, [{ currency: "USD", rate: "1.1", amount: "0.066" }]);
  assert.equal(answer.available, "100");
  assert.deepEqual(
    answer.steps.map(({ name, good, says }: { name: string; good: boolean; says: string }) => [name, good, says]),
    [
      ["number", true, "It is of Croatia."],
      ["account", true, "The account DEMO0001 pays by the rate plan standard."],
      ["sender", true, "The account may use any sender."],
      ["route", true, "The route of all numbers: none with a longer prefix fits."],
      ["carrier", true, "simulator gets it."],
      ["price", true, "0.02 EUR a part by the rate plan standard, its longest prefix that fits, 385."],
      ["optOut", true, "The number has not opted out."],
    ],
  );
});

test("the longest prefix decides, and what a carrier that is down would get goes to those that are up", async () => {
  const shared = await quote({ to: "41441234567", from: "Shop" });
  assert.equal(shared.numbers[0].route, "41");
  assert.deepEqual(wayOf(shared), [["down 0", "simulator 1"], ["plain 0"]]);
  assert.deepEqual(
    shared.groups[0].carriers.map(({ up, says }: { up: boolean; says: string }) => [up, says]),
    [
      [false, "It is down."],
      [true, "It is up. It gets the message."],
    ],
  );
  // Nobody of this route is up: a message waits for the carrier that it was meant for.
  const waiting = await quote({ to: "41791234567", from: "Shop" });
  assert.deepEqual(wayOf(waiting), [["plain 0.25", "down 0.75"]]);
  assert.equal(waiting.steps[4].says, "One of 2 carriers gets it, by weight.");
  assert.equal(waiting.numbers[0].pricePerPart, "0.05");
  assert.equal(waiting.groups[0].carriers[0].alphabet, "latin1");
});

test("carriers that cannot write the sender's letters are passed over", async () => {
  assert.deepEqual(wayOf(await quote({ to: "41791234567", from: "Café" })), [["plain 0", "down 1"]]);
  const none = await quote({ to: "41781234567", from: "Café" });
  assert.equal(none.numbers[0].problem, "No carrier of the route can write the letters of this sender.");
  assert.equal(none.numbers[0].status, "REJECTED_SOURCE");
});

test("what is quoted to be rejected is rejected, with the same status", async () => {
  await service.store.optOut({ accountKey: null, number: "41440000001", atMs: 0 });
  await service.store.optOut({ accountKey: "STRICT", number: "41440000002", atMs: 0 });
  const strict = basic("STRICT", "password");
  const cases: [to: string, from: string, problem: RegExp][] = [
    ["12", "Shop", /4 to 15 digits/],
    ["+(41)440000003", "Shop", /4 to 15 digits/],
    ["41440000003", "Other", /may not send as Other, but as Shop, Acme/],
    ["41440000003", "A name too long", /3 to 15 digits, or 1 to 11 characters/],
    ["33123456789", "Shop", /no price for this number/],
    ["41440000001", "Shop", /on the service's list/],
    ["41440000002", "Acme", /on the account's list/],
  ];
  for (const [to, from, problem] of cases) {
    const { numbers, rejected, amount } = await quote({ to, from }, strict);
    assert.match(numbers[0].problem, problem);
    assert.equal(numbers[0].sent, false);
    assert.deepEqual([rejected, amount], [1, "0"]);
    const sent = await service.call("POST", "/sms/1/text/single", {
      body: { to, from, text: "x" },
      authorization: strict,
    });
    assert.equal(sent.json.messages[0].status.name, numbers[0].status, `${to} from ${from}`);
  }
  // The account's own list is no other account's.
  assert.equal((await quote({ to: "41440000002", from: "Shop" })).numbers[0].sent, true);
});

test("many numbers are looked at one by one, and a bad one does not spoil the others", async () => {
  const to = ["41440000009", "x".repeat(200), "385991234567", "33123456789"].join(",");
  const { numbers, rejected, amount } = await quote({ to, from: "Shop", parts: "2" });
  assert.deepEqual(
    numbers.map(({ sent }: { sent: boolean }) => sent),
    [true, false, true, false],
  );
  assert.equal(numbers[1].to.length, 32);
  assert.equal(rejected, 2);
  assert.equal(amount, "0.13");
  const list = (count: number) => Array.from({ length: count }, (_, index) => `4144000${1_000 + index}`).join(",");
  assert.equal((await quote({ to: list(100) })).numbers.length, 100);
  const tooMany = await ask({ to: list(101) });
  assert.equal(tooMany.status, 400);
  assert.match(tooMany.text, /to must have at most 100 numbers/);
});

test("a question that cannot be answered says which parameter is wrong", async () => {
  for (const [query, says] of [
    [{}, "to is required: numbers with commas between them."],
    [{ to: "41440000009", parts: "0" }, "parts must be a whole number from 1 to 25."],
    [{ to: "41440000009", parts: "26" }, "parts must be a whole number from 1 to 25."],
    [{ to: "41440000009", parts: "two" }, "parts must be a whole number from 1 to 25."],
  ] as const) {
    const { status, json } = await ask(query);
    assert.equal(status, 400);
    assert.equal(json.requestError.serviceException.additionalDescription, says);
  }
});

test("without a sender the account's default one is meant, and without that nothing goes", async () => {
  const to = "41440000009";
  assert.equal(
    (await quote({ to }, basic("STRICT", "password"))).steps[2].says,
    "Acme is the account's default sender.",
  );
  const { steps, numbers } = await quote({ to });
  assert.equal(steps[2].says, "No sender is named, and the account has no default one.");
  assert.equal(numbers[0].status, "REJECTED_SOURCE");
});

test("asked about any sender, the step of the sender is open, and the rest is answered", async () => {
  const question = { to: "385991234567", anySender: "true" };
  const { numbers, steps } = await quote(question);
  assert.deepEqual([numbers[0].sent, numbers[0].problem, numbers[0].carriers.length > 0], [true, null, true]);
  assert.deepEqual([steps[2].name, steps[2].good, steps[2].open], ["sender", true, true]);
  assert.match(steps[2].says, /^No sender is named: this holds for any/);
  const named = await quote({ ...question, from: "Shop" });
  assert.deepEqual([named.steps[2].good, named.steps[2].open], [true, false]);
  const strict = await quote({ ...question, account: "STRICT" }, OPERATOR);
  assert.deepEqual([strict.from, strict.steps[2].open], ["Acme", false], "its default sender is meant");
});

test("only whoever manages an account may ask in its name", async () => {
  const to = "41440000009";
  const strict = await quote({ to, account: "STRICT" }, OPERATOR);
  assert.deepEqual([strict.account, strict.from, strict.available], ["STRICT", "Acme", "0"]);
  assert.equal((await quote({ to, account: "STRICT" }, RESELLER)).account, "STRICT");
  assert.equal((await ask({ to, account: "FOREIGN" }, RESELLER)).status, 404);
  assert.equal((await ask({ to, account: "STRICT" })).status, 404);
  assert.equal((await ask({ to, account: "NOBODY" }, OPERATOR)).status, 404);
  assert.equal((await quote({ to, account: "DEMO0001" })).account, "DEMO0001");
  const dollars = await quote({ to, account: "DOLLARS", from: "Shop" }, OPERATOR);
  assert.equal(dollars.numbers[0].problem, "The rate plan standard is in EUR and the account in USD.");
});

test("an API key learns no more than it is good for", async () => {
  const keyFor = async (accountKey: string, scopes: readonly Scope[]): Promise<string> => {
    const key = newApiKey();
    await service.store.createApiKey({ ...storedForm(key), accountKey, name: null, scopes, atMs: 0 });
    return `App ${key}`;
  };
  const to = "41440000009";
  assert.equal((await quote({ to }, await keyFor("DEMO0001", ["send"]))).available, null);
  assert.equal((await quote({ to }, await keyFor("DEMO0001", ["send", "balance"]))).available, "100");
  assert.equal((await ask({ to }, await keyFor("DEMO0001", ["balance"]))).status, 403);
  assert.equal((await ask({ to, account: "STRICT" }, await keyFor("OPERATOR1", ["send"]))).status, 404);
});
