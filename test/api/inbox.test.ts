/** Messages from phones from end to end: a phone writes, and the client fetches it or is told at its URL. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { AuthType, Infobip } from "@infobip-api/sdk";
import { Webhook } from "standardwebhooks";
import { addAccount } from "../support/accounts.ts";
import { runProgram, startChild } from "../support/child.ts";
import { dereferenced } from "../support/openapi.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { ENROUTE, passUntil, REJECTED, SINGLE } from "../support/sending.ts";
import {
  assertUnauthorized,
  basic,
  CATALOGUE,
  callService,
  errorObject,
  startTestService,
  type TestService,
  temporaryDirectory,
} from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const INBOX = "/sms/1/inbox/reports";
const WRITE = "/sandbox/1/incoming";
const PHONE = "41793026727";
const NUMBER = "12345";
const START = Date.UTC(2026, 0, 5, 12);

const number = (lines: string): string => `[[number]]\naccount = "DEMO0001"\n${lines}\n`;
const KEYWORDS = 'keywords = ["QUIZ"]\nstopKeywords = ["STOP"]\nstartKeywords = ["START"]';
const WITH_INBOX = CATALOGUE + number(`number = "${NUMBER}"\n${KEYWORDS}`);

const EMPTY = { results: [], messageCount: 0, pendingMessageCount: 0 };

/** A phone writes to a number. */
async function write(service: TestService, text: string, change: { from?: string; to?: string } = {}): Promise<void> {
  const answer = await service.call("POST", WRITE, { body: { from: PHONE, to: NUMBER, text, ...change } });
  assert.equal(answer.status, 204, answer.text);
}

