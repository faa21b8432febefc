/** The catalogue from the command line: item by item, as a plan before a file is applied, and as a file again. */
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openData } from "../support/accounts.ts";
import { postgresUrl } from "../support/postgres.ts";
import { temporaryDirectory } from "../support/service.ts";
import { type Commands, commandsOn, newService, SANDBOX_CATALOGUE } from "./in-process.ts";

const PROFILE = ["carrier", "set", "acme", "hosts=a.example:2775,b.example:2775", "systemId=helio"];

/** With a carrier acme, whose password is "secret12". */
async function withAcme(t: TestContext) {
  const service = await newService(t);
  const made = await service.run([...PROFILE, "kind=smpp", "--password-stdin"], { input: "secret12\n" });
  assert.equal(made.code, 0, made.stderr);
  assert.ok(!made.stdout.includes("secret12"));
  return service;
}

test("carriers are made, changed field by field and deleted, and their passwords are never shown", async (t) => {
  const { run, done, json, refused } = await withAcme(t);
  assert.equal(
    await done("carrier", "set", "acme", "partsPerSecond=200", "tls=true", "destinationType=1/1", "window=20"),
    'The carrier acme is changed:\n  partsPerSecond: none → 200\n  tls: none → true\n  destinationType: none → {"ton":1,"npi":1}\n  window: none → 20\n',
  );
  assert.match(await done("carrier", "set", "acme", "window="), /^ {2}window: 20 → none$/m);
  const other = await run(["carrier", "set", "acme", "--password-stdin"], { input: "other" });
  assert.equal(other.stdout, "The carrier acme is changed:\n  password: another one\n");
  const profile = await json("carrier", "show", "acme");
  assert.deepEqual([profile.hosts, profile.password], [["a.example:2775", "b.example:2775"], "(unchanged)"]);
  assert.match(
    await done("carrier", "list"),
    /^acme +smpp +a\.example:2775, b\.example:2775 +helio +1 +200 +none +not served +- +no running/m,
  );
  assert.ok(!(await done("audit", "--json")).includes("secret12"));
  assert.match((await refused("carrier", "set", "acme", "password=x"))[1], /^others can see the command line/);
  assert.match(
    (await refused("carrier", "set", "acme", "colour=red"))[1],
    /^there is no field "colour", only id, kind,/,
  );
  assert.deepEqual(await refused("carrier", "set", "acme", "hots="), [
    2,
    'there is no field "hots"; did you mean "hosts"?',
  ]);
  for (const name of ["constructor", "__proto__", "toString"])
    assert.deepEqual(
      await refused("carrier", "set", "acme", `${name}=5`).then(([code, says]) => [code, says.split(",")[0]]),
      [2, `there is no field "${name}"`],
    );
  assert.deepEqual(await refused("carrier", "set", "acme", "kind=constructor"), [
    2,
    'kind must be one of simulator, smpp, http, not "constructor"',
  ]);
  assert.equal(
    await done("carrier", "set", "acme", "tlvs=principalEntityId:0x1400, contentTemplateId:5121"),
    'The carrier acme is changed:\n  tlvs: none → {"principalEntityId":5120,"contentTemplateId":5121}\n',
  );
  for (const tlvs of ["principalEntityId", "colour:0x1400", "toString:1", "title:-1", "title:0x1400,", "5120"])
    assert.match(
      (await refused("carrier", "set", "acme", `tlvs=${tlvs}`))[1],
      /^tlvs must be names and numbers such as principalEntityId:0x1400, not "/,
    );
  for (const [tlvs, says] of [
    ["title:1060", /^carrier "acme": tlvs\.title must be a whole number from 5120 to 16383, not 1060/],
    ["title:5120,brandCode:5120", /^carrier "acme": tlvs has two fields with the tag 0x1400/],
  ] as const)
    assert.match((await refused("carrier", "set", "acme", `tlvs=${tlvs}`))[1], says);
  assert.match(await done("export"), /^principalEntityId = 5120$/m);
  assert.match(
    (await refused("carrier", "set", "acme", "window=0"))[1],
    /^carrier "acme": window must be a whole number from 1 to 10000, not 0/,
  );
  assert.equal((await refused("carrier", "delete", "nobody"))[1], "there is no carrier nobody");
  assert.match(await done("carrier", "delete", "acme"), /^The carrier acme is deleted\. It was: id acme, kind smpp/);
});

