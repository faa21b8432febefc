/** The operator's rules hold over the API and on the command line alike: what one takes or refuses, the other does too. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PasswordChecker } from "../../src/auth/passwords.ts";
import { commandsOn } from "../cli/in-process.ts";
import { addAccount } from "../support/accounts.ts";
import { good, operating, refusal } from "../support/operator.ts";
import { eventually } from "../support/patience.ts";
import { basic, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const call = operating(service);
const { done, json, refused, run } = commandsOn("--data", service.settings.store.data);

const ANY = { headers: { "if-match": "*" } };
const patch = (key: string, body: object) => call("PATCH", `/accounts/${key}`, body, ANY);
const change = (key: string, ...args: string[]) => ["account", "change", key, ...args];
const create = (...args: string[]) => ["account", "create", "--key", "NEW", "--username", "new", ...args];
const NEW = { key: "NEW", username: "new", ratePlan: "standard" };
const makeKey = (key: string, body: object) => call("POST", `/accounts/${key}/api-keys`, body);

const planIn = (currency: string) => ({ currency, rate: [{ prefix: "", price: "0.01" }] });
const statement = (to: string) => call("GET", `/accounts/ACME/statement?from=2020-02-01T00:00:00Z&to=${to}T00:00:00Z`);

await addAccount(service.store, { key: "ACME" });
await addAccount(service.store, { key: "RICH", balanceMicros: 3_500_000n });
await addAccount(service.store, { key: "DEBTOR", creditLimitMicros: 5_000_000n });
await addAccount(service.store, { key: "DOLLARS", currency: "USD" });
await addAccount(service.store, { key: "GONE", kind: "reseller" });
await addAccount(service.store, { key: "OLD" });
for (const key of ["GONE", "OLD"]) good(await call("DELETE", `/accounts/${key}`, undefined, ANY), 204);
const moveFunds = (key: string, body: object) => call("POST", `/accounts/${key}/funds`, body);
const retire = (key: string, query = "") => call("DELETE", `/accounts/${key}${query}`, undefined, ANY);
const retiring = (key: string, ...args: string[]) => ["account", "retire", key, "--yes", ...args];
const fundsCase = (
  name: string,
  body: object,
  command: readonly string[],
  answer: Case["answer"],
  says: Case["says"],
) => ({
  name,
  call: () => moveFunds("RICH", body),
  command: ["account", ...command],
  answer,
  says,
});
good(await moveFunds("DEBTOR", { kind: "takeBack", amount: 2 }));
await done("rate", "set", "dollars", "*", "0.01", "--currency", "USD");

interface Case {
  readonly name: string;
  readonly call: () => ReturnType<typeof call>;
  readonly command: readonly string[];
  /** The status, and the field if one is wrong. */
  readonly answer: readonly [status: number, field: string | null];
  /** The exit code, and what is said. */
  readonly says: readonly [code: number, says: string];
}

const NETWORK = "must be an address, or a network such as 192.0.2.0/24";
const NOBODY = 'there is no account NOBODY: "heliograph account list" shows them all';
const long = `https://x.example/${"x".repeat(2_048)}`;