async function fetchInbox(service: TestService, query = "") {
  const answer = await service.call("GET", `${INBOX}${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

async function startInbox(t: TestContext): Promise<TestService> {
  return startTestService(t, { catalogue: WITH_INBOX, clock: new VirtualClock(START) });
}

test("what a phone sends is fetched in the family's form, once", async (t) => {
  const service = await startInbox(t);
  assert.deepEqual(await fetchInbox(service), EMPTY);
  await write(service, "Quiz: Correct answer is Paris ");
  const long = `Žluťoučký kůň ${"x".repeat(100)} 😀`;
  await write(service, long, { from: "41793026834" });
  const answer = await fetchInbox(service);
  const ids = answer.results.map(({ messageId }: { messageId: string }) => messageId);
  for (const id of ids) assert.match(id, /^[0-9]{19}$/);
  const rest = {
    to: NUMBER,
    receivedAt: "2026-01-05T12:00:00.000+0000",
    price: { pricePerMessage: 0, currency: "EUR" },
  };
  assert.deepEqual(answer, {
    results: [
      {
        ...rest,
        messageId: ids[0],
        from: PHONE,
        text: "Quiz: Correct answer is Paris ",
        cleanText: "Correct answer is Paris",
        keyword: "QUIZ",
        smsCount: 1,
      },
      { ...rest, messageId: ids[1], from: "41793026834", text: long, cleanText: long, smsCount: 2 },
    ],
    messageCount: 2,
    pendingMessageCount: 0,
  });
  assert.deepEqual(await fetchInbox(service), EMPTY);
});

test("the published client of the family fetches it", async (t) => {
  const service = await startInbox(t);
  for (const text of ["one", "two", "three"]) await write(service, text);
  const { channels } = new Infobip({
    baseUrl: service.url,
    authType: AuthType.Basic,
    username: "demo",
    password: "demo-password",
  });
  const first = await channels.sms.get(2);
  const { data } = await channels.sms.get();
  assert.deepEqual(
    [first.data, data].map(({ results, pendingMessageCount }) => [
      results.map(({ text }: { text: string }) => text),
      pendingMessageCount,
    ]),
    [
      [["one", "two"], 1],
      [["three"], 0],
    ],
  );
});

test("an answer has 50 messages unless it is asked for others, up to 1000, oldest first", async (t) => {
  const service = await startInbox(t);
  const texts = Array.from({ length: 60 }, (_, index) => `message ${index}`);
  for (const text of texts) await write(service, text);
  const read: string[] = [];
  for (const [query, count, pending] of [
    ["?limit=1", 1, 59],
    // Messages from phones have no such id: none matches, and none is taken away.
    ["?limit=7&entityId=unknown", 0, 0],
    ["?limit=7&unknown=x", 7, 52],
    ["", 50, 2],
    ["?limit=1000", 2, 0],
  ] as const) {
    const { results, messageCount, pendingMessageCount } = await fetchInbox(service, query);
    assert.deepEqual([results.length, messageCount, pendingMessageCount], [count, count, pending]);
    read.push(...results.map(({ text }: { text: string }) => text));
  }
  assert.deepEqual(read, texts);
});

test("a wrong limit is told, and takes no message away", async (t) => {
  const service = await startInbox(t);
  await write(service, "still there");
  const error = errorObject("BAD_REQUEST", "Bad request", ["limit"], "limit must be a whole number from 1 to 1000.");
  for (const limit of ["0", "1001", "-1", "1.5", "ten", "", "1e2", "99999999999999999999", "1&limit=2"]) {
    const answer = await service.call("GET", `${INBOX}?limit=${limit}`);
    assert.deepEqual([answer.status, answer.json], [400, error], limit);
  }
  assert.equal((await fetchInbox(service)).messageCount, 1);
});

test("only a GET with the account's credentials takes its messages away", async (t) => {
  const service = await startInbox(t);
  await addAccount(service.store, { key: "OTHER", username: "other", password: "other-password" });
  await write(service, "for demo only");
  const other = await service.call("GET", INBOX, { authorization: basic("other", "other-password") });
  assert.deepEqual([other.status, other.json], [200, EMPTY]);
  const nobody = await service.call("GET", INBOX, { authorization: null });
  assertUnauthorized(nobody, "missing");
  const head = await service.call("HEAD", INBOX);
  assert.deepEqual([head.status, head.headers.get("allow")], [405, "GET"]);
  assert.equal((await fetchInbox(service)).results[0].text, "for demo only");
});

test("a stop word ends sending to that phone, for the account whose number it is, until a start word", async (t) => {
  const service = await startInbox(t);
  const statusOfSend = async () => {
    const { json } = await service.call("POST", SINGLE, { body: { from: "InfoSMS", to: PHONE, text: "News" } });
    return json.messages[0].status;
  };
  assert.deepEqual(await statusOfSend(), ENROUTE);
  await write(service, "stop!");
  assert.deepEqual(await statusOfSend(), REJECTED.optedOut);
  await write(service, "Start again");
  assert.deepEqual(await statusOfSend(), ENROUTE);
  const { results } = await fetchInbox(service);
  assert.deepEqual(
    results.map(({ keyword, cleanText }: { keyword: string; cleanText: string }) => [keyword, cleanText]),
    [
      ["STOP", ""],
      ["START", "again"],
    ],
  );
});

for (const contentType of ["application/json", "application/xml"]) {
  test(`to a number with a forwardUrl it is pushed as ${contentType}, signed, until it is taken`, async (t) => {
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    const clock = new VirtualClock(Date.now());
    const forwarded = number(`number = "777"\nforwardUrl = "${receiver.url}"\ncontentType = "${contentType}"`);
    const service = await startTestService(t, { catalogue: WITH_INBOX + forwarded, clock });
    receiver.answer(status(503));
    await write(service, "Hello <there> & 😀", { to: "777" });
    await passUntil(clock, () => receiver.requests.length === 1, 10);
    receiver.answer(status(200));
    const [first, second] = await passUntil(clock, () => receiver.requests.length === 2 && receiver.requests, 1_000);

    assert.deepEqual(
      receiver.items.map(({ from, to, text, smsCount }) => [from, to, text, String(smsCount)]),
      Array.from({ length: 2 }, () => [PHONE, "777", "Hello <there> & 😀", "1"]),
    );
    assert.equal(second?.headers["webhook-id"], first?.headers["webhook-id"]);
    assert.equal(first?.headers["content-type"], contentType);
    const { account } = (await service.store.findLogin({ username: "demo" }))!;
    const [secret] = (await service.store.callbackPolicy({ accountId: account.id })).secrets;
    for (const { body, headers } of receiver.requests) {
      new Webhook(secret!).verify(body, headers as Record<string, string>, { jsonParse: false });
    }
    assert.deepEqual(await fetchInbox(service), EMPTY, "what is pushed is not fetched");
  });
}

test("messages carry what is set for their number, and are fetched by it", async (t) => {
  const carried = {
    callbackData: "shop 7",
    entityId: "promotions",
    applicationId: "shop",
    campaignReferenceId: "spring",
  };
  const fields = Object.entries(carried).map(([name, value]) => `${name} = "${value}"`);
  const catalogue = WITH_INBOX + number(`number = "777"\n${fields.join("\n")}`);
  const service = await startTestService(t, { catalogue, clock: new VirtualClock(START) });
  await write(service, "Plain");
  await write(service, "Carried", { to: "777" });
  const fetched = async (query: string) => {
    const { status, json, text } = await service.call("GET", `/sms/1/inbox/reports${query}`);
    assert.equal(status, 200, text);
    return json.results.map((item: Record<string, unknown>) => [
      item.text,
      Object.fromEntries(Object.keys(carried).flatMap((name) => (name in item ? [[name, item[name]]] : []))),
    ]);
  };
  assert.deepEqual(await fetched("?entityId=another"), []);
  assert.deepEqual(await fetched("?campaignReferenceId=winter,spring&applicationId=shop"), [["Carried", carried]]);
  assert.deepEqual(await fetched(""), [["Plain", {}]]);
});

for (const [contentType, method, body] of [
  ["get-url", "GET", ""],
  ["post-url", "POST", "Kölle & Alaaf"],
] as const)
  test(`a number's ${contentType} is called as Kannel calls it, with what its escapes ask for`, async (t) => {
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    const clock = new VirtualClock(START);
    const template = `${receiver.url}/sms?from=%p&plus=%q&to=%P&words=%a&text=%b&at=%t&smsc=%i&id=%I&d=%d&k=%k&s=%s&r=%r`;
    const forwarded = number(`number = "777"\nforwardUrl = "${template}"\ncontentType = "${contentType}"`);
    const service = await startTestService(t, { catalogue: WITH_INBOX + forwarded, clock });
    receiver.answer(status(503));
    await write(service, "Kölle & Alaaf", { to: "777" });
    await passUntil(clock, () => receiver.requests.length === 1, 10);
    receiver.answer(status(200));
    const [first, again] = await passUntil(clock, () => receiver.requests.length === 2 && receiver.requests, 1_000);
    assert.deepEqual([first!.method, first!.body, again!.path], [method, body, first!.path]);
    const { pathname, searchParams } = new URL(first!.path, receiver.url);
    const { id, at, ...said } = Object.fromEntries(searchParams);
    assert.equal(pathname, "/reports/sms");
    assert.deepEqual(said, {
      from: PHONE,
      plus: `+${PHONE}`,
      to: "777",
      words: "Kölle & Alaaf",
      text: "Kölle & Alaaf",
      smsc: "heliograph",
      d: "",
      k: "Kölle",
      s: "&",
      r: "Alaaf",
    });
    assert.match(`${at} ${id}`, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+$/);
    assert.deepEqual(await fetchInbox(service), EMPTY, "what is pushed is not fetched");
  });

