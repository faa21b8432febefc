/**
 * Who may do what: every operation of the service, for every kind of caller. The table has a row for each operation that the service
 * describes; one without a row fails the test.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { Sessions } from "../../src/auth/sessions.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { type Account, SCOPES, type Scope } from "../../src/store/port/accounts.ts";
import type { CatalogueItem } from "../../src/store/port/catalogue.ts";
import { addAccount } from "../support/accounts.ts";
import { operationsOf } from "../support/operations.ts";
import { type Answer, basic, startTestService, TEST_STORE } from "../support/service.ts";

const service = await startTestService({ after });
const { store } = service;

const CALLERS = [
  "none",
  "wrong",
  "client",
  "other client",
  "reseller",
  "other reseller",
  "operator",
  "suspended",
] as const;
type Caller = (typeof CALLERS)[number];
type Statuses = readonly [
  none: number,
  wrong: number,
  client: number,
  otherClient: number,
  reseller: number,
  otherReseller: number,
  operator: number,
  suspended: number,
];

/** Whoever is known. */
const ACCOUNTS: Partial<Record<Caller, Account>> = {
  reseller: await addAccount(store, { key: "RESELLER", kind: "reseller" }),
  "other reseller": await addAccount(store, { key: "OTHERRESELLER", kind: "reseller" }),
  client: await addAccount(store, { key: "CLIENT", parentKey: "RESELLER", balanceMicros: 100_000_000n }),
  "other client": await addAccount(store, { key: "OTHERCLIENT", parentKey: "OTHERRESELLER" }),
  operator: await addAccount(store, { key: "OPERATOR", kind: "operator" }),
  suspended: await addAccount(store, { key: "SUSPENDED", kind: "operator" }),
};
const BY = { by: { name: "test", address: null }, atMs: systemClock.now() };
await store.changeAccount({ key: "SUSPENDED", resellerId: null, version: null, change: { suspended: true }, ...BY });

async function keyFor(accountKey: string, scopes: readonly Scope[] | null = null): Promise<string> {
  const key = newApiKey();
  assert.equal(await store.createApiKey({ ...storedForm(key), accountKey, name: null, scopes, atMs: 0 }), "created");
  return `App ${key}`;
}

const KEYS: Partial<Record<Caller, string>> = { wrong: `App ${newApiKey()}` };
for (const [caller, { key }] of Object.entries(ACCOUNTS)) KEYS[caller as Caller] = await keyFor(key);
const sessions = new Sessions(store, systemClock);
const openFor = (account: Account) =>
  sessions.open({ account, user: { username: account.key }, withFactor: false, event: null });

/** How a caller shows who it is: an API key, or a session's token, or a password, where only that is taken. */
async function authorizationOf(caller: Caller, by: Row["by"]): Promise<string | null> {
  if (caller === "none") return null;
  const account = ACCOUNTS[caller];
  if (by === "password") return account === undefined ? basic("CLIENT", "wrong") : basic(account.key, "password");
  if (by === "token") return account === undefined ? "IBSSO wrong" : `IBSSO ${await openFor(account)}`;
  return KEYS[caller]!;
}

