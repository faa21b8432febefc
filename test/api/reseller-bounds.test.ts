/** What a reseller gets of its clients, and what not: their messages, keys and passwords as the settings say, names and limits of its own. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import type { PartialSettings } from "../../src/settings/settings.ts";
import { addAccount, changeAccounts } from "../support/accounts.ts";
import { addOtherReseller, good, OPERATOR, operating, RESELLER, refusal } from "../support/operator.ts";
import { basic, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";

const service = await startTestService({ after });
await addOtherReseller(service);
const call = operating(service);
const as = (authorization: string) => ({ authorization });
const LOGS = "/sms/1/logs";
const CHANGE_FIRST = [
  403,
  null,
  "The password was set by your reseller: change it first, with PUT /account/1/password.",
] as const;

const starting = (t: TestContext, resellers: Partial<PartialSettings["resellers"]>) =>
  startTestService(t, { settings: { resellers: { ...resellers } } });

/** A new client of the sandbox's reseller, made by that reseller, with the password that it was shown. */
let count = 0;
async function newClient(on: TestService): Promise<{ key: string; username: string; password: string }> {
  const username = `reseller1-client${count++}`;
  const key = `RESELLER1-CLIENT${count}`;
  const body = { key, username, ratePlan: "standard", openingBalance: 1 };
  const { password } = good(await operating(on)("POST", "/accounts", body, as(RESELLER)));
  return { key, username, password };
}

async function sessionOf(on: TestService, username: string, password: string): Promise<string> {
  const login = await on.call("POST", "/auth/1/session", { authorization: basic(username, password) });
  return `IBSSO ${good(login).token}`;
}

test("a password that the reseller knows sends and reads no messages, until the client has changed it", async () => {
  const { username, password } = await newClient(service);
  const ways = [basic(username, password), await sessionOf(service, username, password)];
  for (const authorization of ways) {
    for (const path of [LOGS, "/sms/1/reports", "/sms/1/inbox/reports", "/sms/1/bulks?bulkId=x"])
      assert.deepEqual(refusal(await service.call("GET", path, { authorization })), CHANGE_FIRST, path);
    assert.equal((await service.call("GET", "/account/1/balance", { authorization })).status, 200);
    const body = { from: "Acme", to: "41793026727", text: "x" };
    assert.equal((await service.call("POST", "/sms/1/text/single", { authorization, body })).status, 200);
  }
  const query = `/sms/1/text/query?username=${username}&password=${password}&from=a1&to=41793026727&text=x`;
  assert.equal((await service.call("GET", query, { authorization: null })).status, 200);

  const body = { currentPassword: password, password: "the client's own" };
  good(await service.call("PUT", "/account/1/password", { authorization: ways[0]!, body }));
  assert.equal((await service.call("GET", LOGS, as(ways[1]!))).status, 401, "its session has ended");
  for (const authorization of [
    basic(username, "the client's own"),
    await sessionOf(service, username, "the client's own"),
  ])
    assert.equal((await service.call("GET", LOGS, { authorization })).status, 200);
});

test("another password of the reseller's is marked again, and one that the operator sets is not", async () => {
  await addAccount(service.store, { key: "MARKED", parentKey: "RESELLER1" });
  const set = async (authorization: string) =>
    good(await call("PUT", "/accounts/MARKED/users/MARKED/password", {}, { authorization })).password;
  assert.equal((await service.call("GET", LOGS, as(basic("MARKED", "password")))).status, 200);
  const byReseller = await set(RESELLER);
  assert.deepEqual(refusal(await service.call("GET", LOGS, as(basic("MARKED", byReseller)))), CHANGE_FIRST);
  assert.equal((await service.call("GET", LOGS, as(basic("MARKED", await set(OPERATOR))))).status, 200);
});

test("a password that the reseller knows makes no key that reads messages", async () => {
  const { username, password } = await newClient(service);
  const make = (body: object) =>
    service.call("POST", "/account/1/api-keys", { authorization: basic(username, password), body });
  assert.deepEqual(refusal(await make({ scopes: ["send", "track"] })), CHANGE_FIRST);
  const { key, scopes } = good(await make({}));
  assert.deepEqual(scopes, ["send", "balance", "manage", "pins"]);
  assert.equal((await service.call("GET", LOGS, as(`App ${key}`))).status, 403);
});