test("parts before and after a restart make one message, and what waited in the inbox is still there", async (t) => {
  const data = await temporaryDirectory(t);
  const start = () => startTestService(t, { catalogue: WITH_INBOX, clock: new VirtualClock(START), data });
  const part = (text: string, sequence: number) => ({
    from: PHONE,
    to: NUMBER,
    text,
    concatenation: { reference: 9, total: 2, sequence },
    atMs: START,
  });
  const before = await start();
  await write(before, "waiting");
  await before.store.incoming({ carrierId: "simulator", parts: [part("and half", 2)], nowMs: START });
  await before.stop();
  const afterwards = await start();
  await afterwards.store.incoming({ carrierId: "simulator", parts: [part("half ", 1)], nowMs: START });
  const { results } = await fetchInbox(afterwards);
  assert.deepEqual(
    results.map(({ text }: { text: string }) => text),
    ["waiting", "half and half"],
  );
});

test("the metrics count what came in, and what came for nobody", async (t) => {
  const service = await startInbox(t);
  await write(service, "x".repeat(200));
  await write(service, "hello?", { to: "999" });
  const { text } = await service.call("GET", "/metrics");
  assert.match(text, /^heliograph_incoming_parts_total 3$/m);
  assert.match(text, /^heliograph_incoming_unmatched_total 1$/m);
  const { count, messages } = await service.store.unmatchedIncoming({ limit: 10 });
  assert.deepEqual([count, messages.map(({ to }) => to)], [1, ["999"]]);
});