const REFUSED: readonly Case[] = [
  ...["::ffff:10.0.0.0/8", "fe80::1%eth0", "10.0.0.0/33", "10.0.0.1:80", "10.0.0.1:80/8", "10.0.0.0/08"].flatMap(
    (network): Case[] => [
      {
        name: `the network ${network} of an account`,
        call: () => patch("ACME", { allowedAddresses: [network] }),
        command: change("ACME", "--networks", network),
        answer: [400, "allowedAddresses[0]"],
        says: [2, `--networks ${NETWORK}, not "${network}"`],
      },
      {
        name: `the network ${network} of a key`,
        call: () => makeKey("ACME", { allowedAddresses: [network] }),
        command: ["api-key", "create", "--account", "ACME", "--networks", network],
        answer: [400, "allowedAddresses[0]"],
        says: [2, `--networks ${NETWORK}, not "${network}"`],
      },
    ],
  ),
  {
    name: "an account for no networks",
    call: () => patch("ACME", { allowedAddresses: [] }),
    command: change("ACME", "--networks", ""),
    answer: [400, "allowedAddresses"],
    says: [2, "--networks must not be empty"],
  },
  {
    name: "an account for no senders",
    call: () => patch("ACME", { allowedSenders: [] }),
    command: change("ACME", "--senders", " , "),
    answer: [400, "allowedSenders"],
    says: [2, "--senders must not be empty"],
  },
  {
    name: "a key for no networks",
    call: () => makeKey("ACME", { allowedAddresses: [] }),
    command: ["api-key", "create", "--account", "ACME", "--networks", ","],
    answer: [400, "allowedAddresses"],
    says: [2, "--networks must not be empty"],
  },
  {
    name: "a limit below the lowest",
    call: () => patch("ACME", { limits: { destinationsPerRequest: 0 } }),
    command: change("ACME", "--destinations-per-request", "0"),
    answer: [400, "limits.destinationsPerRequest"],
    says: [2, '--destinations-per-request must be a whole number from 1 to 1000000000, not "0"'],
  },
  {
    name: "a username with a NUL",
    call: () => call("POST", "/accounts", { ...NEW, username: "n\0w" }),
    command: ["account", "create", "--key", "NEW", "--username", "n\0w"],
    answer: [400, "username"],
    says: [2, "--username has a NUL character"],
  },
  {
    name: "an alert to a URL with a NUL",
    call: () => patch("ACME", { alert: { below: 1, url: "https://x.example/\0" } }),
    command: change("ACME", "--alert-below", "1", "--alert-url", "https://x.example/\0"),
    answer: [400, "alert.url"],
    says: [2, "--alert-url has a NUL character"],
  },
  {
    name: "a limit beyond the highest",
    call: () => patch("ACME", { limits: { messagesPerSecond: 1_000_000_001 } }),
    command: change("ACME", "--messages-per-second", "1000000001"),
    answer: [400, "limits.messagesPerSecond"],
    says: [2, '--messages-per-second must be a whole number from 0 to 1000000000, not "1000000001"'],
  },
  {
    name: "a new account with an unknown rate plan",
    call: () => call("POST", "/accounts", { ...NEW, ratePlan: "gold" }),
    command: create("--rate-plan", "gold"),
    answer: [400, "ratePlan"],
    says: [2, '--rate-plan names no rate plan: there is no "gold"'],
  },
  {
    name: "an unknown rate plan for an account",
    call: () => patch("ACME", { ratePlan: "gold" }),
    command: change("ACME", "--rate-plan", "gold"),
    answer: [400, "ratePlan"],
    says: [2, '--rate-plan names no rate plan: there is no "gold"'],
  },
  {
    name: "a rate plan in another currency",
    call: () => patch("ACME", { ratePlan: "dollars" }),
    command: change("ACME", "--rate-plan", "dollars"),
    answer: [400, "ratePlan"],
    says: [2, "--rate-plan has prices in USD, and the account is in EUR"],
  },
  {
    name: "a retired reseller as parent",
    call: () => call("POST", "/accounts", { ...NEW, parent: "GONE" }),
    command: create("--parent", "GONE"),
    answer: [400, "parent"],
    says: [2, '--parent names no reseller: "GONE" is retired'],
  },
  {
    name: "somebody who is no reseller as parent",
    call: () => call("POST", "/accounts", { ...NEW, parent: "ACME" }),
    command: create("--parent", "ACME"),
    answer: [400, "parent"],
    says: [2, '--parent names "ACME", which is no reseller'],
  },
  {
    name: "nobody as parent",
    call: () => call("POST", "/accounts", { ...NEW, parent: "NOBODY" }),
    command: create("--parent", "NOBODY"),
    answer: [400, "parent"],
    says: [2, '--parent names no reseller: there is no "NOBODY"'],
  },
  {
    name: "another currency for a rate plan by which somebody pays",
    call: () => call("PUT", "/rate-plans/standard", { ...planIn("USD"), version: 1 }),
    command: ["rate", "set", "standard", "*", "0.01", "--currency", "USD"],
    answer: [409, null],
    says: [1, 'rate plan "standard" is paid in EUR by account ACME'],
  },
  {
    name: "a statement that ends before it begins",
    call: () => statement("2020-01-01"),
    command: ["statement", "ACME", "--from", "2020-02-01", "--to", "2020-01-01"],
    answer: [400, "to"],
    says: [2, "--to must not be before --from"],
  },
  {
    name: "the keys of an unknown account",
    call: () => call("GET", "/accounts/NOBODY/api-keys"),
    command: ["api-key", "list", "--account", "NOBODY"],
    answer: [404, null],
    says: [1, NOBODY],
  },
  {
    name: "an unknown account",
    call: () => call("GET", "/accounts/NOBODY"),
    command: ["account", "show", "NOBODY"],
    answer: [404, null],
    says: [1, NOBODY],
  },
  {
    name: "a key for an unknown account",
    call: () => makeKey("NOBODY", {}),
    command: ["api-key", "create", "--account", "NOBODY"],
    answer: [404, null],
    says: [1, NOBODY],
  },
  {
    name: "a key for a retired account",
    call: () => makeKey("OLD", {}),
    command: ["api-key", "create", "--account", "OLD"],
    answer: [409, null],
    says: [1, "the account is retired"],
  },
  {
    name: "an opt-out from a retired account",
    call: () => call("PUT", "/accounts/OLD/opt-outs/41793026727"),
    command: ["opt-out", "add", "41793026727", "--account", "OLD"],
    answer: [409, null],
    says: [1, "the account is retired"],
  },
  {
    name: "a password for a user of a retired account",
    call: () => call("PUT", "/accounts/OLD/users/OLD/password", {}),
    command: ["account", "password", "OLD"],
    answer: [409, null],
    says: [1, "the account is retired"],
  },
  {
    name: "an alert to a URL that is too long",
    call: () => patch("ACME", { alert: { below: 1, url: long } }),
    command: change("ACME", "--alert-below", "1", "--alert-url", long),
    answer: [400, "alert.url"],
    says: [2, "--alert-url is longer than 2048 characters"],
  },
  {
    name: "a schedule with too many retries",
    call: () => patch("ACME", { retryMinutes: Array(51).fill(1) }),
    command: change("ACME", "--retry-minutes", Array(51).fill("1").join()),
    answer: [400, "retryMinutes"],
    says: [2, "--retry-minutes must have at most 50 items"],
  },
  {
    name: "a retry after more than a week",
    call: () => patch("ACME", { retryMinutes: [1, 10_081] }),
    command: change("ACME", "--retry-minutes", "1,10081"),
    answer: [400, "retryMinutes[1]"],
    says: [2, "--retry-minutes must be a whole number from 1 to 10080"],
  },
  {
    name: "a key with more scopes than are read",
    call: () => makeKey("ACME", { scopes: Array(101).fill("send") }),
    command: ["api-key", "create", "--account", "ACME", "--scopes", Array(101).fill("send").join()],
    answer: [400, "scopes"],
    says: [2, "--scopes must have at most 100 items"],
  },
  {
    name: "a key with a name of two lines",
    call: () => makeKey("ACME", { name: "two\nlines" }),
    command: ["api-key", "create", "--account", "ACME", "--name", "two\nlines"],
    answer: [400, "name"],
    says: [2, "--name must be 1 to 100 characters that can be printed"],
  },
  {
    name: "a key that has ended before it begins",
    call: () => makeKey("ACME", { expiresAt: "2020-01-01T00:00:00Z" }),
    command: ["api-key", "create", "--account", "ACME", "--expires", "2020-01-01"],
    answer: [400, "expiresAt"],
    says: [2, "--expires must be in the future"],
  },
];

