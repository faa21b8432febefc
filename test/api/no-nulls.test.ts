/** Success answers below /sms, and pushes, have no null: four strict clients died of one, and what is fetched once was then lost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nullIn, nullInPush, refuseNulls } from "../support/nulls.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { CATALOGUE, eventually, startTestService } from "../support/service.ts";

const NUMBERS = `
[[number]]
number = "12345"
account = "DEMO0001"
keywords = ["QUIZ"]
`;

test("the guard over the traffic of all tests finds a null wherever it is", () => {
  assert.equal(nullIn({ results: [{ a: 1 }, { b: [0, null] }] }), ".results[1].b[1]");
  assert.equal(nullIn({ results: [{ a: "", b: 0, c: false }] }), null);
  assert.throws(() => refuseNulls("/sms/1/logs", 200, { a: null }), /null at \.a/);
  refuseNulls("/sms/1/logs", 400, { a: null });
  assert.equal(nullInPush("application/xml", "<a><b/></a>"), "<b/>");
  assert.equal(nullInPush("application/xml", "<a><b>c</b></a>"), null);
  assert.equal(nullInPush("application/json", '{"a":null}'), ".a");
});

test("no success answer below /sms is described as one that may be null", async (t) => {
  const service = await startTestService(t);
  const { json } = await service.call("GET", "/openapi.json");
  const successes = Object.entries<Record<string, { responses?: Record<string, unknown> }>>(json.paths).flatMap(
    ([path, methods]) =>
      path.startsWith("/sms/")
        ? Object.entries(methods).map(([method, { responses }]) => [`${method} ${path}`, responses?.["200"]] as const)
        : [],
  );
  assert.ok(successes.length > 15);
  for (const [name, answer] of successes) assert.doesNotMatch(JSON.stringify(answer), /"null"/, name);
});

test("no answer and no push has a null: pending, rejected and delivered messages, fetched, pushed, logged, and from phones", async (t) => {
  const service = await startTestService(t, { catalogue: CATALOGUE + NUMBERS });
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const seen: string[] = [];
  /** Every answer is looked at in `call`. */
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await service.call(method, path, body === undefined ? {} : { body });
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    seen.push(answer.text);
    return answer.json;
  };
  const pushed = (notifyContentType: string) => ({
    notifyUrl: receiver.url,
    notifyContentType,
    intermediateReport: true,
  });
  const phones = ["41793026727", "12", "41793026728"];
  for (const options of [{}, pushed("application/json"), pushed("application/xml")]) {
    for (const to of phones)
      await call("POST", "/sms/1/text/single", { from: "InfoSMS", to, text: "Hello", ...options });
    await call("POST", "/sms/1/text/multi", { messages: [{ to: phones, text: "No sender", ...options }] });
    const messages = [{ from: "InfoSMS", destinations: phones.map((to) => ({ to })), text: "Hello", ...options }];
    await call("POST", "/sms/1/text/advanced", { messages });
    await call("POST", "/sms/2/text/advanced", { messages });
  }
  const later = { from: "InfoSMS", to: phones, text: "Later", bulkId: "later", sendAt: "2199-01-01T00:00:00" };
  const refused = await service.call("POST", "/sms/1/text/single", { body: later });
  assert.equal(refused.status, 400);
  assert.notEqual(nullIn(refused.json), null, "the error object keeps its nulls");
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  await call("POST", "/sms/1/text/single", { ...later, sendAt: soon });
  await call("GET", "/sms/1/bulks?bulkId=later");
  await call("GET", "/sms/1/bulks/status?bulkId=later");
  await call("GET", "/sms/1/logs?limit=1000");
  await call("POST", "/sms/1/preview", { text: "ş", languageCode: "TR", transliteration: "TURKISH" });
  for (const text of ["QUIZ yes", "hello"]) {
    const body = { from: "41793026727", to: "12345", text };
    assert.equal((await service.call("POST", "/sandbox/1/incoming", { body })).status, 204);
  }
  await eventually(async () => {
    const { results } = await call("GET", "/sms/1/logs?limit=1000&generalStatus=DELIVERED");
    return results.length >= 18;
  });
  const logged = await call("GET", "/sms/1/logs?limit=1000");
  for (const item of logged.results) assert.equal(typeof item.doneAt, "string");
  assert.ok((await call("GET", "/sms/1/reports?limit=1000")).results.length > 0);
  await eventually(async () => (await call("GET", "/sms/1/inbox/reports")).results.length > 0);
  await call("GET", "/sms/1/reports/dead");
  await call("POST", "/sms/1/reports/replay", { all: true });
  await call("POST", "/sms/1/reports/retry", { host: receiver.url });
  await receiver.waitForItems(12);
  for (const { headers, body } of receiver.requests)
    assert.equal(nullInPush(headers["content-type"] ?? "", body), null, body);
  for (const text of seen) assert.equal(nullIn(JSON.parse(text)), null, text);
});
