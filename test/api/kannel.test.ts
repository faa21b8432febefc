/** Kannel's door, GET and POST /cgi-bin/sendsms: each parameter and each answer, with the octets that real programs send. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { rawCall } from "../support/raw-http.ts";
import { balanceOf } from "../support/sending.ts";
import { type Answer, basic, type CallOptions, DEMO, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const PATH = "/cgi-bin/sendsms";
const NOW = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const TO = "41793026727";
const clock = new VirtualClock(NOW);
const service = await startTestService({ after }, { clock, settings: { kannel: { enabled: true } } });
const LOGIN = "username=demo&password=demo-password";
const GOOD = `${LOGIN}&from=Kannel&to=${TO}`;
const DENIED = "Number(s) has/have been denied by white- and/or black-lists.";

const ask = (query: string, options: CallOptions = {}): Promise<Answer> =>
  service.call("GET", `${PATH}?${query}`, { authorization: null, ...options });
const says = ({ status, text }: Answer): string => `${status} ${text}`;
const ACCEPTED = "202 0: Accepted for delivery";
const LATER = "202 3: Queued for later delivery";

/** What a query that is taken has handed on. */
async function sent(query: string, options: CallOptions = {}) {
  const before = service.handedOn.length;
  const answer = await ask(query, options);
  assert.equal(says(answer), ACCEPTED);
  assert.equal(service.handedOn.length, before + 1);
  return service.handedOn.at(-1)!;
}

/** The octets of a request, written by hand. */
async function raw(head: string, body: Buffer | string = ""): Promise<string> {
  const octets = Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), Buffer.from(body as string)]);
  const { status, body: text } = await rawCall(service.url, octets);
  return `${status} ${text}`;
}

test("a message by a plain URL is accepted in Kannel's words, as plain text", async () => {
  const balance = await balanceOf(service);
  const answer = await ask(`${GOOD}&text=Hello+world`);
  assert.equal(says(answer), ACCEPTED);
  assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { from, to, text, encoding } = service.handedOn.at(-1)!;
  assert.deepEqual({ from, to, text, encoding }, { from: "Kannel", to: TO, text: "Hello world", encoding: "gsm7" });
  assert.equal(Math.round((balance - (await balanceOf(service))) * 100), 1);
});

test("who sends: the names and places that Kannel takes, and ours", async () => {
  const message = `from=Kannel&to=${TO}&text=x`;
  assert.equal(says(await ask(`${LOGIN}&${message}`)), ACCEPTED);
  assert.equal(says(await ask(`user=demo&pass=demo-password&${message}`)), ACCEPTED);
  assert.equal(says(await ask(message, { authorization: DEMO })), ACCEPTED);
  assert.equal(says(await ask(message, { authorization: "App demo-api-key" })), ACCEPTED);
  const headers = { "x-kannel-username": "demo", "x-kannel-password": "demo-password" };
  assert.equal(says(await ask(message, { headers })), ACCEPTED);
  const failed = "403 Authorization failed for sendsms";
  for (const wrong of [
    "",
    "username=demo",
    "username=demo&password=",
    "username=nobody&password=x",
    "user=demo&pass=x",
  ])
    assert.equal(says(await ask(`${wrong}&${message}`)), failed, wrong);
  assert.equal(says(await ask(message, { authorization: basic("demo", "wrong") })), failed);
  assert.equal(says(await ask("")), failed, "it is settled before the message is looked at");
});

test("wrong logins are counted as everywhere, also those in a form", async (t) => {
  const strict = await startTestService(t, { settings: { kannel: { enabled: true }, limits: { loginAttempts: 3 } } });
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const post = async (password: string) => {
    const body = `username=demo&password=${password}&to=${TO}&text=x&from=a1`;
    return strict.call("POST", PATH, { authorization: null, headers: form, body });
  };
  for (const password of ["a", "b", "c"]) assert.equal((await post(password)).status, 403);
  const late = await post("demo-password");
  assert.equal(says(late), "429 Temporal failure, try again later.");
  assert.ok(Number(late.headers.get("retry-after")) > 0);
  const byUrl = await strict.call("GET", `${PATH}?${GOOD}&text=x`, { authorization: null });
  assert.equal(byUrl.status, 429);
});