const DECIMAL = "with at most 6 places";
const FUNDS_REFUSED: readonly Case[] = [
  ...["0", "-5", "five", "1.0000001", "1e3", "Infinity", "0x10"].map((amount) =>
    fundsCase(
      `a top-up by ${amount}`,
      { kind: "topUp", amount },
      ["top-up", "RICH", amount],
      [400, "amount"],
      [2, `the amount must be a decimal number above 0 ${DECIMAL}, not "${amount}"`],
    ),
  ),
  fundsCase(
    "to take back less than nothing",
    { kind: "takeBack", amount: -1 },
    ["take-back", "RICH", "-1"],
    [400, "amount"],
    [2, `the amount must be a decimal number above 0 ${DECIMAL}, not "-1"`],
  ),
  fundsCase(
    "a correction by nothing",
    { kind: "correction", amount: 0, reason: "x" },
    ["correct", "RICH", "0", "--reason", "x"],
    [400, "amount"],
    [2, `the amount must be a decimal number other than 0 ${DECIMAL}, not "0"`],
  ),
  fundsCase(
    "a correction without a reason",
    { kind: "correction", amount: 1 },
    ["correct", "RICH", "1"],
    [400, "reason"],
    [2, "--reason is required: say why the balance is corrected"],
  ),
  fundsCase(
    "a reason of blanks",
    { kind: "correction", amount: 1, reason: " \t" },
    ["correct", "RICH", "1", "--reason", " \t"],
    [400, "reason"],
    [2, "--reason must be 1 to 255 characters long, and not blank"],
  ),
  fundsCase(
    "a reason with a NUL",
    { kind: "topUp", amount: 1, reason: "a\0b" },
    ["top-up", "RICH", "1", "--reason", "a\0b"],
    [400, "reason"],
    [2, "--reason has a NUL character"],
  ),
  fundsCase(
    "an amount beyond the largest",
    { kind: "topUp", amount: "1000000000.000001" },
    ["top-up", "RICH", "1000000000.000001"],
    [400, "amount"],
    [2, "the amount is too large"],
  ),
  fundsCase(
    "a balance beyond the largest",
    { kind: "topUp", amount: 1_000_000_000 },
    ["top-up", "RICH", "1000000000"],
    [409, "amount"],
    [1, "the amount: the balance would be 1000000003.5 EUR, and 1000000000 EUR is the most"],
  ),
  fundsCase(
    "to take back more than there is",
    { kind: "takeBack", amount: "3.500001" },
    ["take-back", "RICH", "3.500001"],
    [409, "amount"],
    [1, "the amount: the account has 3.5 EUR: no more than 3.5 EUR can be taken from it"],
  ),
  {
    name: "to take back more than the credit limit leaves",
    call: () => moveFunds("DEBTOR", { kind: "takeBack", amount: 4 }),
    command: ["account", "take-back", "DEBTOR", "4"],
    answer: [409, "amount"],
    says: [
      1,
      "the amount: the account has -2 EUR and a credit limit of 5 EUR: no more than 3 EUR can be taken from it",
    ],
  },
  {
    name: "money for nobody",
    call: () => moveFunds("NOBODY", { kind: "topUp", amount: 1 }),
    command: ["account", "top-up", "NOBODY", "1"],
    answer: [404, null],
    says: [1, NOBODY],
  },
  {
    name: "money for a retired account",
    call: () => moveFunds("OLD", { kind: "topUp", amount: 1 }),
    command: ["account", "top-up", "OLD", "1"],
    answer: [409, null],
    says: [1, "the account is retired"],
  },
  {
    name: "to retire an account that has money",
    call: () => retire("RICH"),
    command: retiring("RICH"),
    answer: [409, "balanceTo"],
    says: [
      1,
      'the account has 3.5 EUR: say where that goes, to another account, paid out, or written off for a reason: --balance-to KEY, --paid-out, or --write-off "REASON"',
    ],
  },
  ...["", "?paidOut=true", "?balanceTo=ACME"].map(
    (query): Case => ({
      name: `to retire an account that owes money with "${query}"`,
      call: () => retire("DEBTOR", query),
      command: retiring(
        "DEBTOR",
        ...(query === "" ? [] : query.includes("paid") ? ["--paid-out"] : ["--balance-to", "ACME"]),
      ),
      answer: [409, "writeOff"],
      says: [
        1,
        'the account owes 2 EUR: top it up with what was paid, or write that off for a reason: "heliograph account top-up KEY AMOUNT", or --write-off "REASON"',
      ],
    }),
  ),
  {
    name: "a balance that goes to two places",
    call: () => retire("RICH", "?paidOut=true&writeOff=x"),
    command: retiring("RICH", "--paid-out", "--write-off", "x"),
    answer: [400, "writeOff"],
    says: [2, "--write-off goes with no other: the balance goes to one place"],
  },
  ...(
    [
      ["NOBODY", 'names no account: there is no "NOBODY"'],
      ["OLD", 'names no account that can have it: "OLD" is retired'],
      ["RICH", "must be another account than the one that is retired"],
      ["DOLLARS", "names an account in another currency: this one is in EUR"],
      ["a b", "must be 1 to 64 letters and digits, with dashes between them if you like"],
    ] as const
  ).map(
    ([key, says]): Case => ({
      name: `${key} as the account that has the balance`,
      call: () => retire("RICH", `?balanceTo=${encodeURIComponent(key)}`),
      command: retiring("RICH", "--balance-to", key),
      answer: [400, "balanceTo"],
      says: [2, `--balance-to ${says}`],
    }),
  ),
  {
    name: "to write off for no reason",
    call: () => retire("RICH", "?writeOff=%20"),
    command: retiring("RICH", "--write-off", " "),
    answer: [400, "writeOff"],
    says: [2, "--write-off must be 1 to 255 characters long, and not blank"],
  },
];

