/** Whose data the console's views show: an API key of an operator or a reseller sees what is others' only where it is good for managing. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { good, OPERATOR, RESELLER } from "../support/operator.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { eventually, startTestService, TEST_STORE } from "../support/service.ts";

const NUMBER = "41793026727";
const service = await startTestService({ after }, { settings: { resellers: { clientMessages: true } } });

async function keyOf(authorization: string, scopes: readonly string[]): Promise<string> {
  const made = await service.call("POST", "/account/1/api-keys", { authorization, body: { name: "a key", scopes } });
  return `App ${good(made).key}`;
}

const ask = (authorization: string, path: string) => service.call("GET", `/console/1/${path}`, { authorization });

describe("an API key without the scope manage", () => {
  let operator: string;
  let reseller: string;
  let manager: string;
  let messageId: string;
  let report: { readonly id: string; readonly url: string };

  before(async () => {
    const receiver = await ReportReceiver.start();
    after(() => receiver.stop());
    receiver.answer(status(503, {}, "back soon"));
    const { host } = new URL(receiver.url);
    const notifyUrl = `http://name:hunter2@${host}/a?token=hunter2&shop=1`;
    const body = { messages: [{ from: "Shop", destinations: [{ to: NUMBER }], text: "x", notifyUrl }] };
    messageId = good(await service.call("POST", "/sms/1/text/advanced", { body })).messages[0].messageId;
    await service.call("GET", "/account/1/balance", { authorization: "App nobody's" });
    operator = await keyOf(OPERATOR, ["track", "send"]);
    reseller = await keyOf(RESELLER, ["track", "send"]);
    manager = await keyOf(OPERATOR, ["track", "manage"]);
    const list = `report-list?state=waiting&accountKey=DEMO0001&host=${encodeURIComponent(`http://${host}`)}`;
    report = await eventually(async () => (await ask(OPERATOR, list)).json.reports[0] ?? null);
  });

  test("sees no messages of others, and is told so where it names them", async () => {
    for (const key of [operator, reseller]) {
      assert.deepEqual(good(await ask(key, "messages")).results, []);
      assert.equal(good(await ask(key, "message-counts")).of, 0);
      for (const view of ["messages?q=account:DEMO0001", "message-counts?account=DEMO0001"])
        assert.equal((await ask(key, view)).status, 403, view);
      assert.equal((await ask(key, `message?id=${messageId}`)).status, 404);
      const replay = await service.call("POST", `/console/1/messages/${messageId}/replay`, { authorization: key });
      assert.equal(replay.status, 404);
    }
    for (const caller of [OPERATOR, manager, RESELLER]) {
      assert.equal(good(await ask(caller, "messages?q=account:DEMO0001")).results.length, 1);
      assert.equal(good(await ask(caller, `message?id=${messageId}`)).account, "DEMO0001");
    }
  });

  test("sees no reports of others", async () => {
    assert.deepEqual(good(await ask(operator, "reports")).hosts, []);
    for (const view of ["reports?accountKey=DEMO0001", "report-list?state=dead&accountKey=DEMO0001"])
      assert.equal((await ask(operator, view)).status, 403, view);
    for (const key of [operator, reseller]) assert.equal((await ask(key, `report?id=${report.id}`)).status, 404);
    assert.equal(good(await ask(manager, "reports")).hosts.length, 1);
    assert.equal(good(await ask(manager, `report?id=${report.id}`)).id, report.id);
  });

  test("sees no requests that name nobody", async () => {
    assert.equal((await ask(operator, "requests?whose=nobody")).status, 403);
    assert.equal((await ask(operator, "request?whose=nobody&id=x")).status, 403);
    assert.ok(good(await ask(manager, "requests?whose=nobody")).items.length > 0);
  });

  test("sees no phones with others' messages, and hears nothing of what others have waiting", async () => {
    await eventually(async () => good(await ask(OPERATOR, "phones")).phones.length === 1);
    for (const key of [operator, reseller]) {
      assert.deepEqual(good(await ask(key, "phones")).phones, []);
      assert.deepEqual(good(await ask(key, `phone?number=${NUMBER}`)).messages, []);
    }
    assert.equal(good(await ask(manager, `phone?number=${NUMBER}`)).messages.length, 1);
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const body = { messages: [{ from: "Shop", destinations: [{ to: NUMBER }], text: "later", sendAt }] };
    good(await service.call("POST", "/sms/1/text/advanced", { body }));
    // On PostgreSQL the clock cannot be moved, and nobody hears of it.
    if (TEST_STORE === "postgres") return;
    assert.equal(good(await ask(operator, "sandbox")).clock.nextMessageAt, null);
    assert.notEqual(good(await ask(manager, "sandbox")).clock.nextMessageAt, null);
  });

  test("URLs of reports are shown without names, passwords and tokens, to whoever may see them", async () => {
    const path = "/a?token=***&shop=1";
    for (const url of [report.url, good(await ask(manager, `report?id=${report.id}`)).url]) {
      assert.ok(url.endsWith(path) && !url.includes("@"), url);
    }
    const message = await ask(manager, `message?id=${messageId}`);
    assert.ok(good(message).notifyUrl.endsWith(path));
    assert.doesNotMatch(message.text, /hunter2/);
  });
});
