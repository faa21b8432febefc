/** Short links from end to end: a text goes out with links of its own for each phone, a phone opens one, and the client is told. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, type TestContext, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { ReportReceiver } from "../support/report-receiver.ts";
import { startTestService, type TestService } from "../support/service.ts";

const ADVANCED = "/sms/2/text/advanced";
const TARGET = "https://shop.example/sale?a=1&b=%C3%A9#top";
const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1";

const shared = await startTestService({ after });

interface Sent {
  readonly text: string;
  readonly codes: readonly string[];
  readonly messageId: string;
}

async function send(service: TestService, body: object, to: readonly string[] = ["41793026727"]) {
  const { urlOptions = {}, ...message } = body as { urlOptions?: object };
  const destinations = to.map((number) => ({ to: number }));
  return service.call("POST", ADVANCED, {
    body: { messages: [{ from: "Shop", destinations, ...message }], urlOptions, includeSmsCountInResponse: true },
  });
}

/** The messages as they were sent, with the codes of their links. */
async function sent(service: TestService, body: object, to?: readonly string[]): Promise<Sent[]> {
  const answer = await send(service, body, to);
  assert.equal(answer.status, 200, answer.text);
  const found: Sent[] = [];
  for (const { messageId } of answer.json.messages) {
    const message = await view(service, messageId);
    found.push({
      messageId,
      text: message.text,
      codes: [...message.text.matchAll(/\/l\/(\w+)/g)].map((each) => each[1]!),
    });
  }
  return found;
}

async function view(service: TestService, id: string) {
  const answer = await service.call("GET", `/console/1/message?id=${id}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** As a phone asks: without credentials, and following nothing. */
function open(service: TestService, path: string, headers: Record<string, string> = {}, method = "GET") {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const asked = request(
      `${service.url}${path}`,
      { method, headers: { "user-agent": IPHONE, ...headers } },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (piece: string) => {
          body += piece;
        });
        answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, body }));
      },
    );
    asked.on("error", reject).end();
  });
}

async function receiving(t: TestContext): Promise<ReportReceiver> {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  return receiver;
}

test("every phone gets a link of its own, which leads where the client's link led", async () => {
  const text = `Sale (${TARGET}), and https://shop.example/b.`;
  const messages = await sent(shared, { text }, ["41793026727", "41793026728", "41793026729"]);
  const codes = messages.flatMap((message) => message.codes);
  assert.equal(new Set(codes).size, 6);
  for (const message of messages) {
    const [first, second] = message.codes;
    assert.equal(message.text, `Sale (${shared.url}/l/${first}), and ${shared.url}/l/${second}.`);
    const answer = await open(shared, `/l/${first}`);
    assert.equal(answer.status, 302);
    assert.equal(answer.headers.location, TARGET);
    assert.equal(answer.headers["cache-control"], "no-store");
    assert.equal(answer.headers["referrer-policy"], "no-referrer");
    assert.equal((await open(shared, `/l/${second}`)).headers.location, "https://shop.example/b");
  }
});

test("parts are counted with the short link in place, the same for all", async () => {
  const long = `https://shop.example/${"x".repeat(300)}`;
  const answer = await send(shared, { text: long }, ["41793026727", "41793026728"]);
  assert.deepEqual(
    answer.json.messages.map(({ smsCount }: { smsCount: number }) => smsCount),
    [1, 1],
  );
  const asItIs = await send(shared, { text: long, urlOptions: { shortenUrl: false } });
  assert.equal(asItIs.json.messages[0].smsCount, 3);
});

