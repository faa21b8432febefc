/** What the console says of messages, over HTTP: found by a search, and each with its life. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { messageEvents } from "../../src/tracking/events.ts";
import { addAccount } from "../support/accounts.ts";
import { consoleCall, signIn } from "../support/console.ts";
import { addOtherReseller, good, OPERATOR, RESELLER, refusal } from "../support/operator.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, eventually, startTestService, type TestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

interface Event {
  readonly kind: string;
  readonly what: string;
  readonly detail: string;
  readonly until: string | null;
  readonly exchange: { readonly url: string; readonly body: string | null; readonly status: number | null } | null;
}

const NO_ROUTES = { routeOf: () => null, carriers: [] };
const OTHER = basic("OTHERCLIENT", "password");

async function send(service: TestService, to: string, more: object = {}, authorization?: string): Promise<string> {
  const body = { messages: [{ from: "Shop", destinations: [{ to }], text: `Hello ${to}`, ...more }] };
  const options = authorization === undefined ? { body } : { body, authorization };
  return good(await service.call("POST", "/sms/2/text/advanced", options)).messages[0].messageId;
}

const list = async (service: TestService, q = "", authorization?: string) =>
  good(
    await service.call(
      "GET",
      `/console/1/messages?q=${encodeURIComponent(q)}`,
      authorization === undefined ? {} : { authorization },
    ),
  );

const numbers = async (service: TestService, q = "", authorization?: string): Promise<string[]> =>
  (await list(service, q, authorization)).results.map(({ to }: { to: string }) => to);

const life = async (service: TestService, id: string, authorization?: string) =>
  good(await service.call("GET", `/console/1/message?id=${id}`, authorization === undefined ? {} : { authorization }));

/** Waits until a message has an event of this kind, and gives the whole answer. */
const withEvent = (service: TestService, id: string, kind: string) =>
  eventually(async () => {
    const answer = await life(service, id);
    return answer.events.some((event: Event) => event.kind === kind) ? answer : null;
  });

const told = ({ events }: { events: readonly Pick<Event, "what">[] }): string[] => events.map(({ what }) => what);