interface Call {
  /** What stands in the path in place of the names. */
  readonly names?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

interface Row {
  readonly statuses: Statuses;
  readonly scope: Scope | null;
  /** Another that it needs beside. */
  readonly besides?: Scope;
  readonly by?: "token" | "password";
  /** Each cell gets a call of its own, for what can be done once. What a reseller calls its clients begins with its own key. */
  readonly call?: (caller: Caller) => Promise<Call> | Call;
}

const open = (): Statuses => [200, 200, 200, 200, 200, 200, 200, 200];
const anybody = (good = 200): Statuses => [401, 401, good, good, good, good, good, 403];
const owner = (good = 200): Statuses => [401, 401, good, 404, 404, 404, 404, 403];
const operator = (good = 200): Statuses => [401, 401, 403, 403, 403, 403, good, 403];
/** About a client of the reseller. */
const manager = (good = 200): Statuses => [401, 401, 403, 403, good, 404, good, 403];
/** About nobody in particular: each for itself. */
const managers = (): Statuses => [401, 401, 403, 403, 200, 200, 200, 403];

let count = 0;
const fresh = (): string => `FRESH${count++}`;
/** A number that no cell has had. */
const freshNumber = (): string => String(4_100_000 + count++);

/** A client of the reseller, for one cell. */
async function freshAccount(): Promise<{ key: string; username: string }> {
  const key = fresh();
  await addAccount(store, { key, parentKey: "RESELLER" });
  return { key, username: key };
}

async function freshItem(kind: CatalogueItem["kind"], id: string, item: object): Promise<string> {
  await store.putItem({ kind, id, body: JSON.stringify(item), version: 0, ...BY });
  return id;
}

const TO = "41793026727";
/** Time stands on PostgreSQL, where others may share it. */
const CLOCK_STATUS = TEST_STORE === "postgres" ? 409 : 200;
const MESSAGE = { from: "a1", text: "x" };
const OCTETS = { from: "a1", binary: { hex: "0f" } };
const advanced = (message: object) => ({ messages: [{ ...message, destinations: [{ to: TO }] }] });
const later = formatDateTime(systemClock.now() + 24 * 3_600_000);
await service.call("POST", "/sms/1/text/advanced", {
  authorization: KEYS.client!,
  body: { bulkId: "bulk", messages: [{ ...MESSAGE, destinations: [{ to: TO }], sendAt: later }] },
});
const tracked = await service.call("POST", "/sms/1/text/advanced", {
  authorization: KEYS.client!,
  body: { messages: [{ ...MESSAGE, destinations: [{ to: TO }] }], tracking: { track: "SMS" } },
});
const bulk = { query: "?bulkId=bulk" };
const sending = (body: unknown): Row => ({ statuses: anybody(), scope: "send", call: () => ({ body }) });
const foreign = (body?: unknown): Row => ({
  statuses: [403, 403, 403, 403, 403, 403, 403, 403],
  scope: null,
  call: () => (body === undefined ? {} : { body }),
});
const ofClient = { names: { key: "CLIENT" } };
const seen = (name: string, value: string): Row => ({
  statuses: operator(),
  scope: "manage",
  call: () => ({ names: { [name]: value } }),
});
const listed: Row = { statuses: operator(), scope: "manage" };
/** The client's, to which phones write. */
const OWN_NUMBER = "77777";
await service.call("PUT", `/operator/1/numbers/${OWN_NUMBER}`, {
  authorization: KEYS.operator!,
  body: { account: "CLIENT" },
});
const freshUrl = (): string => `http://127.0.0.1:1/${count++}`;
/** A subscription of the client's for one cell, in place of the one before: there is room for a few only. */
let latest: string | null = null;
async function freshSubscription(kind: "outbound" | "inbound"): Promise<string> {
  const as = { authorization: KEYS.client! };
  if (latest !== null) await service.call("DELETE", new URL(latest).pathname, as);
  const body = { notifyURL: freshUrl(), ...(kind === "inbound" ? { destinationAddress: OWN_NUMBER } : {}) };
  const { json } = await service.call("POST", `/1/smsmessaging/${kind}/subscriptions`, { ...as, body });
  const url: string = (json.deliveryReceiptSubscription ?? json.resourceReference).resourceURL;
  latest = url;
  return url.split("/").at(-1)!;
}
const subscribing = (names: Record<string, string>): Row => ({
  statuses: anybody(201),
  scope: "manage",
  besides: "track",
  // The same one for all cells: it is made once for each caller.
  call: () => ({ names, body: { notifyURL: "http://127.0.0.1:1/same" } }),
});
const RATE_PLAN = { currency: "EUR", rate: [{ prefix: "", price: "0.01" }] };
let currencies = 0;
/** A pair of currencies that no cell has had. */
function freshPair(): { from: string; to: string } {
  const letters = (number: number) => String.fromCharCode(65 + (Math.floor(number / 26) % 26), 65 + (number % 26));
  return { from: `X${letters(currencies++)}`, to: "EUR" };
}

const asClient = { authorization: KEYS.client! };
const WIDE = { verifyPinLimit: "1000/1s", sendPinPerPhoneNumberLimit: "1000/1d" };
const TEMPLATE = { messageText: "{{pin}}", pinType: "NUMERIC", senderId: "a1" };
const application = { name: "x", configuration: WIDE };
const { applicationId: appId } = (await service.call("POST", "/2fa/2/applications", { ...asClient, body: application }))
  .json;
const ofApplication = `/2fa/2/applications/${appId}/messages`;
const { messageId: msgId } = (await service.call("POST", ofApplication, { ...asClient, body: TEMPLATE })).json;
const pin = { applicationId: appId, messageId: msgId, to: TO };
const { pinId } = (await service.call("POST", "/2fa/2/pin", { ...asClient, body: pin })).json;
const ofPins = (call: Call = {}): Row => ({
  statuses: owner(),
  scope: "pins",
  call: () => ({ names: { appId, msgId, pinId }, ...call }),
});

const MATRIX: Readonly<Record<string, Row>> = {
  "POST /sms/1/text/advanced": sending(advanced(MESSAGE)),
  "POST /sms/2/text/advanced": sending(advanced(MESSAGE)),
  "POST /sms/1/text/multi": sending({ messages: [{ ...MESSAGE, to: TO }] }),
  "POST /sms/1/text/single": sending({ ...MESSAGE, to: TO }),
  "POST /sms/1/binary/advanced": sending(advanced(OCTETS)),
  "POST /sms/2/binary/advanced": sending(advanced(OCTETS)),
  "POST /sms/1/binary/multi": sending({ messages: [{ ...OCTETS, to: TO }] }),
  "POST /sms/1/binary/single": sending({ ...OCTETS, to: TO }),
  "POST /sms/2/text/multi": sending({ messages: [{ ...MESSAGE, to: TO }] }),
  "POST /sms/2/text/single": sending({ ...MESSAGE, to: TO }),
  "POST /sms/2/binary/multi": sending({ messages: [{ ...OCTETS, to: TO }] }),
  "POST /sms/2/binary/single": sending({ ...OCTETS, to: TO }),
  "GET /sms/1/text/query": { statuses: anybody(), scope: "send", call: () => ({ query: `?from=a1&text=x&to=${TO}` }) },
  "GET /2fa/2/applications": { statuses: anybody(), scope: "pins" },
  "POST /2fa/2/applications": { statuses: anybody(), scope: "pins", call: () => ({ body: { name: "x" } }) },
  "GET /2fa/2/applications/{appId}": ofPins(),
  "PUT /2fa/2/applications/{appId}": ofPins({ body: application }),
  "GET /2fa/2/applications/{appId}/messages": ofPins(),
  "POST /2fa/2/applications/{appId}/messages": ofPins({ body: TEMPLATE }),
  "GET /2fa/2/applications/{appId}/messages/{msgId}": ofPins(),
  "PUT /2fa/2/applications/{appId}/messages/{msgId}": ofPins({ body: TEMPLATE }),
  "GET /2fa/2/applications/{appId}/verifications": ofPins({ query: `?msisdn=${TO}` }),
  // Whose application it is not, for that one it is none.
  "POST /2fa/2/pin": {
    statuses: [401, 401, 200, 400, 400, 400, 400, 403],
    scope: "pins",
    call: () => ({ body: pin }),
  },
  "POST /2fa/2/pin/{pinId}/resend": ofPins({ body: {} }),
  "POST /2fa/2/pin/{pinId}/verify": ofPins({ body: { pin: "none" } }),
  "POST /sms/3/messages": sending({ messages: [{ sender: "a1", destinations: [{ to: TO }], content: { text: "x" } }] }),
  "GET /sms/3/text/query": { statuses: anybody(), scope: "send", call: () => ({ query: `?from=a1&text=x&to=${TO}` }) },
  "POST /sms/1/preview": sending({ text: "x" }),
  "GET /sms/1/inbox/reports": { statuses: anybody(), scope: "track" },
  "GET /sms/1/inbox/logs": { statuses: anybody(), scope: "track" },
  "GET /sms/1/bulks": { statuses: owner(), scope: "track", call: () => bulk },
  "PUT /sms/1/bulks": { statuses: owner(), scope: "send", call: () => ({ ...bulk, body: { sendAt: later } }) },
  "GET /sms/1/bulks/status": { statuses: owner(), scope: "track", call: () => bulk },
  "PUT /sms/1/bulks/status": {
    statuses: owner(),
    scope: "send",
    call: () => ({ ...bulk, body: { status: "PAUSED" } }),
  },
  "GET /sms/1/reports": { statuses: anybody(), scope: "track" },
  "GET /sms/1/logs": { statuses: anybody(), scope: "track" },
  "POST /ct/1/log/end/{messageId}": {
    statuses: owner(),
    scope: "track",
    call: () => ({ names: { messageId: tracked.json.messages[0].messageId } }),
  },
  "GET /sms/3/reports": { statuses: anybody(), scope: "track" },
  "GET /sms/3/logs": { statuses: anybody(), scope: "track" },
  "GET /account/1/balance": { statuses: anybody(), scope: "balance" },
  "GET /account/1/total-balance": { statuses: anybody(), scope: "balance" },
  "GET /account/1/free-messages": { statuses: anybody(), scope: "balance" },
  "POST /account/1/api-keys": { statuses: anybody(), scope: null, call: () => ({ body: {} }) },
  "GET /account/1/api-keys": { statuses: anybody(), scope: null },
  "DELETE /account/1/api-keys/{id}": {
    statuses: owner(204),
    scope: null,
    by: "password",
    call: async () => ({ names: { id: storedForm((await keyFor("CLIENT")).slice(4)).id } }),
  },
  "PUT /account/1/password": {
    statuses: anybody(403),
    scope: null,
    by: "password",
    call: () => ({ body: { currentPassword: "not the right one" } }),
  },
  "GET /account/1/statement": {
    statuses: anybody(),
    scope: "balance",
    call: () => ({ query: "?from=2026-02-01T00:00:00Z" }),
  },
  "GET /account/1/opt-outs": { statuses: anybody(), scope: "send" },
  "PUT /account/1/opt-outs/{number}": {
    statuses: anybody(204),
    scope: "send",
    call: () => ({ names: { number: freshNumber() } }),
  },
  "DELETE /account/1/opt-outs/{number}": {
    statuses: anybody(204),
    scope: "send",
    call: () => ({ names: { number: freshNumber() } }),
  },
  "POST /account/1/callback-test": {
    statuses: anybody(),
    scope: null,
    by: "password",
    // No connection is made to such an address.
    call: () => ({ body: { url: "http://192.0.2.1/" } }),
  },
  "POST /account/1/callback-secret": { statuses: anybody(), scope: null, by: "password" },
  "DELETE /account/1/callback-secret/old": { statuses: anybody(204), scope: null, by: "password" },
  "POST /sandbox/1/incoming": {
    statuses: anybody(204),
    scope: "send",
    call: () => ({ body: { from: TO, to: "12345", text: "x" } }),
  },
  "PUT /sandbox/1/phones/{number}": {
    statuses: anybody(),
    scope: "send",
    call: () => ({ names: { number: TO }, body: { state: "on" } }),
  },
  "GET /sandbox/1/network": { statuses: anybody(), scope: "track" },
  "PUT /sandbox/1/network": { statuses: anybody(), scope: "send", call: () => ({ body: {} }) },
  "GET /sandbox/1/clock": { statuses: anybody(CLOCK_STATUS), scope: "track" },
  "PUT /sandbox/1/clock": { statuses: anybody(CLOCK_STATUS), scope: "send", call: () => ({ body: { by: "1s" } }) },
  "GET /console/1/phones": { statuses: anybody(), scope: "track" },
  "GET /console/1/phone": { statuses: anybody(), scope: "track", call: () => ({ query: `?number=${TO}` }) },
  "GET /console/1/sandbox": { statuses: anybody(), scope: "track" },

  "GET /console/1/quote": { statuses: anybody(), scope: "send", call: () => ({ query: `?from=a1&to=${TO}` }) },

  "POST /1/customerProfile/login": { statuses: anybody(), scope: null, by: "password" },
  "POST /1/customerProfile/logout": { statuses: anybody(204), scope: null, by: "token" },
  "POST /auth/1/session": { statuses: anybody(), scope: null, by: "password" },
  "POST /auth/1/oauth2/token": {
    statuses: open(),
    scope: null,
    call: () => ({ body: { client_id: "CLIENT", client_secret: "password", grant_type: "client_credentials" } }),
  },
  "DELETE /auth/1/session": { statuses: anybody(204), scope: null, by: "token" },
  "POST /1/customerProfile/payments/funds": {
    statuses: [401, 401, 403, 403, 200, 404, 403, 403],
    scope: null,
    by: "token",
    call: () => ({ body: { accountKey: "CLIENT", ammount: 1, description: "x" } }),
  },

  "POST /1/smsmessaging/outbound/{sender}/requests": {
    statuses: anybody(201),
    scope: "send",
    call: () => ({ names: { sender: "a1" }, body: { address: TO, message: "x" } }),
  },
  "GET /1/smsmessaging/outbound/{sender}/requests/{correlator}/deliveryInfos": {
    statuses: owner(),
    scope: "track",
    call: () => ({ names: { sender: "a1", correlator: "bulk" } }),
  },
  "GET /1/smsmessaging/outbound/requests/{correlator}/deliveryInfos": {
    statuses: owner(),
    scope: "track",
    call: () => ({ names: { correlator: "bulk" } }),
  },
  "GET /1/smsmessaging/outbound/requests/deliveryReports": { statuses: anybody(), scope: "track" },
  "GET /1/smsmessaging/outbound/requests/{correlator}/deliveryReports": {
    statuses: anybody(),
    scope: "track",
    call: () => ({ names: { correlator: "bulk" } }),
  },
  "GET /1/smsmessaging/inbound/registrations/{registration}/messages": {
    statuses: anybody(),
    scope: "track",
    call: () => ({ names: { registration: "INBOUND" } }),
  },
  "GET /1/smsmessaging/inbound/numberTypes": { statuses: anybody(), scope: "track" },
  "POST /1/smsmessaging/outbound/subscriptions": subscribing({}),
  "POST /1/smsmessaging/outbound/{sender}/subscriptions": subscribing({ sender: "a1" }),
  "GET /1/smsmessaging/outbound/subscriptions": { statuses: anybody(), scope: "track" },
  "GET /1/smsmessaging/outbound/{sender}/subscriptions": {
    statuses: anybody(),
    scope: "track",
    call: () => ({ names: { sender: "a1" } }),
  },
  "GET /1/smsmessaging/outbound/subscriptions/{id}": {
    statuses: owner(),
    scope: "track",
    call: async () => ({ names: { id: await freshSubscription("outbound") } }),
  },
  "DELETE /1/smsmessaging/outbound/subscriptions/{id}": {
    statuses: owner(204),
    scope: "manage",
    besides: "track",
    call: async () => ({ names: { id: await freshSubscription("outbound") } }),
  },
  "POST /1/smsmessaging/inbound/subscriptions": {
    statuses: [401, 401, 201, 400, 400, 400, 400, 403],
    scope: "manage",
    besides: "track",
    call: async () => ({ body: { notifyURL: freshUrl(), destinationAddress: OWN_NUMBER } }),
  },
  "PUT /1/smsmessaging/inbound/subscriptions": {
    statuses: owner(201),
    scope: "manage",
    besides: "track",
    call: async () => ({ body: { notifyURL: freshUrl(), subscriptionId: await freshSubscription("inbound") } }),
  },
  "GET /1/smsmessaging/inbound/subscriptions": { statuses: anybody(), scope: "track" },
  "GET /1/smsmessaging/inbound/subscriptions/{id}": {
    statuses: owner(),
    scope: "track",
    call: async () => ({ names: { id: await freshSubscription("inbound") } }),
  },
  "DELETE /1/smsmessaging/inbound/subscriptions/{id}": {
    statuses: owner(204),
    scope: "manage",
    besides: "track",
    call: async () => ({ names: { id: await freshSubscription("inbound") } }),
  },
  "GET /1/customerProfile": { statuses: anybody(), scope: null },
  "GET /1/customerProfile/list": { statuses: anybody(), scope: null },
  "GET /1/customerProfile/all": { statuses: anybody(), scope: null },
  "GET /1/customerProfile/{id}": {
    statuses: [401, 401, 200, 404, 200, 404, 200, 403],
    scope: null,
    call: () => ({ names: { id: String(ACCOUNTS.client!.id) } }),
  },
  "PUT /1/customerProfile": { statuses: anybody(201), scope: "manage", call: () => ({ body: { city: "Bern" } }) },
  "GET /1/customerProfile/balance": { statuses: anybody(), scope: "balance" },
  "GET /1/customerProfile/account/clients": { statuses: managers(), scope: "manage" },
  "GET /1/customerProfile/username/check": {
    statuses: anybody(),
    scope: "manage",
    call: () => ({ query: "?username=x" }),
  },
  "GET /2/messaging/outbound/logs": { statuses: anybody(), scope: "track" },

  "POST /operator/1/accounts": {
    statuses: managers(),
    scope: "manage",
    call: (caller) => ({
      body: { username: `${ACCOUNTS[caller]?.key}-${fresh()}`, ratePlan: "standard" },
    }),
  },
  "GET /operator/1/accounts": { statuses: managers(), scope: "manage" },
  "GET /operator/1/accounts/{key}": { statuses: manager(), scope: "manage", call: () => ofClient },
  "PATCH /operator/1/accounts/{key}": {
    statuses: manager(),
    scope: "manage",
    call: async () => ({ names: await freshAccount(), body: { version: 1, defaultSender: "Acme" } }),
  },
  "DELETE /operator/1/accounts/{key}": {
    statuses: manager(204),
    scope: "manage",
    call: async () => ({ names: await freshAccount(), query: "?version=1" }),
  },
  "POST /operator/1/accounts/{key}/funds": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ ...ofClient, body: { kind: "topUp", amount: 1 } }),
  },
  "PUT /operator/1/accounts/{key}/users/{username}/password": {
    statuses: manager(),
    scope: "credentials",
    by: "password",
    call: async () => ({ names: await freshAccount(), body: { password: "long enough" } }),
  },
  "DELETE /operator/1/accounts/{key}/sessions": { statuses: manager(), scope: "manage", call: () => ofClient },
  "POST /operator/1/accounts/{key}/api-keys": {
    statuses: manager(),
    scope: "manage",
    call: async () => ({ names: await freshAccount(), body: { name: "x" } }),
  },
  "GET /operator/1/accounts/{key}/api-keys": { statuses: manager(), scope: "manage", call: () => ofClient },
  "DELETE /operator/1/accounts/{key}/api-keys/{id}": {
    statuses: manager(204),
    scope: "manage",
    call: async () => ({ names: { key: "CLIENT", id: storedForm((await keyFor("CLIENT")).slice(4)).id } }),
  },
  "GET /operator/1/accounts/{key}/opt-outs": { statuses: manager(), scope: "manage", call: () => ofClient },
  "PUT /operator/1/accounts/{key}/opt-outs/{number}": {
    statuses: manager(204),
    scope: "manage",
    call: () => ({ names: { key: "CLIENT", number: freshNumber() } }),
  },
  "DELETE /operator/1/accounts/{key}/opt-outs/{number}": {
    statuses: manager(204),
    scope: "manage",
    call: () => ({ names: { key: "CLIENT", number: freshNumber() } }),
  },
  "GET /operator/1/accounts/{key}/statement": {
    statuses: manager(),
    scope: "manage",
    call: () => ({ ...ofClient, query: "?from=2026-01-01T00:00:00Z" }),
  },
  "GET /operator/1/accounts/{key}/failures": { statuses: manager(), scope: "manage", call: () => ofClient },
  "GET /operator/1/statement": {
    statuses: managers(),
    scope: "manage",
    call: () => ({ query: "?from=2026-01-01T00:00:00Z" }),
  },
  "GET /operator/1/plans": { statuses: managers(), scope: "manage" },
  "GET /operator/1/plans/{id}": {
    statuses: managers(),
    scope: "manage",
    call: () => ({ names: { id: "standard" } }),
  },
  "GET /operator/1/audit": { statuses: managers(), scope: "manage" },

  "GET /operator/1/carriers": listed,
  "GET /operator/1/carriers/{id}": seen("id", "simulator"),
  "PUT /operator/1/carriers/{id}": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ names: { id: fresh() }, body: { kind: "simulator" } }),
  },
  "GET /operator/1/carrier-states": listed,
  "POST /operator/1/carriers/{id}/reconnect": {
    statuses: operator(404),
    scope: "manage",
    call: () => ({ names: { id: "none" } }),
  },
  "DELETE /operator/1/carriers/{id}": {
    statuses: operator(204),
    scope: "manage",
    call: async () => {
      const id = fresh();
      return { names: { id: await freshItem("carrier", id, { id, kind: "simulator" }) }, query: "?version=1" };
    },
  },
  "GET /operator/1/routes": listed,
  "GET /operator/1/routes/{prefix}": seen("prefix", "default"),
  "PUT /operator/1/routes/{prefix}": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ names: { prefix: freshNumber() }, body: { carrier: "simulator" } }),
  },
  "DELETE /operator/1/routes/{prefix}": {
    statuses: operator(204),
    scope: "manage",
    call: async () => {
      const prefix = freshNumber();
      const route = { prefix, carrier: "simulator" };
      return { names: { prefix: await freshItem("route", prefix, route) }, query: "?version=1" };
    },
  },
  "GET /operator/1/rate-plans": listed,
  "GET /operator/1/rate-plans/{id}": seen("id", "standard"),
  "PUT /operator/1/rate-plans/{id}": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ names: { id: fresh() }, body: RATE_PLAN }),
  },
  "DELETE /operator/1/rate-plans/{id}": {
    statuses: operator(204),
    scope: "manage",
    call: async () => {
      const id = fresh();
      return { names: { id: await freshItem("ratePlan", id, { id, ...RATE_PLAN }) }, query: "?version=1" };
    },
  },
  "GET /operator/1/exchange-rates": listed,
  "GET /operator/1/exchange-rates/{from}/{to}": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ names: { from: "USD", to: "EUR" } }),
  },
  "PUT /operator/1/exchange-rates/{from}/{to}": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ names: freshPair(), body: { rate: "2" } }),
  },
  "DELETE /operator/1/exchange-rates/{from}/{to}": {
    statuses: operator(204),
    scope: "manage",
    call: async () => {
      const names = freshPair();
      await freshItem("exchangeRate", `${names.from}/${names.to}`, { ...names, rate: "2" });
      return { names, query: "?version=1" };
    },
  },
  "GET /operator/1/numbers": listed,
  "GET /operator/1/numbers/{number}": {
    statuses: operator(),
    scope: "manage",
    call: async () => {
      const number = freshNumber();
      return { names: { number: await freshItem("number", number, { number, account: "CLIENT" }) } };
    },
  },
  "PUT /operator/1/numbers/{number}": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ names: { number: freshNumber() }, body: { account: "CLIENT" } }),
  },
  "DELETE /operator/1/numbers/{number}": {
    statuses: operator(204),
    scope: "manage",
    call: async () => {
      const number = freshNumber();
      const item = { number, account: "CLIENT" };
      return { names: { number: await freshItem("number", number, item) }, query: "?version=1" };
    },
  },
  "GET /operator/1/opt-outs": listed,
  "PUT /operator/1/opt-outs/{number}": {
    statuses: operator(204),
    scope: "manage",
    call: () => ({ names: { number: freshNumber() } }),
  },
  "DELETE /operator/1/opt-outs/{number}": {
    statuses: operator(204),
    scope: "manage",
    call: () => ({ names: { number: freshNumber() } }),
  },
  "GET /operator/1/ledger/verify": listed,
  "GET /operator/1/receipts/parked": listed,
  "POST /operator/1/receipts/parked/clear": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ body: { carrier: "nobody's" } }),
  },
  "GET /operator/1/accounts/{key}/messages/{messageId}": {
    statuses: operator(404),
    scope: "manage",
    call: () => ({ names: { key: "CLIENT", messageId: "none" } }),
  },
  "GET /operator/1/accounts/{key}/messages/{messageId}/receipts": {
    statuses: operator(404),
    scope: "manage",
    call: () => ({ names: { key: "CLIENT", messageId: "none" } }),
  },
  "GET /operator/1/incoming/unmatched": listed,
  "GET /operator/1/reports/dead": listed,
  "POST /operator/1/reports/replay": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ body: { accountKey: "CLIENT" } }),
  },
  "POST /operator/1/reports/retry": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ body: { accountKey: "CLIENT", host: "https://a.test" } }),
  },
  "GET /sms/1/reports/dead": { statuses: anybody(), scope: "track" },
  "POST /sms/1/reports/replay": { statuses: anybody(), scope: "track", call: () => ({ body: { all: true } }) },
  "POST /sms/1/reports/retry": {
    statuses: anybody(),
    scope: "track",
    call: () => ({ body: { host: "https://a.test" } }),
  },

  "GET /account/1/second-factor": { statuses: anybody(), scope: null, by: "password" },
  "POST /account/1/second-factor": { statuses: anybody(), scope: null, by: "password" },
  "POST /account/1/second-factor/confirm": {
    statuses: anybody(403),
    scope: null,
    by: "password",
    call: () => ({ body: { code: "wrong" } }),
  },
  "DELETE /account/1/second-factor": {
    statuses: anybody(409),
    scope: null,
    by: "token",
    call: () => ({ body: { code: "wrong" } }),
  },

  // Only the console's own page signs in there (console-session.test.ts).
  "POST /console/1/session": foreign({ username: "CLIENT", password: "password" }),
  "POST /console/1/session/demo": foreign({ account: "demo" }),
  "DELETE /console/1/session": foreign(),
  "GET /console/1/me": { statuses: anybody(), scope: null, by: "password" },
  "GET /console/1/requests": { statuses: anybody(), scope: "track" },
  "GET /console/1/request": { statuses: anybody(404), scope: "track", call: () => ({ query: "?id=none" }) },
  "GET /console/1/messages": { statuses: anybody(), scope: "track" },
  "GET /console/1/message-counts": { statuses: anybody(), scope: "track" },
  "GET /console/1/message": { statuses: anybody(404), scope: "track", call: () => ({ query: "?id=none" }) },
  "POST /console/1/messages/{id}/replay": {
    statuses: anybody(404),
    scope: "track",
    call: () => ({ names: { id: "none" } }),
  },
  "GET /console/1/overview": listed,
  "POST /console/1/overview/check": { statuses: operator(), scope: "manage" },
  "GET /console/1/history": listed,
  "GET /console/1/carriers": listed,
  "GET /console/1/carrier": { statuses: operator(404), scope: "manage", call: () => ({ query: "?id=none" }) },
  "GET /console/1/carrier-kinds": listed,
  "POST /console/1/carriers/{id}/try": {
    statuses: operator(404),
    scope: "manage",
    call: () => ({ names: { id: "none" }, body: { to: "41793026727" } }),
  },
  "GET /console/1/unmatched": { statuses: operator(), scope: "manage", call: () => ({ query: "?of=receipts" }) },
  "POST /console/1/unmatched/drop": {
    statuses: operator(),
    scope: "manage",
    call: () => ({ body: { of: "receipts", ids: ["1"] } }),
  },
  "GET /console/1/nodes": listed,
  "GET /console/1/bulks": { statuses: anybody(), scope: "track" },
  "GET /console/1/bulk": { statuses: owner(), scope: "track", call: () => ({ query: "?id=bulk" }) },
  "GET /console/1/reports": { statuses: anybody(), scope: "track" },
  "GET /console/1/report-list": { statuses: anybody(), scope: "track", call: () => ({ query: "?state=dead" }) },
  "GET /console/1/report": { statuses: anybody(404), scope: "track", call: () => ({ query: "?id=1" }) },
  "GET /console/1/incoming": { statuses: anybody(), scope: "track" },
  "GET /console/1/balance-history": { statuses: anybody(), scope: "balance" },
  "GET /console/1/costs": { statuses: anybody(), scope: "balance" },
  "GET /console/1/statement": { statuses: anybody(), scope: "balance" },
  "GET /console/1/limits": { statuses: anybody(), scope: "balance" },
  "GET /console/1/rate-plans": { statuses: managers(), scope: "manage" },
  "GET /console/1/accounts": { statuses: managers(), scope: "manage" },
  "GET /console/1/about": { statuses: open(), scope: null },

  "GET /healthz": { statuses: open(), scope: null },
  "GET /readyz": { statuses: open(), scope: null },
  "GET /statusz": { statuses: open(), scope: null },
  "GET /metrics": { statuses: open(), scope: null },
};

