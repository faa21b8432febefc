/** The operator's question about a number, answered in a real browser; and the catalogue that it is answered from, changed there. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openConsole, openPage } from "./support/browser.ts";

const RATES = Array.from(
  { length: 10_000 },
  (_, index) => `{ prefix = "${41_000 + index}", price = "0.0${1 + (index % 9)}" }`,
);
const CATALOGUE = `
[[carrier]]
id = "simulator"
kind = "simulator"
answerAfterMs = 10
[[carrier]]
id = "acme"
kind = "smpp"
hosts = ["127.0.0.1:1"]
systemId = "acme"
password = "secret"
[[route]]
prefix = ""
carrier = "simulator"
[[route]]
prefix = "4179"
groups = [[{ carrier = "acme", weight = 3 }, { carrier = "simulator" }]]
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }, { prefix = "41", price = "0.045" }]
[[ratePlan]]
id = "world"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }, ${RATES.join(", ")}]
[[exchangeRate]]
from = "EUR"
to = "USD"
rate = "1.1"
[[number]]
number = "12345"
account = "DEMO0001"
stopKeywords = ["STOP"]
`;

const shared = await openConsole({ after }, { catalogue: CATALOGUE });
const open = (t: Parameters<typeof openPage>[0]) => openPage(t, shared.browser, shared.service.url);

test("a number is typed, and its way lights up with the reason for each step", async (t) => {
  const { page, enter } = await open(t);
  await enter("operator", "/routes");
  const question = page.getByRole("region", { name: "Where would this number go?" });
  await question.getByLabel("Number").fill("41793026727");
  await question.getByLabel("Sender").fill("Shop");
  await question.getByLabel("Account").fill("DEMO0001");
  await question.getByLabel("Parts").fill("2");
  await question.getByText("It goes to simulator, for").waitFor();
  await question.getByText("0.09 EUR").first().waitFor();
  await question.getByText("0.099 USD").waitFor();
  for (const says of [
    "It is of Switzerland.",
    "The account DEMO0001 pays by the rate plan standard.",
    "The route 4179: it is the longest prefix of this number that has one.",
    "It is down.",
    "It is up. It gets the message.",
    "0.045 EUR a part by the rate plan standard, its longest prefix that fits, 41.",
    "The number has not opted out.",
  ])
    await question.getByText(says).waitFor();
  assert.match(page.url(), /to=41793026727&from=Shop&account=DEMO0001&parts=2/);

  // Live: who opts out meanwhile is seen without asking again.
  await shared.service.store.optOut({ accountKey: null, number: "41793026727", atMs: 0 });
  await question.getByRole("status").getByText("it is on the service's list").waitFor();
});

test("a question comes with the address, and an account that is not there is told", async (t) => {
  const { page, enter, expectError } = await open(t);
  expectError(/404/);
  await enter("operator", "/routes?to=385991234567&from=Shop&account=NOBODY");
  await page.getByText("Account not found").waitFor();
  await page.getByRole("textbox", { name: "Account" }).fill("DEMO0001");
  await page.getByText("The route of all numbers: none with a longer prefix fits.").waitFor();
});

test("a route is added, changed and deleted, with the service's own errors", async (t) => {
  const { page, enter, expectError } = await open(t);
  expectError(/400|409/);
  await enter("operator", "/routes");
  await page.getByRole("button", { name: "Add a route" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Prefix").fill("49");
  await dialog.getByLabel("Carriers").fill("nobody");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").filter({ hasText: "nobody" }).waitFor();
  await dialog.getByLabel("Carriers").fill("acme=3, simulator\nsimulator");
  await dialog.getByRole("button", { name: "Save" }).click();
  const table = page.getByRole("table", { name: "Search routes" });
  await table.getByText("Germany").waitFor();
  await table.getByText("acme=3, simulator").first().waitFor();
  await page.getByRole("button", { name: "Change 49", exact: true }).click();
  await dialog.getByLabel("Carriers").fill("simulator");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const operator = { authorization: `Basic ${Buffer.from("operator:operator-password").toString("base64")}` };
  assert.equal((await shared.service.call("GET", "/operator/1/routes/49", operator)).json.carrier, "simulator");
  await page.getByRole("button", { name: "Delete 49", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await table.getByText("Germany").waitFor({ state: "detached" });
});

test("a plan of ten thousand prices stays quick: few of its rows are in the page", async (t) => {
  const { page, enter } = await open(t);
  await enter("operator", "/routes?tab=prices&plan=world");
  await page.getByText("10,001 of 10,001").waitFor();
  const table = page.getByRole("table", { name: "Prices of world" });
  await table.getByText("all numbers").waitFor();
  assert.ok((await table.getByRole("row").count()) < 100);
  await page.getByLabel("Search prices").fill("50999");
  await page.getByText("1 of 10,001").waitFor();
  await page.getByRole("button", { name: "Change the price of 50999" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Price of a part").fill("0.5");
  await dialog.getByRole("button", { name: "Save" }).click();
  await table.getByText("0.5 EUR").waitFor();
  assert.match(page.url(), /q=50999/);
});

test("exchange rates and numbers are there too", async (t) => {
  const { page, enter } = await open(t);
  await enter("operator", "/routes?tab=exchange");
  await page.getByText("1 EUR is 1.1 USD").waitFor();
  await page.getByRole("tab", { name: "Numbers" }).click();
  await page.getByText("they wait to be fetched").waitFor();
  await page.getByRole("button", { name: "Add a number" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Number").fill("41790001122");
  await dialog.getByLabel("Account").fill("DEMO0001");
  await dialog.getByLabel("Words that opt out").fill("stop, ende");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("stop, ende").waitFor();
});