test("neither such a password nor such a key has reports and messages sent elsewhere", async () => {
  const { key, username, password } = await newClient(service);
  const made = good(await call("POST", `/accounts/${key}/api-keys`, {}, as(RESELLER)));
  for (const authorization of [basic(username, password), `App ${made.key}`]) {
    const body = { notifyURL: "http://127.0.0.1:1/elsewhere" };
    const answer = await service.call("POST", "/1/smsmessaging/outbound/subscriptions", { authorization, body });
    assert.equal(answer.status, 403, answer.text);
  }
});

test("a key that a reseller makes has no scope track; one that an operator makes may have it", async () => {
  const { key } = await newClient(service);
  const make = (authorization: string, body: object) =>
    call("POST", `/accounts/${key}/api-keys`, body, as(authorization));
  const refused = refusal(await make(RESELLER, { scopes: ["send", "track"] }));
  const says = "A key that a reseller makes does not read its client's messages: it has no scope track.";
  assert.deepEqual(refused, [403, ["scopes"], says]);
  const made = good(await make(RESELLER, {}));
  assert.deepEqual(made.scopes, ["send", "balance", "manage", "pins"]);
  assert.equal((await service.call("GET", LOGS, as(`App ${made.key}`))).status, 403);
  assert.equal((await service.call("GET", "/account/1/balance", as(`App ${made.key}`))).status, 200);
  assert.equal(good(await make(OPERATOR, {})).scopes, null);
  assert.deepEqual(good(await make(OPERATOR, { scopes: ["track"] })).scopes, ["track"]);
});

test("where the operator lets resellers read messages, neither keys nor passwords are held back", async (t) => {
  const open = await starting(t, { clientMessages: true });
  const { key, username, password } = await newClient(open);
  assert.equal((await open.call("GET", LOGS, as(basic(username, password)))).status, 200);
  const make = (body: object) => operating(open)("POST", `/accounts/${key}/api-keys`, body, as(RESELLER));
  assert.equal(good(await make({})).scopes, null);
  const { key: secret } = good(await make({ scopes: ["track"] }));
  assert.equal((await open.call("GET", LOGS, as(`App ${secret}`))).status, 200);
});

test("where the operator keeps keys and passwords from resellers, they are told so, and nothing changes", async (t) => {
  const closed = await starting(t, { clientKeys: false, clientPasswords: false });
  const ask = operating(closed);
  const { id } = good(await ask("POST", "/accounts/DEMO0001/api-keys", {}));
  const noKeys = [403, null, "A reseller does not make or revoke its clients' API keys here."];
  assert.deepEqual(refusal(await ask("POST", "/accounts/DEMO0001/api-keys", {}, as(RESELLER))), noKeys);
  const revoke = await ask("DELETE", `/accounts/DEMO0001/api-keys/${id}`, undefined, as(RESELLER));
  assert.deepEqual(refusal(revoke), noKeys);
  assert.equal(good(await ask("GET", "/accounts/DEMO0001/api-keys", undefined, as(RESELLER))).results.length, 2);
  const noPasswords = [403, null, "A reseller does not set its clients' passwords here."];
  const put = await ask("PUT", "/accounts/DEMO0001/users/demo/password", { password: "long enough" }, as(RESELLER));
  assert.deepEqual(refusal(put), noPasswords);
  assert.equal((await closed.call("GET", "/account/1/balance")).status, 200, "the old password is still good");
  const chosen = { username: "reseller1-x", password: "long enough", ratePlan: "standard" };
  assert.deepEqual(refusal(await ask("POST", "/accounts", chosen, as(RESELLER))), noPasswords);
  const { username, password } = await newClient(closed);
  assert.equal((await closed.call("GET", "/account/1/balance", as(basic(username, password)))).status, 200);
  good(await ask("POST", "/accounts/DEMO0001/api-keys", {}));
  good(await ask("PUT", "/accounts/DEMO0001/users/demo/password", { password: "long enough" }));
});