async function callRow(name: string, row: Row, caller: Caller, authorization: string | null) {
  const [method = "", pattern = ""] = name.split(" ");
  const { names = {}, query = "", body }: Call = (await row.call?.(caller)) ?? {};
  const path = pattern.replace(/\{(\w+)\}/g, (_, step: string) => encodeURIComponent(names[step] ?? ""));
  const changes = await store.changeCounter();
  const answer = await service.call(method, `${path}${query}`, { authorization, body });
  return { answer, changed: (await store.changeCounter()) !== changes };
}

test("every operation that the service describes has its row, and no other", async () => {
  const described = (await operationsOf(service)).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(described.sort(), Object.keys(MATRIX).sort());
});

for (const [name, row] of Object.entries(MATRIX)) {
  test(`who may: ${name}`, async () => {
    for (const [index, caller] of CALLERS.entries()) {
      const { answer, changed } = await callRow(name, row, caller, await authorizationOf(caller, row.by));
      assert.equal(answer.status, row.statuses[index], `${caller}: ${answer.text}`);
      if (answer.status >= 400) assert.equal(changed, false, `${caller} was refused, and yet something changed`);
    }
  });
}

/** What an error says in words, in the body of whichever family. */
function saidBy({ json }: Answer): string {
  const { additionalDescription, text } = json.requestError?.serviceException ?? {};
  return json.description ?? additionalDescription ?? text;
}

