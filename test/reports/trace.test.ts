/** What is noted of reports for people: in an outage no more than a short line for each try of a batch. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SUBJECT, type Trace, type TraceDetails, type TraceKind } from "../../src/events/trace.ts";
import { ReportTrace } from "../../src/reports/pushing/report-trace.ts";
import { until } from "../support/patience.ts";
import { status } from "../support/report-receiver.ts";
import { batchFor, factsOf, startPush, startReceiver } from "./fixtures.ts";

const ATTEMPT = { atMs: 1, status: 503, durationMs: 7, reason: "answered 503", excerpt: "busy" };

interface Noted {
  readonly subject: string;
  readonly kind: TraceKind;
  readonly detail: TraceDetails[TraceKind];
}

function tracing(level: "all" | "trouble") {
  const noted: Noted[] = [];
  const trace: Trace = {
    isOn: true,
    all: level === "all",
    note: (subject, kind, detail) => void noted.push({ subject, kind, detail }),
    failed: assert.fail,
  };
  return { noted, trace: new ReportTrace(trace) };
}

function batchOf(count: number, attempts: number, doneAtMs = (_: number) => 0) {
  const items = Array.from({ length: count }, (_, index) =>
    factsOf({ messageId: `message-${index}`, doneAtMs: doneAtMs(index) }),
  );
  return batchFor("http://127.0.0.1:1/", { items, attempts });
}

test("in an outage a try of a batch is one short note, however many messages are in it", () => {
  const { noted, trace } = tracing("trouble");
  const batch = batchOf(1_000, 0);
  trace.failed(batch, "answered 503", 100, ATTEMPT);
  trace.failed({ ...batch, attempts: 1 }, "answered 503", null, ATTEMPT);
  assert.deepEqual(
    noted.map(({ subject, kind, detail }) => [subject, kind, { ...detail, url: "" }]),
    [false, true].map((isDead) => [
      SUBJECT.report(batch.id),
      "attempt",
      {
        try: isDead ? 2 : 1,
        url: "",
        items: 1_000,
        body: null,
        status: 503,
        reason: "answered 503",
        excerpt: "busy",
        tookMs: 7,
        retryAtMs: isDead ? null : 100,
        isDead,
      },
    ]),
  );
});

test("a batch that was not sent itself is noted only where every step is", () => {
  const [trouble, all] = [tracing("trouble"), tracing("all")];
  for (const { trace } of [trouble, all]) trace.failed(batchOf(2, 0), "answered 503", 100, null);
  assert.deepEqual([trouble.noted.length, all.noted.length], [0, 1]);
});

test("when a report is taken at last, the messages in it are noted together by the time of their end", () => {
  const { noted, trace } = tracing("trouble");
  const batch = batchOf(1_000, 3, (index) => (index < 10 ? 5_000 : 25_000));
  assert.equal(trace.isWanted(batch), true);
  assert.equal(trace.isWanted({ ...batch, attempts: 0 }), false);
  trace.taken(batch, { ...ATTEMPT, status: 200 });
  const reported = noted.filter(({ kind }) => kind === "reported");
  const names = (subject: string) =>
    reported
      .filter((each) => each.subject === subject)
      .flatMap(({ detail }) => (detail as TraceDetails["reported"]).names);
  assert.equal(names(SUBJECT.ended(batch.accountId, 9_999)).length, 10);
  assert.deepEqual(
    names(SUBJECT.ended(batch.accountId, 20_000)),
    batch.items.slice(10).map(({ messageId }) => messageId),
  );
  assert.ok(noted.length <= 10, `${noted.length} notes of 1,000 messages`);
  for (const { detail } of reported) assert.ok(JSON.stringify(detail).length < 4_000, "it has room in a note");
});

test("notes that fail stop no report", async (t) => {
  let failures = 0;
  const trace: Trace = {
    isOn: true,
    all: true,
    note: () => assert.fail("a note that fails"),
    failed: () => void failures++,
  };
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t, { trace });
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the report is delivered");
  receiver.answer(status(503));
  send(batchFor(receiver.url));
  await until(() => store.failures.length === 1, "the failure is recorded");
  assert.equal(failures, 2);
});
