/** Sending by the OneAPI over real sockets, with the bytes of five clients: what they send, and what they read of the answers. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { basic, callService, DEMO, eventually, startTestService, type TestService } from "../support/service.ts";

const service = await startTestService({ after });
const PHONE = "41793026727";
const JSON_TYPE = "application/json";
const FORM = "application/x-www-form-urlencoded";

const requests = (sender: string) => `/1/smsmessaging/outbound/${sender}/requests`;
const infosOf = (sender: string, correlator: string) => `${requests(sender)}/${correlator}/deliveryInfos`;

/** A POST as a client writes it: the bytes of its body and its own headers. */
function post(path: string, body: string, contentType: string, agent: string, authorization = DEMO) {
  return service.call("POST", path, {
    body,
    authorization,
    headers: { "content-type": contentType, "user-agent": agent, accept: "*/*" },
  });
}

/** What each client was seen to send. */
const SENT: readonly {
  client: string;
  contentType: string;
  body: string;
  correlator: string | null;
  to: string[];
  text: string;
}[] = [
  {
    client: "OneApi-python-0.03",
    contentType: JSON_TYPE,
    body: '{"notifyURL": null, "clientCorrelator": "cc-py-1", "senderAddress": "InfoSMS", "address": ["tel:41793026727"], "message": "Test message", "senderName": "tel:InfoSMS", "callbackData": null}',
    correlator: "cc-py-1",
    to: [PHONE],
    text: "Test message",
  },
  {
    client: "OneApi-python-0.03",
    contentType: FORM,
    body: "senderAddress=InfoSMS&senderName=tel%3AInfoSMS&message=Test+message&clientCorrelator=obdztbvpq4&address=41793026727",
    correlator: "obdztbvpq4",
    to: [PHONE],
    text: "Test message",
  },
  {
    client: "OneApi-python-0.03",
    contentType: FORM,
    body: "senderAddress=InfoSMS&senderName=tel%3AInfoSMS&message=Test+message&clientCorrelator=obdztbvpq5&address=41793026727&address=41793026728",
    correlator: "obdztbvpq5",
    to: [PHONE, "41793026728"],
    text: "Test message",
  },
  {
    client: "OneApi-php-0.0.3",
    contentType: "application/json; charset=utf-8",
    body: '{"senderAddress":"InfoSMS","address":["41793026727"],"message":"Test message","clientCorrelator":"cc-php-1","senderName":"tel:InfoSMS"}',
    correlator: "cc-php-1",
    to: [PHONE],
    text: "Test message",
  },
  {
    client: "OneApi-ruby-0.1",
    contentType: JSON_TYPE,
    body: '{"senderAddress":"InfoSMS","address":"41793026727","message":"Test message","clientCorrelator":"cc-rb-1","senderName":"tel:InfoSMS"}',
    correlator: "cc-rb-1",
    to: [PHONE],
    text: "Test message",
  },
  {
    client: "OneApi-Java-1.0.0",
    contentType: JSON_TYPE,
    body: '{"senderAddress":"InfoSMS","address":["41793026727","41793026728"],"message":"hello ü","clientCorrelator":null,"notifyURL":null,"senderName":null,"callbackData":null,"language":null}',
    correlator: null,
    to: [PHONE, "41793026728"],
    text: "hello ü",
  },
  {
    client: "OneApi-C#-1.0.0.0",
    contentType: JSON_TYPE,
    body: '{\r\n  "senderAddress": "InfoSMS",\r\n  "address": [\r\n    "41793026727",\r\n    "41793026728"\r\n  ],\r\n  "message": "hello ü",\r\n  "clientCorrelator": null,\r\n  "notifyURL": null,\r\n  "senderName": null,\r\n  "callbackData": null,\r\n  "language": null\r\n}',
    correlator: null,
    to: [PHONE, "41793026728"],
    text: "hello ü",
  },
];

