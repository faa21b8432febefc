/** What each destination is told: the statuses of a request that is fine as a whole. What is rejected costs nothing. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { hashPassword } from "../../src/auth/passwords.ts";
import { addAccount } from "../support/accounts.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ADVANCED, accepted, balanceOf, ENROUTE, ID, MULTI, REJECTED, SINGLE } from "../support/sending.ts";
import { basic, startTestService } from "../support/service.ts";

/** Switzerland and Germany are served; Germany has no price; Liechtenstein, +423, has neither. */
const CATALOGUE = `
[[carrier]]
id = "simulator"
kind = "simulator"
answerAfterMs = 10
[[route]]
prefix = "41"
carrier = "simulator"
[[route]]
prefix = "49"
carrier = "simulator"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [
  { prefix = "41", price = "0.01" },
  { prefix = "4175", price = "40" },
  { prefix = "4176", price = "19.5" },
  { prefix = "4177", price = "1000" },
]
`;

const service = await startTestService({ after }, { catalogue: CATALOGUE });

interface Fields {
  [name: string]: unknown;
}

function message(to: string | readonly string[], fields: Fields = {}): Fields {
  const destinations = [to].flat().map((number) => ({ to: number }));
  return { from: "InfoSMS", destinations, text: "Hello", ...fields };
}

async function send(...messages: Fields[]) {
  return accepted(await service.call("POST", ADVANCED, { body: { messages } })).messages;
}

/** Sends something of which nothing can be accepted, and makes sure that it cost nothing and went nowhere. */
async function sendInVain(...messages: Fields[]) {
  const balance = await balanceOf(service);
  const handedOn = service.handedOn.length;
  const results = await send(...messages);
  assert.equal(await balanceOf(service), balance);
  assert.equal(service.handedOn.length, handedOn);
  return results;
}

test("a to that is not 4 to 15 digits is REJECTED_DESTINATION, without a messageId", async () => {
  const bad = [
    "",
    "123",
    "1234567890123456",
    "(41)793026727",
    "41 79 302 67 27",
    "41793O26727",
    "٤١٧٩٣٠٢٦٧٢٧",
    "41793026727\n",
  ];
  const results = await sendInVain(message(bad));

  assert.deepEqual(
    results,
    bad.map((to) => ({ to, status: REJECTED.destination, smsCount: 1 })),
  );
});

test("a rejected destination keeps the messageId that the client chose", async () => {
  const results = await sendInVain({ ...message([]), destinations: [{ to: "+41", messageId: "my-own" }] });

  assert.deepEqual(results, [{ to: "41", status: REJECTED.destination, smsCount: 1, messageId: "my-own" }]);
});

