/** Reports and logs of version 3: their shapes as strict clients read them, their filters, and the cursor. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ReportReceiver } from "../support/report-receiver.ts";
import { type Answer, startTestService, type TestService } from "../support/service.ts";

const service = await startTestService({ after });
const TO = "41793026727";
/** A phone that never answers in time: its messages stay on their way. */
const SILENT = "41793999002";
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/;
const STATUS_GROUPS = ["ACCEPTED", "PENDING", "UNDELIVERABLE", "DELIVERED", "EXPIRED", "REJECTED"];
const ERROR_GROUPS = ["OK", "HANDSET_ERRORS", "USER_ERRORS", "OPERATOR_ERRORS"];

// biome-ignore lint/suspicious/noExplicitAny: whatever the service has answered
type Item = any;

async function send(messages: object[], options: object = {}, on: TestService = service): Promise<string[]> {
  const { status, json, text } = await on.call("POST", "/sms/3/messages", { body: { messages, options } });
  assert.equal(status, 200, text);
  return json.messages.map(({ messageId }: Item) => messageId);
}

const message = (fields: object = {}): object => ({
  sender: "Shop",
  destinations: [{ to: TO }],
  content: { text: "Hello" },
  ...fields,
});

async function until<Found>(look: () => Promise<Found | null>): Promise<Found> {
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const logs = (query: string, on: TestService = service): Promise<Answer> => on.call("GET", `/sms/3/logs?${query}`);

/** The log items of these messages, once all have their last status. */
const whenDone = (ids: string[]): Promise<Item[]> =>
  until(async () => {
    const { json } = await logs(`messageId=${ids.join(",")}&limit=1000`);
    const isDone = json.results.every(({ status }: Item) => !["PENDING", "ACCEPTED"].includes(status.groupName));
    return json.results.length === ids.length && isDone ? json.results : null;
  });

/** What makes one of the strict clients fail, as assertions. */
function assertStrict(value: unknown, path = ""): void {
  assert.notEqual(value, null, `${path} is null`);
  if (Array.isArray(value)) for (const each of value) assertStrict(each, `${path}[]`);
  else if (typeof value === "object") {
    const item = value as Item;
    for (const [name, each] of Object.entries(item)) assertStrict(each, `${path}.${name}`);
    if (path.endsWith(".status")) assert.ok(STATUS_GROUPS.includes(item.groupName), item.groupName);
    if (path.endsWith(".error")) assert.ok(ERROR_GROUPS.includes(item.groupName), item.groupName);
    if (/\.(status|error)$/.test(path)) for (const name of ["groupId", "id"]) assert.equal(typeof item[name], "number");
    if (path.endsWith(".price")) assert.equal(typeof item.pricePerMessage, "number");
    if (path.endsWith(".content")) assert.equal(("text" in item ? 1 : 0) + ("hex" in item ? 1 : 0), 1);
  } else if (/At$/.test(path)) assert.match(String(value), DATE, path);
}

const DELIVERED = {
  groupId: 3,
  groupName: "DELIVERED",
  id: 5,
  name: "DELIVERED_TO_HANDSET",
  description: "Message delivered to handset",
};
const NO_ERROR = {
  groupId: 0,
  groupName: "OK",
  id: 0,
  name: "NO_ERROR",
  description: "No Error",
  permanent: false,
};
const OPTIONS = { platform: { entityId: "promotions", applicationId: "shop" }, campaignReferenceId: "spring" };

test("a report is fetched once, in version 3's shape, from the same heap as version 1's", async () => {
  const webhooks = { callbackData: "order 7" };
  const [first, second] = await send([message({ options: OPTIONS, webhooks }), message()], {
    schedule: { bulkId: "v3-reports" },
  });
  await whenDone([first!, second!]);
  const one = await service.call("GET", `/sms/3/reports?messageId=${first}`);
  assert.match(one.headers.get("content-type")!, /^application\/json/);
  assertStrict(one.json);
  const [{ sentAt, doneAt, ...item }] = one.json.results;
  assert.ok(DATE.test(sentAt) && DATE.test(doneAt));
  assert.deepEqual(item, {
    bulkId: "v3-reports",
    messageId: first,
    to: TO,
    sender: "Shop",
    messageCount: 1,
    mccMnc: item.mccMnc,
    callbackData: "order 7",
    price: { pricePerMessage: 0.01, currency: "EUR" },
    status: DELIVERED,
    error: NO_ERROR,
    platform: { entityId: "promotions", applicationId: "shop" },
    campaignReferenceId: "spring",
  });
  assert.deepEqual((await service.call("GET", `/sms/1/reports?messageId=${first}`)).json, { results: [] });
  const other = await service.call("GET", `/sms/1/reports?messageId=${second}`);
  assert.deepEqual([other.json.results.length, other.json.results[0].from], [1, "Shop"]);
  assert.deepEqual((await service.call("GET", `/sms/3/reports?messageId=${second}`)).json, { results: [] });
});

test("reports are fetched by what was said of their messages, in both versions, and the others stay", async () => {
  for (const version of [1, 3]) {
    const bulkId = `v3-filters-${version}`;
    const [a, b, c] = await send(
      [
        message({ options: { platform: { entityId: "e1", applicationId: "a1" }, campaignReferenceId: "c1" } }),
        message({ options: { platform: { entityId: "e1", applicationId: "a2" } } }),
        message(),
      ],
      { schedule: { bulkId } },
    );
    await whenDone([a!, b!, c!]);
    const fetched = async (query: string): Promise<string[]> => {
      const { json, status, text } = await service.call("GET", `/sms/${version}/reports?bulkId=${bulkId}&${query}`);
      assert.equal(status, 200, text);
      return json.results.map(({ messageId }: Item) => messageId);
    };
    assert.deepEqual(await fetched("entityId=e2"), []);
    assert.deepEqual(await fetched("entityId=e1&applicationId=a2"), [b]);
    assert.deepEqual(await fetched("campaignReferenceId=c0&campaignReferenceId=c1"), [a]);
    assert.deepEqual(await fetched(""), [c]);
  }
});

test("a filter finds what stands behind hundreds of others", async (t) => {
  const own = await startTestService(t);
  const many = message({
    destinations: Array.from({ length: 700 }, (_, index) => ({ to: String(41_790_000_000 + index) })),
  });
  await send([many], {}, own);
  const [last] = await send([message({ options: OPTIONS })], {}, own);
  const found = await until(async () => {
    const { json } = await own.call("GET", "/sms/3/reports?entityId=promotions&limit=1");
    return json.results.length === 0 ? null : json.results;
  });
  assert.deepEqual(
    found.map(({ messageId }: Item) => messageId),
    [last],
  );
});

test("the logs have version 3's names, and content with exactly one of text and hex", async () => {
  const ids = await send([
    message({ options: OPTIONS }),
    message({ content: { hex: "0f c2 4a", dataCoding: 4, esmClass: 0 } }),
    message({ destinations: [{ to: "12" }] }),
  ]);
  const items = await whenDone(ids);
  assertStrict(items);
  const byId = new Map(items.map((item) => [item.messageId, item]));
  const { sentAt: _, doneAt: __, mccMnc: ___, bulkId: ____, ...text } = byId.get(ids[0]!);
  assert.deepEqual(text, {
    messageId: ids[0],
    sender: "Shop",
    destination: TO,
    messageCount: 1,
    price: { pricePerMessage: 0.01, currency: "EUR" },
    status: DELIVERED,
    error: NO_ERROR,
    platform: { entityId: "promotions", applicationId: "shop" },
    campaignReferenceId: "spring",
    content: { text: "Hello" },
  });
  assert.deepEqual(byId.get(ids[1]!).content, { hex: "0fc24a", dataCoding: 4, esmClass: 0 });
  assert.equal(byId.get(ids[2]!).status.groupName, "REJECTED");
  assert.equal(byId.get(ids[2]!).status.action, "Check to parameter.");
  assert.ok(!("action" in byId.get(ids[0]!).status));
});

test("the logs tell the text as its client wrote it, and what he asked to be done with it", async () => {
  const asked = {
    transliteration: "TURKISH",
    language: { languageCode: "TR", singleShift: true, lockingShift: false },
  };
  const ids = await send([
    message({ content: { text: "Şehir", transliteration: "TURKISH" } }),
    message({ content: { text: "Plain", ...asked } }),
  ]);
  const items = await whenDone(ids);
  assertStrict(items);
  const contents = new Map(items.map(({ messageId, content }) => [messageId, content]));
  assert.deepEqual(contents.get(ids[0]!), { text: "Şehir", transliteration: "TURKISH" });
  assert.deepEqual(contents.get(ids[1]!), { text: "Plain", ...asked });
  assert.equal(service.handedOn.findLast(({ text }) => text.endsWith("ehir"))!.text, "Sehir");
});

test("a message on its way has no null", async () => {
  const [id] = await send([message({ destinations: [{ to: SILENT }] })]);
  const { json } = await logs(`messageId=${id}`);
  assert.equal(json.results.length, 1);
  assertStrict(json);
});

test("every filter of the logs", async () => {
  const [id] = await send([
    message({ sender: "Filter", options: { platform: { entityId: "only" }, campaignReferenceId: "c,1" } }),
  ]);
  await whenDone([id!]);
  const found = async (query: string): Promise<string[]> => {
    const { json, status, text } = await logs(query);
    assert.equal(status, 200, `${query}: ${text}`);
    return json.results.map(({ messageId }: Item) => messageId);
  };
  const { json } = await logs(`messageId=${id}`);
  const [{ mccMnc, bulkId, sentAt }] = json.results;
  const sent = encodeURIComponent(sentAt);
  for (const query of [
    "sender=Filter",
    `sender=Filter&destination=${TO}`,
    `sender=Filter&bulkId=other&bulkId=${bulkId}`,
    "sender=Filter&generalStatus=DELIVERED",
    `sender=Filter&sentSince=${sent}`,
    `sender=Filter&sentUntil=${sent}`,
    // Six digits, as Python writes them.
    `sender=Filter&sentSince=${sent.replace(/(\.\d{3})/, "$1000")}`,
    ...(mccMnc === undefined ? [] : [`sender=Filter&mcc=${mccMnc.slice(0, 3)}`]),
    "entityId=only",
  ])
    assert.deepEqual(await found(query), [id], query);
  for (const query of [
    "sender=filter",
    "sender=Filter&destination=1234",
    "entityId=Only",
    "applicationId=only",
    "campaignReferenceId=c",
  ])
    assert.deepEqual(await found(query), [], query);
  for (const [query, property] of [
    ["mnc=01", "mnc"],
    ["generalStatus=GONE", "generalStatus"],
    ["sentSince=infobip.Time+value", "sentSince"],
    ["limit=1001", "limit"],
    ["cursor=abc", "cursor"],
    ["useCursor=true&cursor=abc", "cursor"],
    ["useCursor=perhaps", "useCursor"],
  ]) {
    const answer = await logs(query!);
    assert.deepEqual(
      [answer.status, answer.json.errorCode, answer.json.violations[0].property],
      [400, "E400", property],
    );
  }
});

test("campaigns are a list in the logs", async () => {
  const ids = await send(
    ["x1", "x2", "x3"].map((campaignReferenceId) => message({ options: { campaignReferenceId } })),
  );
  const { json } = await logs("campaignReferenceId=x1,x3");
  assert.deepEqual(json.results.map(({ messageId }: Item) => messageId).sort(), [ids[0], ids[2]].sort());
});

test("a cursor goes through all messages while others come, leaves none out, and ends", async (t) => {
  const own = await startTestService(t);
  const destinations = Array.from({ length: 250 }, (_, index) => ({ to: String(41_790_000_000 + index) }));
  const ids = await send([message({ destinations })], {}, own);
  const seen = new Map<string, number>();
  let query = "useCursor=true&limit=60";
  for (let pages = 0; ; pages++) {
    assert.ok(pages < 20, "it comes to an end");
    const { json, status, text } = await logs(query, own);
    assert.equal(status, 200, text);
    assert.ok(json.results.length <= 60);
    assert.equal(json.cursor.limit, 60);
    for (const { messageId } of json.results) seen.set(messageId, (seen.get(messageId) ?? 0) + 1);
    if (json.cursor.nextCursor === undefined) break;
    query = `useCursor=true&limit=60&cursor=${encodeURIComponent(json.cursor.nextCursor)}`;
    await send([message()], {}, own);
  }
  assert.deepEqual(
    ids.filter((id) => !seen.has(id)),
    [],
    "none is left out",
  );
  assert.deepEqual(
    [...seen.keys()].filter((id) => !ids.includes(id)),
    [],
    "what came later is not shown",
  );
});

test("without useCursor there is no cursor", async () => {
  assert.equal("cursor" in (await logs("limit=1")).json, false);
});

test("pushed reports have the shape of the fetched ones, intermediate ones too", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const webhooks = { delivery: { url: receiver.url, intermediateReport: true }, callbackData: "order 7" };
  const [id] = await send([message({ options: OPTIONS, webhooks })]);
  await until(async () => (receiver.items.some(({ status }) => status.groupName === "DELIVERED") ? true : null));
  assertStrict(receiver.requests.map(({ body }) => JSON.parse(body)));
  for (const item of receiver.items) {
    assert.deepEqual(
      [item.messageId, item.sender, item.messageCount, item.callbackData, item.platform, item.campaignReferenceId],
      [id, "Shop", 1, "order 7", OPTIONS.platform, "spring"],
    );
    assert.notEqual(item.status.groupName, "ACCEPTED");
    assert.ok(!("from" in item) && !("smsCount" in item) && !("entityId" in item));
  }
  assert.ok(receiver.items.length > 1, "an intermediate one came before");
});