test("several numbers are separated by blanks, in whatever form of an international number, and each counts once", async () => {
  const before = service.handedOn.length;
  assert.equal(
    says(await ask(`${LOGIN}&from=a1&text=x&to=%2B41793026727+0041793026728++4179-3026-729+41793026727`)),
    ACCEPTED,
  );
  const numbers = service.handedOn.slice(before).map(({ to }) => to);
  assert.deepEqual(numbers, ["41793026727", "41793026728", "41793026729"]);
  assert.equal((await sent(`${LOGIN}&from=a1&text=x&to=+${TO}`)).to, TO, "a plus sign that was not escaped");
});

test("numbers that are none are denied, and named where others were taken", async () => {
  assert.equal(says(await ask(`${LOGIN}&from=a1&text=x&to=nobody`)), `400 ${DENIED}`);
  assert.equal(says(await ask(`${LOGIN}&from=a1&text=x&to=12`)), `400 ${DENIED}`);
  const mixed = await ask(`${LOGIN}&from=a1&text=x&to=${TO}+no%07body+12`);
  assert.equal(says(mixed), `${ACCEPTED} Denied receivers are: no?body 12`);
});

test("the sender: a name, a number with its plus sign, and the account's own", async () => {
  assert.equal((await sent(`${LOGIN}&from=%2B41790000000&to=${TO}&text=x`)).from, "41790000000");
  await addAccount(service.store, { key: "NAMELESS", balanceMicros: 1_000_000n });
  const missing = await ask(`username=NAMELESS&password=password&to=${TO}&text=x`);
  assert.equal(says(missing), "400 Sender missing and no global set, rejected");
  await addAccount(service.store, { key: "NAMED", defaultSender: "Ours", balanceMicros: 1_000_000n });
  assert.equal((await sent(`username=NAMED&password=password&to=${TO}&text=x`)).from, "Ours");
  assert.equal(
    says(await ask(`${LOGIN}&from=far+too+long+a+name&to=${TO}&text=x`)),
    "400 Sender not allowed, rejected",
  );
});

test("texts: charset and coding say which characters the octets are", async () => {
  const cases: readonly (readonly [query: string, text: string, encoding: string])[] = [
    ["text=Gr%C3%BC%C3%9Fe", "Grüße", "gsm7"],
    ["charset=UTF-8&text=%E2%82%AC", "€", "gsm7"],
    ["charset=ISO-8859-1&text=Gr%FC%DFe", "Grüße", "gsm7"],
    ["charset=latin1&text=%E4", "ä", "gsm7"],
    ["charset=windows-1252&text=%80+100", "€ 100", "gsm7"],
    ["charset=ISO-8859-15&text=%A4", "€", "gsm7"],
    ["charset=UTF-16BE&text=%00H%00i", "Hi", "gsm7"],
    ["charset=koi8-r&text=%F0%D2%C9", "При", "ucs2"],
    ["coding=0&text=%D0%9F%D1%80%D0%B8", "При", "ucs2"],
    ["coding=2&text=%04%1F%04%40%048", "При", "ucs2"],
    ["coding=2&charset=UTF-8&text=%D0%9F", "П", "ucs2"],
    ["coding=2&charset=UCS-2&text=%04%1F", "П", "ucs2"],
    ["coding=&charset=&text=100%25+sure%", "100% sure%", "gsm7"],
  ];
  for (const [query, text, encoding] of cases) {
    const message = await sent(`${GOOD}&${query}`);
    assert.deepEqual([message.text, message.encoding], [text, encoding], query);
  }
  for (const query of [
    "text=%E4",
    "charset=nonsense&text=x",
    "charset=UTF-16BE&text=x",
    "coding=2&text=abc",
    "text=a%00b",
  ])
    assert.equal(says(await ask(`${GOOD}&${query}`)), "400 Charset or body misformed, rejected", query);
});

