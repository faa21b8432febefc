/** Opt-out lists, the audit, and what came in that belongs to nothing. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { addAccount } from "../support/accounts.ts";
import { addOtherReseller, good, OTHER_RESELLER, operating, RESELLER, refusal } from "../support/operator.ts";
import { basic, eventually, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const call = operating(service);
await addOtherReseller(service);
await addAccount(service.store, { key: "QUIET", balanceMicros: 1_000_000n });

const ANY_ENTRY = { resellerId: null, kind: null, subject: null, actor: null, beforeId: null };
const BLOCKED = 14;
async function send(to: string, username: string): Promise<number> {
  const body = { from: "Acme", to, text: "x" };
  const authorization = basic(username, "password");
  const { messages } = good(await service.call("POST", "/sms/1/text/single", { authorization, body }));
  return messages[0].status.id;
}

test("nothing goes to a number on the account's list or on the service's, until it is taken off", async () => {
  for (const [list, to] of [
    ["/accounts/QUIET/opt-outs", "41790000001"],
    ["/opt-outs", "41790000002"],
  ]) {
    assert.notEqual(await send(to!, "QUIET"), BLOCKED);
    good(await call("PUT", `${list}/${to}`), 204);
    good(await call("PUT", `${list}/${to}`), 204);
    assert.equal(await send(to!, "QUIET"), BLOCKED);
    const { results, next } = good(await call("GET", list!));
    assert.deepEqual([results.map(({ number }: { number: string }) => number), next], [[to], null]);
    good(await call("DELETE", `${list}/${to}`), 204);
    assert.notEqual(await send(to!, "QUIET"), BLOCKED);
  }
});

test("a list is read in pages, and takes numbers only", async () => {
  const list = "/accounts/DEMO0001/opt-outs";
  for (const number of ["41790000003", "41790000001", "41790000002"]) {
    good(await call("PUT", `${list}/${number}`, undefined, { authorization: RESELLER }), 204);
  }
  const first = good(await call("GET", `${list}?limit=2`));
  assert.deepEqual([first.results.length, first.next], [2, "41790000002"]);
  const second = good(await call("GET", `${list}?limit=2&after=${first.next}`));
  assert.deepEqual([second.results.length, second.next], [1, null]);
  assert.deepEqual(refusal(await call("PUT", `${list}/phone`)).slice(0, 2), [400, ["number"]]);
  assert.equal((await call("GET", list, undefined, { authorization: OTHER_RESELLER })).status, 404);
});

test("the audit keeps no password and no token that stands in a URL", async () => {
  const secretive = (path: string) => `https://user:hunter2@example.com/${path}?token=s3cr3t&lang=de`;
  const account = good(await call("GET", "/accounts/QUIET"));
  const alert = { below: 5, url: secretive("low") };
  good(await call("PATCH", "/accounts/QUIET", { version: account.version, alert }));
  good(await call("PUT", "/numbers/41790000055", { account: "QUIET", forwardUrl: secretive("in") }));
  good(await call("DELETE", "/numbers/41790000055?version=1"), 204);
  const text = JSON.stringify(await service.store.audit({ ...ANY_ENTRY, limit: 100 }));
  assert.ok(text.includes("example.com/low?token=***&lang=de"), text);
  assert.ok(text.includes("example.com/in?"));
  assert.doesNotMatch(text, /hunter2|s3cr3t/);
});

test("every change is in the audit with who made it and from where; a reseller reads what was changed of its clients", async () => {
  good(await call("POST", "/accounts", { key: "AUDITED", parent: "RESELLER1", ratePlan: "standard", username: "aud" }));
  good(await call("PATCH", "/accounts/AUDITED", { version: 1, defaultSender: "Acme" }, { authorization: RESELLER }));
  const { password } = good(await call("PUT", "/accounts/AUDITED/users/aud/password", {}));
  good(await call("DELETE", "/accounts/AUDITED?version=2"), 204);
  good(await call("PUT", "/exchange-rates/CHF/EUR", { rate: "1.05" }));
  const read = async (query: string, authorization?: string) =>
    good(await call("GET", `/audit?${query}`, undefined, authorization === undefined ? {} : { authorization }));

  const { results } = await read("kind=account&subject=AUDITED");
  assert.deepEqual(
    results.map(({ actor, action }: Record<string, string>) => [actor, action]),
    [
      ["OPERATOR1", "retire"],
      ["RESELLER1", "change"],
      ["OPERATOR1", "create"],
    ],
  );
  const [, changed, created] = results;
  assert.deepEqual([changed.before.defaultSender, changed.after.defaultSender], [null, "Acme"]);
  assert.deepEqual([created.before, created.after.username], [null, "aud"]);
  assert.ok(results.every(({ address }: { address: string }) => address === "127.0.0.1"));

  const everything = await read("limit=1000");
  assert.ok(everything.results.some(({ kind }: { kind: string }) => kind === "exchangeRate"));
  const text = JSON.stringify(everything);
  for (const secret of [password, "scrypt$", "whsec_"]) assert.ok(!text.includes(secret), secret);

  const own = (await read("limit=1000", RESELLER)).results;
  assert.ok(own.every(({ kind }: { kind: string }) => kind !== "exchangeRate"));
  const seen = own.filter(({ subject }: { subject: string }) => subject === "AUDITED");
  assert.deepEqual(
    seen.map(({ address }: { address: string | null }) => address),
    [null, "127.0.0.1", null],
    "where the operator sits is not told",
  );
  assert.deepEqual((await read("", OTHER_RESELLER)).results, []);
  const mine = (await read("actor=RESELLER1")).results;
  assert.ok(mine.length > 0 && mine.every(({ actor }: { actor: string }) => actor === "RESELLER1"));

  const paged: unknown[] = [];
  for (let place: string | null = ""; place !== null; ) {
    const page = await read(`limit=2${place}`);
    paged.push(...page.results);
    place = page.next === null ? null : `&after=${page.next}`;
  }
  assert.deepEqual(paged, everything.results);
  assert.equal((await call("GET", "/audit?after=x")).status, 400);
});

test("receipts without a message and messages to nobody's number can be read", async () => {
  // One of long ago would go with the next sweep.
  const atMs = Date.now();
  await service.store.received({
    carrierId: "simulator",
    receipts: [{ carrierMessageId: "lost", outcome: "delivered", errorId: 0, atMs, mccMnc: null, to: "41790000009" }],
  });
  const parked = good(await call("GET", "/receipts/parked"));
  const { id } = parked.results[0];
  assert.match(id, /^\d+$/);
  assert.deepEqual(parked, {
    count: 1,
    results: [
      {
        id,
        carrier: "simulator",
        carrierMessageId: "lost",
        to: "41790000009",
        outcome: "delivered",
        errorId: 0,
        mccMnc: null,
        at: formatDateTime(atMs),
        why: "unmatched",
        times: 1,
        octets: null,
      },
    ],
  });
  const body = { from: "41790000009", to: "98765", text: "Anybody there?" };
  good(await service.call("POST", "/sandbox/1/incoming", { body }), 204);
  const { results } = await eventually(async () => {
    const unmatched = good(await call("GET", "/incoming/unmatched"));
    return unmatched.count === 1 && unmatched;
  });
  const { messageId, receivedAt, ...message } = results[0];
  assert.deepEqual(message, { carrier: "simulator", ...body, smsCount: 1 });
  assert.match(messageId, /^\d+$/);
  assert.match(receivedAt, /\+0000$/);
});