for (const [index, { client, contentType, body, correlator, to, text }] of SENT.entries()) {
  test(`request ${index + 1}, of ${client} as ${contentType}, is sent`, async () => {
    const before = service.handedOn.length;
    const answer = await post(requests("InfoSMS"), body, contentType, client);
    assert.equal(answer.status, 201, answer.text);
    const { clientCorrelator, sendMessageResults, resourceReference } = answer.json;
    if (correlator !== null) assert.equal(clientCorrelator, correlator);
    else assert.match(clientCorrelator, /^\d{19}$/);
    const ids = sendMessageResults.map(({ messageId }: { messageId: string }) => messageId);
    for (const id of ids) assert.match(id, /^\d{19}$/);
    assert.deepEqual(answer.json, {
      sendMessageResults: to.map((destinationAddress, place) => ({
        messageStatus: "MessageAccepted",
        messageId: ids[place],
        senderAddress: "InfoSMS",
        destinationAddress,
        price: 0.01,
      })),
      clientCorrelator,
      resourceReference: {
        resourceURL: `${service.url}${infosOf("InfoSMS", clientCorrelator)}`,
      },
    });
    assert.equal(answer.headers.get("location"), resourceReference.resourceURL);
    // Two clients have the correlator from here.
    assert.equal(resourceReference.resourceURL.split("/").at(-2), clientCorrelator);
    const handed = service.handedOn.slice(before);
    assert.deepEqual(
      handed.map((message) => [message.from, message.to, message.text]),
      to.map((number) => ["InfoSMS", number, text]),
    );
  });
}

test("a number may have tel: and a plus before it, and commas between several", async () => {
  const before = service.handedOn.length;
  const body = JSON.stringify({ address: ["tel:+41793026727", "+41793026728, TEL:41793026729"], message: "x" });
  const answer = await post(requests("tel%3A%2B41790000000"), body, JSON_TYPE, "any");
  assert.equal(answer.status, 201, answer.text);
  const sent = service.handedOn.slice(before).map(({ from, to }) => [from, to]);
  assert.deepEqual(
    sent,
    ["41793026727", "41793026728", "41793026729"].map((to) => ["41790000000", to]),
  );
});