test("whether a name is somebody else's or nobody's, a reseller gets the same answer", async () => {
  await addAccount(service.store, { key: "FOREIGN", username: "foreign" });
  const create = (names: { key?: string; username: string }) =>
    call("POST", "/accounts", { ratePlan: "standard", password: "long enough", ...names }, as(RESELLER));
  const free = refusal(await create({ key: "NOBODYS", username: "reseller1-a" }));
  const says = "key must be one of your own, which begin with RESELLER1- and go on.";
  assert.deepEqual(free, [400, ["key"], says]);
  for (const key of ["FOREIGN", "OTHERRESELLER", "OTHERRESELLER-X", "RESELLER1", "RESELLER1X", "reseller1-x"])
    assert.deepEqual(refusal(await create({ key, username: "reseller1-a" })), free, key);
  const freeUser = refusal(await create({ username: "nobodys" }));
  assert.deepEqual(freeUser.slice(0, 2), [400, ["username"]]);
  for (const username of ["foreign", "Foreign", "operator", "reseller", "reseller1", "otherreseller-x"])
    assert.deepEqual(refusal(await create({ username })), freeUser, username);
  // Of its own it is told.
  const own = { key: "RESELLER1-OWN", username: "Reseller1.own" };
  good(await create(own));
  const taken = [409, ["key"], "There is an account RESELLER1-OWN already."];
  assert.deepEqual(refusal(await create({ ...own, username: "reseller1_other" })), taken);
  assert.deepEqual(refusal(await create({ username: "Reseller1.own" })).slice(0, 2), [409, ["username"]]);
  good(await create({ key: "RESELLER1-A-B", username: "reseller1.own" }), 200);
});

test("an account of before, whose name is in a reseller's namespace and is not its client's, is not told of either", async (t) => {
  const data = await temporaryDirectory(t);
  const old = await startTestService(t, { data });
  await addAccount(old.store, { key: "LATE-X", username: "late-x", parentKey: null });
  const reseller = { key: "LATE", username: "late", kind: "reseller", ratePlan: "standard" };
  const says = "The account LATE-X has a name that only clients of such a reseller can have.";
  assert.deepEqual(refusal(await operating(old)("POST", "/accounts", reseller)), [409, ["key"], says]);
  await addAccount(old.store, { key: "LATE", parentKey: null });
  // As an earlier version would have had it.
  await changeAccounts(data, "UPDATE account SET kind = 'reseller' WHERE key = 'LATE'");
  const create = async (names: object) => {
    const body = { ratePlan: "standard", password: "long enough", ...names };
    return refusal(await operating(old)("POST", "/accounts", body, as(basic("LATE", "password"))));
  };
  const outside = await create({ key: "NOBODYS", username: "late-y" });
  assert.equal(outside[0], 400);
  assert.deepEqual(await create({ key: "LATE-X", username: "late-y" }), outside);
  assert.deepEqual(await create({ username: "late-x" }), await create({ username: "nobodys" }));
});

test("nobody but the reseller's clients gets a name in its namespace, whoever makes the account", async () => {
  const create = (body: object) =>
    call("POST", "/accounts", { ratePlan: "standard", password: "long enough", ...body });
  const says = "What begins so is for the clients of the reseller RESELLER1.";
  assert.deepEqual(refusal(await create({ key: "RESELLER1-Z", username: "z" })), [409, ["key"], says]);
  assert.deepEqual(refusal(await create({ username: "RESELLER1_z" })), [409, ["username"], says]);
  const names = { key: "RESELLER1-Z", username: "reseller1-z" };
  assert.deepEqual(refusal(await create({ ...names, parent: "OTHERRESELLER" })).slice(0, 2), [409, ["key"]]);
  good(await create({ ...names, parent: "RESELLER1" }));
  good(await create({ key: "ANY-NAME", username: "any-name", parent: "RESELLER1" }));
});

test("keys with dashes are keys everywhere: in paths, funds, numbers and statements", async () => {
  const { key } = await newClient(service);
  good(await call("GET", `/accounts/${key}`, undefined, as(RESELLER)));
  const authorization = await sessionOf(service, "reseller", "reseller-password");
  const funds = { accountKey: key, ammount: 2, description: "x" };
  good(await service.call("POST", "/1/customerProfile/payments/funds", { authorization, body: funds }));
  good(await call("PUT", "/numbers/447700900001", { account: key }));
  assert.equal(good(await call("GET", `/accounts/${key}`)).balance, 3);
});

