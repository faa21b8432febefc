/** A request that comes again, because its answer was lost on the way: it is answered again, and not sent or charged again. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  ADVANCED,
  ADVANCED_V2,
  accepted,
  balanceOf,
  ENROUTE,
  ID,
  MULTI,
  passUntil,
  REJECTED,
  SINGLE,
} from "../support/sending.ts";
import { basic, errorObject, startTestService, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const service = await startTestService({ after });

const TO = "41793026727";
const HELLO = { from: "InfoSMS", text: "Hello" };
const DESTINATIONS = [{ to: TO }, { to: "nobody" }, { to: "41793026834" }];

interface Operation {
  readonly name: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** How many messages go out. */
  readonly sends: number;
}

const OPERATIONS: readonly Operation[] = [
  { name: "advanced", path: ADVANCED, body: { messages: [{ ...HELLO, destinations: DESTINATIONS }] }, sends: 2 },
  { name: "advanced v2", path: ADVANCED_V2, body: { messages: [{ ...HELLO, destinations: DESTINATIONS }] }, sends: 2 },
  {
    name: "multi",
    path: MULTI,
    body: {
      messages: [
        { ...HELLO, to: [TO, "nobody"] },
        { ...HELLO, to: "41793026834", text: "Goodbye" },
      ],
    },
    sends: 2,
  },
  { name: "single to several", path: SINGLE, body: { ...HELLO, to: [TO, "nobody", "41793026834"] }, sends: 2 },
  { name: "single to one", path: SINGLE, body: { ...HELLO, to: TO }, sends: 1 },
];

const CONFLICT = errorObject("CONFLICT", "Conflict", null, "The Idempotency-Key was used for another request.");

/** Calls it, and also says what that cost in cents and how many messages went out because of it. */
async function measured<Result>(call: () => Promise<Result>): Promise<{ result: Result; cents: number; sent: number }> {
  const balance = await balanceOf(service);
  const handedOn = service.handedOn.length;
  const result = await call();
  const cents = Math.round((balance - (await balanceOf(service))) * 100);
  return { result, cents, sent: service.handedOn.length - handedOn };
}

function post(path: string, body: unknown, key?: string) {
  return service.call("POST", path, { body, headers: key === undefined ? {} : { "idempotency-key": key } });
}

for (const { name, path, body, sends } of OPERATIONS) {
  test(`${name} with the same bulkId and body again gives the first answer again`, async () => {
    const again = { bulkId: `same-${name}`, ...body };
    const first = await measured(() => post(path, again));
    const second = await measured(() => post(path, again));

    accepted(first.result);
    assert.deepEqual([first.cents, first.sent], [sends, sends]);
    assert.deepEqual([second.cents, second.sent], [0, 0]);
    assert.equal(second.result.status, 200);
    assert.equal(second.result.text, first.result.text);
  });

  test(`${name} with the same Idempotency-Key and body again gives the first answer again`, async () => {
    const first = await measured(() => post(path, body, `key-${name}`));
    const second = await measured(() => post(path, body, `key-${name}`));

    accepted(first.result);
    assert.deepEqual([first.cents, first.sent], [sends, sends]);
    assert.deepEqual([second.cents, second.sent], [0, 0]);
    assert.equal(second.result.status, 200);
    assert.equal(second.result.text, first.result.text);
  });

  test(`${name} with the same Idempotency-Key and another body is 409, and nothing is sent`, async () => {
    const other = JSON.parse(JSON.stringify(body).replaceAll("Hello", "Hello!"));
    const { result, cents, sent } = await measured(() => post(path, other, `key-${name}`));

    assert.equal(result.status, 409);
    assert.deepEqual(result.json, CONFLICT);
    assert.deepEqual([cents, sent], [0, 0]);
  });
}

