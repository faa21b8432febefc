/** "Where is my message?": `heliograph message show` and the operator's API answer with the same facts, through the real program and on both stores. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { postgresUrl } from "../support/postgres.ts";
import { type RealService, startRealService } from "../support/real-service.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { eventually } from "../support/service.ts";

/** The network takes what goes there and never says what became of it. */
const SILENT = "41793999008";

const STORES: readonly (readonly [name: string, url: (t: TestContext) => Promise<string | null>])[] = [
  ["the embedded store", async () => null],
  ["PostgreSQL", (t) => postgresUrl(t)],
];

async function send({ call }: RealService, message: object): Promise<string> {
  const { destinations = [{ to: SILENT }], ...rest } = message as { destinations?: object[] };
  const body = { messages: [{ destinations, ...rest }] };
  const { status: code, json, text } = await call("POST", "/sms/2/text/advanced", { body });
  assert.equal(code, 200, text);
  return json.messages[0].messageId;
}

async function tracked({ call, operator }: RealService, id: string) {
  const {
    status: code,
    json,
    text,
  } = await call("GET", `/operator/1/accounts/ACME/messages/${id}`, {
    authorization: operator,
  });
  assert.equal(code, 200, text);
  return json.results;
}

for (const [name, databaseOf] of STORES)
  test(`where a message is, on ${name}`, async (t) => {
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    receiver.answer(status(503, {}, "not today"));
    const service = await startRealService(t, await databaseOf(t));

    await t.test(
      "a message that waits for its receipt shows its request, encoding, parts, carrier, the carrier's ids, and its route with the reason",
      async () => {
        const id = await send(service, {
          text: `Žluťoučký kůň ${"x".repeat(80)}`,
          validityPeriod: 90,
          callbackData: "order 17",
          notifyUrl: "https://user:hidden-word@acme.example/reports?token=hidden-too",
          intermediateReport: false,
        });
        await eventually(async () => {
          const [found] = await tracked(service, id);
          return found.state === "submitted";
        });
        const [message] = await service.json("message", "show", id);
        assert.deepEqual(
          [message.account, message.encoding, message.parts, message.carrier, message.status, message.final],
          ["ACME", "ucs2", 2, "carrier", "PENDING_WAITING_DELIVERY", false],
        );
        assert.deepEqual(message.carrierHosts, [`127.0.0.1:${service.carrierPort}`]);
        assert.equal(message.carrierIds.length, 2, "an id of the carrier for each part");
        for (const { carrier, id: carrierId } of message.carrierIds) {
          assert.equal(carrier, "carrier");
          assert.match(carrierId, /\S/);
        }
        assert.equal(message.partsWaiting, 2);
        assert.deepEqual(message.route, {
          prefix: "",
          group: 1,
          groups: 1,
          why: "route: every number → group 1 of 1 → carrier (alone in it)",
        });
        assert.equal(message.request.validityMinutes, 90);
        assert.equal(message.callbackData, "order 17");
        assert.equal(message.notifyUrl, "https://acme.example/reports?token=***");
        const said = await service.done("message", "show", id);
        assert.match(said, /^Encoding +ucs2$/m);
        assert.match(said, /^Parts +2$/m);
        assert.match(said, /^Request .*valid for 90 minutes$/m);
        assert.match(
          said,
          /^Carrier +carrier at 127\.0\.0\.1:\d+, took it at \S+, its receipt is awaited for 2 parts$/m,
        );
        const [first] = message.carrierIds;
        assert.match(said, new RegExp(`^Carrier's ids +${first.id} \\(carrier\\), `, "m"));
        assert.match(said, /^Route +route: every number → group 1 of 1 → carrier \(alone in it\)$/m);
        assert.match(said, /^Report to +https:\/\/acme\.example\/reports\?token=\*\*\* \(application\/json\)$/m);
        assert.ok(!said.includes("hidden"), "neither output has the password of a URL");
        assert.match(said, /^\S+ {2}accepted · /m);
        assert.deepEqual(await tracked(service, id), [message], "the API answers with the same");
        const other = { authorization: service.client };
        const { status: code } = await service.call("GET", `/operator/1/accounts/ACME/messages/${id}`, other);
        assert.equal(code, 403);
      },
    );

    await t.test(
      "a message whose report is not taken shows each try with the answer, and when the next one is",
      async () => {
        const notifyUrl = `${receiver.url}/reports`;
        const id = await send(service, { text: "Hello", destinations: [{ to: "41793026727" }], notifyUrl });
        await eventually(async () => {
          const [found] = await tracked(service, id);
          return found.reports[0]?.attempts.length > 0;
        });
        const [message] = await service.json("message", "show", id);
        assert.deepEqual([message.status, message.notifyUrl], ["DELIVERED_TO_HANDSET", notifyUrl]);
        assert.equal(message.carrierIds.length, 1, "its receipt has come, and the id is still known");
        const [report] = message.reports;
        assert.deepEqual([report.state, report.url], ["waiting", notifyUrl]);
        const [attempt] = report.attempts;
        assert.deepEqual(
          [attempt.try, attempt.status, attempt.reason, attempt.answer],
          [1, 503, "answered 503", "not today"],
        );
        assert.ok(Date.parse(report.nextTryAt.replace("+0000", "Z")) > Date.parse(attempt.at.replace("+0000", "Z")));
        assert.equal(message.nextTryAt, report.nextTryAt);
        const said = await service.done("message", "show", id);
        assert.match(said, /^Report +\d+ waits after \d+ tr(?:y|ies): answered 503$/m);
        assert.match(said, /^Report, try 1 +\S+: answered 503 in \d+ ms, "not today", next try at \S+$/m);
        assert.match(said, /^Next try +\d{4}-/m);
        assert.match(said, /^\S+ {2}report, try 1 · answered 503 in \d+ ms/m);

        // The receiver is well again, and the report goes at once: it is taken, and the tries stay to be seen.
        receiver.answer(status(200));
        const { status: code } = await service.call("POST", "/operator/1/reports/retry", {
          authorization: service.operator,
          body: { accountKey: "ACME", host: new URL(receiver.url).origin },
        });
        assert.equal(code, 200);
        await eventually(async () => {
          const [found] = await tracked(service, id);
          return found.reports[0]?.state === "taken";
        });
        const [taken] = await service.json("message", "show", id, "--account", "ACME");
        const [told] = taken.reports;
        assert.deepEqual([told.attempts.at(-1).status, told.attempts.at(-1).reason], [200, null]);
        assert.ok(told.attempts.length >= 2 && told.nextTryAt === null && taken.nextTryAt === null);
        assert.deepEqual(await tracked(service, id), [taken]);
      },
    );

    await t.test("a message that nobody has is said to be none, by the command and by the API", async () => {
      const { code, stderr } = await service.run("message", "show", "123", "--account", "ACME");
      assert.deepEqual([code, stderr.includes("there is no message 123 of ACME")], [1, true]);
      const { status: found } = await service.call("GET", "/operator/1/accounts/ACME/messages/123", {
        authorization: service.operator,
      });
      assert.equal(found, 404);
    });
  });

