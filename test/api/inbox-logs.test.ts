/** Messages from phones can be read again and again, by number, keyword and time; to read them takes none away. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { writtenBy } from "../support/client-bytes.ts";
import { CATALOGUE, DEMO, eventually, startTestService } from "../support/service.ts";

const NUMBERS = `
[[number]]
number = "12345"
account = "DEMO0001"
keywords = ["QUIZ"]
[[number]]
number = "54321"
account = "DEMO0001"
`;
const service = await startTestService({ after }, { catalogue: CATALOGUE + NUMBERS });
const PHONE = "41793026727";
const PYTHON = ["Accept: application/json", "User-Agent: infobip-api-client-python/5.1.1", "Authorization: {auth}"];

async function logs(query = "") {
  const { status, json } = await writtenBy(service, DEMO, [`GET /sms/1/inbox/logs${query} HTTP/1.1`, ...PYTHON]);
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual(Object.keys(json), ["results"]);
  return json.results as { text: string; receivedAt: string }[];
}

const textsOf = async (query = ""): Promise<string[]> => (await logs(query)).map(({ text }) => text);

async function write(to: string, text: string): Promise<void> {
  const body = { from: PHONE, to, text };
  assert.equal((await service.call("POST", "/sandbox/1/incoming", { body })).status, 204);
  await eventually(async () => (await textsOf("?limit=1000")).includes(text));
}

test("they are there newest first, fetched or not, as often as one asks, and by any filter", async () => {
  assert.deepEqual(await logs(), []);
  for (const [to, text] of [
    ["12345", "QUIZ one"],
    ["54321", "two"],
    ["12345", "three"],
  ] as const)
    await write(to, text);
  assert.deepEqual(await textsOf(), ["three", "two", "QUIZ one"]);
  const inbox = await service.call("GET", "/sms/1/inbox/reports");
  const fetched = [...inbox.json.results].reverse();
  assert.equal(fetched.length, 3);
  assert.deepEqual(await logs(), fetched, "the same items, and they are still there");
  assert.deepEqual(await logs(), fetched);

  assert.deepEqual(await textsOf("?limit=2"), ["three", "two"]);
  assert.deepEqual(await textsOf("?to=54321"), ["two"]);
  assert.deepEqual(await textsOf("?keyword=quiz"), ["QUIZ one"]);
  assert.deepEqual(await textsOf("?keyword=QUIZ&to=54321"), []);
  const [newest, , oldest] = await logs();
  const at = encodeURIComponent(newest!.receivedAt);
  assert.equal((await textsOf(`?receivedSince=${at}`))[0], "three");
  assert.equal((await textsOf(`?receivedUntil=${encodeURIComponent(oldest!.receivedAt)}`)).at(-1), "QUIZ one");
  const later = formatDateTime(Date.now() + 60_000).slice(0, 19);
  assert.deepEqual(await textsOf(`?receivedSince=${later}`), []);
  assert.equal((await textsOf(`?receivedUntil=${later}`)).length, 3);
});

test("nobody sees another account's, and what is no date or limit is named", async () => {
  const authorization = `Basic ${Buffer.from("operator:operator-password").toString("base64")}`;
  assert.deepEqual((await service.call("GET", "/sms/1/inbox/logs", { authorization })).json, { results: [] });
  for (const [query, field] of [
    ["receivedSince=infobip.Time+value", "receivedSince"],
    ["limit=1001", "limit"],
    ["to=", "to"],
  ] as const) {
    const { status, json } = await service.call("GET", `/sms/1/inbox/logs?${query}`);
    assert.deepEqual([status, json.requestError.serviceException.variables], [400, [field]]);
  }
});

test("more messages than a page of the store are walked through to the end", async () => {
  const parts = Array.from({ length: 450 }, (_, index) => ({
    from: PHONE,
    to: "54321",
    text: `many ${index}`,
    concatenation: null,
    octets: null,
    atMs: Date.now(),
  }));
  await service.store.incoming({ carrierId: "simulator", parts: parts as never, nowMs: Date.now() });
  assert.equal((await logs("?limit=1000")).length, 453);
  assert.deepEqual(await textsOf("?keyword=QUIZ&limit=1"), ["QUIZ one"]);
});
