/** The page of requests: one that was refused is found with its reason, and leads to all of it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newApiKey } from "../../src/auth/api-keys.ts";
import { openConsole, openPage } from "./support/browser.ts";

const { service, browser } = await openConsole({ after });
const { url } = service;
const SINGLE = "/sms/1/text/single";
const refuse = (text: string) => service.call("POST", SINGLE, { body: { from: "Shop", text } });

test("a refused request appears by itself, with its reason, and leads to its field, its body and what to do", async (t) => {
  const { page, enter } = await openPage(t, browser, url);
  await enter("demo", "/requests?which=refused");
  await page.getByText("Nothing was refused").waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  assert.equal((await refuse("no destination")).status, 400);
  const row = page.getByRole("row").filter({ hasText: "to is required." });
  await row.getByText("400 refused").waitFor();
  await row.getByText(`POST ${SINGLE}`).waitFor();
  await row.getByText("demo", { exact: true }).waitFor();

  await row.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: `POST ${SINGLE}` }).waitFor();
  await page.getByText("to is required.").waitFor();
  await page.getByText("Mend what the reason names").waitFor();
  await page.getByText("BAD_REQUEST").waitFor();
  const body = (await page.getByRole("region", { name: "Body of the request" }).textContent()) ?? "";
  assert.match(body, /"from": "Shop"/);
  assert.doesNotMatch(body, /no destination/, "what messages say is masked unless the settings say otherwise");

  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  assert.equal(new URL(page.url()).search, "?which=refused");
  await page.reload();
  await row.getByText("400 refused").waitFor();
});

test("filters are in the address, and find by path", async (t) => {
  await service.call("GET", "/account/1/balance");
  await refuse("again");
  const { page, enter } = await openPage(t, browser, url);
  await enter("demo", "/requests");
  await page.getByText("/account/1/balance").first().waitFor();
  await page.getByLabel("Path contains").fill("balance");
  await page.getByText(`POST ${SINGLE}`).first().waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).searchParams.get("path"), "balance");
  await page.getByRole("link", { name: "Refused" }).click();
  await page.getByText("No such request").waitFor();
  await page.getByRole("link", { name: "Show all requests" }).click();
  await page.getByText(`POST ${SINGLE}`).first().waitFor();
});

test("a request that is not kept any more says so", async (t) => {
  const { page, enter } = await openPage(t, browser, url);
  await enter("demo", "/requests/gone-1");
  await page.getByText("The request is not kept any more").waitFor();
});

test("an operator sees those that name nobody, and others have no such filter", async (t) => {
  await service.call("GET", "/account/1/balance", { authorization: `App ${newApiKey()}` });
  const operator = await openPage(t, browser, url);
  await operator.enter("operator", "/requests");
  await operator.page.getByRole("link", { name: "Nobody’s" }).click();
  await operator.page.getByText("401 refused").first().waitFor();
  const client = await openPage(t, browser, url);
  await client.enter("demo", "/requests");
  await client.page.getByRole("link", { name: "Refused" }).waitFor();
  assert.equal(await client.page.getByRole("link", { name: "Nobody’s" }).count(), 0);
});