describe("the console's list of messages", () => {
  test("messages are found by what they are and by what became of them", async (t) => {
    const service = await startTestService(t);
    await send(service, "41790000001");
    await send(service, "41793999003", { text: "Is anybody there?" });
    await send(service, "41790000002", { sendAt: new Date(Date.now() + 3_600_000).toISOString() });
    await send(service, "41793999008");
    await eventually(
      async () => (await numbers(service, "failed")).length === 1 && (await numbers(service, "delivered")).length === 1,
    );
    assert.equal((await numbers(service)).length, 4);
    assert.deepEqual(await numbers(service, "failed"), ["41793999003"]);
    assert.deepEqual(await numbers(service, "scheduled"), ["41790000002"]);
    assert.deepEqual(await numbers(service, "stuck"), []);
    assert.deepEqual(await numbers(service, "error:UNKNOWN_SUBSCRIBER"), ["41793999003"]);
    assert.deepEqual(await numbers(service, 'text:"is anybody"'), ["41793999003"]);
    assert.deepEqual((await numbers(service, "to:41790* carrier:simulator since:1h")).sort(), [
      "41790000001",
      "41790000002",
    ]);
    const [failed] = (await list(service, "failed")).results;
    assert.equal(failed.state, "failed");
    assert.equal(failed.error.name, "EC_UNKNOWN_SUBSCRIBER");
    assert.match(failed.at, /^\d{4}-.*\.\d{3}Z$/);
    const counts = good(await service.call("GET", "/console/1/message-counts"));
    assert.deepEqual(counts, {
      of: 4,
      isAll: true,
      isAllWaiting: true,
      failed: 1,
      retrying: 0,
      stuck: 0,
      scheduled: 1,
    });
  });

  test("pages go on where the last one ended, and the same question has the same answer", async (t) => {
    const service = await startTestService(t);
    for (let index = 0; index < 5; index++) await send(service, `4179000000${index}`);
    await eventually(async () => (await numbers(service, "delivered")).length === 5);
    const all = await numbers(service);
    const seen: string[] = [];
    let after = "";
    for (;;) {
      const page = good(
        await service.call("GET", `/console/1/messages?limit=2${after === "" ? "" : `&after=${after}`}`),
      );
      seen.push(...page.results.map(({ to }: { to: string }) => to));
      if (page.next === null) break;
      assert.ok(page.results.length <= 2);
      after = page.next;
    }
    assert.deepEqual(seen, all);
    assert.deepEqual(await list(service, "since:1h"), await list(service, "since:1h"));
  });

  test("a search that cannot be read says where and why", async (t) => {
    const service = await startTestService(t);
    const wrong = async (query: string) => refusal(await service.call("GET", `/console/1/messages?${query}`));
    assert.deepEqual(await wrong("q=failed+colour:red"), [
      400,
      ["q"],
      'q at character 8: "colour:" is no filter. There are to:, from:, status:, error:, carrier:, bulk:, id:, text:, account:, since:, until:.',
    ]);
    for (const query of ["limit=0", "limit=101", "after=x", "after=1", "zone=far", "q=1&q=2"])
      assert.equal((await service.call("GET", `/console/1/messages?${query}`)).status, 400, query);
    assert.equal((await service.call("GET", "/console/1/messages", { authorization: null })).status, 401);
  });

  test("everybody sees the own messages; an operator sees all, and those of one account", async (t) => {
    const service = await startTestService(t);
    await addOtherReseller(service);
    await addAccount(service.store, { key: "SECOND", balanceMicros: 1_000_000n });
    const second = basic("SECOND", "password");
    await send(service, "41790000001");
    const id = await send(service, "41790000002", {}, second);
    assert.deepEqual(await numbers(service), ["41790000001"]);
    assert.deepEqual(await numbers(service, "", second), ["41790000002"]);
    assert.deepEqual(await numbers(service, `id:${id}`), [], "by its id it is nobody else's");
    assert.deepEqual(await numbers(service, "", OPERATOR), ["41790000002", "41790000001"]);
    assert.deepEqual(await numbers(service, "account:SECOND", OPERATOR), ["41790000002"]);
    assert.deepEqual(await numbers(service, "account:DEMO0001"), ["41790000001"], "an own name says nothing new");
    const ask = async (q: string, authorization: string) =>
      (await service.call("GET", `/console/1/messages?q=${q}`, { authorization })).status;
    assert.equal(await ask("account:SECOND", basic("demo", "demo-password")), 400);
    assert.equal(await ask("account:NOBODY", OPERATOR), 404);
    assert.deepEqual(await numbers(service, "", RESELLER), []);
    assert.equal(await ask("account:SECOND", RESELLER), 403, "unless the operator lets it");
    assert.equal((await service.call("GET", `/console/1/message?id=${id}`, { authorization: RESELLER })).status, 404);
    assert.equal((await service.call("GET", `/console/1/message?id=${id}`)).status, 404);
    assert.equal((await service.call("GET", `/console/1/message?id=${id}`, { authorization: OTHER })).status, 404);
    assert.equal((await service.call("POST", `/console/1/messages/${id}/replay`)).status, 404);
    assert.equal((await life(service, id, OPERATOR)).account, "SECOND");
  });

  test("a reseller sees its clients' messages where the operator lets it, and nobody else's", async (t) => {
    const service = await startTestService(t, { settings: { resellers: { clientMessages: true } } });
    await addOtherReseller(service);
    const id = await send(service, "41790000001");
    assert.deepEqual(await numbers(service, "account:DEMO0001", RESELLER), ["41790000001"]);
    assert.equal((await life(service, id, RESELLER)).account, "DEMO0001");
    const other = basic("OTHERRESELLER", "password");
    assert.equal(
      (await service.call("GET", "/console/1/messages?q=account:DEMO0001", { authorization: other })).status,
      404,
    );
    assert.equal((await service.call("GET", `/console/1/message?id=${id}`, { authorization: other })).status, 404);
  });
});