for (const { name, call: ask, command, answer, says } of [...REFUSED, ...FUNDS_REFUSED]) {
  test(`both refuse ${name}`, async () => {
    const [status, variables] = refusal(await ask());
    assert.deepEqual([status, variables?.[0] ?? null], answer);
    assert.deepEqual(await refused(...command), says);
  });
}

test("both move the same money, and say the same of it in the statement and in the audit", async () => {
  await addAccount(service.store, { key: "BOTH" });
  good(await moveFunds("BOTH", { kind: "topUp", amount: 10.5, reason: "invoice 7" }));
  await done("account", "top-up", "BOTH", "10.5", "--reason", "invoice 7");
  good(await moveFunds("BOTH", { kind: "takeBack", amount: "0.25", reason: "twice" }));
  await done("account", "take-back", "BOTH", "0.25", "--reason", "twice");
  good(await moveFunds("BOTH", { kind: "correction", amount: -1, reason: "a test" }));
  await done("account", "correct", "BOTH", "-1", "--reason", "a test");
  const { postings, closing } = await json("statement", "BOTH", "--from", "2020-01-01", "--postings");
  const seen = postings.map(({ kind, amount, description }: Record<string, string>) => [kind, amount, description]);
  const funds = ["funds", "10.5", "invoice 7"];
  const taken = ["funds", "-0.25", "twice"];
  const corrected = ["correction", "-1", "a test"];
  assert.deepEqual(seen, [funds, funds, taken, taken, corrected, corrected]);
  assert.equal(closing, "18.5");
  const { results } = good(await call("GET", "/audit?kind=funds&subject=BOTH"));
  assert.deepEqual(
    results.map(({ actor, action, after }: { actor: string; action: string; after: Record<string, string> }) => [
      actor,
      action,
      after.amount,
      after.balance,
    ]),
    [
      ["command line", "correction", "-1 EUR", "18.5 EUR"],
      ["OPERATOR1", "correction", "-1 EUR", "19.5 EUR"],
      ["command line", "takeBack", "-0.25 EUR", "20.5 EUR"],
      ["OPERATOR1", "takeBack", "-0.25 EUR", "20.75 EUR"],
      ["command line", "topUp", "10.5 EUR", "21 EUR"],
      ["OPERATOR1", "topUp", "10.5 EUR", "10.5 EUR"],
    ],
  );
});