test("a click is told to the client: signed, one object, with what the phone says of itself", async (t) => {
  const receiver = await receiving(t);
  const fields = { text: `Look: ${TARGET}`, callbackData: "order 7", entityId: "shop", applicationId: "app" };
  const [message] = await sent(shared, { ...fields, urlOptions: { trackingUrl: `${receiver.url}/clicks` } });
  const before = Date.now();
  await open(shared, `/l/${message!.codes[0]}`);
  const [push] = await receiver.waitForRequests(1);
  assert.equal(push!.path, "/reports/clicks");
  assert.equal(push!.headers["content-type"], "application/json");
  const body = JSON.parse(push!.body);
  assert.ok(body.sendDateTime >= before && body.sendDateTime <= Date.now());
  const { bulkId } = await view(shared, message!.messageId);
  assert.deepEqual(body, {
    notificationType: "CLICKED",
    recipient: "41793026727",
    url: TARGET,
    sendDateTime: body.sendDateTime,
    messageId: message!.messageId,
    bulkId,
    callbackData: "order 7",
    recipientInfo: { deviceType: "Phone", os: "iOS", deviceName: "iPhone" },
    applicationId: "app",
    entityId: "shop",
  });
  const { account } = (await shared.store.findLogin({ username: "demo" }))!;
  const { secrets } = await shared.store.callbackPolicy({ accountId: account.id });
  new Webhook(secrets[0]!).verify(push!.body, push!.headers as Record<string, string>);
});

test("clicks are counted all, and told up to a bound, each by itself", async (t) => {
  const receiver = await receiving(t);
  const [message] = await sent(shared, { text: TARGET, urlOptions: { trackingUrl: `${receiver.url}/clicks` } });
  for (let round = 0; round < 6; round++)
    await Promise.all(Array.from({ length: 20 }, () => open(shared, `/l/${message!.codes[0]}`)));
  await receiver.waitForRequests(100);
  const { links, events } = await view(shared, message!.messageId);
  const [link] = links;
  assert.equal(link.clicks, 120);
  const told = JSON.stringify(events.find(({ kind }: { kind: string }) => kind === "clicked").detail);
  assert.ok(told.includes(`120 clicks, the last at ${link.lastClickAt.replace("Z", "+0000")}`), told);
  assert.equal(link.target, TARGET);
  assert.ok(link.firstClickAt <= link.lastClickAt);
  // A second message's click comes behind whatever was still to be told of the first.
  const [other] = await sent(shared, { text: TARGET, urlOptions: { trackingUrl: `${receiver.url}/other` } });
  await open(shared, `/l/${other!.codes[0]}`);
  const pushes = await receiver.waitForRequests(101);
  assert.equal(pushes.length, 101);
  for (const { body } of pushes) assert.equal(JSON.parse(body).notificationType, "CLICKED");
});

test("what only looks at a link is sent on and is no click", async () => {
  const [message] = await sent(shared, { text: TARGET });
  const path = `/l/${message!.codes[0]}`;
  const watchers: [Record<string, string>, string?][] = [
    [{}, "HEAD"],
    [{ "sec-purpose": "prefetch;prerender" }],
    [{ "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" }],
    [{ "user-agent": "WhatsApp/2.23.20 A" }],
  ];
  for (const [headers, method] of watchers) {
    const answer = await open(shared, path, headers, method);
    assert.deepEqual([answer.status, answer.headers.location], [302, TARGET]);
  }
  assert.equal((await view(shared, message!.messageId)).links[0].clicks, 0);
  await open(shared, path, { "user-agent": "" });
  assert.equal((await view(shared, message!.messageId)).links[0].clicks, 1);
});

test("a code that nobody has, or that is none, leads to a page in plain words", async () => {
  const [message] = await sent(shared, { text: TARGET });
  const code = message!.codes[0]!;
  const other = code.replace(/^./, (letter) => (letter === "a" ? "b" : "a"));
  const paths = [
    other,
    code.slice(1),
    `${code}a`,
    "x",
    "a".repeat(900),
    `..%2f${code}`,
    `${other}?url=https://evil.example/`,
  ];
  for (const path of paths) {
    const answer = await open(shared, `/l/${path}`);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.headers.location, undefined);
    assert.match(answer.body, /^This link leads nowhere/, path);
  }
  assert.equal((await open(shared, `/l/${code}?url=https://evil.example/`)).headers.location, TARGET);
});