describe("the console's page of a message", () => {
  test("a message that its carrier throttles is retried and says why, also in a search", async (t) => {
    const service = await startTestService(t);
    good(await service.call("PUT", "/sandbox/1/network", { body: { throttling: true } }));
    const id = await send(service, "41790000001");
    const answer = await withEvent(service, id, "again");
    assert.equal(answer.state, "retrying");
    assert.match(answer.events.at(-1).detail, /the carrier is busy \(throttled\)/);
    await eventually(async () => (await numbers(service, "retrying")).length === 1);
    const [row] = (await list(service, "retrying")).results;
    assert.deepEqual([row.state, row.isOverdue, row.heldBy], ["waiting", true, null]);
    assert.equal(good(await service.call("GET", "/console/1/message-counts")).retrying, 1);
  });

  test("the messages of a paused bulk are held by it, in the list too", async (t) => {
    const service = await startTestService(t);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const body = {
      bulkId: "spring sale",
      messages: [{ from: "Shop", destinations: [{ to: "41790000001" }], text: "Hello", sendAt }],
    };
    const [{ messageId }] = good(await service.call("POST", "/sms/2/text/advanced", { body })).messages;
    const heldBy = async () => [
      (await list(service, 'bulk:"spring sale"')).results[0].heldBy,
      (await life(service, messageId)).heldBy,
    ];
    assert.deepEqual(await heldBy(), [null, "time"]);
    good(await service.call("PUT", "/sms/1/bulks/status?bulkId=spring%20sale", { body: { status: "PAUSED" } }));
    assert.deepEqual(await heldBy(), ["bulk", "bulk"]);
  });

  test("with all steps kept, a delivered message has every one of them", async (t) => {
    const service = await startTestService(t, { settings: { console: { timeline: "all" } } });
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    const id = await send(service, "41790000001", { notifyUrl: `${receiver.url}/reports` });
    // The edge and delivery write what they note each for themselves.
    const answer = await eventually(async () => {
      const { events, ...rest } = await withEvent(service, id, "reported");
      return events[0].detail.startsWith("JSON") ? { events, ...rest } : null;
    });
    assert.deepEqual(told(answer), ["accepted", "submitted", "receipt", "report, try 1"]);
    const [accepted, submitted, receipt, report] = answer.events;
    assert.match(
      accepted.detail,
      /^JSON, user demo · charged 0\.01 EUR, posting \d+ · route: every number → group 1 of 1 → simulator \(alone in it\)$/,
    );
    assert.match(submitted.detail, /^to carrier simulator · its id \S+ · answered in \d+ ms · window \d+ of \d+$/);
    assert.match(receipt.detail, /^delivered to the handset · carrier simulator, id \S+ · network \d+/);
    assert.match(report.detail, /^answered 200 in \d+ ms$/);
    assert.equal(JSON.parse(report.exchange.body).results[0].messageId, id);
    assert.equal(answer.state, "delivered");
    assert.equal(answer.reportTries, 1);
    assert.ok(answer.reportTakenAt !== null);
    assert.deepEqual(answer.reports, []);
    const again = await life(service, id);
    assert.deepEqual(again, answer, "the same as long as nothing has changed");
  });

  test("a message that was sent from the console says so", async (t) => {
    const service = await startTestService(t, { settings: { console: { timeline: "all" } } });
    const body = { from: "Shop", to: "41790000001", text: "x" };
    const sent = await consoleCall(service, await signIn(service), "POST", "/sms/1/text/single", { body });
    const { messageId } = good(sent).messages[0];
    const detail = await eventually(async () => {
      const [door] = (await life(service, messageId)).events[0].detail.split(" · ");
      return door.includes("user") ? door : null;
    });
    assert.equal(detail, "console, user demo");
  });

  test("with trouble kept, a smooth message is told from its row, and leaves no step behind", async (t) => {
    const service = await startTestService(t);
    const id = await send(service, "41790000001");
    const answer = await withEvent(service, id, "delivered");
    assert.deepEqual(told(answer), ["accepted", "submitted", "receipt"]);
    assert.equal(answer.timeline, "trouble");
    const lifeOf = async (messageId: string) => (await service.store.messageLife({ accountId: null, messageId }))!;
    const traceOf = async (messageId: string) => (await lifeOf(messageId)).trace;
    const row = await lifeOf(id);
    const answeredLate = { ...row, sentAtMs: row.doneAtMs! + 5 };
    const events = messageEvents({ life: answeredLate, keyNames: new Map(), routes: NO_ROUTES });
    assert.deepEqual(told({ events }), ["accepted", "submitted", "receipt"], "also when the receipt was quicker");
    const refused = await send(service, "41793999006");
    await eventually(async () => (await traceOf(refused)).length > 0);
    assert.deepEqual(await traceOf(id), []);
  });

  test("what a quick carrier refuses in the millisecond of its acceptance was accepted, and ended", async (t) => {
    // Time stands still.
    const service = await startTestService(t, { clock: new VirtualClock() });
    const ended = await withEvent(service, await send(service, "41793999006"), "refund");
    assert.deepEqual(told(ended), ["accepted", "ended", "refunded"]);
  });

  test("trouble is told as it came: a busy carrier, a receipt that says no, a refusal with its refund", async (t) => {
    const service = await startTestService(t);
    const [busy, unknown, refused] = [
      await send(service, "41793999009"),
      await send(service, "41793999003"),
      await send(service, "41793999006"),
    ];
    const failed = await eventually(async () => {
      const answer = await life(service, unknown!);
      // The receipt as it came may be kept before what the carrier answered is.
      const hasCome = answer.events.some(({ detail }: Event) => detail.includes("carrier simulator, id"));
      return hasCome && told(answer).includes("submitted") ? answer : null;
    });
    assert.deepEqual(told(failed), ["accepted", "submitted", "receipt"]);
    const receipt = failed.events.find(({ what }: Event) => what === "receipt");
    assert.match(receipt.detail, /^cannot be delivered, EC_UNKNOWN_SUBSCRIBER: /);
    const ended = await withEvent(service, refused!, "refund");
    assert.deepEqual(told(ended), ["accepted", "ended", "refunded"]);
    assert.equal(ended.price.charged, "0");
    const delivered = await withEvent(service, busy!, "delivered");
    assert.deepEqual(told(delivered), [
      "accepted",
      "not taken, goes again",
      "not taken, goes again",
      "submitted",
      "receipt",
    ]);
    assert.match(delivered.events[1].detail, /the carrier cannot take this one now/);
    assert.ok(delivered.events[1].until !== null);
  });

  test("a report that fails has its tries, and goes once more when somebody says so", async (t) => {
    const service = await startTestService(t);
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    receiver.answer(status(503, {}, "busy"));
    const id = await send(service, "41790000001", { notifyUrl: `http://name:secret@${new URL(receiver.url).host}/r` });
    const replay = async () => service.call("POST", `/console/1/messages/${id}/replay`);
    const failing = await withEvent(service, id, "report failed");
    const tries = failing.events.filter(({ kind }: Event) => kind === "report failed");
    assert.match(tries[0].detail, /^answered 503 in \d+ ms$/);
    assert.equal(tries[0].exchange.answer, "busy");
    assert.equal(JSON.parse(tries[0].exchange.body).results[0].messageId, id, "what is sent is in the report's row");
    assert.ok(tries[0].until !== null, "when it is tried again");
    assert.ok(!JSON.stringify(failing).includes("secret"), "a password in the URL is not shown");
    assert.equal(failing.reports[0].attempts, 1);
    receiver.answer(status(200));
    assert.deepEqual(good(await replay()), { outcome: "hastened" });
    const taken = await withEvent(service, id, "reported");
    assert.deepEqual(told(taken).slice(-2), ["report, try 1", "report, try 2"]);
    assert.deepEqual(taken.reports, []);
    assert.equal(taken.reportTries, 2);
    await receiver.waitForRequests(2);
    assert.deepEqual(good(await replay()), { outcome: "sent anew" });
    const requests = await receiver.waitForRequests(3);
    assert.deepEqual(requests[2]!.items, requests[0]!.items);
    const other = await send(service, "41790000002");
    assert.equal((await service.call("POST", `/console/1/messages/${other}/replay`)).status, 409);
  });

  test("a message that is held says by what and until when", async (t) => {
    const service = await startTestService(t);
    const dueAt = new Date(Date.now() + 3_600_000).toISOString();
    const id = await send(service, "41790000001", { sendAt: dueAt });
    const answer = await life(service, id);
    assert.equal(answer.heldBy, "time");
    assert.equal(answer.events[1].until, dueAt);
    assert.equal(answer.events[1].detail, "by its sendAt");
    const rejected = await send(service, "12");
    assert.equal(rejected, undefined);
    const [row] = (await list(service, "status:rejected")).results;
    const told = await life(service, row.id);
    assert.match(told.events[0].detail, /^REJECTED_DESTINATION, EC_INVALID_DESTINATION_ADDRESS: /);
  });
});
