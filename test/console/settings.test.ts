/** Settings in the browser: a key that is shown once, a test callback that a real server gets, opt-outs, a second factor. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { systemClock } from "../../src/runtime/clock.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { codeOf } from "../support/second-factor.ts";
import { openConsole, openPage } from "./support/browser.ts";

const shared = await openConsole({ after });
const { browser, service } = shared;

test("an API key is made, shown once, used and revoked", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/settings");
  await page.getByRole("button", { name: "Make a key" }).click();
  const dialog = page.getByRole("dialog", { name: "Make an API key" });
  await dialog.getByLabel("Name").fill("the till");
  await dialog.getByLabel("balance").check();
  await dialog.getByLabel("Networks").fill("127.0.0.0/8\n::1");
  await dialog.getByRole("button", { name: "Make the key" }).click();
  const shown = page.getByRole("region", { name: "The new key, to copy" });
  const key = (await shown.textContent())!.trim();
  assert.match(key, /^hgk_[0-9a-f]{12}_/);
  const balance = () => service.call("GET", "/account/1/balance", { authorization: `App ${key}` });
  assert.equal((await balance()).status, 200);

  await page.reload();
  const row = page.getByRole("table", { name: "API keys" }).getByRole("row").filter({ hasText: "the till" });
  await row.getByText("send, track, balance").waitFor();
  assert.equal(await page.getByText(key).count(), 0, "it is shown once");

  await row.getByRole("button", { name: "Revoke the till" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal((await balance()).status, 401);
});

test("what is wrong with a key stands at its field", async (t) => {
  const { page, enter, expectError } = await openPage(t, browser, service.url);
  expectError(/400/);
  await enter("demo", "/settings");
  await page.getByRole("button", { name: "Make a key" }).click();
  const dialog = page.getByRole("dialog", { name: "Make an API key" });
  await dialog.getByLabel("Networks").fill("nowhere");
  await dialog.getByRole("button", { name: "Make the key" }).click();
  await dialog.getByRole("alert").getByText("must be an address, or a network").waitFor();
  assert.equal(await dialog.getByLabel("Networks").getAttribute("aria-invalid"), "true");
});

test("a test callback reaches a real server with a valid signature", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/settings?tab=callbacks");
  await page.getByRole("button", { name: "Get a new secret" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Get a new one" }).click();
  const secret = (await page.getByRole("region", { name: "The new secret, to copy" }).textContent())!.trim();
  assert.match(secret, /^whsec_/);

  receiver.answer(status(200, { "x-receiver": "mine" }, "thank you"));
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByRole("button", { name: "Send the test" }).click();
  await page.getByText("Taken: it answered 200").waitFor();
  await page.getByRole("region", { name: "What came back" }).getByText("thank you").waitFor();
  const [received] = receiver.requests;
  new Webhook(secret).verify(received!.body, received!.headers as Record<string, string>);

  receiver.answer(status(503));
  await page.getByRole("button", { name: "Send the test" }).click();
  await page.getByText("Not taken: it answered 503").waitFor();
  await page.getByLabel("URL").fill("http://127.0.0.1:9/");
  await page.getByRole("button", { name: "Send the test" }).click();
  await page.getByText("No answer: connection refused").waitFor();
});

test("a number is put on the opt-out list, found and taken off", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/settings?tab=opt-outs");
  await page.getByLabel("Add a number").fill("abc");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("A number has 4 to 15 digits").waitFor();
  await page.getByText("Nobody has opted out").waitFor();
  for (const number of ["41790000001", "4917600000001"]) {
    await page.getByLabel("Add a number").fill(number);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("table", { name: "Opt-outs" }).getByText(number).waitFor();
  }
  await page.getByLabel("Find").fill("49");
  await page.waitForURL(/number=49/);
  const table = page.getByRole("table", { name: "Opt-outs" });
  await table.getByText("41790000001").waitFor({ state: "detached" });
  await table.getByRole("button", { name: "Take off 4917600000001" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Take off" }).click();
  await page.getByText("No number begins with 49").waitFor();
});

test("a second factor is set up, and the session goes on; limits are told", async (t) => {
  const made = await service.call("POST", "/operator/1/accounts", {
    authorization: `Basic ${Buffer.from("operator:operator-password").toString("base64")}`,
    body: { key: "FACTOR", username: "factor", password: "long enough", ratePlan: "standard" },
  });
  assert.equal(made.status, 200);
  const { page } = await openPage(t, browser, service.url);
  await page.goto(`${service.url}/settings?tab=access`);
  await page.getByLabel("Username").fill("factor");
  await page.getByLabel("Password").fill("long enough");
  await page.getByRole("button", { name: "Sign in" }).click();
  const factor = page.getByRole("region", { name: "Second factor" });
  await factor.getByLabel("Your password").fill("long enough");
  await factor.getByRole("button", { name: "Set it up" }).click();
  const secret = (await factor.getByRole("region", { name: "Secret" }).textContent())!.trim();
  await factor.getByLabel("Code of the app").fill(codeOf(secret, systemClock));
  await factor.getByRole("button", { name: "Put it in force" }).click();
  await factor.getByText("In force").waitFor();
  await factor.getByText("10 recovery codes are left").waitFor();

  await page.getByRole("tab", { name: "Limits" }).click();
  await page
    .getByRole("table", { name: "Limits" })
    .getByRole("row", { name: /API keys.*1,000.*0/ })
    .waitFor();
});