test("a space in the sender of the path is a plus or %20", async () => {
  for (const segment of ["My+Shop", "My%20Shop"]) {
    const before = service.handedOn.length;
    const answer = await post(requests(segment), `address=${PHONE}&message=x`, FORM, "any");
    assert.equal(answer.status, 201, answer.text);
    assert.equal(service.handedOn[before]!.from, "My Shop");
    const { resourceURL } = answer.json.resourceReference;
    assert.match(resourceURL, /\/outbound\/My%20Shop\/requests\//);
    const infos = await service.call("GET", new URL(resourceURL).pathname);
    assert.equal(infos.json.deliveryInfoList.resourceURL, resourceURL);
  }
});

test("language: SP is Spanish, and flags may be texts", async () => {
  const before = service.handedOn.length;
  const direct = { languageCode: "ES", singleShift: true };
  const answer = await service.call("POST", "/sms/1/text/single", {
    body: { from: "InfoSMS", to: PHONE, text: "Á", language: direct },
  });
  assert.equal(answer.status, 200);
  for (const language of [
    { languageCode: "SP", useSingleShift: true, useLockingShift: null },
    { languageCode: "es", useSingleShift: "true", useLockingShift: "false" },
  ]) {
    const body = JSON.stringify({ address: PHONE, message: "Á", language });
    assert.equal((await post(requests("InfoSMS"), body, JSON_TYPE, "OneApi-php-0.0.3")).status, 201);
  }
  const [newer, ...older] = service.handedOn.slice(before).map(({ encoding }) => encoding);
  assert.deepEqual(older, [newer, newer]);
  assert.notEqual(newer, "ucs2");
});

test("the same correlator with the same body again is not sent again, and is answered alike", async () => {
  const body = JSON.stringify({ address: PHONE, message: "once", clientCorrelator: "once-1" });
  const first = await post(requests("InfoSMS"), body, JSON_TYPE, "any");
  const before = service.handedOn.length;
  const again = await post(requests("InfoSMS"), body, JSON_TYPE, "any");
  assert.equal(again.status, 201);
  assert.equal(service.handedOn.length, before);
  assert.equal(again.json.sendMessageResults[0].messageId, first.json.sendMessageResults[0].messageId);
  // The same body for another sender is another request.
  const other = await post(requests("Other"), body, JSON_TYPE, "any");
  assert.notEqual(other.json.sendMessageResults[0].messageId, first.json.sendMessageResults[0].messageId);
});

test("what is wrong with a message is said in the family's words", async () => {
  const poor = await addAccount(service.store, { key: "POOR", balanceMicros: 0n });
  const rows: [object, string, string?][] = [
    [{ address: "12", message: "x" }, "InvalidDestinationAddress"],
    [{ senderAddress: "a name that is too long", address: PHONE, message: "x" }, "InvalidSourceAddress"],
    [{ address: PHONE, message: "x".repeat(5_000) }, "MessageRejected"],
    [{ address: PHONE, message: "x" }, "NotEnoughCredits", basic(poor.key, "password")],
  ];
  for (const [body, expected, authorization] of rows) {
    const answer = await post(requests("InfoSMS"), JSON.stringify(body), JSON_TYPE, "any", authorization);
    assert.equal(answer.status, 201, answer.text);
    const [result] = answer.json.sendMessageResults;
    assert.equal(result.messageStatus, expected);
    assert.equal(result.price, 0);
  }
});

test("wrong requests are told which field is wrong, in JSON that every client reads", async () => {
  const good = { address: PHONE, message: "x" };
  const rows: [object | string, string][] = [
    [{ ...good, message: "" }, "message"],
    [{ ...good, message: null }, "message"],
    [{ ...good, message: 5 }, "message"],
    [{ ...good, address: [] }, "address"],
    [{ ...good, address: null }, "address"],
    [{ ...good, address: " , " }, "address"],
    [{ ...good, address: [{}] }, "address"],
    [{ ...good, notifyURL: "ftp://x" }, "notifyURL"],
    [{ ...good, callbackData: "x".repeat(201) }, "callbackData"],
    [{ ...good, clientCorrelator: "x".repeat(101) }, "clientCorrelator"],
    [{ ...good, clientCorrelator: "ü".repeat(40) }, "clientCorrelator"],
    [{ ...good, language: "TR" }, "language"],
    [{ ...good, language: { languageCode: "XX" } }, "language.languageCode"],
    [{ ...good, language: { languageCode: "TR", useSingleShift: "perhaps" } }, "language.useSingleShift"],
    [{ ...good, address: Array(10_001).fill(PHONE) }, "address"],
    [`address=${PHONE}&message=x&message=y`, "message"],
  ];
  for (const [body, field] of rows) {
    const isForm = typeof body === "string";
    const text = isForm ? body : JSON.stringify(body);
    const answer = await post(requests("InfoSMS"), text, isForm ? FORM : JSON_TYPE, "any");
    assert.equal(answer.status, 400, `${text.slice(0, 100)}: ${answer.text}`);
    const { requestError } = answer.json;
    assert.deepEqual(requestError.serviceException.variables, [field]);
    assert.equal(requestError.serviceException.messageId, "BAD_REQUEST");
  }
});

test("ten thousand recipients in a form are one request, and their states one answer", async () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => `4179${1_000_000 + index}`);
  const body = `senderAddress=InfoSMS&message=x&clientCorrelator=many&${numbers.map((to) => `address=${to}`).join("&")}`;
  const rich = await addAccount(service.store, { key: "RICH", balanceMicros: 1_000_000_000n });
  const authorization = basic(rich.key, "password");
  const sent = await post(requests("InfoSMS"), body, FORM, "OneApi-python-0.03", authorization);
  assert.equal(sent.status, 201, sent.text.slice(0, 300));
  assert.equal(sent.json.sendMessageResults.length, 10_000);
  const infos = await service.call("GET", infosOf("InfoSMS", "many"), { authorization });
  assert.equal(infos.status, 200, infos.text.slice(0, 300));
  assert.deepEqual(
    infos.json.deliveryInfoList.deliveryInfo.map(({ address }: { address: string }) => address),
    numbers,
  );
});

test("a request without anybody's credentials, and one with a session", async () => {
  const body = JSON.stringify({ address: PHONE, message: "x" });
  const wrong = await service.call("POST", requests("InfoSMS"), { body, authorization: null });
  assert.equal(wrong.status, 401);
  assert.equal(wrong.json.requestError.serviceException.messageId, "UNAUTHORIZED");
  const login = await post(
    "/1/customerProfile/login",
    "username=demo&password=demo-password",
    FORM,
    "OneApi-php-0.0.3",
  );
  const session = `IBSSO ${login.json.login.ibAuthCookie}`;
  assert.equal((await post(requests("InfoSMS"), body, JSON_TYPE, "any", session)).status, 201);
});

