/** `heliograph account` and `api-key`: seen and changed from the command line, with what changed told and kept in the audit. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PasswordChecker } from "../../src/auth/passwords.ts";
import { withStore } from "../../src/cli/support.ts";
import { readSettings } from "../../src/settings/settings.ts";
import type { Store } from "../../src/store/port/store.ts";
import { newService } from "./in-process.ts";

const { data, done, json, refused, run } = await newService({ after });
const inStore = <Result>(work: (store: Store) => Promise<Result>): Promise<Result> =>
  withStore(readSettings({ environment: {}, flags: { store: { data } } }), work);
const canLogIn = async (username: string, password: string): Promise<boolean> => {
  const login = await inStore((store) => store.findLogin({ username }));
  return new PasswordChecker().check(password, login?.passwordHash ?? null);
};
await done("account", "create", "--key", "SHOP", "--username", "shop", "--kind", "reseller");
await done("account", "create", "--key", "ACME", "--username", "acme", "--parent", "SHOP", "--funds", "12.5");

test("accounts are listed in an aligned table, and as JSON with amounts as strings", async () => {
  const table = await done("account", "list");
  assert.deepEqual(table.split("\n"), [
    "ACCOUNT    KIND      OF    STATE   BALANCE  CURRENCY  RATE PLAN  USERNAMES",
    "ACME       client    SHOP  active     12.5  EUR       standard   acme",
    "OPERATOR1  operator  -     active        0  EUR       standard   operator",
    "SHOP       reseller  -     active        0  EUR       standard   shop",
    "3 accounts.",
    "",
  ]);
  const [acme, ...others] = await json("account", "list", "--kind", "client");
  assert.deepEqual([acme.key, acme.parent, acme.balance, others.length], ["ACME", "SHOP", "12.5", 0]);
  assert.deepEqual(await json("account", "list", "--suspended"), []);
  assert.deepEqual(await json("account", "show", "ACME"), { ...acme, secondFactor: [] });
  assert.match(await done("account", "show", "ACME"), /^Balance {8}12\.5 EUR$/m);
});

test("a change says what was there before and what is there now, and nobody else's is overwritten", async () => {
  const said = await done(
    ...["account", "change", "ACME", "--credit-limit", "5", "--senders", "Acme,AcmeShop", "--networks", "192.0.2.0/24"],
    ...["--messages-per-second", "10", "--alert-below", "1", "--alert-url", "https://acme.example/alert"],
  );
  assert.deepEqual(said.split("\n"), [
    "The account ACME is changed:",
    "  creditLimit: 0 EUR → 5 EUR",
    '  senders: none → ["Acme","AcmeShop"]',
    '  networks: none → ["192.0.2.0/24"]',
    '  limits: {} → {"messagesPerSecond":10}',
    "  alert: none → below 1 EUR to https://acme.example/alert",
    "",
  ]);
  assert.equal(
    await done("account", "change", "ACME", "--credit-limit", "5"),
    "Nothing of the account ACME changes.\n",
  );
  await done("account", "change", "ACME", "--no-senders", "--no-networks", "--no-alert", "--no-limits");
  const { senders, networks, alert, limits, creditLimit } = await json("account", "show", "ACME");
  assert.deepEqual([senders, networks, alert, limits, creditLimit], [null, null, null, {}, "5"]);
  await done("rate", "set", "gold", "*", "0.03", "--currency", "EUR");
  await done("account", "change", "ACME", "--rate-plan", "gold");
  await done("account", "change", "ACME", "--rate-plan", "standard");

  const audit = await json("audit", "--kind", "account", "--subject", "ACME", "--actor", "command line");
  assert.deepEqual(
    audit.map(({ action }: { action: string }) => action),
    ["change", "change", "change", "change", "change", "create"],
  );
  assert.match(audit[0].address, /@/, "the system's user is known");
  assert.match(await done("audit", "--limit", "1"), /change account ACME\n {4}ratePlanId: gold → standard\n$/);
});

test("suspended accounts can be resumed, and retired ones never", async () => {
  await done("account", "create", "--key", "OLD", "--username", "old");
  assert.match(await done("account", "suspend", "OLD"), /state: active → suspended/);
  assert.match(await done("account", "resume", "OLD"), /state: suspended → active/);
  assert.deepEqual(await refused("account", "retire", "OLD"), [2, "retiring is for good: say --yes if you mean it"]);
  const no = await run(["account", "retire", "OLD"], { answer: "n" });
  assert.deepEqual([no.code, no.stderr], [1, "heliograph: nothing is changed\n"]);
  assert.equal((await run(["account", "retire", "OLD"], { answer: "y" })).code, 0);
  assert.deepEqual(await refused("account", "resume", "OLD"), [1, "the account is retired"]);
  assert.equal((await json("account", "show", "OLD")).state, "retired");
});

test("a password is made and shown once, or read from standard input, and sessions end with the old one", async () => {
  const session = { tokenHash: "t", nowMs: 1 };
  await inStore(async (store) => {
    const { account } = (await store.findLogin({ username: "acme" }))!;
    await store.createSession({ ...session, accountId: account.id, username: "acme", withFactor: false, event: null });
  });
  const made = /shown only now:\n(\S{24})\n$/.exec(await done("account", "password", "ACME"))![1]!;
  assert.ok(await canLogIn("acme", made));
  const own = await run(["account", "password", "ACME", "--stdin"], { input: "correct horse\n" });
  assert.deepEqual([own.code, own.stdout.includes("correct horse")], [0, false]);
  assert.deepEqual([await canLogIn("acme", made), await canLogIn("acme", "correct horse")], [false, true]);
  const short = await run(["account", "password", "ACME", "--stdin"], { input: "short\n" });
  assert.deepEqual([short.code, short.stderr], [1, "heliograph: the password must be 8 to 256 characters long\n"]);
  assert.equal(await done("account", "sessions", "ACME", "--end"), "0 sessions of ACME ended.\n");
  assert.ok(!JSON.stringify(await json("audit")).includes("correct horse"));
});

test("a second factor is shown, and taken away from whoever has lost the phone", async () => {
  const none = [1, "the user acme has no second factor"];
  assert.deepEqual(await refused("account", "second-factor", "ACME", "--reset"), none);
  const by = { by: { name: "ACME", address: null }, atMs: 5 };
  await inStore(async (store) => {
    await store.beginSecondFactor({ username: "acme", secret: "GEZDGNBV", ...by });
    const factor = { username: "acme", begunAtMs: 5, step: 1, recoveryHashes: ["x"], keepTokenHash: null };
    assert.equal(await store.confirmSecondFactor({ ...factor, ...by }), "confirmed");
  });
  assert.match(await done("account", "show", "ACME"), /^Second factor +on for acme$/m);
  assert.deepEqual((await json("account", "show", "ACME")).secondFactor, ["acme"]);
  const [code, says] = await refused("account", "second-factor", "ACME");
  assert.deepEqual([code, says.split("\n")[0]], [2, "error: required option '--reset' not specified"]);
  assert.match(await done("account", "second-factor", "ACME", "--username", "acme", "--reset"), /^acme has no second/);
  assert.match(await done("account", "show", "ACME"), /^Second factor +off$/m);
  assert.deepEqual(await refused("account", "second-factor", "ACME", "--reset"), none);
  const [entry] = await json("audit", "--kind", "secondFactor", "--subject", "acme");
  assert.deepEqual([entry.action, entry.actor, entry.after], ["delete", "command line", null]);
});

test("logins are shown by their kind", async () => {
  await inStore(async (store) => {
    const event = { action: "open", username: "acme", address: "192.0.2.1", facts: { with: "password" } } as const;
    await store.noteLogin({ ...event, atMs: 0 });
  });
  const at = "1970-01-01T00:00:00.000+0000";
  assert.match(
    await done("audit", "--kind", "login"),
    new RegExp(`^\\d+  ${at.replace("+", "\\+")}  ACME \\(192.0.2.1\\)  open login acme\n    with password\n$`),
  );
  assert.deepEqual((await json("audit", "--kind", "login", "--actor", "SHOP")).length, 0);
});

test("keys have scopes, and what they are not made for is told at once", async () => {
  const made = await done("api-key", "create", "--account", "ACME", "--name", "shop", "--scopes", "send,track");
  assert.match(made, /which is good for send, track only/);
  const [key] = await json("api-key", "list", "--account", "ACME");
  assert.deepEqual([key.scopes, key.name, key.usedAt], [["send", "track"], "shop", null]);
  assert.deepEqual(await refused("api-key", "create", "--account", "ACME", "--scopes", "send,fly"), [
    2,
    '--scopes must be some of send,track,balance,manage,pins,credentials, not "send,fly"',
  ]);
  await done("api-key", "revoke", key.id);
  assert.deepEqual(await json("api-key", "list", "--account", "ACME"), []);
});

test("keys have an end and networks, and both are listed", async () => {
  const made = await done(
    "api-key",
    "create",
    "--account",
    "ACME",
    "--expires",
    "90d",
    "--networks",
    "192.0.2.0/24,::1",
  );
  assert.match(made, /It ends at \d{4}-\d\d-\d\dT\S+\+0000\./);
  await done("api-key", "create", "--account", "ACME", "--expires", "2100-01-01");
  const keys = await json("api-key", "list", "--account", "ACME");
  const inNinetyDays = keys.find(({ allowedAddresses }: { allowedAddresses: unknown }) => allowedAddresses !== null);
  const atDate = keys.find((key: unknown) => key !== inNinetyDays);
  assert.deepEqual(inNinetyDays.allowedAddresses, ["192.0.2.0/24", "::1"]);
  assert.equal(Date.parse(inNinetyDays.expiresAt) - Date.parse(inNinetyDays.createdAt), 90 * 24 * 3_600_000);
  assert.equal(atDate.expiresAt, "2100-01-01T00:00:00.000+0000");
  const table = await done("api-key", "list", "--account", "ACME");
  assert.match(table, /NETWORKS +EXPIRES/);
  assert.match(table, /192\.0\.2\.0\/24,::1/);
  const create = (...args: string[]) => refused("api-key", "create", "--account", "ACME", ...args);
  assert.deepEqual(await create("--expires", "2020-01-01"), [2, "--expires must be in the future"]);
  for (const when of ["0d", "9999d", "soon", "90"]) assert.equal((await create("--expires", when))[0], 2, when);
  assert.equal((await create("--networks", "10.0.0.0/33"))[0], 2);
  for (const { id } of keys) await done("api-key", "revoke", id);
});

test("names that begin with a reseller's key are for its clients", async () => {
  const create = ["account", "create", "--rate-plan", "standard"] as const;
  await done(...create, "--kind", "reseller", "--key", "MALL", "--username", "mall");
  const [code, says] = await refused(...create, "--key", "MALL-ONE", "--username", "one");
  assert.deepEqual([code, says], [1, "--key: what begins so is for the clients of the reseller MALL"]);
  const user = await refused(...create, "--key", "ONE", "--username", "Mall.one");
  assert.deepEqual(user, [1, "--username: what begins so is for the clients of the reseller MALL"]);
  await done(...create, "--key", "MALL-ONE", "--username", "mall-one", "--parent", "MALL");
  await done(...create, "--key", "FREE-A", "--username", "free");
  const late = await refused(...create, "--kind", "reseller", "--key", "FREE", "--username", "x");
  assert.deepEqual(late, [1, "--key: the account FREE-A has a name that only clients of such a reseller can have"]);
  assert.equal((await refused(...create, "--key", "A--B", "--username", "x"))[0], 2);
});

test("what is wrong is told in a line", async () => {
  const change = (...args: string[]) => refused("account", "change", "ACME", ...args);
  const NOBODY = 'there is no account NOBODY: "heliograph account list" shows them all';
  assert.deepEqual(await refused("account", "show", "NOBODY"), [1, NOBODY]);
  assert.deepEqual(await change(), [2, "say what to change: heliograph account change --help lists what can be"]);
  assert.deepEqual(await change("--networks", "10.0.0.0/33"), [
    2,
    '--networks must be an address, or a network such as 192.0.2.0/24, not "10.0.0.0/33"',
  ]);
  assert.deepEqual(await change("--alert-below", "5"), [2, "an alert needs both --alert-below and --alert-url"]);
  assert.deepEqual(await change("--credit-limit", "-1"), [
    2,
    '--credit-limit must be a decimal number of 0 or more with at most 6 places, not "-1"',
  ]);
  const [code, unknown] = await refused("account", "change", "ACME", "--colour", "red");
  assert.deepEqual([code, unknown.split("\n")[0]], [2, "error: unknown option '--colour'"]);
});
