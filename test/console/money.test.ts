/** Money in the browser: a top-up that the client sees at once, what messages cost, the statement as a file; and accounts that an operator makes. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { OPERATOR } from "../support/operator.ts";
import { basic, eventually } from "../support/service.ts";
import { openConsole, openPage } from "./support/browser.ts";

const shared = await openConsole({ after });
const { browser, service } = shared;

test("a top-up by the reseller is seen by the client at once, in the balance, the chart and the statement", async (t) => {
  const client = await openPage(t, browser, service.url);
  await client.enter("demo", "/money");
  const balance = client.page.getByRole("region", { name: "Balance" });
  await balance.getByText("100 EUR").waitFor();

  const reseller = await openPage(t, browser, service.url);
  await reseller.enter("reseller", "/clients");
  const { page } = reseller;
  await page.getByRole("table", { name: "Clients" }).getByRole("link", { name: "DEMO0001" }).click();
  await page.getByRole("button", { name: "Funds" }).click();
  const dialog = page.getByRole("dialog", { name: "Funds of DEMO0001" });
  await dialog.getByLabel("Amount").fill("25.5");
  await dialog.getByLabel("Description").fill("invoice 7");
  await dialog.getByRole("button", { name: "Go on" }).click();
  await dialog.getByText("125.5 EUR").waitFor();
  await dialog.getByText("Your own balance, now and after").waitFor();
  await dialog.getByRole("button", { name: "Give 25.5 EUR" }).click();
  await dialog.waitFor({ state: "detached" });

  await balance.getByText("125.5 EUR").waitFor();
  const newest = client.page.getByRole("table", { name: "Statement" }).getByRole("row").nth(1);
  await newest.getByText("invoice 7").waitFor();
  await newest.getByText("+25.50").waitFor();
  await newest.getByText("125.50").waitFor();
  await page.getByRole("region", { name: "Account" }).getByText("125.5 EUR").waitFor();
});

test("more is not taken than there is, and nothing happens then", async (t) => {
  const { page, enter, expectError } = await openPage(t, browser, service.url);
  await enter("reseller", "/clients/DEMO0001");
  expectError(/400/);
  await page.getByRole("button", { name: "Funds" }).click();
  const dialog = page.getByRole("dialog", { name: "Funds of DEMO0001" });
  await dialog.getByLabel("Action").selectOption("take");
  await dialog.getByLabel("Amount").fill("1000");
  await dialog.getByLabel("Description").fill("too much");
  await dialog.getByRole("button", { name: "Go on" }).click();
  await dialog.getByRole("button", { name: "Take 1000 EUR" }).click();
  await dialog.getByText("would take the balance below zero").waitFor();
});

test("what messages cost stands by country and carrier, and follows", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/money?days=7");
  await page.getByText("No message was sent in this period").waitFor();
  const { status } = await service.call("POST", "/sms/1/text/single", {
    body: { from: "Heliograph", to: ["41793026727", "4915112345678"], text: "What does it cost?" },
  });
  assert.equal(status, 200);
  const byCountry = page.getByRole("table", { name: "Costs by country" });
  await byCountry.getByRole("row", { name: /Switzerland.*1.*0\.01/ }).waitFor();
  await byCountry.getByRole("row", { name: /Germany.*1.*0\.01/ }).waitFor();
  await page
    .getByRole("table", { name: "Costs by carrier" })
    .getByRole("row", { name: /simulator.*2.*0\.02/ })
    .waitFor();
  await page.getByRole("button", { name: "90 days" }).click();
  await page.waitForURL(/days=90/);
  await byCountry.getByRole("row", { name: /Switzerland/ }).waitFor();

  // What is scheduled is charged and has no carrier: the page says why its figures differ.
  const notSent = page.getByText(/is charged for messages that are not sent yet/);
  await notSent.waitFor({ state: "detached" });
  const sendAt = formatDateTime(Date.now() + 3_600_000);
  const later = { from: "Heliograph", text: "Later", destinations: [{ to: "41793026727" }], sendAt };
  assert.equal((await service.call("POST", "/sms/1/text/advanced", { body: { messages: [later] } })).status, 200);
  await notSent.waitFor();
  assert.match((await notSent.textContent()) ?? "", /^0\.01\s?EUR is charged/);
});

test("while there is much to add up the page says so, and not that nothing was sent", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  const costs = { messages: 0, parts: 0, amount: "0", currency: "EUR", since: new Date().toISOString(), keptDays: 0 };
  const answer = { ...costs, complete: false, countries: [], carriers: [], days: [] };
  await page.route("**/console/1/live?**", async (route) => {
    const at = new URL(route.request().url()).searchParams.getAll("view").findIndex((name) => name.startsWith("costs"));
    if (at < 0) return route.continue();
    const body = `event: view\ndata: ${JSON.stringify({ view: at, answer })}\n\n`;
    return route.fulfill({ contentType: "text/event-stream", body });
  });
  await enter("demo", "/money");
  await page.getByText("Adding up what messages cost").waitFor();
  assert.equal(await page.getByText("No message was sent").count(), 0);
});

