/** The last requests of an account: what is kept of each, what is masked, and who sees it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { addAccount } from "../support/accounts.ts";
import { consoleCall, signIn } from "../support/console.ts";
import { Watcher } from "../support/live.ts";
import { basic, DEMO, eventually, startTestService, type TestService } from "../support/service.ts";

const SINGLE = "/sms/1/text/single";
const MESSAGE = { from: "a1", to: "41793026727", text: "a secret text" };
const OPERATOR = basic("operator", "operator-password");
const service = await startTestService({ after }, { settings: { limits: { loginAttempts: 1_000_000 } } });

interface Item {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly rejected: number;
  readonly door: string;
  readonly by: string | null;
  readonly reason: string | null;
  readonly fields: string[];
}

async function requests(on: TestService, query = "", authorization = DEMO): Promise<Item[]> {
  const { status, json, text } = await on.call("GET", `/console/1/requests${query}`, { authorization });
  assert.equal(status, 200, text);
  return json.items;
}

async function detail(on: TestService, { id }: Item, authorization = DEMO, more = "") {
  const { status, json, text } = await on.call("GET", `/console/1/request?id=${id}${more}`, { authorization });
  assert.equal(status, 200, text);
  return json;
}

test("a request that was refused is found with its reason, its field, its body and what to do", async () => {
  const sent = await service.call("POST", SINGLE, { body: { ...MESSAGE, to: "not a number" } });
  const refused = await service.call("POST", SINGLE, { body: { from: "a1", text: "no destination" } });
  assert.deepEqual([sent.status, refused.status], [200, 400]);
  const [item] = await requests(service, "?which=refused");
  assert.deepEqual(
    [item!.method, item!.path, item!.status, item!.reason, item!.fields, item!.door, item!.by],
    ["POST", SINGLE, 400, "to is required.", ["to"], "basic", "demo"],
  );
  const found = await detail(service, item!);
  assert.equal(found.error, "BAD_REQUEST");
  assert.match(found.advice, /send the request again/);
  assert.equal(found.from, "127.0.0.1");
  assert.deepEqual(JSON.parse(found.body.text), { from: "a1", text: "***" });
  assert.deepEqual([found.body.isWhole, found.body.hasTexts], [true, false]);
});

test("a request of which messages were rejected is among the refused, with how many and the first reason", async () => {
  const body = { ...MESSAGE, to: ["41793026727", "1", "not a number"] };
  assert.equal((await service.call("POST", SINGLE, { body })).status, 200);
  const [item] = await requests(service, "?which=refused");
  const why = "the number of destination 2 has 1 digit: a number has 4 to 15 digits, with its country's code";
  assert.deepEqual([item!.status, item!.rejected, item!.reason], [200, 2, `Accepted, 2 of 3 rejected: ${why}.`]);
  assert.match((await detail(service, item!)).advice, /a status of its own/);
  assert.equal((await service.call("POST", SINGLE, { body: MESSAGE })).status, 200);
  const [[all], [refused]] = [await requests(service), await requests(service, "?which=refused")];
  assert.deepEqual([all!.path, all!.rejected, all!.reason, refused!.id], [SINGLE, 0, null, item!.id]);
});

test("the newest come first, those that went well too, and a filter finds them by their path", async () => {
  await service.call("POST", SINGLE, { body: MESSAGE });
  await service.call("GET", "/account/1/balance");
  const [first, second] = await requests(service);
  assert.deepEqual([first!.path, first!.reason, second!.path], ["/account/1/balance", null, SINGLE]);
  assert.ok((await requests(service, "?path=/text/")).every(({ path }) => path === SINGLE));
  assert.deepEqual(await requests(service, "?path=nothing%20like%20it"), []);
  assert.equal((await service.call("GET", "/console/1/requests?which=some")).status, 400);
});

test("what the console reads is not among them; what it does is, by its door", async () => {
  const cookie = await signIn(service);
  const before = (await requests(service)).length;
  await consoleCall(service, cookie, "GET", "/console/1/me");
  await consoleCall(service, cookie, "GET", "/account/1/balance");
  await requests(service);
  assert.equal((await requests(service)).length, before);
  await consoleCall(service, cookie, "POST", "/sms/1/preview", { body: { text: "x" } });
  const [item] = await requests(service);
  assert.deepEqual([item!.path, item!.door, item!.by], ["/sms/1/preview", "console", "demo"]);
});

test("keys are called by their names, and every door by its own", async () => {
  const key = newApiKey();
  const named = { ...storedForm(key), accountKey: "DEMO0001", name: "the till", atMs: 0 };
  assert.equal(await service.store.createApiKey(named), "created");
  const session = await service.call("POST", "/auth/1/session", { authorization: DEMO });
  await service.call("GET", "/account/1/balance", { authorization: `App ${key}` });
  await service.call("GET", "/account/1/balance", { authorization: `IBSSO ${session.json.token}` });
  await service.call("GET", "/sms/1/text/query?username=demo&password=demo-password&to=41793026727&text=hi&from=a1", {
    authorization: null,
  });
  const [query, token, app] = await requests(service);
  assert.deepEqual([app!.door, app!.by], ["key", "the till"]);
  assert.deepEqual([token!.door, token!.by], ["session", "demo"]);
  assert.deepEqual([query!.door, query!.by], ["query", "demo"]);
  assert.equal(query!.path, "/sms/1/text/query?username=demo&password=***&to=41793026727&text=***&from=a1");
});

test("secrets are masked however they are written, and texts are shown only where the settings say so", async (t) => {
  const open = await startTestService(t, { settings: { console: { requestTexts: true } } });
  const bodies: readonly (readonly [sent: string, hidden: string, shown: string])[] = [
    ['{"currentPassword":"old one","password":"new, one"}', '{"currentPassword":"***","password":"***"}', ""],
    ['{"p\\u0061ssword": ["a", {"b": "c"}], "x": "y"}', '{"p\\u0061ssword": ["***", {"***": "***"}], "x": "y"}', ""],
    ['{"password":"cut off', '{"password":"***"', ""],
    ["{'password': 'single', 'x': 1}", "{'password': ***, 'x': 1}", ""],
    ['{"a":"b"c","password":"astray"}', '{"a":"b"c","password":"***"}', ""],
    [
      '{"text":"hello","binary":{"hex":"0f"}}',
      '{"text":"***","binary":{"hex":"***"}}',
      '{"text":"hello","binary":{"hex":"0f"}}',
    ],
  ];
  for (const [body, hidden, shown] of bodies) {
    for (const [on, expected] of [
      [service, hidden],
      [open, shown || hidden],
    ] as const) {
      await on.call("PUT", "/account/1/password", { body });
      const [item] = await requests(on);
      assert.equal((await detail(on, item!)).body.text, expected, body);
    }
  }
  const form = {
    body: "username=x&p%61ssword=y&code=1",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  };
  await service.call("POST", "/account/1/second-factor/confirm", form);
  const [item] = await requests(service);
  assert.equal((await detail(service, item!)).body.text, "username=x&p%61ssword=***&code=***");
});

test("a body is masked by what it says that it is, and where it looks like something else by that too", async () => {
  const secret = { password: "hunter2", accessToken: "hunter2" };
  const json = JSON.stringify(secret);
  const form = "application/x-www-form-urlencoded";
  for (const [type, body] of [
    ["application/json", `${" ".repeat(1_000)}${json}`],
    ["application/json", `\n\t${"\r\n".repeat(300)}[${json}]`],
    ["application/json", `"x" ${json}`],
    ["application/json", `x ${json}`],
    ["application/json", "username=x&password=hunter2&text=hunter2"],
    [form, json],
    [form, `${" ".repeat(200)}${json}`],
    [`${form}; charset=utf-8`, "a=%&p%61ssword=hunter2"],
  ] as const) {
    await service.call("POST", "/auth/1/session", { body, headers: { "content-type": type } });
    await service.call("POST", "/account/1/second-factor/confirm", { body, headers: { "content-type": type } });
    const [item] = await requests(service);
    const { text } = (await detail(service, item!)).body;
    assert.ok(!text.includes("hunter2") && text.includes("***"), `${type} ${body.trim()}: ${text}`);
  }
});

test("URLs in requests are shown without names, passwords and what looks like a secret in their queries", async () => {
  const urls: readonly (readonly [url: string, shown: string])[] = [
    ["https://u:hunter2@h.example/a?b=1", "https://h.example/a?b=1"],
    ["https://hunter2@h.example", "https://h.example"],
    ["ftp:/u:hunter2@h.example/", "ftp:/h.example/"],
    ["https:\\\\u:hunter2@h.example/", "https:\\\\h.example/"],
    ["https://h.example:8080/a?id=1&Access_Token=hunter2&x=2", "https://h.example:8080/a?id=1&Access_Token=***&x=2"],
    ["https://h.example/?api%5Fkey=hunter2#token=hunter2", "https://h.example/?api%5Fkey=***#token=***"],
    ["https://[::1]:80/a@b", "https://[::1]:80/a@b"],
    ["https://u:hunter2", "https://u:***"],
  ];
  for (const [url, shown] of urls) {
    const body = JSON.stringify({ ...MESSAGE, to: [], notifyUrl: url, sendAt: "no" }).replaceAll("/", "\\/");
    await service.call("POST", SINGLE, { body });
    const [inJson] = await requests(service);
    assert.equal(JSON.parse((await detail(service, inJson!)).body.text).notifyUrl, shown, url);
    await service.call("POST", SINGLE, { body: `{"notifyUrl": "${url.replaceAll("\\", "\\\\")}` });
    const [cut] = await requests(service);
    assert.doesNotMatch((await detail(service, cut!)).body.text, /hunter2/);
    await service.call("GET", `/account/1/balance?notifyUrl=${encodeURIComponent(url)}`);
    const [inQuery] = await requests(service);
    const { searchParams } = new URL(inQuery!.path, "http://x");
    assert.equal(searchParams.get("notifyUrl"), shown, url);
  }
});

test("of a body two thousand octets are kept, and of all requests two hundred", async () => {
  const body = JSON.stringify({ ...MESSAGE, text: "é".repeat(5_000), to: [] });
  await service.call("POST", SINGLE, { body });
  const [item] = await requests(service);
  const found = await detail(service, item!);
  assert.deepEqual([found.body.octets, found.body.isWhole], [Buffer.byteLength(body), false]);
  assert.ok(found.body.text.length < 2_100);
  for (let count = 0; count < 210; count++) await service.call("GET", "/account/1/balance");
  const gone = await service.call("GET", `/console/1/request?id=${item!.id}`);
  assert.equal(gone.status, 404);
  assert.match(gone.json.requestError.serviceException.additionalDescription, /keeps the last 200/);
  assert.equal((await requests(service)).length, 100, "a page has a hundred of them");
});

test("whoever names an account and is not let in is seen by it, within a bound; who names nobody, by operators", async () => {
  await addAccount(service.store, { key: "VICTIM" });
  const own = basic("VICTIM", "password");
  await service.call("GET", "/account/1/balance", { authorization: own });
  await service.call("POST", SINGLE, { body: MESSAGE, authorization: basic("VICTIM", "wrong") });
  await service.call("GET", "/sms/1/mistyped", { authorization: own });
  const named = await eventually(async () => {
    const found = await requests(service, "?which=refused", own);
    return found.length === 2 ? found : null;
  });
  assert.deepEqual(
    named.map(({ path, status, by }) => [path, status, by]).sort(),
    [
      [SINGLE, 401, "VICTIM"],
      ["/sms/1/mistyped", 404, "VICTIM"],
    ].sort(),
  );
  for (let count = 0; count < 60; count++)
    await service.call("GET", `/sms/1/mistyped/${count}`, { authorization: basic("VICTIM", "whatever") });
  await eventually(async () => (await requests(service, "?which=refused", own)).length === 50);
  assert.ok(
    (await requests(service, "", own)).some(({ status }) => status === 200),
    "strangers push nothing out",
  );

  const key = newApiKey();
  await service.call("GET", "/account/1/balance", { authorization: `App ${key}` });
  await service.call("GET", "/account/1/balance", { authorization: "App somebody's-password-in-the-wrong-place" });
  const nobodys = await eventually(async () => {
    const found = await requests(service, "?whose=nobody", OPERATOR);
    return found.some(({ by }) => by === storedForm(key).id) ? found : null;
  });
  assert.ok(nobodys.every(({ by }) => !String(by).includes(key.slice(-20))));
  assert.match((await detail(service, nobodys[0]!, OPERATOR, "&whose=nobody")).advice, /Authorization header/);
  const asked = await service.call("GET", "/console/1/requests?whose=nobody");
  assert.equal(asked.status, 403);
});

test("nobody sees another's, not by an id either", async () => {
  await service.call("GET", "/account/1/balance");
  const [item] = await requests(service);
  for (const authorization of [basic("reseller", "reseller-password"), OPERATOR]) {
    assert.ok((await requests(service, "", authorization)).every(({ by }) => by !== "demo"));
    const { status } = await service.call("GET", `/console/1/request?id=${item!.id}`, { authorization });
    assert.equal(status, 404);
  }
});

test("all requests together take no more memory than the settings say, and one account has a share of it", async (t) => {
  const small = await startTestService(t, { settings: { console: { requestsBytes: 20_000 } } });
  const reseller = basic("reseller", "reseller-password");
  await small.call("GET", "/account/1/balance", { authorization: reseller });
  for (let count = 0; count < 90; count++) await small.call("GET", "/account/1/balance");
  assert.equal((await requests(small, "", reseller)).length, 1, "one account alone pushes nobody out");
  const own = await requests(small);
  assert.ok(own.length > 2 && own.length < 20, `${own.length}`);
  for (let name = 0; name < 5; name++) {
    await addAccount(small.store, { key: `BUSY${name}` });
    const busy = { authorization: basic(`BUSY${name}`, "password") };
    for (let count = 0; count < 10; count++) await small.call("GET", "/account/1/balance", busy);
  }
  assert.equal((await requests(small, "", reseller)).length, 0, "the one that was quiet for longest goes first");
});

test("strangers push no account's requests out, whether they name one or not", async (t) => {
  const small = await startTestService(t, {
    settings: { console: { requestsBytes: 40_000 }, limits: { loginAttempts: 1_000_000 } },
  });
  await small.call("GET", "/account/1/balance");
  const long = `/sms/1/mistyped?${"x".repeat(3_000)}`;
  for (let count = 0; count < 60; count++) {
    await small.call("GET", long, { authorization: "App nobody-knows-this-one" });
    await small.call("GET", long, { authorization: basic("reseller", "wrong") });
  }
  assert.equal((await requests(small)).length, 1);
  const nobodys = await requests(small, "?whose=nobody", OPERATOR);
  assert.ok(nobodys.length > 2 && nobodys.length < 20, `${nobodys.length}`);
  assert.equal(nobodys[0]!.path.length, 500, "of an address its beginning is kept");
});

test("a request that was refused is let go of, with its body: what is kept of it is small", async (t) => {
  const on = await startTestService(t);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heldOctets = async () => {
    for (let count = 0; count < 4; count++) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const pad = "x".repeat(1_000_000);
  const bodies = [
    JSON.stringify({ messages: [{ from: "a", destinations: "no", text: pad }] }),
    JSON.stringify({ messages: [{ from: "a", destinations: [{ to: "41793026727" }], text: pad, sendAt: "nonsense" }] }),
    `{"messages": [${pad}`,
    JSON.stringify({ messages: [{ from: "a", destinations: [{ to: "41793026727" }], text: "x", [pad]: "x\0" }] }),
  ];
  const send = async () => {
    for (const body of bodies)
      assert.equal((await on.call("POST", "/sms/1/text/advanced", { body })).status, 400, body.slice(0, 90));
  };
  await send();
  const before = await heldOctets();
  for (let count = 0; count < 10; count++) await send();
  const grown = (await heldOctets()) - before;
  assert.ok(grown < 8_000_000, `${grown} octets are held after 40 requests of 1 MB`);
});

test("the page that watches sees a request come in", async (t) => {
  const watcher = await Watcher.open(t, service, { authorization: DEMO }, "requests?which=refused&path=mistake");
  assert.deepEqual((await watcher.answer()).items, []);
  await service.call("POST", "/sms/1/mistake", { body: {} });
  const { items } = await watcher.answer();
  assert.deepEqual([items[0].path, items[0].status], ["/sms/1/mistake", 404]);
});

test("without the console nothing is kept", async (t) => {
  const without = await startTestService(t, { settings: { console: { enabled: false } } });
  assert.equal((await without.call("GET", "/console/1/requests")).status, 404);
});