test("routes go to carriers that exist, in groups, and a carrier with a route stays", async (t) => {
  const { done, json, refused } = await withAcme(t);
  await done("route", "set", "41", "acme=3,simulator", "simulator");
  const [, swiss] = await json("route", "list");
  assert.deepEqual(swiss, {
    prefix: "41",
    groups: [[{ carrier: "acme", weight: 3 }, { carrier: "simulator" }], [{ carrier: "simulator" }]],
  });
  assert.match(await done("route", "list"), /^41 +acme=3 simulator, then simulator$/m);
  assert.deepEqual(await refused("carrier", "delete", "acme"), [1, 'route "41" goes to carrier "acme"']);
  assert.deepEqual(await refused("route", "set", "41", "nobody"), [
    1,
    'route "41": carrier names "nobody", which is not there',
  ]);
  assert.deepEqual(await refused("route", "set", "*", "nobody"), [
    1,
    'route "*": carrier names "nobody", which is not there',
  ]);
  assert.deepEqual(await refused("carrier", "delete", "simulator"), [1, 'route "*" goes to carrier "simulator"']);
  assert.equal((await refused("route", "set", "x41", "acme"))[0], 2);
  await done("route", "set", "+41", "acme");
  assert.deepEqual((await json("route", "list"))[1], { prefix: "41", carrier: "acme" }, "as people write it");
  await done("route", "delete", "41");
  assert.equal((await json("route", "list")).length, 1);
});

test("prices are set by prefix, and a quote says which route, carrier and price a number gets", async (t) => {
  const { data, done, json, refused, run } = await newService(t);
  await done("account", "create", "--key", "ACME", "--username", "acme");
  assert.match(
    await done("rate", "set", "standard", "4179", "0.045"),
    /^The rate plan standard is changed:\n {2}price of 4179: none → 0\.045 EUR\n$/,
  );
  const quote = await json("rate", "quote", "41793026727", "--account", "ACME");
  assert.deepEqual(quote, {
    number: "41793026727",
    account: "ACME",
    route: "",
    groups: [[{ carrier: "simulator" }]],
    ratePlan: "standard",
    pricePrefix: "4179",
    price: "0.045",
    currency: "EUR",
    problem: null,
  });
  assert.match(
    await done("rate", "quote", "385991234567", "--account", "ACME"),
    /^Price +0\.01 EUR a part \(prefix \*\)$/m,
  );
  assert.deepEqual(await refused("rate", "set", "gold", "*", "0.03"), [
    2,
    "there is no rate plan gold: name its currency with --currency to make it",
  ]);
  await done("rate", "set", "gold", "*", "0.03", "--currency", "USD");
  // From before a plan in another currency was refused.
  const db = openData(data);
  db.exec("UPDATE account SET rate_plan_id = 'gold' WHERE key = 'ACME'");
  db.close();
  const refusal = await run(["rate", "quote", "41793026727", "--account", "ACME"]);
  assert.equal(refusal.code, 1);
  assert.match(refusal.stdout, /The rate plan gold is in USD and the account in EUR, so the message is rejected/);
  assert.match((await refused("rate", "delete", "gold"))[1], /^account ACME pays by rate plan "gold"/);
  await done("rate", "delete", "standard", "4179");
  assert.deepEqual(await json("rate", "list", "standard"), [
    { ratePlan: "standard", currency: "EUR", prefix: "", price: "0.01" },
  ]);
  assert.match((await refused("rate", "delete", "standard", "*"))[1], /^it is the last price of standard/);
});

