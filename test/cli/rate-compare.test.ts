/** `heliograph rate compare`, beside a service that runs: what messages would have cost on each carrier's price list, and what of that is told to whom. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { good, operating, RESELLER, refusal } from "../support/operator.ts";
import { basic, eventually, startTestService, temporaryDirectory } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";
import { commandsOn } from "./in-process.ts";

const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const { done, json, refused } = commandsOn("--data", data);
const call = operating(service);

const PRICES = [
  ["buy-here", "41", "0.004321"],
  ["buy-here", "4179", "0.003"],
  ["buy-there", "*", "0.006"],
] as const;
const CURRENCIES = { "buy-here": "EUR", "buy-there": "USD" };

const accounts = { DEMO0001: undefined, FRANCS: basic("FRANCS", "password") };
async function send(account: keyof typeof accounts, to: string, text = "hello"): Promise<void> {
  const authorization = accounts[account];
  const body = { from: "Shop", to, text };
  good(await service.call("POST", "/sms/1/text/single", { body, ...(authorization && { authorization }) }));
}
const delivered = (): Promise<unknown> =>
  eventually(async () => {
    for (const account of Object.keys(accounts)) {
      const messages = await json("message", "list", "--account", account);
      if (!messages.every(({ final }: { final: boolean }) => final)) return false;
    }
    return true;
  });

test("a carrier names the rate plan that it sells by, which has to be there and stays while it is named", async () => {
  const none = 'no carrier has prices: "heliograph rate set" makes a rate plan of them';
  assert.equal((await refused("rate", "compare"))[1].slice(0, none.length), none);
  assert.deepEqual(await refused("carrier", "set", "simulator", "ratePlan=buy-here"), [
    1,
    'carrier "simulator": ratePlan names "buy-here", which is not there',
  ]);
  for (const [plan, prefix, price] of PRICES)
    await done("rate", "set", plan, prefix, price, "--currency", CURRENCIES[plan]);
  await done("carrier", "set", "simulator", "ratePlan=buy-here");
  await done("carrier", "set", "other", "kind=simulator", "ratePlan=buy-there");
  await done("carrier", "set", "third", "kind=simulator");
  assert.equal((await json("carrier", "show", "simulator")).ratePlan, "buy-here");
  assert.deepEqual(await refused("rate", "delete", "buy-there"), [
    1,
    'rate plan "buy-there" has the prices of carrier "other"',
  ]);

  const file = join(await temporaryDirectory({ after }), "catalogue.toml");
  const written = await done("export");
  await writeFile(file, written);
  assert.match(await done("apply", file), /nothing changes/i);
  await writeFile(file, written.replace('ratePlan = "buy-there"', 'ratePlan = "buy-their"'));
  assert.match(
    (await refused("apply", file))[1],
    /catalogue\.toml:\d+:1: carrier "other": ratePlan names "buy-their", which is not a rate plan of this file; did you mean "buy-there"\?$/,
  );
});

test("messages are counted by what each list asks for them, those without a price apart, and each currency by itself", async () => {
  await done("rate", "set", "francs", "*", "0.05", "--currency", "CHF");
  await addAccount(service.store, { key: "FRANCS", currency: "CHF", balanceMicros: 10_000_000n });
  await done("account", "change", "FRANCS", "--rate-plan", "francs");
  // Whoever asks for it has the service look at its catalogue.
  good(await call("GET", "/plans/francs"));
  await send("DEMO0001", "41793026727", "x".repeat(200));
  await send("DEMO0001", "41443026727");
  await send("DEMO0001", "4917600000001");
  await send("FRANCS", "41793026728");
  await delivered();

  const { from, to, carriers, ...rest } = await json("rate", "compare", "--from", "2020-01-01");
  assert.deepEqual([from, to > from], ["2020-01-01T00:00:00.000+0000", true]);
  const eur = (amount: string) => ({ currency: "EUR", amount });
  const chf = { currency: "CHF", amount: "0.05" };
  assert.deepEqual(rest, {
    keptFrom: null,
    messages: 4,
    parts: 5,
    sold: [chf, eur("0.04")],
    asSent: { cost: [eur("0.013321")], unpriced: { messages: 1, parts: 1 } },
    withoutPrices: ["third"],
  });
  const line = (messages: number, parts: number, cost: string, sold: readonly unknown[], unpriced = 0) => ({
    ...{ messages, parts, cost, sold },
    unpriced: { messages: unpriced, parts: unpriced },
  });
  assert.deepEqual(carriers, [
    {
      ...{ carrier: "other", ratePlan: "buy-there", currency: "USD" },
      ...line(4, 5, "0.03", [chf, eur("0.04")]),
      countries: [
        { country: "CH", ...line(3, 4, "0.024", [chf, eur("0.03")]) },
        { country: "DE", ...line(1, 1, "0.006", [eur("0.01")]) },
      ],
    },
    {
      ...{ carrier: "simulator", ratePlan: "buy-here", currency: "EUR" },
      // Three parts at 0.003 and one at 0.004321; Germany is not on the list.
      ...line(3, 4, "0.013321", [chf, eur("0.03")], 1),
      countries: [
        { country: "CH", ...line(3, 4, "0.013321", [chf, eur("0.03")]) },
        { country: "DE", ...line(0, 0, "0", [], 1) },
      ],
    },
  ]);
});

test("an account, a prefix and a time narrow it, and people read a table", async () => {
  const counts = async (...args: string[]) => {
    const { messages, parts } = await json("rate", "compare", ...args);
    return [messages, parts];
  };
  assert.deepEqual(await counts("--account", "FRANCS"), [1, 1]);
  assert.deepEqual(await counts("--prefix", "4179"), [2, 3]);
  assert.deepEqual(await counts("--from", "2020-01-01", "--to", "2021-01-01"), [0, 0]);
  assert.deepEqual((await refused("rate", "compare", "--prefix", "x"))[0], 2);
  const table = await done("rate", "compare", "--countries");
  assert.match(
    table,
    /: 4 messages, 5 parts, sold for 0\.05 CHF, 0\.04 EUR\.\nAs they went they cost 0\.013321 EUR\.\n/,
  );
  assert.match(table, /^Not in that: 1 message, 1 part, for which the carrier that took them has no price\.$/m);
  assert.match(table, /^other +buy-there +all +4 +5 +0\.03 USD +0\.05 CHF, 0\.04 EUR +0$/m);
  assert.match(table, /^simulator +buy-here +DE +0 +0 +0 EUR +nothing +1$/m);
  assert.match(table, /^Without a rate plan, and so not compared: third\.$/m);
});

test("what carriers ask is the operator's to know: a reseller neither sees such a plan nor gives it to a client", async () => {
  const asReseller = { authorization: RESELLER };
  const seen = async (options = {}) =>
    good(await call("GET", "/plans", undefined, options)).results.map(({ id }: { id: string }) => id);
  assert.ok((await seen()).includes("buy-here"));
  assert.deepEqual(
    (await seen(asReseller)).filter((id: string) => id.startsWith("buy-")),
    [],
  );
  assert.equal((await call("GET", "/plans/buy-here", undefined, asReseller)).status, 404);
  const order = { key: "RESELLER1-CHEAP", username: "reseller1-cheap", ratePlan: "buy-here" };
  assert.deepEqual(refusal(await call("POST", "/accounts", order, asReseller)), [
    400,
    ["ratePlan"],
    'ratePlan names no rate plan: there is no "buy-here".',
  ]);
  good(await call("POST", "/accounts", { ...order, ratePlan: "francs" }, asReseller));
});

test("a carrier that gets other prices keeps its connection", async (t) => {
  const smsc = await startSmsc(t, { systemId: "heliograph", password: "secret" });
  const carrier = (id: string, more = "") =>
    `[[carrier]]\nid = "${id}"\nkind = "smpp"\nhosts = ["127.0.0.1:${smsc.port}"]\nsystemId = "heliograph"\npassword = "secret"\n${more}\n`;
  const file = join(await temporaryDirectory(t), "catalogue.toml");
  const before = await done("export");
  const apply = async (...carriers: string[]) => {
    await writeFile(file, carriers.join("\n") + before);
    await done("apply", file, "--yes");
  };
  await apply(carrier("first"));
  await eventually(async () => smsc.connections.length === 1);
  // When the second carrier is bound, the service knows of the first one's prices.
  await apply(carrier("first", 'ratePlan = "buy-here"'), carrier("second"));
  await eventually(async () => smsc.connections.length === 2);
  await apply();
  await eventually(async () => smsc.connections.length === 0);
  assert.equal(smsc.counters.connections, 2);
});