test("a long text is cut as everywhere", async () => {
  assert.equal((await sent(`${GOOD}&text=${"x".repeat(200)}`)).partCount, 2);
  const [status, text] = [400, "Text is too long, rejected"];
  assert.equal(says(await ask(`${GOOD}&text=${"x".repeat(9_000)}`)), `${status} ${text}`);
});

/** What only octets can have. */
const OCTETS: readonly (readonly [query: string, hex: string, dataCoding: number, esmClass: number])[] = [
  ["coding=1&text=%00%FF+", "00ff20", 0x04, 0],
  ["coding=1&mclass=1&text=A", "41", 0x15, 0],
  ["coding=1&mclass=2&alt-dcs=1&text=A", "41", 0xf6, 0],
  ["udh=%06%05%04%15%82%00%00&text=AB", "060504158200004142", 0x04, 0x40],
  ["coding=1&udh=%02p%00", "027000", 0x04, 0x40],
  ["coding=0&udh=%02p%00&text=%40", "02700000", 0x00, 0x40],
  ["coding=2&charset=UTF-8&udh=%02p%00&text=A", "0270000041", 0x08, 0x40],
  ["mclass=1&text=A%E2%82%AC", "411b65", 0x11, 0],
  ["mclass=3&coding=2&charset=UTF-8&text=A", "0041", 0x1b, 0],
  ["mclass=0&alt-dcs=1&text=A", "41", 0xf0, 0],
  ["mclass=2&text=%D0%9F", "041f", 0x1a, 0],
  ["mwi=0&text=A", "41", 0xd8, 0],
  ["mwi=6&text=A", "41", 0xd2, 0],
  ["mwi=1&coding=2&charset=UTF-8&text=A", "0041", 0xe9, 0],
  ["rpi=1&text=A", "41", 0x00, 0x80],
];

for (const [query, hex, dataCoding, esmClass] of OCTETS) {
  test(`${query} goes as the octets ${hex} with data coding ${dataCoding}`, async () => {
    const { text, encoding } = await sent(`${GOOD}&${query}`);
    assert.deepEqual([text, encoding], [hex, { dataCoding, esmClass }]);
  });
}

test("mclass 0 is a flash message, and without it there is none", async () => {
  assert.deepEqual(
    [(await sent(`${GOOD}&text=x&mclass=0`)).flash, (await sent(`${GOOD}&text=x`)).flash],
    [true, false],
  );
});

test("validity and deferred are minutes", async () => {
  const { expiresAtMs } = await sent(`${GOOD}&text=x&validity=10&deferred=0`);
  assert.equal(expiresAtMs, clock.now() + 10 * MINUTE_MS);
  const unbounded = await sent(`${GOOD}&text=x&validity=0`);
  assert.equal(unbounded.expiresAtMs, clock.now() + 48 * 60 * MINUTE_MS);
  const before = service.handedOn.length;
  assert.equal(says(await ask(`${GOOD}&text=later&deferred=5`)), LATER);
  assert.equal(service.handedOn.length, before);
  await clock.advance(5 * MINUTE_MS + 1_000);
  assert.deepEqual([service.handedOn.length, service.handedOn.at(-1)!.text], [before + 1, "later"]);
});

test("account and binfo are kept with the message; what says nothing here is taken and not used", async () => {
  await sent(
    `${GOOD}&text=x&account=sales&binfo=order+7&smsc=other&priority=3&meta-data=%3Fsmpp%3Fa%3Db&pid=0&rpi=0&compress=0`,
  );
  const { json } = await service.call("GET", "/sms/1/logs?limit=1");
  const [{ campaignReferenceId, callbackData }] = json.results;
  assert.deepEqual({ campaignReferenceId, callbackData }, { campaignReferenceId: "sales", callbackData: "order 7" });
});