test("exchange rates and numbers are set and deleted", async (t) => {
  const { done, json, refused } = await newService(t);
  assert.equal(
    await done("exchange", "set", "USD", "EUR", "0.95"),
    "The exchange rate USD/EUR is changed:\n  rate: 0.92 → 0.95\n",
  );
  assert.match((await refused("exchange", "set", "USD", "EUR", "0"))[1], /must be above zero/);
  await done("exchange", "delete", "GBP", "EUR");
  assert.deepEqual(await json("exchange", "list"), [{ from: "USD", to: "EUR", rate: "0.95" }]);

  assert.deepEqual(await refused("number", "set", "4179000", "account=ACME"), [
    1,
    'number "4179000": account names no account: "ACME"',
  ]);
  await done("account", "create", "--key", "ACME", "--username", "acme");
  await done("number", "set", "4179000", "account=ACME", "stopKeywords=STOP,END");
  await done("number", "set", "4179000", "forwardUrl=https://acme.example/in");
  const numbers = await json("number", "list");
  assert.deepEqual(numbers.at(-1), {
    number: "4179000",
    account: "ACME",
    stopKeywords: ["STOP", "END"],
    forwardUrl: "https://acme.example/in",
  });
  await done("number", "delete", "4179000");
  assert.equal((await json("number", "list")).length, 1);
});

test("apply shows what it will make, change and delete, asks a person, and does nothing when there is nothing to do", async (t) => {
  const { done, json, run, refused } = await withAcme(t);
  const file = join(await temporaryDirectory(t), "catalogue.toml");
  const text = readFileSync(SANDBOX_CATALOGUE, "utf8").replace('price = "0.01"', 'price = "0.02"');
  writeFileSync(
    file,
    `${text.replace('rate = "0.92"', 'rate = "0.93"')}\n[[route]]\nprefix = "41"\ncarrier = "simulator"\n`,
  );

  const planned = await done("apply", file, "--dry-run");
  assert.deepEqual(planned.split("\n"), [
    "+ route 41: prefix 41, carrier simulator",
    "~ rate plan standard",
    "    price of *: 0.01 EUR → 0.02 EUR",
    "~ exchange rate USD/EUR",
    "    rate: 0.92 → 0.93",
    '- carrier acme: id acme, kind smpp, hosts ["a.example:2775","b.example:2775"], systemId helio, password (hidden)',
    "1 item to make, 2 items to change, 1 item to delete.",
    "Nothing is changed yet.",
    "",
  ]);
  const plan = await json("apply", file, "--dry-run");
  assert.deepEqual(plan.changed[1].fields, [{ field: "rate", before: "0.92", after: "0.93" }]);
  assert.match((await refused("apply", file))[1], /^nothing is changed: it would delete \d+ items?, so say --yes/);
  const no = await run(["apply", file], { answer: "" });
  assert.deepEqual([no.code, no.stderr], [1, "heliograph: nothing is changed\n"]);
  assert.match(no.stdout, /Put it in force\? \[y\/N\] $/);
  assert.equal((await json("route", "list")).length, 1);
  assert.match((await run(["apply", file], { answer: "y" })).stdout, /In force: carriers 1, routes 2,/);
  assert.equal(await done("apply", file), "Nothing changes: all of the file is in force.\n");
  const again = await run(["apply", SANDBOX_CATALOGUE, "--yes"], { answer: "n" });
  assert.equal(again.code, 0, "nobody is asked");
});

test("a rate plan by which anybody pays stays, and so does its currency, item by item and as a file", async (t) => {
  const { done, refused } = await newService(t);
  const file = join(await temporaryDirectory(t), "catalogue.toml");
  const catalogue = readFileSync(SANDBOX_CATALOGUE, "utf8");
  // The operator that "heliograph init" has made can send too.
  const inUse = [1, 'account OPERATOR1 pays by rate plan "standard": give it another one first'];
  assert.deepEqual(await refused("rate", "delete", "standard"), inUse);
  writeFileSync(file, catalogue.replace('id = "standard"', 'id = "gold"'));
  assert.deepEqual(await refused("apply", file), inUse);
  assert.deepEqual(await refused("apply", file, "--dry-run"), inUse);
  writeFileSync(file, catalogue.replace('currency = "EUR"', 'currency = "USD"'));
  assert.deepEqual(await refused("apply", file), [1, 'rate plan "standard" is paid in EUR by account OPERATOR1']);
  await done("rate", "set", "gold", "*", "0.03", "--currency", "EUR");
  await done("account", "change", "OPERATOR1", "--rate-plan", "gold");
  await done("rate", "delete", "standard");
});

