/** What happens to a report when its receiver takes it, and when it does not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { WriteMark } from "../../src/node/write-mark.ts";
import { PUSH_DEFAULTS } from "../../src/reports/pushing/push-settings.ts";
import { until } from "../support/patience.ts";
import {
  closeInBody,
  dripBody,
  dripHead,
  hang,
  type ReceivedReport,
  type ReportReceiver,
  reset,
  status,
} from "../support/report-receiver.ts";
import { batchesFor, batchFor, factsOf, MINUTE_MS, type Pushing, startPush, startReceiver } from "./fixtures.ts";

test("a report that is taken is forgotten", async (t) => {
  const receiver = await startReceiver(t);
  const { store, push, send } = startPush(t);
  const batch = batchFor(`${receiver.url}?client=7`);

  send(batch);
  await until(() => store.delivered.length === 1, "the report is delivered");

  assert.equal(receiver.requests.length, 1);
  const request = receiver.requests[0]!;
  assert.equal(request.path, "/reports?client=7");
  assert.equal(request.headers["webhook-id"], batch.id);
  assert.equal(request.headers["content-type"], "application/json");
  assert.equal(request.items[0]?.messageId, batch.items[0]?.messageId);
  assert.equal(push.counters.delivered, 1);
  assert.equal(push.counters.answered2xx, 1);
  assert.equal(push.counters.itemsInMemoryNow, 0);
  assert.equal(push.counters.batchesInMemoryNow, 0);
});

for (const code of [200, 201, 202, 204, 299]) {
  test(`${code} is taken`, async (t) => {
    const receiver = await startReceiver(t);
    const { store, send } = startPush(t);
    receiver.answer(status(code));
    send(batchFor(receiver.url));
    await until(() => store.delivered.length === 1, "the report is delivered");
  });
}

for (const code of [300, 400, 401, 404, 500, 503]) {
  test(`${code} is not taken, and tried again in a minute`, async (t) => {
    const receiver = await startReceiver(t);
    const pushing = startPush(t);
    receiver.answer(status(code));
    await assertFails(pushing, receiver, `answered ${code}`);
  });
}

test("a report that is refused comes again after a minute, under the same id and with a new signature", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  push.start();
  receiver.answer(status(500));

  send(batchFor(receiver.url));
  await until(() => store.failures.length === 1, "the first try has failed");
  receiver.answer(status(200));
  await clock.advance(MINUTE_MS - 1);
  assert.equal(receiver.requests.length, 1);
  await clock.advance(1000);
  await until(() => store.delivered.length === 1, "the second try is taken");

  assert.equal(receiver.requests.length, 2);
  const [first, second] = receiver.requests as [ReceivedReport, ReceivedReport];
  assert.equal(first.headers["webhook-id"], second.headers["webhook-id"]);
  assert.equal(first.body, second.body);
  assert.notEqual(first.headers["webhook-timestamp"], second.headers["webhook-timestamp"]);
  assert.notEqual(first.headers["webhook-signature"], second.headers["webhook-signature"]);
});

test("20 retries, each at its time, and then a dead letter", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t, { settings: { pollMs: MINUTE_MS } });
  push.start();
  receiver.answer(status(500));
  const startedMs = clock.now();

  send(batchFor(receiver.url));
  for (let tries = 1; tries <= 21; tries++) {
    await until(() => store.failures.length === tries, `try ${tries} has failed`);
    const { retryAtMs } = store.failures.at(-1)!;
    // The poll comes on the minute; the one after it must find nothing more.
    if (retryAtMs !== null) await clock.advance(retryAtMs - clock.now() + MINUTE_MS);
  }

  assert.equal(receiver.requests.length, 21);
  assert.equal(new Set(receiver.requests.map(({ headers }) => headers["webhook-id"])).size, 1);
  assert.deepEqual(store.deadLetters.length, 1);
  assert.equal(store.deadLetters[0]?.attempts, 21);
  assert.equal(push.counters.dead, 1);
  assert.equal(push.counters.failed, 20);
  assert.equal(push.counters.itemsInMemoryNow, 0);
  assert.ok(clock.now() - startedMs >= 41.5 * 60 * MINUTE_MS);
});

test("410 is never tried again", async (t) => {
  const receiver = await startReceiver(t);
  const { store, push, send } = startPush(t);
  receiver.answer(status(410));
  send(batchFor(receiver.url));
  await until(() => store.undelivered.size === 0, "the report is forgotten");
  assert.equal(push.counters.gone, 1);
  assert.equal(push.counters.delivered, 0);
  assert.equal(store.deadLetters.length, 0);
});

test("a redirect is not followed", async (t) => {
  const [receiver, elsewhere] = [await startReceiver(t), await startReceiver(t)];
  const pushing = startPush(t);
  receiver.answer(status(307, { location: elsewhere.url }));
  await assertFails(pushing, receiver, "answered 307");
  assert.equal(elsewhere.requests.length, 0);
});

test("a receiver that asks for time with 429 or 503 gets it", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, send } = startPush(t);
  for (const code of [429, 503]) {
    receiver.answer(status(code, { "retry-after": "600" }));
    send(batchFor(receiver.url));
    await until(() => store.failures.length > 0, "the try has failed");
    assert.equal(store.failures.pop()?.retryAtMs, clock.now() + 10 * MINUTE_MS);
  }
});

test("Retry-After means nothing beside another status, and not more than an hour", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, send } = startPush(t);
  const cases: [number, string, number][] = [
    [500, "600", MINUTE_MS],
    [429, "9999999", 60 * MINUTE_MS],
    [429, "1", MINUTE_MS],
    [429, "whenever", MINUTE_MS],
  ];
  for (const [code, retryAfter, expectedMs] of cases) {
    receiver.answer(status(code, { "retry-after": retryAfter }));
    send(batchFor(receiver.url));
    await until(() => store.failures.length > 0, "the try has failed");
    assert.equal(store.failures.pop()?.retryAtMs, clock.now() + expectedMs);
  }
});

test("a receiver that never answers is given up in time", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  receiver.answer(hang);
  send(batchFor(receiver.url));
  await receiver.waitForRequests(1);

  await clock.advance(PUSH_DEFAULTS.headersTimeoutMs - 1);
  assert.equal(store.failures.length, 0);
  await clock.advance(1);
  await until(() => store.failures.length === 1, "the try has failed");
  assert.equal(store.failures[0]?.reason, "no answer in time");
  assert.equal(push.counters.broken, 1);
  await until(() => receiver.connections === 0, "the connection is closed");
});

test("a head that drips without end is given up in time", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, send } = startPush(t);
  receiver.answer(dripHead);
  send(batchFor(receiver.url));
  await receiver.waitForRequests(1);
  await clock.advance(PUSH_DEFAULTS.headersTimeoutMs);
  await until(() => store.failures.length === 1, "the try has failed");
  await until(() => receiver.connections === 0, "the connection is closed");
});

for (const [code, taken] of [
  [200, true],
  [500, false],
] as const) {
  test(`a body that drips without end is cut off in time, and its ${code} counts`, async (t) => {
    const receiver = await startReceiver(t);
    const { clock, store, push, send } = startPush(t);
    receiver.answer(dripBody(code));
    send(batchFor(receiver.url));
    await until(() => clock.timersSet === 2, "the head is here, and the time for the body runs");
    await clock.advance(PUSH_DEFAULTS.bodyTimeoutMs - 1);
    assert.equal(store.delivered.length + store.failures.length, 0);
    await clock.advance(1);
    await until(() => store.delivered.length + store.failures.length === 1, "the try has ended");
    assert.equal(store.delivered.length === 1, taken);
    assert.equal(push.counters[taken ? "answered2xx" : "answered5xx"], 1);
    await until(() => receiver.connections === 0, "the connection is closed");
  });
}

test("of a long answer only the beginning is read", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  let sentBytes = 0;
  receiver.answer((_request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(65_536);
    const pour = () => {
      while (!response.destroyed && response.write(chunk)) sentBytes += chunk.length;
    };
    response.on("drain", pour);
    pour();
  });
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the report is delivered");
  await until(() => receiver.connections === 0, "the connection is closed");
  assert.ok(sentBytes < 50_000_000, `${sentBytes} bytes were sent`);
});

test("a connection that is reset is a failure", async (t) => {
  const receiver = await startReceiver(t);
  const pushing = startPush(t);
  receiver.answer(reset);
  await assertFails(pushing, receiver, /connection (reset|closed)/);
});

test("a connection that is closed before the answer is a failure", async (t) => {
  const receiver = await startReceiver(t);
  const pushing = startPush(t);
  receiver.answer((request) => request.socket.end());
  await assertFails(pushing, receiver, /connection (reset|closed)/);
});

test("an answer that is not HTTP is a failure", async (t) => {
  const receiver = await startReceiver(t);
  const pushing = startPush(t);
  receiver.answer((request) => request.socket.end("220 mail.example ESMTP\r\n"));
  await assertFails(pushing, receiver, /./);
});

test("200 is taken even when the connection closes within the body", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  receiver.answer(closeInBody);
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the report is delivered");
});

test("early hints before the answer are not the answer", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  receiver.answer((_request, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.writeHead(202).end();
  });
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the report is delivered");
});

test("nobody listens: a failure", async (t) => {
  const receiver = await startReceiver(t);
  const { url } = receiver;
  await receiver.stop();
  const { store, push, send } = startPush(t);
  send(batchFor(url));
  await until(() => store.failures.length === 1, "the try has failed");
  assert.equal(store.failures[0]?.reason, "connection refused");
  assert.equal(push.counters.unreachable, 1);
});

test("XML is sent as XML", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  send(batchFor(receiver.url, { form: "application/xml", items: [factsOf({ callbackData: "<7>" }), factsOf()] }));
  await until(() => store.delivered.length === 1, "the report is delivered");
  assert.equal(receiver.requests[0]?.headers["content-type"], "application/xml");
  assert.deepEqual(
    receiver.items.map(({ callbackData }) => callbackData),
    ["<7>", "order 7"],
  );
});

test("what arrives verifies with the client's library, by the old secret and by the new", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, send } = startPush(t, { startMs: Date.now() });
  store.secrets = ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];
  const text = { callbackData: "žluťoučký 😀 \ud800" };
  send(
    batchFor(receiver.url, { items: [factsOf(text)] }),
    batchFor(receiver.url, { items: [factsOf(text)], form: "application/xml" }),
  );
  await until(() => store.delivered.length === 2, "the reports are delivered");
  for (const { body, headers } of receiver.requests) {
    for (const secret of store.secrets) {
      new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false });
    }
    assert.equal(headers["webhook-timestamp"], String(Math.floor(clock.now() / 1000)));
  }
});

test("a name and a password in the URL become an Authorization header", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  send(batchFor(`http://client%40home:p%3Aw%zz@127.0.0.1:${receiver.port}/`));
  await until(() => store.delivered.length === 1, "the report is delivered");
  assert.equal(
    receiver.requests[0]?.headers.authorization,
    `Basic ${Buffer.from("client@home:p%3Aw%zz").toString("base64")}`,
  );
});

test("only http and https: anything else is a dead letter at once", async (t) => {
  const { store, send } = startPush(t);
  const urls = ["ftp://127.0.0.1/", "file:///etc/passwd", "not a url", ""];
  send(...urls.map((url) => batchFor(url)));
  await until(() => store.deadLetters.length === urls.length, "all are dead letters");
});

test("a report that cannot be written is a failure of that report only", async (t) => {
  const receiver = await startReceiver(t);
  const { store, push, send } = startPush(t);
  send(batchFor(receiver.url, { items: [factsOf({ statusId: -1 })] }), batchFor(receiver.url));
  await until(() => store.delivered.length === 1 && store.failures.length === 1, "one is delivered, one has failed");
  assert.equal(push.counters.itemsInMemoryNow, 0);
});

test("connections are used again", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  send(...batchesFor(receiver.url, 500));
  await until(() => store.delivered.length === 500, "all are delivered");
  assert.ok(receiver.connectionsMade <= 4, `${receiver.connectionsMade} connections`);
});

async function assertFails(pushing: Pushing, receiver: ReportReceiver, reason: string | RegExp): Promise<void> {
  const { clock, store, push, send } = pushing;
  send(batchFor(receiver.url));
  await until(() => store.failures.length === 1, "the try has failed");
  const failure = store.failures[0]!;
  assert.equal(receiver.requests.length, 1);
  assert.equal(failure.attempts, 1);
  assert.equal(failure.retryAtMs, clock.now() + MINUTE_MS);
  assert.match(failure.reason, typeof reason === "string" ? new RegExp(`^${reason}$`) : reason);
  assert.equal(push.counters.failed, 1);
  assert.equal(push.counters.itemsInMemoryNow, 0);
}

test("while nothing is written the store is not asked, until a report in it comes due", async (t) => {
  const receiver = await startReceiver(t);
  const mark = new WriteMark();
  const { store, clock, push } = startPush(t, { mark });
  push.start();
  await push.fetch();
  const asked = t.mock.method(store, "dueReports");
  const { pollMs } = PUSH_DEFAULTS;
  await clock.advance(10 * pollMs);
  assert.equal(asked.mock.callCount(), 0);

  store.leave([batchFor(receiver.url)], clock.now() + 5 * pollMs);
  mark.note();
  await clock.advance(4 * pollMs);
  assert.equal(asked.mock.callCount(), 1, "once for the write");
  await clock.advance(2 * pollMs);
  await until(() => store.delivered.length === 1, "the report is delivered");
});

test("reports that wait in the store are fetched when it says so, in as few questions as need be", async (t) => {
  const receiver = await startReceiver(t);
  const { store, push } = startPush(t);
  push.start();
  await push.fetch();
  store.leave([batchFor(receiver.url)]);
  const asked = t.mock.method(store, "dueReports");
  await Promise.all([push.fetch(), push.fetch(), push.fetch()]);
  assert.equal(asked.mock.callCount(), 1, "one question for all who asked");
  await until(() => store.delivered.length === 1, "the report is delivered");
});