test("a message that is rejected has no link, and one that comes twice keeps its first", async () => {
  const answer = await send(shared, { text: TARGET }, ["41793026727", "x"]);
  const [good, bad] = answer.json.messages;
  assert.equal(bad.status.groupName, "REJECTED");
  const { text } = await view(shared, good.messageId);
  assert.equal((await open(shared, `/l/${text.split("/l/")[1]}`)).status, 302);
  const again = {
    bulkId: "twice",
    messages: [{ from: "Shop", destinations: [{ to: "41793026727" }], text: TARGET }],
    urlOptions: {},
  };
  const first = await shared.call("POST", ADVANCED, { body: again });
  const second = await shared.call("POST", ADVANCED, { body: again });
  assert.deepEqual(second.json, first.json);
  assert.equal((await view(shared, first.json.messages[0].messageId)).links.length, 1);
});

test("a domain that the service does not have rejects the messages, and not the request", async (t) => {
  const service = await startTestService(t, {
    settings: { links: { domains: "go.example.com, http://alt.example:8000" } },
  });
  const [usual] = await sent(service, { text: TARGET });
  assert.match(usual!.text, /^https:\/\/go\.example\.com\/l\/[0-9A-Za-z]{11}$/);
  const urlOptions = { customDomain: "ALT.example:8000", removeProtocol: true };
  const [other] = await sent(service, { text: TARGET, urlOptions });
  assert.match(other!.text, /^alt\.example:8000\/l\/[0-9A-Za-z]{11}$/);
  const answer = await send(service, { text: TARGET, urlOptions: { customDomain: "evil.example" } });
  assert.equal(answer.status, 200);
  assert.equal(answer.json.messages[0].status.name, "REJECTED_SOURCE");
});

test("what cannot be shortened is refused, and says why", async () => {
  const cases: [body: object, says: RegExp][] = [
    [{ text: "https://a.example/ ".repeat(6) }, /more than 5 links/],
    [{ text: `https://a.example/${"x".repeat(2_100)}` }, /more than 2048 characters/],
    [{ text: TARGET, urlOptions: { trackingUrl: "ftp://a.example" } }, /absolute http or https/],
    [{ text: TARGET, urlOptions: { shortenUrl: "yes" } }, /boolean/],
  ];
  for (const [body, says] of cases) {
    const answer = await send(shared, body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, says);
  }
});

test("a text without links goes as it is, and so does a request that wants none shortened", async () => {
  const [plain] = await sent(shared, { text: "No link: ftp://a.example, shop.example" });
  assert.equal(plain!.text, "No link: ftp://a.example, shop.example");
  const [kept] = await sent(shared, { text: TARGET, urlOptions: { shortenUrl: false } });
  assert.equal(kept!.text, TARGET);
});

test("without a domain a request for short links is refused, and nothing is sent", async (t) => {
  const service = await startTestService(t, { sandbox: false });
  const answer = await send(service, { text: TARGET });
  assert.equal(answer.status, 400, answer.text);
  assert.match(answer.text, /urlOptions/);
  assert.match(answer.text, /no domain/);
  assert.equal(service.handedOn.length, 0);
  const asItIs = await send(service, { text: TARGET, urlOptions: { shortenUrl: false } });
  assert.equal(asItIs.status, 200);
});

test("version 3 shortens in its own words, and is refused in them", async (t) => {
  const v3 = (service: TestService) =>
    service.call("POST", "/sms/3/messages", {
      body: {
        messages: [{ sender: "Shop", destinations: [{ to: "41793026727" }], content: { text: TARGET } }],
        options: { tracking: { removeProtocol: true } },
      },
    });
  const answer = await v3(shared);
  assert.equal(answer.status, 200, answer.text);
  const { text } = await view(shared, answer.json.messages[0].messageId);
  assert.equal((await open(shared, text.slice(text.indexOf("/l/")))).headers.location, TARGET);
  const refused = await v3(await startTestService(t, { sandbox: false }));
  assert.equal(refused.status, 400);
  assert.equal(refused.json.violations[0].property, "options.tracking");
});

test("a store that cannot count a click does not keep the phone from where it goes", async (t) => {
  const service = await startTestService(t, {
    edgeStore: (store) => ({ ...store, clicked: () => Promise.reject(new Error("the disk is full")) }),
  });
  const [message] = await sent(service, { text: TARGET });
  assert.equal((await open(service, `/l/${message!.codes[0]}`)).headers.location, TARGET);
});