/** The state of a request, once it is this. */
async function stateOf(of: TestService, path: string, state: string) {
  return eventually(async () => {
    const answer = await of.call("GET", path);
    assert.equal(answer.status, 200, answer.text);
    const { deliveryInfo } = answer.json.deliveryInfoList;
    return deliveryInfo[0].deliveryStatus === state ? answer.json : null;
  });
}

test("the state of a request has three spellings, and can be read again and again", async () => {
  const body = JSON.stringify({ address: [PHONE, "12"], message: "x", clientCorrelator: "state 1" });
  const sent = await post(requests("InfoSMS"), body, JSON_TYPE, "any");
  const [first, second] = sent.json.sendMessageResults;
  const paths = [
    infosOf("InfoSMS", "state%201"),
    `${infosOf("InfoSMS", "state%201")}?clientCorrelator=state%201`,
    `${infosOf("requests", "state%201")}?clientCorrelator=state%201`,
    `${infosOf("TODO", "state%201")}?clientCorrelator=state%201`,
    `${infosOf("InfoSMS", "state+1")}?`,
    "/1/smsmessaging/outbound/requests/state%201/deliveryInfos",
  ];
  for (const path of [...paths, ...paths]) {
    assert.deepEqual(await stateOf(service, path, "DeliveredToTerminal"), {
      deliveryInfoList: {
        deliveryInfo: [
          {
            address: PHONE,
            messageId: first.messageId,
            deliveryStatus: "DeliveredToTerminal",
            clientCorrelator: "state 1",
            price: 0.01,
          },
          {
            address: "12",
            messageId: second.messageId,
            deliveryStatus: "DeliveryImpossible",
            clientCorrelator: "state 1",
            price: 0,
          },
        ],
        resourceURL: `${service.url}${infosOf("InfoSMS", "state%201")}`,
      },
    });
  }
  const unknown = await service.call("GET", infosOf("InfoSMS", "nobody"));
  assert.equal(unknown.status, 404);
  const other = await addAccount(service.store, { key: "STRANGER" });
  const foreign = await service.call("GET", paths[0]!, { authorization: basic(other.key, "password") });
  assert.equal(foreign.status, 404);
});

test("reports go to the notifyURL in the family's form, one message a request", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const body = JSON.stringify({
    address: [PHONE, "41793026728", "41793026729"],
    message: "x",
    clientCorrelator: "pushed",
    notifyURL: receiver.url,
    callbackData: "cb",
  });
  const sent = await post(requests("InfoSMS"), body, JSON_TYPE, "any");
  const received = await receiver.waitForRequests(3);
  for (const { headers } of received) assert.equal(headers["content-type"], JSON_TYPE);
  const bodies = received.map((each) => JSON.parse(each.body));
  const ids = sent.json.sendMessageResults.map(({ messageId }: { messageId: string }) => messageId);
  const byAddress = bodies.sort((one, other) =>
    one.deliveryInfoNotification.deliveryInfo.address.localeCompare(
      other.deliveryInfoNotification.deliveryInfo.address,
    ),
  );
  assert.deepEqual(
    byAddress,
    [PHONE, "41793026728", "41793026729"].map((address, index) => ({
      deliveryInfoNotification: {
        deliveryInfo: {
          address,
          messageId: ids[index],
          deliveryStatus: "DeliveredToTerminal",
          clientCorrelator: "pushed",
          price: 0.01,
        },
        callbackData: "cb",
      },
    })),
  );
});

test("resourceURL has the host that the client used, and a proxy's word counts only where it is trusted", async (t) => {
  const body = JSON.stringify({ address: PHONE, message: "x" });
  const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "sms.example" };
  const untrusted = await service.call("POST", requests("InfoSMS"), { body, headers: forwarded });
  assert.ok(untrusted.json.resourceReference.resourceURL.startsWith(`${service.url}/1/`));
  const behind = await startTestService(t, { settings: { server: { trustedProxies: "127.0.0.1" } } });
  const trusted = await callService(behind.url, "POST", requests("InfoSMS"), { body, headers: forwarded });
  assert.ok(trusted.json.resourceReference.resourceURL.startsWith("https://sms.example/1/smsmessaging/"));
});
