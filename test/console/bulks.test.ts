/** The pages of bulks in a real browser: how far one is, and pause, resume, move and cancel. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventually } from "../support/service.ts";
import { openConsole, openPage } from "./support/browser.ts";

const HOUR_MS = 3_600_000;

const shared = await openConsole({ after });
const { service, browser } = shared;

async function send(bulkId: string, count: number, sendAt?: string): Promise<void> {
  const destinations = Array.from({ length: count }, (_, index) => ({
    to: `4179302${String(index).padStart(4, "0")}`,
  }));
  const message = { from: "Shop", text: "Spring sale", destinations, ...(sendAt === undefined ? {} : { sendAt }) };
  const { status } = await service.call("POST", "/sms/1/text/advanced", { body: { bulkId, messages: [message] } });
  assert.equal(status, 200);
}

test("a bulk is paused, resumed, moved and canceled, and the page follows", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await send("spring", 3, new Date(Date.now() + HOUR_MS).toISOString());
  const statusIs = (wanted: string) =>
    eventually(async () => {
      const { json } = await service.call("GET", "/sms/1/bulks/status?bulkId=spring");
      return json.status === wanted;
    });
  await enter("demo", "/bulks");
  const row = page.getByRole("row").filter({ hasText: "spring" });
  await row.getByText("3 waiting").waitFor();
  await row.getByRole("link", { name: "spring" }).click();
  await page.getByRole("heading", { level: 1, name: "Bulk spring" }).waitFor();
  await page.getByText(/^3 messages wait until/).waitFor();

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText(/^Paused: 3 messages wait/).waitFor();
  await statusIs("PAUSED");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await statusIs("PENDING");

  await page.getByRole("button", { name: "Move" }).click();
  const dialog = page.getByRole("dialog", { name: "Move this bulk" });
  await dialog.getByText("Europe/Zurich").waitFor();
  // In the reader's zone, which is an hour or two ahead of UTC.
  const day = new Date(Date.now() + 48 * HOUR_MS).toISOString().slice(0, 10);
  await dialog.getByLabel("Send at").fill(`${day}T09:30`);
  await dialog.getByRole("button", { name: "Move" }).click();
  await dialog.waitFor({ state: "detached" });
  const { json } = await service.call("GET", "/sms/1/bulks?bulkId=spring");
  assert.match(json.sendAt, new RegExp(`^${day}T0[78]:30:00.000\\+0000$`));

  await page.getByRole("button", { name: "Cancel bulk" }).click();
  const asked = page.getByRole("dialog", { name: "Cancel this bulk?" });
  await asked.getByText("cannot be undone").waitFor();
  await page.keyboard.press("Escape");
  await asked.waitFor({ state: "detached" });
  await statusIs("PENDING");
  await page.getByRole("button", { name: "Cancel bulk" }).click();
  await asked.getByRole("button", { name: "Cancel the bulk" }).click();
  await page.getByText("Canceled: what had not gone was paid back.").waitFor();
  await page.getByText("3 canceled or failed").waitFor();
  assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 0, "nothing more can be done to it");
});

test("a bulk that is sent while the page is open comes into the list, and its progress to the end", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/bulks");
  await page.getByRole("heading", { level: 1, name: "Bulks" }).waitFor();
  await send("rush", 60);
  const row = page.getByRole("row").filter({ hasText: "rush" });
  await row.getByText("60 delivered").waitFor();
  await row.getByText("finished").waitFor();
  await row.getByRole("link", { name: "rush" }).click();
  await page.getByText("All is done: 60 of 60 were delivered.").waitFor();
  assert.match((await page.getByRole("link", { name: "which messages" }).getAttribute("href"))!, /q=bulk%3Arush$/);
});

test("the filter is in the address, a bulk is found by its id, and one that is not there says so", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await send("later", 1, new Date(Date.now() + HOUR_MS).toISOString());
  await enter("demo", "/bulks");
  await page.getByRole("link", { name: "scheduled", exact: true }).click();
  await page.waitForURL(/status=PENDING/);
  await page.getByRole("row").filter({ hasText: "later" }).waitFor();
  await page.getByRole("link", { name: "paused", exact: true }).click();
  await page.getByRole("heading", { name: "No such bulk" }).waitFor();
  await page.goBack();
  await page.getByRole("row").filter({ hasText: "later" }).waitFor();
  await page.getByLabel("Find a bulk by its id").fill("nothing");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "There is no such bulk" }).waitFor();
});