test("a key is good for its scopes and for nothing else, in every operation", async () => {
  const keys = new Map<string, string>();
  for (const accountKey of ["CLIENT", "OPERATOR"]) {
    for (const scope of SCOPES) {
      const others = SCOPES.filter((other) => other !== scope);
      keys.set(`${accountKey} ${scope}`, await keyFor(accountKey, [scope]));
      keys.set(`${accountKey} not ${scope}`, await keyFor(accountKey, others));
    }
  }
  for (const [name, row] of Object.entries(MATRIX)) {
    if (row.scope === null) continue;
    const caller = row.scope === "manage" || row.scope === "credentials" ? "operator" : "client";
    const accountKey = caller.toUpperCase();
    const others = SCOPES.filter((other) => other !== row.scope).join(", ");
    const { answer: refused, changed } = await callRow(name, row, caller, keys.get(`${accountKey} not ${row.scope}`)!);
    const says = `The API key is good for ${others}; this needs the scope ${row.scope}.`;
    assert.deepEqual([refused.status, saidBy(refused), changed], [403, says, false], name);
    const scopes = row.besides === undefined ? [row.scope] : [row.scope, row.besides];
    if (scopes.length > 1) {
      const { answer, changed } = await callRow(name, row, "client", await keyFor("CLIENT", [row.scope]));
      const needs = `The API key is good for ${row.scope}; this needs the scope ${row.besides}.`;
      assert.deepEqual([answer.status, saidBy(answer), changed], [403, needs, false], name);
    }
    const key = scopes.length > 1 ? await keyFor(accountKey, scopes) : keys.get(`${accountKey} ${row.scope}`)!;
    const { answer: good } = await callRow(name, row, caller, key);
    assert.ok(![401, 403].includes(good.status), `${name}: ${good.text}`);
  }
});

test("an operator is one by password, by API key and by session token", async () => {
  const ways = [basic("OPERATOR", "password"), KEYS.operator!, `IBSSO ${await openFor(ACCOUNTS.operator!)}`];
  for (const authorization of ways) {
    assert.equal((await service.call("GET", "/operator/1/carriers", { authorization })).status, 200, authorization);
  }
});

test("to a reseller another's client is as unknown as one that does not exist", async () => {
  const ask = (key: string) =>
    service.call("GET", `/operator/1/accounts/${key}`, { authorization: KEYS["other reseller"]! });
  const [there, notThere] = [await ask("CLIENT"), await ask("NOBODY")];
  assert.deepEqual([there.status, there.json], [404, notThere.json]);
});