test("20 copies of a request at the same time are sent and charged once, and all get the same answer", async () => {
  const bulk = { bulkId: "at-once", ...HELLO, to: [TO, "41793026834"] };
  const copies = await measured(() => Promise.all(Array.from({ length: 20 }, () => post(SINGLE, bulk))));
  const plain = { ...HELLO, to: [TO, "41793026834"] };
  const keyed = await measured(() => Promise.all(Array.from({ length: 20 }, () => post(SINGLE, plain, "at-once"))));

  for (const { result, cents, sent } of [copies, keyed]) {
    accepted(result[0]!);
    assert.deepEqual(new Set(result.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.deepEqual([cents, sent], [2, 2]);
  }
  assert.deepEqual(await service.store.verifyLedger(), []);
});

test("of many different requests at the same time under one Idempotency-Key, one is sent and the others are 409", async () => {
  const texts = Array.from({ length: 20 }, (_, index) => `Text ${index}`);
  const { result, cents, sent } = await measured(() =>
    Promise.all(texts.map((text) => post(SINGLE, { ...HELLO, to: TO, text }, "one-key"))),
  );

  assert.deepEqual([cents, sent], [1, 1]);
  assert.deepEqual(result.map(({ status }) => status).toSorted(), [200, ...Array<number>(19).fill(409)]);
});

test("the same bulkId with another body is a second request, which joins the bulk", async () => {
  const { result, cents, sent } = await measured(async () => [
    await post(ADVANCED, { bulkId: "joined", messages: [{ ...HELLO, destinations: [{ to: TO }] }] }),
    await post(ADVANCED, { bulkId: "joined", messages: [{ ...HELLO, destinations: [{ to: "41793026834" }] }] }),
    await post(SINGLE, { bulkId: "joined", ...HELLO, to: [TO, "41793026834"] }),
  ]);

  assert.deepEqual(
    result.map(({ json }) => json.bulkId),
    ["joined", "joined", "joined"],
  );
  assert.deepEqual([cents, sent], [4, 4]);
});

test("a request without bulkId and key that comes again is another request", async () => {
  const { result, cents, sent } = await measured(async () => [
    await post(SINGLE, { ...HELLO, to: TO }),
    await post(SINGLE, { ...HELLO, to: TO }),
  ]);

  assert.deepEqual([cents, sent], [2, 2]);
  assert.notEqual(result[0]!.json.messages[0].messageId, result[1]!.json.messages[0].messageId);
});

test("the key of a request for one operation is taken for every other", async () => {
  const body = { messages: [{ ...HELLO, destinations: [{ to: TO }] }] };
  accepted(await post(ADVANCED, body, "of-version-1"));
  const { result, cents } = await measured(() => post(ADVANCED_V2, body, "of-version-1"));

  assert.deepEqual([result.status, result.json, cents], [409, CONFLICT, 0]);
});

test("keys and bulkIds of one account are nothing to another", async () => {
  const body = { bulkId: "whose", ...HELLO, to: [TO, "41793026834"] };
  const headers = { "idempotency-key": "whose" };
  const mine = await service.call("POST", SINGLE, { body, headers });
  const authorization = basic("reseller", "reseller-password");
  const theirs = await service.call("POST", SINGLE, { body, headers, authorization });

  assert.deepEqual(accepted(mine).messages[0], { to: TO, status: ENROUTE, smsCount: 1, messageId: ID });
  // The reseller has no money of its own to send with.
  assert.deepEqual(accepted(theirs).messages[0], { to: TO, status: REJECTED.credits, smsCount: 1, messageId: ID });
});

test("a request that was refused has not used its key", async () => {
  const refused = await post(SINGLE, { ...HELLO, to: TO, text: "" }, "second-try");
  const corrected = await post(SINGLE, { ...HELLO, to: TO }, "second-try");

  assert.equal(refused.status, 400);
  accepted(corrected);
});

test("a key has 1 to 255 characters", async () => {
  const body = { ...HELLO, to: TO };
  accepted(await post(SINGLE, body, "k"));
  accepted(await post(SINGLE, body, "k".repeat(255)));

  const says = "Idempotency-Key must be 1 to 255 characters long.";
  for (const key of ["", "k".repeat(256)]) {
    const { result, cents, sent } = await measured(() => post(SINGLE, body, key));
    assert.equal(result.status, 400);
    assert.deepEqual(result.json, errorObject("BAD_REQUEST", "Bad request", ["Idempotency-Key"], says));
    assert.deepEqual([cents, sent], [0, 0]);
  }
});

test("a scheduled request that comes again after its time gets the answer of its first time", async (t) => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
  const waiting = await startTestService(t, { clock });
  const body = { bulkId: "later", ...HELLO, to: [TO], sendAt: "2026-01-05T12:00:10.000+0000" };
  const first = await waiting.call("POST", SINGLE, { body });
  await passUntil(clock, () => waiting.handedOn.length === 1);
  const second = await waiting.call("POST", SINGLE, { body });

  assert.equal(first.json.messages[0].status.id, 26);
  assert.equal(second.text, first.text);
  assert.equal(await balanceOf(waiting), 99.99);
});

test("bulkIds and keys are remembered across a restart; a key for 24 hours, a bulkId for longer", async (t) => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
  const data = await temporaryDirectory(t);
  const keyed = { body: { ...HELLO, to: TO }, headers: { "idempotency-key": "for-a-day" } };
  const bulk = { body: { ...HELLO, to: TO, bulkId: "for-good" } };
  const other = { ...keyed, body: { ...HELLO, to: "41793026834" } };
  const texts = async () => [
    (await running.call("POST", SINGLE, keyed)).text,
    (await running.call("POST", SINGLE, bulk)).text,
  ];
  /** What is too old is looked for every ten minutes. */
  const pass = async (hours: number) => {
    await running.stop();
    await clock.advance(hours * 3_600_000);
    running = await startTestService(t, { clock, data });
    await clock.advance(11 * 60_000);
  };

  let running = await startTestService(t, { clock, data });
  const first = await texts();
  await pass(23);
  const afterAlmostADay = await texts();
  const conflict = await running.call("POST", SINGLE, other);
  await pass(1);
  const later = await running.call("POST", SINGLE, other);

  assert.deepEqual(afterAlmostADay, first);
  assert.equal(conflict.status, 409);
  assert.deepEqual(accepted(later).messages, [{ to: "41793026834", status: ENROUTE, smsCount: 1, messageId: ID }]);
  assert.equal((await running.call("POST", SINGLE, bulk)).text, first[1]);
  assert.equal(await balanceOf(running), 99.97);
});