test("what is wrong is told in Kannel's words, and nothing is sent", async () => {
  const before = [service.handedOn.length, await balanceOf(service)];
  const cases: readonly (readonly [query: string, text: string])[] = [
    [`${LOGIN}&text=x`, "Missing receiver number, rejected"],
    [`${LOGIN}&text=x&to=`, "Empty receiver number not allowed, rejected"],
    [`${LOGIN}&text=x&to=+`, "Empty receiver number not allowed, rejected"],
    [GOOD, "Empty text not allowed, rejected"],
    [`${GOOD}&text=`, "Empty text not allowed, rejected"],
    [`${GOOD}&text=x&udh=%05`, "UDH field misformed, rejected"],
    [`${GOOD}&text=x&udh=%02%05%01`, "UDH field misformed, rejected"],
    [`${GOOD}&text=x&udh=%96${"a".repeat(150)}`, "UDH field is too long, rejected"],
    [`${GOOD}&text=x&coding=3`, "Coding field misformed, rejected"],
    [`${GOOD}&text=x&coding=UCS-2`, "Coding field misformed, rejected"],
    [`${GOOD}&text=x&mclass=4`, "MClass field misformed, rejected"],
    [`${GOOD}&text=x&mwi=8`, "MWI field misformed, rejected"],
    [`${GOOD}&text=x&mwi=1&coding=1`, "MWI field misformed, rejected"],
    [`${GOOD}&text=x&compress=2`, "Compress field misformed, rejected"],
    [`${GOOD}&text=x&compress=1`, "Compress is not supported, rejected"],
    [`${GOOD}&text=x&pid=256`, "PID field misformed, rejected"],
    [`${GOOD}&text=x&pid=64`, "PID is not supported, rejected"],
    [`${GOOD}&text=x&rpi=3`, "RPI field misformed, rejected"],
    [`${GOOD}&text=x&alt-dcs=2`, "Alt-DCS field misformed, rejected"],
    [`${GOOD}&text=x&validity=-2`, "Validity field misformed, rejected"],
    [`${GOOD}&text=x&validity=${"9".repeat(400)}`, "Validity field misformed, rejected"],
    [`${GOOD}&text=x&deferred=soon`, "Deferred field misformed, rejected"],
    [`${GOOD}&text=x&deferred=500000`, "Deferred field misformed, rejected"],
    [`${GOOD}&text=x&deferred=99999999`, "Deferred field misformed, rejected"],
    [`${GOOD}&text=x&priority=4`, "Priority field misformed, rejected"],
    [`${GOOD}&text=x&dlr-mask=64`, "DLR-Mask field misformed, rejected"],
    [`${GOOD}&text=x&dlr-url=x`, "DLR-URL field misformed, rejected"],
    [`${GOOD}&text=x&dlr-url=ftp://client.example/`, "DLR-URL field misformed, rejected"],
    [`${GOOD}&text=x&dlr-mask=1&dlr-url=http://%25P.client.example/`, "DLR-URL field misformed, rejected"],
    [`${GOOD}&text=x&dlr-url=http://client.example/${"x".repeat(2_048)}`, "DLR-URL field misformed, rejected"],
    [`${GOOD}&text=x&account=${"x".repeat(65)}`, "Account field misformed or too long, rejected"],
    [`${GOOD}&text=x&account=a%0Ab`, "Account field misformed or too long, rejected"],
    [`${GOOD}&text=x&binfo=${"x".repeat(201)}`, "BInfo field misformed or too long, rejected"],
    [`${GOOD}&text=x${"&a".repeat(100)}`, "More than 100 parameters, rejected"],
  ];
  for (const [query, text] of cases) {
    const answer = await ask(query);
    assert.equal(says(answer), `400 ${text}`, query.slice(0, 200));
    assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
  }
  assert.deepEqual([service.handedOn.length, await balanceOf(service)], before);
});