test("with every step kept, a delivered message still shows the door, the caller and the carrier's ids", async (t) => {
  const service = await startRealService(t, null, { HELIOGRAPH_CONSOLE_TIMELINE: "all" });
  const id = await send(service, { text: "Hello", destinations: [{ to: "41793026727" }] });
  await eventually(async () => {
    const [found] = await tracked(service, id);
    return found.final && found.request.door !== null && found.carrierIds.length > 0;
  });
  const [message] = await service.json("message", "show", id);
  assert.deepEqual([message.request.by, message.request.messages], ["user acme", 1]);
  assert.equal(message.request.door, "JSON");
  assert.deepEqual([message.carrier, message.carrierIds.length], ["carrier", 1]);
  assert.match(await service.done("message", "show", id), /^Request +JSON, user acme$/m);
});

for (const [name, databaseOf] of STORES)
  test(`a replay goes on counting and is told, and a refusal has the carrier's own word, on ${name}`, async (t) => {
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    receiver.answer(status(500, {}, "broken"));
    const service = await startRealService(t, await databaseOf(t));
    const change = { body: { retryMinutes: [] }, headers: { "if-match": "*" }, authorization: service.operator };
    assert.equal((await service.call("PATCH", "/operator/1/accounts/ACME", change)).status, 200);
    const notifyUrl = `${receiver.url}/reports`;
    const id = await send(service, { text: "Hello", destinations: [{ to: "41793026727" }], notifyUrl });
    const isNow = (state: string, tries: number) =>
      eventually(async () => {
        const [found] = await tracked(service, id);
        const report = found.reports[0];
        return report?.state === state && report.attempts.length === tries;
      });
    await isNow("dead", 1);
    await service.done("report", "replay", "--account", "ACME");
    await isNow("dead", 2);
    receiver.answer(status(200));
    await service.done("report", "replay", "--account", "ACME");
    await isNow("taken", 3);
    const [message] = await service.json("message", "show", id);
    const [report] = message.reports;
    assert.deepEqual(
      report.attempts.map((attempt: { try: number; status: number }) => [attempt.try, attempt.status]),
      [
        [1, 500],
        [2, 500],
        [3, 200],
      ],
    );
    assert.deepEqual([report.tries, report.replays, report.triedWithOthers], [3, 2, 0]);
    const said = await service.done("message", "show", id);
    assert.match(said, /^Report +\d+ was taken after 3 tries and 2 replays$/m);
    assert.match(
      said,
      /report, try 1 .*\n\S+ {2}report sent again .*\n\S+ {2}report, try 2 .*\n\S+ {2}report sent again /,
    );

    // A phone to which the network lets nothing go.
    const refused = await send(service, { text: "Hello", destinations: [{ to: "41793999006" }] });
    await eventually(async () => (await tracked(service, refused))[0].carrierStatus !== null);
    const [ended] = await service.json("message", "show", refused);
    assert.equal(ended.state, "done");
    assert.match(ended.carrierStatus, /^ESME_R[A-Z]+$/);
    const told = await service.done("message", "show", refused);
    assert.match(told, new RegExp(`^Carrier's status +${ended.carrierStatus}$`, "m"));
    assert.match(
      told,
      new RegExp(`ended · carrier carrier · the carrier refused it · the carrier answered ${ended.carrierStatus} · `),
    );
  });
