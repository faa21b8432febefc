/** Reports that nobody took in time: operators see them with their tries, and send them again. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, errorObject, eventually, startTestService, type TestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const OPERATOR = { authorization: basic("operator", "operator-password") };

const CLIENT = basic("HASTY", "password");

/** A service whose receiver has refused one report, of an account with two retries, until it was dead. */
async function withDeadLetter(
  t: TestContext,
): Promise<{ service: TestService; receiver: ReportReceiver; clock: VirtualClock }> {
  const clock = new VirtualClock(Date.UTC(2026, 1, 12));
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(500, {}, "out of order"));
  const service = await startTestService(t, { clock });
  await addAccount(service.store, { key: "HASTY", retryMinutes: [1, 2] });
  const body = {
    messages: [{ from: "Sender", text: "Hi", destinations: [{ to: "1" }], notifyUrl: `${receiver.url}/a` }],
  };
  const sent = await service.call("POST", "/sms/1/text/advanced", { authorization: CLIENT, body });
  assert.equal(sent.status, 200);
  for (const request of [1, 2, 3]) {
    await receiver.waitForRequests(request);
    // The refusal must be in the store before time goes on.
    await eventually(async () =>
      service
        .call("GET", "/metrics")
        .then(({ text }) => new RegExp(`reports_attempts_total\\{outcome="5xx"\\} ${request}\\b`).test(text)),
    );
    if (request < 3) await clock.advance(3 * 60_000);
  }
  await eventually(
    async () => (await service.call("GET", "/operator/1/reports/dead", OPERATOR)).json.results.length === 1,
  );
  return { service, receiver, clock };
}

test("a report that was refused to the end of its account's schedule is a dead letter, and goes out again under its id when replayed", async (t) => {
  const { service, receiver, clock } = await withDeadLetter(t);
  const { json } = await service.call("GET", "/operator/1/reports/dead", OPERATOR);
  const [letter] = json.results;
  assert.deepEqual(
    {
      accountKey: letter.accountKey,
      url: letter.url,
      itemCount: letter.itemCount,
      attempts: letter.attempts,
      reason: letter.reason,
    },
    { accountKey: "HASTY", url: `${receiver.url}/a`, itemCount: 1, attempts: 3, reason: "answered 500" },
  );
  assert.equal(letter.history.length, 3);
  assert.deepEqual([letter.history[0].status, letter.history[0].excerpt], [500, "out of order"]);
  assert.ok(receiver.requests.every(({ headers }) => headers["webhook-id"] === letter.id));

  receiver.answer(status(200));
  const before = receiver.requests.length;
  const replay = await service.call("POST", "/operator/1/reports/replay", { ...OPERATOR, body: { ids: [letter.id] } });
  assert.deepEqual([replay.status, replay.json], [200, { replayed: 1 }]);
  await eventually(async () => {
    await clock.advance(1_000); // the store is asked for due reports every second
    return receiver.requests.length > before;
  });
  assert.equal(receiver.requests.at(-1)!.headers["webhook-id"], letter.id);
  await eventually(
    async () => (await service.call("GET", "/operator/1/reports/dead", OPERATOR)).json.results.length === 0,
  );
});

test("filters choose what is listed and replayed", async (t) => {
  const { service, receiver } = await withDeadLetter(t);
  const list = async (query: string) =>
    (await service.call("GET", `/operator/1/reports/dead?${query}`, OPERATOR)).json.results.length;
  assert.deepEqual(
    [
      await list("accountKey=HASTY"),
      await list("accountKey=OTHER"),
      await list(`url=${encodeURIComponent(`${receiver.url}/a`)}`),
      await list("url=x"),
    ],
    [1, 0, 1, 0],
  );
  const replay = async (body: object) =>
    (await service.call("POST", "/operator/1/reports/replay", { ...OPERATOR, body })).json;
  assert.deepEqual(await replay({ url: "x" }), { replayed: 0 });
  assert.deepEqual(await replay({ accountKey: "HASTY" }), { replayed: 1 });
});

test("only operators see and replay dead letters, and a replay of everything must be meant", async (t) => {
  const service = await startTestService(t);
  for (const [method, path, body] of [
    ["GET", "/operator/1/reports/dead", undefined],
    ["POST", "/operator/1/reports/replay", { all: true }],
  ] as const) {
    const call = (authorization: string | null) => service.call(method, path, { authorization, body });
    const forbidden = await call(basic("demo", "demo-password"));
    const own = "a client has GET /sms/1/reports/dead and POST /sms/1/reports/replay";
    const says = `This is for operators, and DEMO0001 is the account of a client: ${own}.`;
    assert.deepEqual([forbidden.status, forbidden.json], [403, errorObject("FORBIDDEN", "Forbidden", null, says)]);
    assert.equal((await call(null)).status, 401);
    assert.equal((await call(OPERATOR.authorization)).status, 200);
  }
  const aimless = await service.call("POST", "/operator/1/reports/replay", { ...OPERATOR, body: {} });
  assert.equal(aimless.status, 400);
  assert.deepEqual(aimless.json.requestError.serviceException.variables, ["ids"]);
  for (const query of ["limit=0", "limit=1001", "limit=x", "before=x", "before=9999999999999999999"]) {
    assert.equal((await service.call("GET", `/operator/1/reports/dead?${query}`, OPERATOR)).status, 400, query);
  }
});