test("a plan with two prices for a prefix, and a route to nowhere, are refused in a file too", async (t) => {
  const { refused } = await newService(t);
  const file = join(await temporaryDirectory(t), "catalogue.toml");
  const plan = '[[ratePlan]]\nid = "two"\ncurrency = "EUR"\n';
  const rates = 'rate = [{ prefix = "1", price = "1" }, { prefix = "1", price = "2" }]\n';
  writeFileSync(file, plan + rates);
  assert.deepEqual(await refused("apply", file), [
    1,
    [
      `2 faults in ${file}, and nothing is changed:`,
      `  ${file}:1:1: account OPERATOR1 pays by rate plan "standard": give it another one first`,
      `  ${file}:4:40: ratePlan "two": rate has two prices for prefix "1"`,
    ].join("\n"),
  ]);
});

async function roundTrip(t: TestContext, { done, run, refused, json }: Commands): Promise<void> {
  const directory = await temporaryDirectory(t);
  const file = join(directory, "open.toml");
  assert.match(await done("export", file), /The catalogue is in /);
  const text = readFileSync(file, "utf8");
  assert.equal(text, await done("export"));
  assert.match(text, /^password = "\(unchanged\)"$/m);
  assert.equal(statSync(file).mode & 0o077, 0);
  assert.equal(await done("apply", file), "Nothing changes: all of the file is in force.\n");
  assert.match((await refused("export", file))[1], /is there already: name another file, or say --force/);

  // With another change in the file the password is kept, to the letter.
  writeFileSync(file, text.replace('systemId = "helio"', 'systemId = "other"'));
  assert.match(await done("apply", file), /^~ carrier acme\n {4}systemId: helio → other\n/);
  assert.match(await done("export", "--with-secrets"), /^password = "secret12"$/m);
  await done("export", file, "--with-secrets", "--force");
  const before = await json("audit", "--limit", "1");
  assert.equal(await done("apply", file), "Nothing changes: all of the file is in force.\n");
  assert.deepEqual(await json("audit", "--limit", "1"), before);

  const stranger = text.replace('id = "acme"', 'id = "stranger"');
  writeFileSync(file, stranger);
  const unknown = await run(["apply", file]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /:\d+:1: carrier "stranger" has the password "\(unchanged\)", and there is none in/);
}

test("what is exported can be applied again unchanged, with passwords or with a word that keeps them", async (t) => {
  const service = await withAcme(t);
  await service.done("carrier", "set", "acme", 'systemType=a"b\\\u007f\té');
  await service.done("account", "create", "--key", "ACME", "--username", "acme");
  await service.done("number", "set", "4179000", "account=ACME", "keywords=INFO,ÜBER");
  await service.done("rate", "set", "standard", "41", "0.05");
  await service.done("route", "set", "41", "acme=2,simulator", "simulator");
  await roundTrip(t, service);
});

test("on PostgreSQL the catalogue is applied, exported and changed in the same way", async (t) => {
  const commands = commandsOn("--store", await postgresUrl(t));
  await commands.done("init");
  assert.match(await commands.done("apply", SANDBOX_CATALOGUE), /In force: carriers 1, routes 1,/);
  await commands.run([...PROFILE, "kind=smpp", "--password-stdin"], { input: "secret12\n" });
  await commands.done("account", "create", "--key", "ACME", "--username", "acme", "--funds", "3");
  await commands.done("account", "change", "ACME", "--credit-limit", "5");
  await roundTrip(t, commands);
  assert.deepEqual(
    (await commands.json("account", "list")).map(({ key, balance }: { key: string; balance: string }) => [
      key,
      balance,
    ]),
    [
      ["ACME", "3"],
      ["OPERATOR1", "0"],
    ],
  );
  assert.equal((await commands.json("statement", "ACME")).closing, "3");
});