test("the statement is saved as CSV", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/money");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Statement as CSV" }).click();
  const download = await saved;
  assert.equal(download.suggestedFilename(), "statement-DEMO0001.csv");
  const [head, ...lines] = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  assert.equal(head, "date,kind,amount,balance,currency,messageId,smsCount,description,account");
  assert.match(lines[0]!, /,opening,/);
  assert.match(lines.at(-1)!, /,closing,/);
  assert.ok(lines.some((line) => line.endsWith(",opening balance,DEMO0001")));
});

test("an operator makes an account, changes it, and the audit has both", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("operator", "/accounts");
  await page.getByRole("button", { name: "New account" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Key").fill("ACME");
  await dialog.getByLabel("Username").fill("acme");
  await dialog.getByLabel("Opening balance").fill("12.5");
  await dialog.getByRole("button", { name: "Make the account" }).click();
  const password = (await dialog.getByRole("region", { name: "Password" }).textContent())!.trim();
  await dialog.getByRole("link", { name: "Open the account" }).click();
  await page.getByRole("heading", { level: 1, name: "ACME" }).waitFor();
  await page.getByRole("region", { name: "Account" }).getByText("12.5 EUR").waitFor();
  const answer = await service.call("GET", "/account/1/balance", {
    authorization: `Basic ${Buffer.from(`acme:${password}`).toString("base64")}`,
  });
  assert.deepEqual(answer.json, { balance: 12.5, currency: "EUR" });

  await page.getByRole("button", { name: "Change" }).click();
  const change = page.getByRole("dialog", { name: "Change ACME" });
  await change.getByLabel("Messages a second").fill("7");
  await change.getByLabel("Default sender").fill("Acme");
  await change.getByRole("button", { name: "Save" }).click();
  await change.waitFor({ state: "detached" });
  await page.getByText("messagesPerSecond 7").waitFor();

  await page.goto(`${service.url}/audit?subject=ACME`);
  const rows = page.getByRole("table", { name: "Audit" }).getByRole("row");
  await rows.filter({ hasText: "change account" }).getByText("defaultSender").waitFor();
  await rows.filter({ hasText: "create account" }).waitFor();
  // What was made has its fields with their values, and no JSON.
  const made = (await rows.filter({ hasText: "create account" }).textContent())!;
  assert.match(made, /openingBalance 12\.5/);
  assert.doesNotMatch(made, /[{}"]/);
  await page.getByRole("button", { name: "Show change account ACME" }).click();
  await page
    .getByRole("dialog")
    .getByRole("row", { name: /defaultSender/ })
    .getByText("Acme")
    .waitFor();
});

test("the form for an account waits for the rate plans, and shows what is wrong in the fields that are folded away", async (t) => {
  const { page, enter, expectError } = await openPage(t, browser, service.url);
  await enter("operator", "/accounts");
  const plans = Promise.withResolvers<void>();
  await page.route(/\/console\/1\/.*rate-plans/, async (route) => {
    await plans.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "New account" }).click();
  const dialog = page.getByRole("dialog");
  const make = dialog.getByRole("button", { name: "Make the account" });
  await dialog.getByLabel("Username").fill("early");
  assert.equal(await make.getAttribute("aria-busy"), "true");
  await dialog.getByLabel("Username").press("Enter");
  plans.resolve();
  await dialog.getByLabel("Opening balance, EUR").waitFor();

  expectError(/400/);
  const retries = dialog.getByLabel("Retries of reports, minutes");
  await dialog.getByText("Prices, limits and more").click();
  await retries.fill("never");
  await dialog.getByText("Prices, limits and more").click();
  await retries.waitFor({ state: "hidden" });
  await make.click();
  await dialog.getByRole("alert").waitFor();
  assert.ok(await retries.isVisible());
});

test("an operator fills an account up, corrects it, and retires it with a place for its money", async (t) => {
  const made = await service.call("POST", "/operator/1/accounts", {
    authorization: OPERATOR,
    body: { key: "FILLED", username: "filled", ratePlan: "standard", openingBalance: 1 },
  });
  assert.equal(made.status, 200, made.text);
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("operator", "/accounts/FILLED");
  const facts = page.getByRole("region", { name: "Account" });
  const funds = page.getByRole("dialog", { name: "Funds of FILLED" });
  for (const [way, amount, reason, press, balance] of [
    ["give", "24", "invoice 8", "Give 24 EUR", "25 EUR"],
    ["take", "5", "paid twice", "Take 5 EUR", "20 EUR"],
    ["correct", "-0.5", "a test", "Correct by -0.5 EUR", "19.5 EUR"],
  ] as const) {
    await page.getByRole("button", { name: "Funds" }).click();
    await funds.getByLabel("Action").selectOption(way);
    await funds.getByLabel("Amount").fill(amount);
    await funds.getByLabel("Description").fill(reason);
    await funds.getByRole("button", { name: "Go on" }).click();
    await funds.getByText(balance).waitFor();
    await funds.getByRole("button", { name: press }).click();
    await funds.waitFor({ state: "detached" });
    await facts.getByText(balance).waitFor();
  }
  const statement = page.getByRole("table", { name: "Statement" });
  await statement.getByRole("row").nth(1).getByText("Correction · a test").waitFor();

  await page.getByRole("button", { name: "Retire" }).click();
  const retire = page.getByRole("dialog", { name: "Retire FILLED" });
  await retire.getByText("19.5 EUR").waitFor();
  await retire.getByLabel("The balance").selectOption("writeOff");
  await retire.getByLabel("Reason").fill("nobody answers");
  await retire.getByRole("button", { name: "Retire for good" }).click();
  await retire.waitFor({ state: "detached" });
  await page.goto(`${service.url}/audit?kind=funds&subject=FILLED`);
  const rows = page.getByRole("table", { name: "Audit" }).getByRole("row");
  await rows.filter({ hasText: "top up funds" }).first().waitFor();
  await rows.filter({ hasText: "write off funds" }).waitFor();
  await rows.filter({ hasText: "correction funds" }).waitFor();
});

test("an operator finds an account and suspends it", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("operator", "/accounts");
  await page.getByLabel("Search accounts").fill("demo");
  await page.waitForURL(/search=demo/);
  const table = page.getByRole("table", { name: "Accounts" });
  await table.getByRole("link", { name: "DEMO0001" }).waitFor();
  await table.getByRole("link", { name: "OPERATOR1" }).waitFor({ state: "detached" });
  await table.getByRole("link", { name: "DEMO0001" }).click();
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("region", { name: "Account" }).getByText("suspended").waitFor();
  await page.getByRole("button", { name: "Let it go on" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Let it go on" }).click();
  await page.getByRole("region", { name: "Account" }).getByText("active").waitFor();
});

test("an account that is not one's own is nowhere to be seen", async (t) => {
  const { page, enter, expectError } = await openPage(t, browser, service.url);
  expectError(/404|403/);
  await enter("reseller", "/clients/OPERATOR1");
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByRole("region", { name: "Account" }).count(), 0);
});

test("a reseller sees what a rate plan costs, why a client's messages fail, and saves a statement of all", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  const { status } = await service.call("POST", "/sms/1/text/single", {
    body: { from: "Heliograph", to: "41790999003", text: "To a phone that does not exist" },
  });
  assert.equal(status, 200);
  const why = "/operator/1/accounts/DEMO0001/failures";
  const authorization = basic("reseller", "reseller-password");
  await eventually(async () => (await service.call("GET", why, { authorization })).json.failed > 0);
  await enter("reseller", "/clients/DEMO0001?tab=failures");
  await page.getByText("EC_UNKNOWN_SUBSCRIBER").waitFor();
  await page.getByRole("button", { name: "Change", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Prices of standard").click();
  await dialog.getByText("all others").waitFor();
  await dialog.getByText("0.01 EUR").first().waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.goto(`${service.url}/clients`);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Statement of all" }).click();
  const download = await saved;
  assert.equal(download.suggestedFilename(), "statement.csv");
  assert.match(await readFile(await download.path(), "utf8"), /,opening,.*,DEMO0001\r\n/);
});