test("both let a rate plan change its currency while no account pays by it", async () => {
  good(await call("PUT", "/rate-plans/idle", planIn("EUR")));
  good(await call("PUT", "/rate-plans/idle", { ...planIn("CHF"), version: 1 }));
  await done("rate", "set", "idle", "41", "0.02", "--currency", "USD");
  const { currency, rate } = good(await call("GET", "/rate-plans/idle"));
  assert.deepEqual([currency, rate.length], ["USD", 2]);
  await done("rate", "set", "idle", "41", "0.03");
  assert.equal(good(await call("GET", "/rate-plans/idle")).currency, "USD");
});

test("both give an empty statement for an empty period", async () => {
  const { results, openingBalance, closingBalance } = good(await statement("2020-02-01"));
  const { opening, closing, funds } = await json("statement", "ACME", "--from", "2020-02-01", "--to", "2020-02-01");
  assert.deepEqual([results, openingBalance, closingBalance], [[], 0, 0]);
  assert.deepEqual([opening, closing, funds.count], ["0", "0", 0]);
});

test("both take the highest limit, and the longest name of a key", async () => {
  const highest = 1_000_000_000;
  assert.equal(good(await patch("ACME", { limits: { connections: highest } })).limits.connections, highest);
  await done(...change("ACME", "--messages-per-second", String(highest)));
  const { limits } = good(await call("GET", "/accounts/ACME"));
  assert.deepEqual(limits, { connections: highest, messagesPerSecond: highest });
  const name = "🔑".repeat(100);
  good(await makeKey("ACME", { name }));
  await done("api-key", "create", "--account", "ACME", "--name", name);
  assert.equal((await json("api-key", "list", "--account", "ACME")).length, 2);
});

test("both take a scope that is named twice for one", async () => {
  const scopes = ["send", "track", "balance", "manage", "send"];
  const all = scopes.slice(0, 4);
  assert.deepEqual(good(await makeKey("ACME", { name: "twice", scopes })).scopes, all);
  await done("api-key", "create", "--account", "ACME", "--name", "twice", "--scopes", scopes.join());
  const keys: { name: string; scopes: string[] }[] = await json("api-key", "list", "--account", "ACME");
  const made = keys.filter(({ name }) => name === "twice");
  assert.deepEqual(
    made.map((key) => key.scopes),
    [all, all],
  );
});