test("-1 is as good as none, and of a name that stands twice the first counts", async () => {
  const none = [
    "coding",
    "mclass",
    "mwi",
    "compress",
    "pid",
    "rpi",
    "alt-dcs",
    "validity",
    "deferred",
    "priority",
    "dlr-mask",
  ];
  const { text } = await sent(`${GOOD}&text=first&text=second&${none.map((name) => `${name}=-1`).join("&")}`);
  assert.equal(text, "first");
});

test("without money, a route or the right to it, the answer says so", async () => {
  await addAccount(service.store, { key: "POOR" });
  const poor = `username=POOR&password=password&from=a1&to=${TO}&text=x`;
  const answer = await ask(poor);
  assert.equal(says(answer), "403 Not enough credits, rejected");
});

test("a key without the scope, and an account that is for other networks, do not send, by whatever way they come", async () => {
  const failed = "403 Authorization failed for sendsms";
  const made = await service.call("POST", "/account/1/api-keys", { body: { name: "reader", scopes: ["track"] } });
  const { key: apiKey } = made.json;
  assert.equal(typeof apiKey, "string", made.text);
  const message = `from=a1&to=${TO}&text=x`;
  assert.equal(says(await ask(message, { authorization: `App ${apiKey}` })), failed);
  await addAccount(service.store, { key: "ELSEWHERE", allowedAddresses: ["10.0.0.0/8"], balanceMicros: 1_000_000n });
  const body = `username=ELSEWHERE&password=password&${message}`;
  assert.equal(says(await ask(body)), failed);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  assert.equal(says(await service.call("POST", PATH, { authorization: null, headers, body })), failed);
  const nameless = await service.call("POST", PATH, { authorization: null, headers, body: `pass=x&${message}` });
  assert.equal(says(nameless), failed, "a password without a name");
});

test("no other method is one of Kannel's, and a HEAD sends nothing", async () => {
  const before = service.handedOn.length;
  for (const method of ["HEAD", "PUT", "DELETE", "OPTIONS"]) {
    const answer = await service.call(method, `${PATH}?${GOOD}&text=x`);
    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET, POST"], method);
  }
  assert.equal(service.handedOn.length, before);
});

test("any Accept header will do", async () => {
  for (const accept of ["*/*", "text/plain", "text/html,application/xhtml+xml;q=0.9", "image/png"])
    assert.equal(says(await ask(`${GOOD}&text=x`, { headers: { accept } })), ACCEPTED);
});

test("a door that is closed is not there, like any other path", async (t) => {
  const closed = await startTestService(t);
  for (const method of ["GET", "POST"]) {
    const answer = await closed.call(method, `${PATH}?${GOOD}&text=x`, { authorization: null });
    assert.deepEqual([answer.status, answer.json.requestError.serviceException.messageId], [404, "NOT_FOUND"]);
  }
});

test("as Nagios sends it: curl with what it has encoded in the URL, HTTP/1.0 too", async () => {
  const text = "PROBLEM%20Host%20web-1%20is%20DOWN%0ACRITICAL%20-%20100%25%20packet%20loss";
  const line = `GET ${PATH}?user=demo&pass=demo-password&from=Nagios&to=%2B${TO}&text=${text} HTTP/1.0`;
  assert.equal(await raw(`${line}\r\nUser-Agent: Wget/1.11\r\nAccept: */*`), ACCEPTED);
  assert.equal(service.handedOn.at(-1)!.text, "PROBLEM Host web-1 is DOWN\nCRITICAL - 100% packet loss");
});