const shared = await startTestService({ after }, { catalogue: WITH_INBOX });

test("a phone that cannot be is told so", async () => {
  const wrong: [change: object, field: string, says: string][] = [
    [{ from: "Sender" }, "from", "from must be 4 to 15 digits, with its country's code."],
    [{ to: "+41" }, "to", "to must be 3 to 15 digits."],
    [{ to: null }, "to", "to is required."],
    [{ text: "" }, "text", "text must not be empty."],
    [{ text: "x".repeat(10_001) }, "text", "text must be at most 10000 characters long."],
  ];
  for (const [change, field, says] of wrong) {
    const body = { from: PHONE, to: NUMBER, text: "hello", ...change };
    const answer = await shared.call("POST", WRITE, { body });
    assert.deepEqual([answer.status, answer.json], [400, errorObject("BAD_REQUEST", "Bad request", [field], says)]);
  }
});

test("/openapi.json describes the fetching, its limit included", async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the document is looked into as it is
  const document = dereferenced<any>((await shared.call("GET", "/openapi.json")).json);
  const { get, head } = document.paths[INBOX];
  assert.equal(head, undefined);
  const [{ name, in: place, required, schema }] = get.parameters;
  assert.deepEqual(
    { name, place, required, ...schema },
    { name: "limit", place: "query", required: false, type: "integer", minimum: 1, maximum: 1000, default: 50 },
  );
  assert.ok("pendingMessageCount" in get.responses["200"].content["application/json"].schema.properties);
});

test("phones write on command in the sandbox only, and only if there is a simulated network", async (t) => {
  const body = { from: PHONE, to: NUMBER, text: "hello" };
  const real = await startTestService(t, { catalogue: WITH_INBOX, sandbox: false });
  const missing = await real.call("POST", WRITE, { body });
  const says = "There is no such path; GET /docs has all that there are.";
  assert.deepEqual([missing.status, missing.json], [404, errorObject("NOT_FOUND", "Not found", null, says)]);
  const bare = await startTestService(t, { catalogue: number(`number = "${NUMBER}"`) });
  const without = await bare.call("POST", WRITE, { body });
  assert.deepEqual(
    [without.status, without.json],
    [503, errorObject("SERVICE_UNAVAILABLE", "Service unavailable", null, "The catalogue has no simulated carrier.")],
  );
});

test("the sandbox as it is started, on its three threads, takes what a phone writes to the demo account's number", async (t) => {
  const data = await temporaryDirectory(t);
  const { url } = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  const body = { from: PHONE, to: NUMBER, text: "stop" };
  assert.equal((await callService(url, "POST", WRITE, { body })).status, 204);
  const { json } = await callService(url, "GET", INBOX);
  assert.deepEqual([json.messageCount, json.results[0].keyword], [1, "STOP"]);

  const list = () => runProgram(["incoming", "list", "--data", data]);
  assert.equal((await list()).stdout, "Every message from a phone has found its account.\n");
  assert.equal((await callService(url, "POST", WRITE, { body: { ...body, to: "999", text: "a\nb" } })).status, 204);
  assert.match(
    (await list()).stdout,
    /\S+\+0000 +simulator +41793026727 +999 +"a\\nb"\s+1 message was to numbers that are nobody's\.\n$/,
  );
});