test("both say which users an account has, where the one that is named is none of them", async () => {
  const says = "username must be one of the account's users: ACME";
  const body = { username: "reseller", currentPassword: "password" };
  const own = await service.call("PUT", "/account/1/password", { authorization: basic("ACME", "password"), body });
  assert.deepEqual(refusal(own), [400, ["username"], `${says}.`]);
  assert.deepEqual(await refused("account", "password", "ACME", "--username", "reseller"), [2, `--${says}`]);
});

test("an account is looked for before the end of its key is read", async () => {
  const expiresAt = "soon";
  assert.equal((await makeKey("NOBODY", { expiresAt })).status, 404);
  assert.equal((await makeKey("OLD", { expiresAt })).status, 409);
  const says = "expiresAt is not a date and time like 2027-02-01T00:00:00.000+0000.";
  assert.deepEqual(refusal(await makeKey("ACME", { expiresAt })), [400, ["expiresAt"], says]);
});

test("a list that was stored empty still means nobody, and null takes it away", async () => {
  await addAccount(service.store, { key: "EMPTY", allowedAddresses: [] });
  const authorization = basic("EMPTY", "password");
  const status = async () => (await service.call("GET", "/account/1/balance", { authorization })).status;
  assert.equal(await status(), 403);
  good(await patch("EMPTY", { allowedAddresses: null }));
  await eventually(async () => (await status()) === 200);
});

test("both count the characters of a password, and not what they take in memory", async () => {
  const path = "/accounts/ACME/users/ACME/password";
  const set = (input: string) => run(["account", "password", "ACME", "--stdin"], { input: `${input}\n` });
  const says = "password must be 8 to 256 characters long";
  const nul = "password has a NUL character";
  assert.deepEqual(refusal(await call("PUT", path, { password: "long\0enough" })), [400, ["password"], `${nul}.`]);
  assert.equal((await set("long\0enough")).stderr, `heliograph: the ${nul}\n`);
  for (const password of ["short", "🔑".repeat(7), "x".repeat(257), "🔑".repeat(257)]) {
    assert.deepEqual(refusal(await call("PUT", path, { password })), [400, ["password"], sentenceOf(password, says)]);
    const { code, stderr } = await set(password);
    assert.deepEqual([code, stderr], [1, `heliograph: the ${says}\n`]);
  }
  const isRight = async (password: string): Promise<boolean> =>
    new PasswordChecker().check(password, (await service.store.findLogin({ username: "ACME" }))!.passwordHash);
  for (const [over, password] of [
    ["the API", "🔑".repeat(8)],
    ["the API", "🔐".repeat(256)],
    ["the command line", "🗝".repeat(8)],
    ["the command line", "🔏".repeat(256)],
  ] as const) {
    if (over === "the API") good(await call("PUT", path, { password }));
    else assert.equal((await set(password)).code, 0);
    assert.ok(await isRight(password), `${over}, ${password.length}`);
  }
});

/** The schema tells of what is far too long. */
function sentenceOf(password: string, says: string): string {
  return [...password].length > 256 ? "password must be at most 256 characters long." : `${says}.`;
}

test("networks that the command line took before, and in which nothing was ever found, let in whom they were meant for", async () => {
  const balance = async (key: string): Promise<number> =>
    (await service.call("GET", "/account/1/balance", { authorization: basic(key, "password") })).status;
  await addAccount(service.store, { key: "MAPPED", allowedAddresses: ["::ffff:127.0.0.0/8"] });
  await addAccount(service.store, { key: "ELSEWHERE", allowedAddresses: ["::ffff:10.0.0.0/8", "fe80::1%eth0"] });
  await addAccount(service.store, {
    key: "NOBODY4",
    allowedAddresses: ["::ffff:127.0.0.0/0", "127.0.0.0/", "::1%lo/00"],
  });
  await addAccount(service.store, { key: "PORT", allowedAddresses: ["127.0.0.1:80"] });
  const statuses = ["MAPPED", "ELSEWHERE", "NOBODY4", "PORT"].map(balance);
  assert.deepEqual(await Promise.all(statuses), [200, 403, 403, 200]);
});