test("as Zabbix and OpenNMS send it: curl -G --data-urlencode, and curl -d to the same URL", async () => {
  const form = `username=demo&password=demo-password&from=Zabbix&to=${TO}&text=Disk+%2Fvar+is+95%25+full`;
  const host = "Host: localhost\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nConnection: close";
  assert.equal(await raw(`GET ${PATH}?${form} HTTP/1.1\r\n${host}`), ACCEPTED);
  const type = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}`;
  assert.equal(await raw(`POST ${PATH} HTTP/1.1\r\n${host}\r\n${type}`, form), ACCEPTED);
  assert.equal(service.handedOn.at(-1)!.text, "Disk /var is 95% full");
  const head = `POST ${PATH}?${form} HTTP/1.1\r\n${host}\r\nContent-Length: 0`;
  assert.equal(await raw(head), ACCEPTED, "a POST without a body");
});

test("as a forum in PHP sends it: urlencode of Latin-1, and a form whose octets nobody encoded", async () => {
  const encoded = `GET ${PATH}?${GOOD}&charset=ISO-8859-1&text=Pr%FCfung+f%FCr+M%FCller HTTP/1.1`;
  assert.equal(await raw(`${encoded}\r\nHost: localhost\r\nConnection: close`), ACCEPTED);
  assert.equal(service.handedOn.at(-1)!.text, "Prüfung für Müller");
  const body = Buffer.from(`${GOOD}&charset=ISO-8859-1&text=Pr\xfcfung`, "latin1");
  assert.equal(await post(body, "Content-Type: application/x-www-form-urlencoded"), ACCEPTED);
  assert.equal(service.handedOn.at(-1)!.text, "Prüfung");
});

const KANNEL_HEADERS = [
  "X-Kannel-Username: demo",
  "X-Kannel-Password: demo-password",
  "X-Kannel-From: Kannel",
  `X-Kannel-To:  ${TO} 41793026728 `,
];

/** A POST with the text as its body. */
function post(body: Buffer | string, ...headers: readonly string[]): Promise<string> {
  const octets = Buffer.from(body as string);
  const lines = ["Host: localhost", "Connection: close", `Content-Length: ${octets.length}`, ...headers];
  return raw(`POST ${PATH} HTTP/1.1\r\n${lines.join("\r\n")}`, octets);
}

test("a POST with X-Kannel headers has the text as its body, and its charset in its type", async () => {
  const before = service.handedOn.length;
  assert.equal(await post("Grüße", "Content-Type: text/plain", ...KANNEL_HEADERS), ACCEPTED);
  assert.deepEqual(
    service.handedOn.slice(before).map(({ to, text }) => [to, text]),
    [
      [TO, "Grüße"],
      ["41793026728", "Grüße"],
    ],
  );
  const latin1 = Buffer.from("Gr\xfc\xdfe", "latin1");
  assert.equal(await post(latin1, 'Content-Type: text/plain; charset="ISO-8859-1"', ...KANNEL_HEADERS), ACCEPTED);
  assert.equal(service.handedOn.at(-1)!.text, "Grüße");
  const octets = ["Content-Type: application/octet-stream", ...KANNEL_HEADERS];
  assert.equal(await post(Buffer.from([0xde, 0xad]), ...octets, "X-Kannel-UDH: 06050415820000"), ACCEPTED);
  assert.deepEqual(
    [service.handedOn.at(-1)!.text, service.handedOn.at(-1)!.encoding],
    ["06050415820000dead", { dataCoding: 4, esmClass: 64 }],
  );
  assert.equal(await post(Buffer.from([0xde, 0xad]), ...octets, "X-Kannel-UDH: %02p%00"), ACCEPTED);
  assert.equal(service.handedOn.at(-1)!.text, "027000dead");
  const options = ["X-Kannel-MClass: 0", "X-Kannel-Validity: 10", "X-Kannel-Coding: 0", "X-Kannel-Priority: 1"];
  assert.equal(await post("x", "Content-Type: text/plain", ...KANNEL_HEADERS, ...options), ACCEPTED);
  const { flash, expiresAtMs } = service.handedOn.at(-1)!;
  assert.deepEqual([flash, expiresAtMs], [true, clock.now() + 10 * MINUTE_MS]);
});

test("a POST that is none of Kannel's is told so", async () => {
  const plain = "Content-Type: text/plain";
  const [username, password] = KANNEL_HEADERS;
  assert.equal(await post("x", plain, username!, password!), "400 Missing receiver(s) number(s), rejected");
  assert.equal(await post("x", plain), "403 Authorization failed for sendsms");
  assert.equal(await post("x", plain, username!, "X-Kannel-Password: wrong"), "403 Authorization failed for sendsms");
  const unsupported = "415 Unsupported content-type, rejected";
  assert.equal(await post("<p>", "Content-Type: text/html", ...KANNEL_HEADERS), unsupported);
  assert.equal(await post("<x/>", "Content-Type: text/xml", ...KANNEL_HEADERS), unsupported);
  assert.equal(await post("x", "Content-Type: nonsense", ...KANNEL_HEADERS), unsupported);
  assert.equal(await post("{}", "Content-Type: application/json", ...KANNEL_HEADERS), "400 Invalid content-type");
  // A name that objects have from birth is no type either.
  assert.equal(await post("{}", "Content-Type: constructor", ...KANNEL_HEADERS), unsupported);
  assert.equal(
    await post("\xff\xff", "Content-Type: application/x-www-form-urlencoded"),
    "403 Authorization failed for sendsms",
  );
  const large = await post("x".repeat(70_000), plain, ...KANNEL_HEADERS);
  assert.equal(large, "413 The body is larger than the 65536 octets that are taken here.");
  const wrong = await post(Buffer.from([0xff]), plain, ...KANNEL_HEADERS);
  assert.equal(wrong, "400 Charset or body misformed, rejected");
});

test("a service that stops, or whose store is away, asks for another try", async (t) => {
  const away = await startTestService(t, {
    settings: { kannel: { enabled: true } },
    edgeStore: (store) => ({ ...store, accept: () => Promise.reject(new Error("broken")) }) as typeof store,
  });
  const answer = await away.call("GET", `${PATH}?${GOOD}&text=x`, { authorization: null });
  assert.equal(says(answer), "500 Sending failed.");
});

test("a request that comes again with its Idempotency-Key is sent once, whatever its password", async () => {
  const headers = { "idempotency-key": "kannel-1" };
  const first = await ask(`${GOOD}&text=once&deferred=7`, { headers });
  const balance = await balanceOf(service);
  await clock.advance(MINUTE_MS);
  assert.equal(
    says(await ask(`from=Kannel&to=${TO}&text=once&deferred=7`, { headers, authorization: DEMO })),
    says(first),
  );
  assert.equal(await balanceOf(service), balance);
  assert.equal((await ask(`${GOOD}&text=other`, { headers })).status, 409);
});

test("the console's page of requests shows neither passwords nor texts", async () => {
  await ask(`user=demo&pass=demo-password&from=a1&to=${TO}&text=a+secret`);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const body = `user=demo&pass=demo-password&from=a1&to=${TO}&text=a+secret`;
  await service.call("POST", PATH, { authorization: null, headers: form, body });
  await post("a secret", "Content-Type: text/plain", ...KANNEL_HEADERS);
  const { json } = await service.call("GET", "/console/1/requests");
  for (const { id } of json.items.slice(0, 3)) {
    const { text } = await service.call("GET", `/console/1/request?id=${id}`);
    assert.match(text, /cgi-bin/);
    assert.doesNotMatch(text, /demo-password|a secret|a\+secret/);
  }
});

test("it is described with plain text for its answers", async () => {
  const { json } = await service.call("GET", "/openapi.json");
  const { get, post: byPost } = json.paths[PATH];
  for (const described of [get, byPost])
    for (const status of ["202", "400", "403", "503"]) {
      const said = described.responses[status];
      const response = said.$ref === undefined ? said : json.components.responses[said.$ref.split("/").at(-1)];
      assert.deepEqual(Object.keys(response.content), ["text/plain"]);
    }
  assert.deepEqual(Object.keys(byPost.requestBody.content), [
    // The page fills in the first one.
    "text/plain",
    "application/octet-stream",
    "application/x-www-form-urlencoded",
  ]);
  assert.ok(get.parameters.some(({ name }: { name: string }) => name === "dlr-url"));
});
