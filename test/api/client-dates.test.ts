/** Dates as clients write them: with no offset, with six digits of a fraction, with a plus sign that was escaped or was not. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { writtenBy } from "../support/client-bytes.ts";
import { SINGLE } from "../support/sending.ts";
import { basic, DEMO, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const OPERATOR = basic("operator", "operator-password");
const SOON = Date.now() + 3_600_000;
/** 2026-02-12T09:58:20 */
const bare = (atMs: number): string => formatDateTime(atMs).slice(0, 19);

async function sendAtOf(bulkId: string): Promise<string> {
  const { json } = await service.call("GET", `/sms/1/bulks?bulkId=${bulkId}`);
  return json.sendAt;
}

test("a sendAt without an offset is UTC, in a body, in a query and for a bulk", async () => {
  const expected = `${bare(SOON)}.000+0000`;
  const body = { from: "InfoSMS", to: "41793026727", text: "x", bulkId: "body", sendAt: bare(SOON) };
  assert.equal((await service.call("POST", SINGLE, { body })).status, 200);
  assert.equal(await sendAtOf("body"), expected);

  const query = `from=InfoSMS&to=41793026727&text=x&bulkId=query&sendAt=${bare(SOON)}`;
  const lines = [`GET /sms/1/text/query?${query} HTTP/1.1`, "Authorization: {auth}"];
  assert.equal((await writtenBy(service, DEMO, lines)).status, 200);
  assert.equal(await sendAtOf("query"), expected);

  const later = bare(SOON + 60_000);
  const moved = await service.call("PUT", "/sms/1/bulks?bulkId=body", { body: { sendAt: `${later}.123456` } });
  assert.deepEqual(moved.json, { bulkId: "body", sendAt: `${later}.123+0000` });
});

test("dates in a query: six digits, a plus sign escaped or not, no offset; and what is no date is named", async () => {
  const { json } = await service.call("POST", SINGLE, { body: { from: "InfoSMS", to: "41793026727", text: "x" } });
  const id = json.messages[0].messageId;
  const python = ["Accept: application/json", "User-Agent: infobip-api-client-python/5.1.1", "Authorization: {auth}"];
  const found = async (since: string) => {
    const lines = [`GET /sms/1/logs?messageId=${id}&sentSince=${since} HTTP/1.1`, ...python];
    return writtenBy(service, DEMO, lines);
  };
  const hourAgo = Date.now() - 3_600_000;
  const good = ["323456%2B0000", "323456+0000", "323%2B00:00", "323Z", "323456"].map(
    (end) => `${bare(hourAgo)}.${end}`,
  );
  for (const since of [...good, bare(hourAgo)]) {
    const answer = await found(since);
    assert.equal(answer.status, 200, since);
    assert.deepEqual(
      answer.json.results.map(({ messageId }: { messageId: string }) => messageId),
      [id],
      since,
    );
  }
  // An offset is not lost on the way: two hours east of us this was an hour before it was sent.
  const east = await found(`${bare(Date.now() + 3_600_000)}.000+0200`);
  assert.equal(east.json.results.length, 1);
  const go = await found("infobip.Time+value");
  assert.equal(go.status, 400);
  assert.deepEqual(go.json.requestError.serviceException.variables, ["sentSince"]);
});

test("the dates of statements, keys and dead letters are read by the same rule", async () => {
  const from = bare(Date.now() - 3_600_000);
  for (const [path, authorization] of [
    [`/account/1/statement?from=${from}&to=${bare(SOON)}`, DEMO],
    [`/operator/1/accounts/DEMO0001/statement?from=${from}&to=${bare(SOON)}`, OPERATOR],
    [`/sms/1/reports/dead?since=${from}`, DEMO],
  ] as const)
    assert.equal((await service.call("GET", path, { authorization })).status, 200, path);
  const made = await service.call("POST", "/account/1/api-keys", { body: { expiresAt: bare(SOON) } });
  assert.equal(made.json.expiresAt, `${bare(SOON)}.000+0000`, made.text);
  const replayed = await service.call("POST", "/sms/1/reports/replay", { body: { since: from } });
  assert.equal(replayed.status, 200, replayed.text);
});
