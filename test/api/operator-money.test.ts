/** Statements that add up, as pages and as a file, also while money moves; and the ledger verified, one at a time. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Store } from "../../src/store/port/store.ts";
import { addAccount } from "../support/accounts.ts";
import { good, OPERATOR, operating, RESELLER, refusal } from "../support/operator.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { basic, startTestService } from "../support/service.ts";

let largestLook = 0;
/** Happens before the next look at what was posted up to a time. */
let meanwhile: (() => Promise<void>) | null = null;
let heldLedger: Promise<void> | null = null;
/** An account with so many pages of postings more than it has. */
let long: { readonly accountId: number; pages: number } | null = null;
let pagesOfPostings = 0;
const service = await startTestService(
  { after },
  {
    edgeStore: (store): Store => ({
      ...store,
      postings(input) {
        largestLook = Math.max(largestLook, input.limit);
        pagesOfPostings++;
        return store.postings(input);
      },
      async turnover(input) {
        const happens = input.untilMs === Number.MAX_SAFE_INTEGER ? null : meanwhile;
        if (happens !== null) meanwhile = null;
        await happens?.();
        if (long?.accountId === input.accountId && long.pages > 0) {
          long.pages--;
          return { amountMicros: 0n, next: { atMs: input.sinceMs, id: 0 } };
        }
        return store.turnover(input);
      },
      async verifyLedger() {
        await heldLedger;
        return store.verifyLedger();
      },
    }),
  },
);
const { store } = service;
const call = operating(service);
const reseller = (await store.findLogin({ username: "reseller" }))!.account;

async function fund(accountKey: string, amountMicros: bigint, atMs: number, description = "funds"): Promise<void> {
  const funding = { resellerId: reseller.id, accountKey, amountMicros, currency: null, ratesMicros: {}, description };
  assert.equal((await store.fund({ ...funding, replay: null, atMs })).kind, "posted");
}

const day = (month: number, date: number) => Date.UTC(2026, month - 1, date);
const FEBRUARY = "from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z";

async function withFebruary(key: string): Promise<void> {
  await addAccount(store, { key });
  await fund(key, 10_000_000n, day(1, 5));
  await fund(key, 5_250_000n, day(2, 1), 'February, "first"');
  await fund(key, -2_000_000n, day(2, 28), "=cmd()");
  await fund(key, 1_000_000n, day(3, 1));
  good(
    await service.call("POST", "/sms/1/text/single", {
      authorization: basic(key, "password"),
      body: { from: "Acme", to: ["41793026727", "41793026728"], text: "x" },
    }),
  );
}

test("a statement opens with what was there, has every posting of the period, and closes with their sum", async () => {
  await withFebruary("STATED");
  const { results, ...frame } = good(await call("GET", `/accounts/STATED/statement?${FEBRUARY}`));
  assert.deepEqual(frame, {
    account: "STATED",
    currency: "EUR",
    from: "2026-02-01T00:00:00.000+0000",
    to: "2026-03-01T00:00:00.000+0000",
    openingBalance: 10,
    closingBalance: 13.25,
    next: null,
  });
  assert.deepEqual(
    results.map(({ id: _, ...posting }: { id: string }) => posting),
    [
      { at: "2026-02-01T00:00:00.000+0000", amount: 5.25, balance: 15.25, description: 'February, "first"' },
      { at: "2026-02-28T00:00:00.000+0000", amount: -2, balance: 13.25, description: "=cmd()" },
    ].map((posting) => ({ kind: "funds", messageId: null, smsCount: null, ...posting })),
  );
  const whole = good(await call("GET", "/accounts/STATED/statement?from=2026-01-01T00:00:00Z"));
  assert.deepEqual([whole.openingBalance, whole.closingBalance, whole.results.length], [0, 14.23, 5]);
  const charge = whole.results.at(-1);
  assert.deepEqual([charge.kind, charge.amount, charge.balance], ["charge", -0.02, 14.23]);
});

test("the pages of a statement go on where the last one ended, with the same balances", async () => {
  await withFebruary("PAGED");
  const whole = good(await call("GET", "/accounts/PAGED/statement?from=2026-01-01T00:00:00Z"));
  const results: unknown[] = [];
  for (let place: string | null = ""; place !== null; ) {
    const page = good(await call("GET", `/accounts/PAGED/statement?from=2026-01-01T00:00:00Z&limit=2${place}`));
    assert.deepEqual([page.openingBalance, page.closingBalance], [0, 14.23]);
    results.push(...page.results);
    place = page.next === null ? null : `&after=${page.next}`;
  }
  assert.deepEqual(results, whole.results);
});

test("as CSV it is one file, which no spreadsheet takes for a program", async () => {
  await withFebruary("FILED");
  const csv = await call("GET", `/accounts/FILED/statement?${FEBRUARY}&format=csv`, undefined, {
    authorization: RESELLER,
    headers: { accept: "text/csv" },
  });
  assert.equal(csv.status, 200);
  assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal(csv.headers.get("content-disposition"), 'attachment; filename="statement-FILED.csv"');
  assert.equal(
    csv.text,
    [
      "date,kind,amount,balance,currency,messageId,smsCount,description,account",
      "2026-02-01T00:00:00.000+0000,opening,,10,EUR,,,,FILED",
      '2026-02-01T00:00:00.000+0000,funds,5.25,15.25,EUR,,,"February, ""first""",FILED',
      "2026-02-28T00:00:00.000+0000,funds,-2,13.25,EUR,,,'=cmd(),FILED",
      "2026-03-01T00:00:00.000+0000,closing,,13.25,EUR,,,,FILED",
      "",
    ].join("\r\n"),
  );
});