test("whoever asks for a foreign account or for none hears the same, in every operation", async () => {
  const key = good(await call("POST", "/accounts/OTHERCLIENT/api-keys", {}));
  const from = "from=2026-01-01T00:00:00Z";
  const session = await sessionOf(service, "reseller", "reseller-password");
  const asks: readonly (readonly [method: string, path: (name: string) => string, body?: (name: string) => unknown])[] =
    [
      ["GET", (name) => `/operator/1/accounts/${name}`],
      ["PATCH", (name) => `/operator/1/accounts/${name}`, () => ({ version: 1, defaultSender: "x" })],
      ["DELETE", (name) => `/operator/1/accounts/${name}?version=1`],
      ["GET", (name) => `/operator/1/accounts?parent=${name}`],
      ["PUT", (name) => `/operator/1/accounts/${name}/users/${name}/password`, () => ({ password: "long enough" })],
      ["PUT", (name) => `/operator/1/accounts/DEMO0001/users/${name}/password`, () => ({ password: "long enough" })],
      ["DELETE", (name) => `/operator/1/accounts/${name}/sessions`],
      ["POST", (name) => `/operator/1/accounts/${name}/api-keys`, () => ({})],
      ["GET", (name) => `/operator/1/accounts/${name}/api-keys`],
      ["DELETE", (name) => `/operator/1/accounts/${name}/api-keys/${key.id}`],
      ["GET", (name) => `/operator/1/accounts/${name}/opt-outs`],
      ["PUT", (name) => `/operator/1/accounts/${name}/opt-outs/41790000001`],
      ["DELETE", (name) => `/operator/1/accounts/${name}/opt-outs/41790000001`],
      ["GET", (name) => `/operator/1/accounts/${name}/statement?${from}`],
      ["GET", (name) => `/operator/1/accounts/${name}/statement?${from}&format=csv`],
      ["GET", (name) => `/operator/1/audit?subject=${name}`],
      ["GET", (name) => `/operator/1/audit?actor=${name}`],
      [
        "POST",
        () => "/operator/1/accounts",
        (name) => ({ username: "reseller1-q", ratePlan: "standard", parent: name }),
      ],
      [
        "POST",
        () => "/1/customerProfile/payments/funds",
        (name) => ({ accountKey: name, ammount: 1, description: "x" }),
      ],
      [
        "POST",
        () => "/1/customerProfile/payments/funds",
        (name) => ({ accountKey: name, ammount: -1, description: "x", currencycode: "XXX" }),
      ],
    ];
  for (const [method, path, body] of asks) {
    const answers = [];
    // Who of the operators has changed something of its clients, a reseller may know.
    const operators = path("").includes("actor=") ? [] : ["OPERATOR1"];
    for (const name of ["OTHERCLIENT", "OTHERRESELLER", ...operators, "NOBODY"]) {
      const authorization = path(name).startsWith("/1/") ? session : RESELLER;
      const { status, text } = await service.call(method, path(name), { authorization, body: body?.(name) });
      answers.push([status, text]);
    }
    for (const answer of answers) assert.deepEqual(answer, answers.at(-1), `${method} ${path("NAME")}`);
  }
  const foreign = await call("DELETE", `/accounts/DEMO0001/api-keys/${key.id}`, undefined, as(RESELLER));
  const unknown = await call("DELETE", "/accounts/DEMO0001/api-keys/000000000000", undefined, as(RESELLER));
  assert.deepEqual([foreign.status, foreign.json], [404, unknown.json]);
});

test("a reseller gives its clients no more than the service gives; an operator may, and that may stay", async (t) => {
  const limits = {
    requestsPerSecond: 50,
    messagesPerSecond: 0,
    connectionsPerAccount: 10,
    destinationsPerRequest: 100,
  };
  const limited = await startTestService(t, { settings: { limits } });
  const ask = operating(limited);
  const patch = (given: object, authorization = RESELLER) =>
    ask("PATCH", "/accounts/DEMO0001", { limits: given }, { authorization, headers: { "if-match": "*" } });
  for (const [name, value, most] of [
    ["requestsPerSecond", 51, 50],
    ["requestsPerSecond", 0, 50],
    ["connections", 11, 10],
    ["connections", 0, 10],
    ["destinationsPerRequest", 101, 100],
  ] as const) {
    const says = `limits.${name} must be 1 to ${most}, which is the service's own.`;
    assert.deepEqual(refusal(await patch({ [name]: value })), [400, [`limits.${name}`], says]);
    const body = { username: "reseller1-limits", ratePlan: "standard", limits: { [name]: value } };
    assert.deepEqual(refusal(await ask("POST", "/accounts", body, as(RESELLER))), [400, [`limits.${name}`], says]);
  }
  good(await patch({ requestsPerSecond: 50, messagesPerSecond: 1_000, connections: 1, destinationsPerRequest: 100 }));
  good(await patch({ requestsPerSecond: 0, connections: 99 }, OPERATOR));
  const { limits: kept } = good(await patch({ requestsPerSecond: 0, connections: 99, messagesPerSecond: 5 }));
  assert.deepEqual(kept, { requestsPerSecond: 0, connections: 99, messagesPerSecond: 5 });
  assert.equal((await patch({ requestsPerSecond: 51 })).status, 400);
});