test("a rejected number or sender is told with its reason and the rule, as the composer tells it", async () => {
  const warningsOf = async (path: string, body: object) => {
    const { status, headers } = await service.call("POST", path, { body });
    assert.equal(status, 200);
    return headers.get("x-heliograph-warnings");
  };
  const cases: [field: "from" | "to", value: string | string[], reason: RegExp][] = [
    ["from", "ThirteenSigns", /^from has 13 characters: a sender has 3 to 15 digits, or 1 to 11 characters/],
    ["from", "[[[Shop]]]", /^from has characters that count as two, and too many of them: a sender has /],
    ["from", "1234567890123456", /^from has 16 digits: /],
    ["from", "Привет", /^from has U\+041F in it: /],
    ["from", "---", /^from has no letter: /],
    ["to", "123", /^the number of destination 1 has 3 digits: a number has 4 to 15 digits, with its country's code$/],
    ["to", ["41793026727", "4179O"], /^the number of destination 2 is not of digits alone: a number has /],
  ];
  for (const [field, value, reason] of cases)
    assert.match((await warningsOf(SINGLE, { from: "Shop", to: "41793026727", text: "Hi", [field]: value }))!, reason);
  assert.match(
    (await warningsOf(ADVANCED, { messages: [message("4179", { from: "Shop" }), message("4179", { from: "12" })] }))!,
    /^messages\[1\]\.from has 2 digits: /,
  );
  assert.equal(await warningsOf(SINGLE, { from: "Shop", to: "41793026727", text: "Hi" }), null);
});

test("a to of 4 and one of 15 digits are taken", async () => {
  const results = await send(message(["4179", "417930267271234"]));

  assert.deepEqual(
    results,
    ["4179", "417930267271234"].map((to) => ({ to, status: ENROUTE, smsCount: 1, messageId: ID })),
  );
});

test("a from that is neither 3 to 15 digits nor 1 to 11 GSM characters with a letter is REJECTED_SOURCE", async () => {
  const bad = ["12", "1234567890123456", "TwelveLetter", "Привет", "++41793026727", "12 34", "---", "Line\nfeed", "😀"];
  for (const from of bad) {
    const results = await sendInVain(message("41793026727", { from }));
    assert.deepEqual(results, [{ to: "41793026727", status: REJECTED.source, smsCount: 1, messageId: ID }], from);
  }
});

test("the shortest and the longest of both kinds of from are taken", async () => {
  for (const from of ["123", "123456789012345", "X", "ElevenChars"]) {
    const [result] = await send(message("41793026727", { from }));
    assert.deepEqual(result, { to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID }, from);
  }
});

test("no from, on an account without a default sender, is REJECTED_SOURCE", async () => {
  await addAccount(service.store, { key: "NAMELESS", balanceMicros: 1_000_000n });
  const before = service.handedOn.length;
  const body = { messages: [{ destinations: [{ to: "41793026727" }], text: "Hello" }] };
  const authorization = basic("NAMELESS", "password");
  const { messages } = accepted(await service.call("POST", ADVANCED, { body, authorization }));

  assert.equal(service.handedOn.length, before);
  assert.deepEqual(messages, [{ to: "41793026727", status: REJECTED.source, smsCount: 1, messageId: ID }]);
});

test("no from, on an account with a default sender, is sent from that one; a from of its own still counts", async () => {
  await service.store.createAccount({
    key: "SENDER01",
    kind: "client",
    parentKey: "RESELLER1",
    currency: "EUR",
    ratePlanId: "standard",
    defaultSender: "Default",
    creditLimitMicros: 0n,
    openingBalanceMicros: 1_000_000n,
    callbackSecret: "whsec_c2VjcmV0",
    username: "sender",
    passwordHash: await hashPassword("sender-password"),
    atMs: Date.now(),
  });
  const before = service.handedOn.length;
  const messages = [
    { destinations: [{ to: "41793026727" }], text: "Hello" },
    { destinations: [{ to: "41793026727" }], text: "Hello", from: null },
    { destinations: [{ to: "41793026727" }], text: "Hello", from: "Own" },
  ];
  const authorization = basic("sender", "sender-password");
  accepted(await service.call("POST", ADVANCED, { body: { messages }, authorization }));

  assert.deepEqual(
    service.handedOn.slice(before).map(({ from }) => from),
    ["Default", "Default", "Own"],
  );
});

test("a text of 25 parts is taken, a longer one is REJECTED_MESSAGE_TOO_LONG", async () => {
  const [longest] = await send(message("41793026727", { text: "x".repeat(25 * 153) }));
  const tooLong = await sendInVain(
    message("41793026727", { text: "x".repeat(25 * 153 + 1) }),
    message("41793026728", { text: "中".repeat(25 * 67 + 1) }),
  );

  assert.deepEqual(longest, { to: "41793026727", status: ENROUTE, smsCount: 25, messageId: ID });
  assert.deepEqual(tooLong, [
    { to: "41793026727", status: REJECTED.tooLong, smsCount: 26, messageId: ID },
    { to: "41793026728", status: REJECTED.tooLong, smsCount: 26, messageId: ID },
  ]);
});

test("a messageId that the account has used before is REJECTED_DUPLICATE_MESSAGE_ID", async () => {
  const named = { ...message([]), destinations: [{ to: "41793026727", messageId: "used-before" }] };
  const first = await send(named);
  const second = await sendInVain(named);
  const third = await sendInVain(named);

  assert.deepEqual(first, [{ to: "41793026727", status: ENROUTE, smsCount: 1, messageId: "used-before" }]);
  const duplicate = [{ to: "41793026727", status: REJECTED.duplicate, smsCount: 1, messageId: "used-before" }];
  assert.deepEqual([second, third], [duplicate, duplicate]);
});

test("of one messageId twice in a request, the first is taken and the second rejected", async () => {
  const destinations = ["41793026727", "41793026728"].map((to) => ({ to, messageId: "twice" }));
  const results = await send({ ...message([]), destinations });

  assert.deepEqual(results, [
    { to: "41793026727", status: ENROUTE, smsCount: 1, messageId: "twice" },
    { to: "41793026728", status: REJECTED.duplicate, smsCount: 1, messageId: "twice" },
  ]);
});

test("a destination on the account's or on the service's opt-out list is rejected, until it opts in again", async () => {
  const atMs = Date.now();
  await service.store.optOut({ accountKey: "DEMO0001", number: "41790001001", atMs });
  await service.store.optOut({ accountKey: null, number: "41790001002", atMs });
  await service.store.optOut({ accountKey: "RESELLER1", number: "41790001003", atMs });

  const rejected = await sendInVain(message(["41790001001", "41790001002"]));
  const [ofAnotherAccount] = await send(message("41790001003"));
  await service.store.optIn({ accountKey: "DEMO0001", number: "41790001001" });
  await service.store.optIn({ accountKey: null, number: "41790001002" });
  const again = await send(message(["41790001001", "41790001002"]));

  assert.deepEqual(rejected, [
    { to: "41790001001", status: REJECTED.optedOut, smsCount: 1, messageId: ID },
    { to: "41790001002", status: REJECTED.optedOut, smsCount: 1, messageId: ID },
  ]);
  assert.deepEqual(ofAnotherAccount, { to: "41790001003", status: ENROUTE, smsCount: 1, messageId: ID });
  assert.deepEqual(again, [
    { to: "41790001001", status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "41790001002", status: ENROUTE, smsCount: 1, messageId: ID },
  ]);
});

test("a number without a route, or without a price, is REJECTED_ROUTE_NOT_AVAILABLE", async () => {
  const results = await sendInVain(message(["4236612345", "491701234567"]));

  assert.deepEqual(results, [
    { to: "4236612345", status: REJECTED.route, smsCount: 1, messageId: ID },
    { to: "491701234567", status: REJECTED.route, smsCount: 1, messageId: ID },
  ]);
});

test("multi and single give each destination its own status too", async () => {
  const body = {
    messages: [
      { from: "InfoSMS", to: "41793026727", text: "One" },
      { from: "12", to: "41793026728", text: "Two" },
      { from: "InfoSMS", to: "423", text: "Three" },
    ],
  };
  const multi = accepted(await service.call("POST", MULTI, { body }));
  const single = accepted(await service.call("POST", SINGLE, { body: body.messages[2] }));

  assert.deepEqual(multi.messages, [
    { to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "41793026728", status: REJECTED.source, smsCount: 1, messageId: ID },
    { to: "423", status: REJECTED.destination, smsCount: 1 },
  ]);
  assert.deepEqual(single, { messages: [{ to: "423", status: REJECTED.destination, smsCount: 1 }] });
});

test("what the balance does not cover is REJECTED_NOT_ENOUGH_CREDITS; earlier and cheaper ones go out", async (t) => {
  const poor = await startTestService(t, { catalogue: CATALOGUE });
  const body = {
    messages: [
      message(["41750000001", "41750000002", "41750000003"]), // 40 each, of 100
      message("41760000001", { text: "x".repeat(161) }), // two parts of 19.5
      message("41760000002"), // 19.5
      message("41790000001"), // 0.01
    ],
  };
  const results = accepted(await poor.call("POST", ADVANCED, { body })).messages;

  assert.deepEqual(results, [
    { to: "41750000001", status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "41750000002", status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "41750000003", status: REJECTED.credits, smsCount: 1, messageId: ID },
    { to: "41760000001", status: REJECTED.credits, smsCount: 2, messageId: ID },
    { to: "41760000002", status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "41790000001", status: ENROUTE, smsCount: 1, messageId: ID },
  ]);
  assert.equal(await balanceOf(poor), 0.49);
  assert.deepEqual(await poor.store.verifyLedger(), []);
});

test("every rejected destination gets a delivery report that says why, and nothing else does", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  await service.store.optOut({ accountKey: null, number: "41790002001", atMs: Date.now() });
  const named = (to: string, messageId: string, fields: Fields = {}) => ({
    ...message([], { notifyUrl: receiver.url, ...fields }),
    destinations: [{ to, messageId }],
  });
  await sendInVain(
    named("nobody", "52"),
    named("41793026727", "11", { from: "12" }),
    named("41793026727", "25", { text: "x".repeat(4000) }),
    named("41790002001", "14"),
    named("4236612345", "19"),
    named("41770000001", "12"),
    named("41793026727", "12"),
  );

  const items = await receiver.waitForItems(7);
  // A duplicate is told under an id of its own: the other one is the first message's.
  const nameOf = (messageId: string): string => (/^\d{19}$/.test(messageId) ? "its own" : messageId);
  const told = items.map(({ messageId, status, error }) => `${nameOf(messageId)}: ${status.id} ${error.name}`);
  assert.deepEqual(told.toSorted(), [
    "11: 11 EC_INVALID_SOURCE_ADDRESS",
    "12: 12 EC_USER_OUT_OF_CREDIT",
    "14: 14 EC_BLACKLISTED_DESTINATIONADDRESS",
    "19: 19 EC_NOTSUBMITTEDTOSMPPCHANNEL",
    "25: 25 EC_MSG_TEXT_TOO_LONG",
    "52: 52 EC_INVALID_DESTINATION_ADDRESS",
    "its own: 23 EC_DUPLICATE_MESSAGE",
  ]);
});

test("the report of a rejected destination has all its fields, and no network and no price", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const body = {
    bulkId: "in vain",
    messages: [message("nobody", { notifyUrl: receiver.url, callbackData: "order 7" })],
  };
  await service.call("POST", ADVANCED, { body });

  const [item] = await receiver.waitForItems(1);
  const { sentAt, doneAt, messageId, error, ...rest } = item!;
  assert.match(messageId, /^[0-9]{19}$/);
  assert.match(sentAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/);
  assert.equal(doneAt, sentAt);
  assert.deepEqual(rest, {
    bulkId: "in vain",
    to: "nobody",
    from: "InfoSMS",
    smsCount: 1,
    callbackData: "order 7",
    price: { pricePerMessage: 0, currency: "EUR" },
    status: REJECTED.destination,
  });
  assert.deepEqual(error, {
    groupId: 2,
    groupName: "USER_ERRORS",
    id: 351,
    name: "EC_INVALID_DESTINATION_ADDRESS",
    description: "Invalid Destination Address",
    permanent: false,
  });
});
