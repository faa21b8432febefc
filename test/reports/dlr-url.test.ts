/** Kannel's delivery reports: what the escapes of a dlr-url become, and which templates are taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReportFacts } from "../../src/message/message.ts";
import { TOLD, type Told } from "../../src/message/report-form.ts";
import { dlrPath, isDlrUrl } from "../../src/reports/rendering/dlr-url.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { until } from "../support/patience.ts";
import { batchesFor, factsOf, startPush, startReceiver } from "./fixtures.ts";

const ID = "1770890300323000002";
const RECEIPT = `id:${ID} sub:001 dlvrd:001 submit date:2602120958 done date:2602120958 stat:DELIVRD err:000 text:`;
const ENCODED = RECEIPT.replaceAll(":", "%3A").replaceAll(" ", "+");

function filled(template: string, told: Told = TOLD.delivered, changes: Partial<ReportFacts> = {}): string {
  return dlrPath(`http://client.example${template}`, told, factsOf(changes));
}

const ESCAPES: readonly (readonly [escape: string, becomes: string])[] = [
  ["%d", "1"],
  ["%p", "41793026727"],
  ["%P", "InfoSMS"],
  ["%q", "%2B41793026727"],
  ["%Q", "InfoSMS"],
  ["%t", "2026-02-12+09:58:21"],
  ["%T", "1770890301"],
  ["%I", ID],
  ["%F", ID],
  ["%i", "heliograph"],
  ["%o", "spring"],
  ["%B", "order+7"],
  ["%A", ENCODED],
  ["%b", ENCODED],
  ["%e", Buffer.from(RECEIPT).toString("hex").toUpperCase()],
  ["%a", ENCODED],
  ["%k", `id%3A${ID}`],
  [
    "%s-%s-%r",
    "sub%3A001-dlvrd%3A001-submit+date%3A2602120958+done+date%3A2602120958+stat%3ADELIVRD+err%3A000+text%3A",
  ],
  ["%S", "sub%3A001"],
  ["%R", encodeURIComponent("http://client.example/dlr?x=%R")],
  ["%C", "UTF-8"],
  ["%c", "0"],
  ["%O", "00"],
  ["%m%M%y", "-1-1-1"],
  ["[%n%u%U%D%f%x%v%V]", "[]"],
  ["%#smpp#tlv#", ""],
  ["%%", "%"],
  ["%%d", "%d"],
  ["%X%z%20%", "%X%z%20%"],
];

for (const [letters, becomes] of ESCAPES) {
  test(`${letters} becomes ${becomes.slice(0, 60)}`, () => {
    const path = filled(`/dlr?x=${letters}`, TOLD.delivered, { campaignReferenceId: "spring" });
    assert.equal(path, `/dlr?x=${becomes}`);
  });
}

test("the number of each event, and what the network said of it", () => {
  const rejected = { statusId: STATUS.UNDELIVERABLE_REJECTED_OPERATOR.id, errorId: 21 };
  const cases: readonly (readonly [told: Told, changes: Partial<ReportFacts>, says: RegExp])[] = [
    [TOLD.delivered, {}, /^1 id:\d+ sub:001 dlvrd:001 .* stat:DELIVRD err:000 text:$/],
    [
      TOLD.failed,
      { statusId: STATUS.UNDELIVERABLE_NOT_DELIVERED.id, errorId: 1 },
      /^2 .*dlvrd:000 .*stat:UNDELIV err:001/,
    ],
    [TOLD.failed, { statusId: STATUS.EXPIRED_EXPIRED.id, errorId: 4097 }, /^2 .*stat:EXPIRED err:097/],
    [TOLD.failed, { statusId: STATUS.EXPIRED_DLR_UNKNOWN.id }, /^2 .*stat:UNKNOWN/],
    [TOLD.failed, rejected, /^2 .*stat:REJECTD/],
    [TOLD.buffered, { statusId: STATUS.PENDING_WAITING_DELIVERY.id }, /^4 .*stat:ENROUTE/],
    [TOLD.accepted, { statusId: STATUS.PENDING_WAITING_DELIVERY.id }, /^8 ACK\/$/],
    [TOLD.refused, rejected, /^16 NACK\/21\/Message rejected by operator$/],
  ];
  for (const [told, changes, says] of cases) {
    const path = filled("/?d=%d&a=%A", told, changes);
    const query = new URL(path, "http://client.example").searchParams;
    assert.match(`${query.get("d")} ${query.get("a")}`, says);
  }
});

test("what is put in stays where it was put: no host, path, parameter or header is made of it", () => {
  const evil = "//evil/../?a=b&c#d\r\nx: y%41+\u0000é\ud800";
  const path = filled("/dlr/%o/end?first=%B&second=%P", TOLD.delivered, {
    campaignReferenceId: evil,
    callbackData: evil,
    from: evil,
  });
  assert.match(path, /^[\x21-\x7e]+$/);
  const url = new URL(path, "http://client.example");
  assert.equal(url.host, "client.example");
  assert.deepEqual([...url.searchParams.keys()], ["first", "second"]);
  assert.equal(url.searchParams.get("first"), evil.toWellFormed());
  assert.match(url.pathname, /^\/dlr\/[^/]*\/end$/);
});

test("the rest of a template is the client's own", () => {
  assert.equal(filled(""), "/");
  assert.equal(filled("?id=7&d=%d"), "/?id=7&d=1");
  assert.equal(filled("/a b/é?x=%d#%p"), "/a%20b/%C3%A9?x=1");
  assert.equal(dlrPath("https://name:secret@client.example:8443/x?%d", TOLD.delivered, factsOf()), "/x?1");
});

test("a short code has no plus sign, and a number of a country has one", () => {
  assert.equal(filled("/%Q", TOLD.delivered, { from: "12345" }), "/12345");
  assert.equal(filled("/%Q", TOLD.delivered, { from: "41790000000" }), "/%2B41790000000");
});

test("a template whose host would be chosen by an escape is refused, and so is one that is no URL", () => {
  const good = ["http://client.example/?d=%d", "HTTPS://a:b%40c@client.example:80/%p/%P#%d", "http://[::1]:80?%A"];
  const bad = [
    "",
    "client.example/%d",
    "ftp://client.example/%d",
    "http://%P/",
    "http://%P.client.example/",
    "http://client.example:%T/",
    "http://%o@client.example/",
    "http://client%example/",
    "http://",
    `http://client.example/?${"%d".repeat(51)}`,
  ];
  assert.deepEqual(good.filter(isDlrUrl), good);
  assert.deepEqual(bad.filter(isDlrUrl), []);
});

test("reports go by GET and one by one, signed and without a body, however many wait for one URL", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  const batches = batchesFor(`${receiver.url}?d=%d&id=%I`, 5, { form: "kannel 1" });
  send(...batches);
  await until(() => store.delivered.length === 5, "all are delivered");
  const paths = receiver.requests.map(({ path }) => path).sort();
  assert.deepEqual(paths, batches.map(({ items }) => `/reports?d=1&id=${items[0]!.messageId}`).sort());
  for (const { method, headers, body } of receiver.requests) {
    assert.deepEqual([method, body, headers["content-type"]], ["GET", "", undefined]);
    assert.match(String(headers["webhook-signature"]), /^v1,/);
  }
});
