/** The pages of messages in a real browser: the list that follows, the search, and the life of one message. */
import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { addAccount } from "../support/accounts.ts";
import { fillWithMessages } from "../support/many-messages.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";
import { openPage, startBrowser } from "./support/browser.ts";

const browser = await startBrowser({ after });

async function send(service: TestService, to: string, more: object = {}, authorization?: string): Promise<string> {
  const body = { messages: [{ from: "Shop", destinations: [{ to }], text: `Hello ${to}`, ...more }] };
  const answer = await service.call("POST", "/sms/2/text/advanced", {
    body,
    ...(authorization === undefined ? {} : { authorization }),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.messages[0].messageId;
}

const ALL_STEPS = { settings: { console: { timeline: "all" } } };

test("a message appears in the list and is delivered there and in its timeline, without reloading", async (t) => {
  const service = await startTestService(t, ALL_STEPS);
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/messages");
  await page.getByRole("heading", { name: "No messages yet" }).waitFor();
  const id = await send(service, "41793026727");
  const row = page.getByRole("row").filter({ hasText: "41793026727" });
  await row.getByText("delivered").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/messages/${id}`);
  await page.getByText(/^Delivered to the handset/).waitFor();
  const table = page.getByRole("table", { name: "What happened, in the order of time" });
  for (const what of ["accepted", "submitted", "receipt"])
    await table.getByRole("row").filter({ hasText: what }).waitFor();
  await table.getByText(/charged 0\.01 EUR, posting \d+ · route: every number → group 1 of 1 → simulator/).waitFor();
  await page.getByRole("img", { name: /^Timeline of 3 events/ }).waitFor();
  assert.equal(
    await page.getByRole("link", { name: "Send again" }).getAttribute("href"),
    "/compose?from=Shop&to=41793026727&text=Hello+41793026727",
  );
  await page.goBack();
  await row.waitFor();
});

test("the links of a message stand on its page with where they lead and their clicks, and its conversion", async (t) => {
  const service = await startTestService(t, { settings: { links: { domains: "http://go.example" } } });
  const { page, enter } = await openPage(t, browser, service.url);
  const { json } = await service.call("POST", "/sms/2/text/advanced", {
    body: {
      messages: [
        { from: "Shop", destinations: [{ to: "41793026727" }], text: "Sale (https://shop.example/sale?from=sms)!" },
      ],
      urlOptions: { shortenUrl: true },
      tracking: { track: "SMS", type: "SALE" },
    },
  });
  const { messageId } = json.messages[0];
  await enter("demo", `/messages/${messageId}`);
  const block = page.getByRole("region", { name: "Links" });
  const item = block.getByRole("listitem");
  await item.getByText("0 clicks").waitFor();
  const short = /http:\/\/go\.example(\/l\/[0-9A-Za-z]{11})/.exec((await item.textContent())!);
  assert.ok(short !== null, (await item.textContent())!);
  await item.getByText("https://shop.example/sale?from=sms", { exact: true }).waitFor();
  await block.getByText("Conversion SALE was not told of yet.").waitFor();
  for (let click = 0; click < 2; click++)
    assert.equal((await fetch(`${service.url}${short[1]}`, { redirect: "manual" })).status, 302);
  assert.equal((await service.call("POST", `/ct/1/log/end/${messageId}`)).status, 200);
  await page.reload();
  await item.getByText(/^2 clicks, the first at .+, the last at /).waitFor();
  await block.getByText(/^Conversion SALE was told of at \d/).waitFor();
});

test("a message that waits is watched until it is delivered, on its own page", async (t) => {
  const service = await startTestService(t);
  const { page, enter } = await openPage(t, browser, service.url);
  // Busy twice, then delivered.
  const id = await send(service, "41793999009");
  await enter("demo", `/messages/${id}`);
  await page.getByText(/^Delivered to the handset/).waitFor();
  const table = page.getByRole("table", { name: "What happened, in the order of time" });
  const again = table.getByRole("row").filter({ hasText: "not taken, goes again" });
  assert.equal(await again.count(), 1, "twice the same is one row");
  await again.getByText("2 times").waitFor();
  await again.getByText(/was tried again at/).waitFor();
  await page.getByText('console.timeline = "all"').waitFor();
});

test("a failing callback has its tries, and a replay that is taken", async (t) => {
  const service = await startTestService(t);
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(503, {}, "busy"));
  const { page, enter } = await openPage(t, browser, service.url);
  const id = await send(service, "41793026727", { notifyUrl: `${receiver.url}/reports` });
  await enter("demo", `/messages/${id}`);
  const table = page.getByRole("table", { name: "What happened, in the order of time" });
  await table.getByRole("row").filter({ hasText: "report, try 1" }).filter({ hasText: "answered 503" }).waitFor();
  await page.getByText(/try 2 for your server at .*, the last one answered 503/).waitFor();
  await table.getByText(/^POST http.* → 503$/).click();
  await table.getByText("busy").waitFor();
  receiver.answer(status(200));
  await page.getByRole("button", { name: "Replay the report" }).click();
  await table.getByRole("row").filter({ hasText: "report, try 2" }).filter({ hasText: "answered 200" }).waitFor();
  await page.getByText(/your server was told at/).waitFor();
});

test("a page that hears nothing from the service, or is told that it is not there, says so until it is", async (t) => {
  const service = await startTestService(t);
  // A way to it that can go dead, as a network does: nothing is closed.
  const ways = new Set<Socket>();
  const port = Number(new URL(service.url).port);
  const proxy = createServer((here) => {
    const there = connect(port, "127.0.0.1");
    for (const socket of [here, there]) {
      ways.add(socket);
      socket.on("error", () => {}).on("close", () => ways.delete(socket));
    }
    here.pipe(there).pipe(here);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of ways) socket.destroy();
    return new Promise((resolve) => proxy.close(resolve));
  });
  const { page, enter, expectError } = await openPage(
    t,
    browser,
    `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  );
  await enter("demo", "/messages");
  const sign = page.locator(".live-dot");
  await sign.getByText("live", { exact: true }).waitFor();
  for (const socket of ways) socket.unpipe().pause();
  await sign.getByText("reconnecting").waitFor();
  for (const socket of ways) socket.destroy();
  await sign.getByText("live", { exact: true }).waitFor();
  // What a proxy says of a service that is gone.
  expectError(/503|ERR_/);
  await page.route("**/console/1/**", (route) => route.fulfill({ status: 503, body: "no server is available" }));
  for (const socket of ways) socket.destroy();
  await sign.getByText("reconnecting").waitFor();
  await page.unroute("**/console/1/**");
  await sign.getByText("live", { exact: true }).waitFor();
});

test("the words of a timeline do not touch, also where five parts have failed", async (t) => {
  const service = await startTestService(t, ALL_STEPS);
  const { page, enter } = await openPage(t, browser, service.url);
  const id = await send(service, "41793999003", { text: "It goes on and on. ".repeat(38) });
  await enter("demo", `/messages/${id}`);
  await page.getByText(/^Failed after/).waitFor();
  const words = page.locator(".timeline-drawing text.what");
  const boxes = await words.evaluateAll((each) => each.map((one) => one.getBoundingClientRect().toJSON() as DOMRect));
  assert.ok(boxes.length >= 7, `${boxes.length} events`);
  for (const [index, box] of boxes.slice(1).entries())
    assert.ok(box.left - boxes[index]!.right >= 8, `${index}: ${box.left - boxes[index]!.right} px between`);
});

test("a search stands in the address, its words are chips, and a wrong one is told in words", async (t) => {
  const service = await startTestService(t);
  await send(service, "41793026727");
  await send(service, "41793999003");
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/messages");
  const rows = page.getByRole("table", { name: "Messages, newest first" }).getByRole("row");
  await page.getByText("unknown number").waitFor();
  await page.getByRole("button", { name: /^failed/ }).click();
  await page.waitForURL("**/messages?q=failed");
  // The head and one message.
  await page.locator('[aria-rowcount="2"]').waitFor();
  assert.equal(await rows.filter({ hasText: "41793999003" }).count(), 1);
  await page.reload();
  await rows.filter({ hasText: "41793999003" }).waitFor();
  const field = page.getByRole("searchbox", { name: "Search messages" });
  assert.equal(await field.inputValue(), "failed");
  await field.fill("to:4179302*");
  await field.press("Enter");
  await rows.filter({ hasText: "41793026727" }).waitFor();
  await field.fill("colour:red");
  await page.getByText(/At character 1: "colour:" is no filter/).waitFor();
  await field.fill("to:999*");
  await field.press("Enter");
  await page.getByRole("heading", { name: "No message is like that" }).waitFor();
});

test("no account sees another's message by changing the address", async (t) => {
  const service = await startTestService(t);
  await addAccount(service.store, { key: "SECOND", balanceMicros: 1_000_000n });
  const id = await send(service, "41790000077", {}, basic("SECOND", "password"));
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", `/messages/${id}`);
  await page.getByRole("heading", { name: "There is no such message" }).waitFor();
  await page.goto(`${service.url}/messages?q=id:${id}`);
  await page.getByRole("heading", { name: "No message is like that" }).waitFor();
  await page.goto(`${service.url}/messages?q=account:SECOND`);
  await page.getByRole("alert").getByText("is for operators and resellers").waitFor();
  assert.equal(await page.getByText("41790000077").count(), 0);
});

test("the numbers of the chips are those of all messages, or say of which, and older rows come into sight", async (t) => {
  const data = await temporaryDirectory(t);
  const first = await startTestService(t, { data });
  const { id: accountId } = (await first.store.account({ resellerId: null, key: "DEMO0001" }))!;
  await first.stop();
  const db = openDatabase(data);
  fillWithMessages(db, { accountId, messages: 20_000, untilMs: Date.now() - 60_000 });
  db.prepare(
    `UPDATE message SET state = 0, status_id = 26, sent_at_ms = NULL, done_at_ms = NULL, due_at_ms = @dueAtMs, expires_at_ms = @dueAtMs * 2
     WHERE key IN (SELECT key FROM message ORDER BY key LIMIT 501)`,
  ).run({ dueAtMs: Date.now() + 86_400_000 });
  db.exec(
    "UPDATE message SET status_id = 9, error_id = 1 WHERE key IN (SELECT key FROM message ORDER BY key DESC LIMIT 120)",
  );
  db.close();
  const service = await startTestService(t, { data });
  for (const who of ["demo", "operator"] as const) {
    const { page, enter } = await openPage(t, browser, service.url);
    await enter(who, "/messages");
    for (const chip of ["failed 120", "retrying 0", "scheduled 501"])
      await page.getByRole("button", { name: chip, exact: true }).waitFor();
    await page.getByText("failed and stuck: of the newest 2,000").waitFor();
    // The time of a row is the one by which it stands where it is.
    await page.getByRole("columnheader", { name: who === "demo" ? "Sent" : "Received" }).waitFor();
    await page.locator('[aria-rowcount="51"]').waitFor();
    await page.getByRole("button", { name: "Older" }).click();
    await page.locator('[aria-rowcount="151"]').waitFor();
    const frame = (await page.getByRole("table", { name: "Messages, newest first" }).boundingBox())!;
    const row = (await page.locator("[data-index='52']").boundingBox())!;
    assert.ok(row.y > frame.y && row.y + row.height < frame.y + frame.height, "the first of the older rows is seen");
  }
});

test("with a million messages the page holds a bounded number of elements, however far one pages", async (t) => {
  const data = await temporaryDirectory(t);
  const first = await startTestService(t, { data });
  const { id: accountId } = (await first.store.account({ resellerId: null, key: "DEMO0001" }))!;
  await first.stop();
  const db = openDatabase(data);
  fillWithMessages(db, { accountId, messages: 1_000_000, untilMs: Date.now() });
  db.close();
  const service = await startTestService(t, { data });
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/messages");
  const table = page.getByRole("table", { name: "Messages, newest first" });
  for (let rows = 51; rows < 1_200; rows += 100) {
    await page.locator(`[aria-rowcount="${rows}"]`).waitFor();
    await page.getByRole("button", { name: "Older" }).click();
  }
  await page.locator('[aria-rowcount="1251"]').waitFor();
  // A message that was opened leads back to where the list was read.
  await table.evaluate((element) => element.scrollTo({ top: 30_000 }));
  await table.locator("[data-index='735'] a").click();
  await page.getByRole("heading", { name: /^Message to/ }).waitFor();
  await page.goBack();
  await page.locator('[aria-rowcount="1251"]').waitFor();
  await table.locator("[data-index='735'] a").waitFor();
  assert.ok((await table.evaluate((element) => element.scrollTop)) > 29_000);
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(elements < 1_500, `${elements} elements`);
  // What comes now waits above, while the reader is further down.
  await table.evaluate((element) => element.scrollTo({ top: 20_000 }));
  await send(service, "41793026727");
  await page.getByRole("button", { name: "1 new" }).click();
  await table.getByRole("row").filter({ hasText: "41793026727" }).waitFor();
  // A search that finds nothing in the newest says how far it looked.
  await page.goto(`${service.url}/messages?q=text:unheard`);
  await page.getByRole("heading", { name: /^Nothing since/ }).waitFor();
  await page.getByRole("button", { name: "Look further" }).waitFor();
});