test("a long statement is read a page at a time", async () => {
  await addAccount(store, { key: "LONG" });
  await Promise.all(Array.from({ length: 1_203 }, (_, index) => fund("LONG", 10_000n, day(4, 1) + (index % 7))));
  largestLook = 0;
  const path = "/accounts/LONG/statement?from=2026-03-01T00:00:00Z&to=2026-05-01T00:00:00Z";
  const lines = (await call("GET", `${path}&format=csv`)).text.trimEnd().split("\r\n");
  assert.equal(lines.length, 1_206);
  assert.equal(lines.at(-1), "2026-05-01T00:00:00.000+0000,closing,,12.03,EUR,,,,LONG");
  assert.ok(largestLook <= 500, String(largestLook));
  const { openingBalance, closingBalance } = good(await call("GET", `${path}&limit=1`));
  assert.deepEqual([openingBalance, closingBalance], [0, 12.03]);
});

test("the past stays what it was while money moves", async () => {
  await addAccount(store, { key: "BUSY" });
  await fund("BUSY", 100_000_000n, day(1, 5));
  const authorization = basic("BUSY", "password");
  let sending = true;
  const sender = (async () => {
    const body = { from: "Acme", to: "41793026727", text: "x" };
    while (sending) await service.call("POST", "/sms/1/text/single", { authorization, body });
  })();
  try {
    for (let times = 0; times < 10; times++) {
      const { openingBalance, closingBalance } = good(await call("GET", `/accounts/BUSY/statement?${FEBRUARY}`));
      assert.deepEqual([openingBalance, closingBalance], [100, 100]);
    }
  } finally {
    sending = false;
    await sender;
  }
});

test("what is posted while a statement is made is in its end, and not in its beginning", async () => {
  await addAccount(store, { key: "LATE" });
  await fund("LATE", 100_000_000n, day(1, 5));
  meanwhile = () => fund("LATE", 7_000_000n, Date.now() - 1_000);
  const { openingBalance, closingBalance, results } = good(
    await call("GET", "/accounts/LATE/statement?from=2026-02-01T00:00:00Z"),
  );
  assert.equal(meanwhile, null);
  assert.deepEqual([openingBalance, closingBalance, results.at(-1).balance], [100, 107, 107]);
});

test("a period that cannot be is refused with the field", async () => {
  const ask = async (query: string) => refusal(await call("GET", `/accounts/DEMO0001/statement?${query}`)).slice(0, 2);
  assert.equal((await call("GET", "/accounts/DEMO0001/statement")).status, 200, "without one it is this month");
  assert.deepEqual(await ask("from=yesterday"), [400, ["from"]]);
  assert.deepEqual(await ask("from=2026-03-01T00:00:00Z&to=2026-02-01T00:00:00Z"), [400, ["to"]]);
  assert.deepEqual(await ask(`${FEBRUARY}&after=x`), [400, ["after"]]);
  assert.deepEqual(await ask(`${FEBRUARY}&format=pdf`), [400, ["format"]]);
  const path = `/accounts/DEMO0001/statement?${FEBRUARY}`;
  for (const [query, accept] of [
    ["", "text/csv"],
    ["&format=csv", "application/json"],
  ]) {
    const headers = { accept: accept! };
    assert.equal((await call("GET", `${path}${query}`, undefined, { headers })).status, 406, accept);
  }
});

test("a page of the statement over all ends with the account at which it has read enough, and the next one goes on", async () => {
  await withFebruary("LONGA");
  await withFebruary("LONGB");
  const path = `/statement?${FEBRUARY}&limit=1000`;
  const whole = good(await call("GET", path));
  const keys = whole.results.map(({ account }: { account: string }) => account);
  assert.deepEqual([whole.next, keys.includes("LONGB")], [null, true]);
  const { id: accountId } = (await store.account({ resellerId: null, key: "LONGA" }))!;
  long = { accountId, pages: 200 };
  const first = good(await call("GET", path));
  assert.equal(long.pages, 0);
  assert.equal(first.results.at(-1).account, "LONGA");
  const rest = good(await call("GET", `${path}&after=${first.next}`));
  assert.equal(rest.next, null);
  assert.deepEqual([...first.results, ...rest.results], whole.results);
});

test("a statement over all ends with the account that is looked at when its client goes", async () => {
  const path = `/operator/1/statement?${FEBRUARY}&limit=1000`;
  const accounts = good(await call("GET", `/statement?${FEBRUARY}&limit=1000`)).results.length;
  assert.ok(accounts > 2);
  const client = await RawClient.connect(service.url);
  const gone = new Promise<void>((resolve) => {
    meanwhile = async () => {
      client.vanish();
      // What comes after it is answered: the service has heard of it.
      for (let times = 0; times < 3; times++) assert.equal((await service.call("GET", "/healthz")).status, 200);
      resolve();
    };
  });
  pagesOfPostings = 0;
  await client.write(rawRequestText("GET", path, { authorization: OPERATOR }));
  await gone;
  // It would have its turns before this one.
  good(await call("GET", `/statement?${FEBRUARY}&limit=1000`));
  assert.equal(pagesOfPostings, 1 + accounts);
});

test("the ledger is right, and is verified by one at a time", async () => {
  let release = (): void => undefined;
  heldLedger = new Promise((resolve) => {
    release = resolve;
  });
  const first = call("GET", "/ledger/verify");
  const second = call("GET", "/ledger/verify");
  const refused = await Promise.race([first, second]);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
  release();
  const answers = await Promise.all([first, second]);
  assert.deepEqual(answers.find(({ status }) => status === 200)?.json, { right: true, faults: [] });
  assert.deepEqual(good(await call("GET", "/ledger/verify")), { right: true, faults: [] });
});
