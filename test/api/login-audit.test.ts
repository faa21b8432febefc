/** Logins in the audit: who logged in, from where, what was wrong; who may read it, and how long it is kept. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { addOtherReseller, good, OPERATOR, OTHER_RESELLER, operating, RESELLER } from "../support/operator.ts";
import { Calendar, codeOf, enrol, logIn, wrongCode } from "../support/second-factor.ts";
import { basic, eventually, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const BALANCE = "/account/1/balance";
const HOME = "192.0.2.1";
const from = (address: string) => ({ "x-forwarded-for": address });

type Entry = Readonly<Record<"action" | "actor" | "subject" | "kind", string>> & {
  readonly address: string | null;
  readonly before: object | null;
  readonly after: object;
};

/** A service that believes its callers when they say where they are. */
async function start(t: TestContext) {
  const clock = new Calendar();
  const settings = { limits: { loginAttempts: 5 }, server: { trustedProxies: "127.0.0.1" } };
  const service = await startTestService(t, { clock, settings });
  await addAccount(service.store, { key: "ACME", username: "acme" });
  const read = async (query = "", authorization = OPERATOR): Promise<Entry[]> =>
    good(await operating(service)("GET", `/audit?kind=login${query}`, undefined, { authorization })).results;
  return { clock, service, read };
}

const inShort = ({ action, actor, subject, address }: Entry) => [action, actor, subject, address];

test("a session that is opened is an entry, with how it was; a password in a request is none", async (t) => {
  const { clock, service, read } = await start(t);
  const user = { username: "acme", password: "password" };
  assert.equal((await service.call("GET", BALANCE, { authorization: basic("acme", "password") })).status, 200);
  assert.equal((await logIn(service, user, from(HOME))).status, 200);
  const { secret, recoveryCodes } = await enrol(service, clock, "acme");
  assert.equal((await logIn(service, { ...user, code: codeOf(secret, clock, 1) }, from(HOME))).status, 200);
  const newer = { ...user, code: recoveryCodes[0] };
  const opened = await service.call("POST", "/auth/1/session", { authorization: null, body: newer });
  assert.equal(opened.status, 200);
  const entries = await read();
  assert.deepEqual(entries.map(inShort), [
    ["open", "ACME", "acme", "127.0.0.1"],
    ["open", "ACME", "acme", HOME],
    ["open", "ACME", "acme", HOME],
  ]);
  assert.deepEqual(
    entries.map(({ before, after }) => [before, after]),
    [
      [null, { with: "password and recovery code" }],
      [null, { with: "password and code" }],
      [null, { with: "password" }],
    ],
  );
  const { results } = good(await operating(service)("GET", "/audit?limit=1000"));
  assert.ok(results.every(({ kind }: Entry) => kind !== "login"));
});

test("wrong codes, and the first wait of those who guess, are entries; each wrong password is none", async (t) => {
  const { clock, service, read } = await start(t);
  const { secret } = await enrol(service, clock, "acme");
  const guess = (body: object, address: string) => logIn(service, body, from(address));
  await guess({ username: "acme", password: "password", code: wrongCode(secret, clock) }, HOME);
  for (let time = 0; time < 20; time++) await guess({ username: "acme", password: `guess ${time}` }, "198.51.100.7");
  const stranger = "\u001b[31mnobody\u202e";
  for (let time = 0; time < 20; time++) await guess({ username: stranger, password: "x" }, "198.51.100.8");
  const entries = await eventually(async () => {
    const found = await read();
    return found.length === 3 && found;
  });
  assert.deepEqual(entries.map(inShort), [
    ["wait", "a stranger", "\uFFFD[31mnobody\uFFFD", "198.51.100.8"],
    ["wait", "ACME", "acme", "198.51.100.7"],
    ["wrongCode", "ACME", "acme", HOME],
  ]);
  assert.deepEqual(entries[0]!.after, { counted: "pair" });
});

test("a reseller reads the logins of its clients, and where they came from is not its business", async (t) => {
  const { service, read } = await start(t);
  await addOtherReseller(service);
  for (const [username, password] of [
    ["acme", "password"],
    ["OTHERCLIENT", "password"],
    ["reseller", "reseller-password"],
  ])
    assert.equal((await logIn(service, { username, password }, from(HOME))).status, 200);
  assert.deepEqual((await read("", RESELLER)).map(inShort), [["open", "ACME", "acme", null]]);
  assert.deepEqual(
    (await read("", OTHER_RESELLER)).map(({ subject }) => subject),
    ["OTHERCLIENT"],
  );
  assert.deepEqual(
    (await read("&actor=RESELLER1")).map(({ subject }) => subject),
    ["reseller"],
  );
  assert.equal((await read("&limit=1")).length, 1);
});

test("they leave after so many days as are set", async (t) => {
  const clock = new VirtualClock();
  const service = await startTestService(t, { clock, settings: { access: { loginAuditDays: 2 } } });
  const DAY_MS = 24 * 60 * 60_000;
  const note = (username: string, daysAgo: number) => {
    const event = { action: "open", username, address: HOME, facts: {} } as const;
    return service.store.noteLogin({ ...event, atMs: clock.now() - daysAgo * DAY_MS });
  };
  await note("old", 2.1);
  await note("young", 1.9);
  const all = { resellerId: null, kind: "login", subject: null, actor: null, beforeId: null, limit: 10 };
  await clock.advance(10 * 60_000);
  const left = await eventually(async () => {
    const entries = await service.store.audit(all);
    return entries.length === 1 && entries;
  });
  assert.equal(left[0]!.subject, "young");
});

test("what is left out because there is too much of it is among the metrics", async (t) => {
  const { service, read } = await start(t);
  for (let time = 0; time < 15; time++)
    assert.equal((await logIn(service, { username: "acme", password: "password" })).status, 200);
  assert.equal((await read()).length, 10);
  const { text } = await service.call("GET", "/metrics");
  assert.match(text, /^heliograph_logins_left_out_total 5$/m);
});
