/** The published npm client of the API family, unmodified, asks what became of its messages. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AuthType, Infobip } from "@infobip-api/sdk";
import type { ReportItem } from "../../src/reports/rendering/report-item.ts";
import { passUntil, REJECTED } from "../support/sending.ts";
import { errorObject, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
const service = await startTestService({ after }, { clock });
const { sms } = new Infobip({
  baseUrl: service.url,
  authType: AuthType.Basic,
  username: "demo",
  password: "demo-password",
}).channels;

function send(bulkId: string) {
  return sms.send({
    bulkId,
    messages: [
      { from: "InfoSMS", destinations: [{ to: "41793026727", messageId: `${bulkId} one` }], text: "Hello" },
      { from: "InfoSMS", destinations: [{ to: "nobody", messageId: `${bulkId} two` }], text: "Hello" },
    ],
  });
}

const told = ({ messageId, status }: ReportItem): unknown[] => [messageId, status.name];

test("it fetches reports, each once, by bulk and by message", async () => {
  await send("reports");
  const rejected = await sms.reports.get({ messageId: "reports two", limit: 10 });
  assert.equal(rejected.status, 200);
  assert.deepEqual(rejected.data.results.map(told), [["reports two", REJECTED.destination.name]]);
  const delivered = await passUntil(clock, async () => {
    const { data } = await sms.reports.get({ bulkId: "reports" });
    return data.results.length > 0 && data.results;
  });
  assert.deepEqual(delivered.map(told), [["reports one", "DELIVERED_TO_HANDSET"]]);
  const { status, data } = await sms.reports.get();
  assert.deepEqual([status, data], [200, { results: [] }]);
});

test("it reads the logs, as often as it likes", async () => {
  await send("logs");
  for (const filter of [
    { bulkId: "logs", generalStatus: "REJECTED" },
    { messageId: "logs two", to: "nobody", from: "InfoSMS", limit: 1 },
    { bulkId: ["none", "logs"], to: "nobody", sentSince: "2026-01-05T12:00:00.000+0000" },
  ]) {
    const { status, data } = await sms.logs.get(filter);
    assert.equal(status, 200);
    assert.deepEqual(data.results.map(told), [["logs two", REJECTED.destination.name]]);
    assert.equal(data.results[0].text, "Hello");
  }
});

test("it reads what is wrong with its question", async () => {
  const { response } = await sms.logs.get({ generalStatus: "SENT" });
  const says = "generalStatus must be one of ACCEPTED, PENDING, UNDELIVERABLE, DELIVERED, REJECTED, EXPIRED.";
  assert.equal(response.status, 400);
  assert.deepEqual(response.data, errorObject("BAD_REQUEST", "Bad request", ["generalStatus"], says));
});
