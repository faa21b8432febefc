/** The pages of reports and of messages from phones in a real browser: a server that takes none, dead letters, what a phone writes. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { addAccount } from "../support/accounts.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, CATALOGUE, eventually } from "../support/service.ts";
import { openConsole, openPage } from "./support/browser.ts";

const NUMBER = `
[[number]]
number = "12345"
account = "DEMO0001"
stopKeywords = ["STOP"]
`;

const shared = await openConsole({ after }, { catalogue: CATALOGUE + NUMBER });
const { service, browser } = shared;
// Without retries: what fails is a dead letter at once.
await addAccount(service.store, { key: "HASTY", retryMinutes: [] });

async function send(notifyUrl: string, authorization?: string): Promise<void> {
  const body = { messages: [{ from: "Shop", text: "Hi", destinations: [{ to: "41793026727" }], notifyUrl }] };
  const sent = await service.call("POST", "/sms/1/text/advanced", {
    body,
    ...(authorization === undefined ? {} : { authorization }),
  });
  assert.equal(sent.status, 200);
}

async function signIn(page: Page, path: string): Promise<void> {
  await page.goto(`${service.url}${path}`);
  await page.getByLabel("Username").fill("HASTY");
  await page.getByLabel("Password").fill("password");
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a server that takes no reports is shown with its answer; try now brings them, and the page says so", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(503, {}, "back soon"));
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/reports");
  await page.getByRole("heading", { name: "Every report was taken" }).waitFor();
  await send(`${receiver.url}/a`);
  await receiver.waitForRequests(1);
  const host = page.getByRole("listitem").filter({ hasText: new URL(receiver.url).origin });
  await host.getByText("answered 503, “back soon”").waitFor();
  await host.getByText("1 report waits").waitFor();

  await host.getByRole("link", { name: "Show reports" }).click();
  await page.getByRole("row").filter({ hasText: receiver.url }).getByRole("link").click();
  const dialog = page.getByRole("dialog", { name: "Report" });
  await dialog.getByText("answered 503").waitFor();
  await dialog.getByText("back soon").waitFor();
  await dialog.getByText('"groupName": "DELIVERED"').waitFor();
  assert.match(
    (await dialog.getByRole("link", { name: "message to 41793026727" }).getAttribute("href"))!,
    /^\/messages\/\d+$/,
  );
  await page.reload();
  await dialog.getByText("answered 503").waitFor();

  receiver.answer(status(200));
  await dialog.getByRole("button", { name: "Try now" }).click();
  await receiver.waitForRequests(2);
  await dialog.getByText("its receiver has taken it").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("heading", { name: "Every report was taken" }).waitFor();
});

test("a dead letter is replayed by a click, and all of a host since a time", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(500, {}, "out of order"));
  const { page } = await openPage(t, browser, service.url);
  await signIn(page, "/reports");
  await page.getByRole("heading", { name: "Every report was taken" }).waitFor();
  const authorization = basic("HASTY", "password");
  for (const path of ["one", "two", "three"]) {
    await send(`${receiver.url}/${path}`, authorization);
    await eventually(async () => receiver.requests.length === ["one", "two", "three"].indexOf(path) + 1);
  }
  const letters = page.getByRole("table", { name: "Dead letters" }).getByRole("row");
  await letters.nth(3).waitFor();
  await letters.filter({ hasText: "/one" }).getByText("answered 500").waitFor();

  receiver.answer(status(200));
  await letters.filter({ hasText: "/one" }).getByRole("link").click();
  const dialog = page.getByRole("dialog", { name: "Report" });
  await dialog.getByText("given up").waitFor();
  await dialog.getByRole("button", { name: "Replay" }).click();
  await receiver.waitForRequests(4);
  await dialog.getByText("its receiver has taken it").waitFor();
  await page.keyboard.press("Escape");
  await letters.filter({ hasText: "/one" }).waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Replay dead letters…" }).click();
  const many = page.getByRole("dialog", { name: "Replay dead letters" });
  await many.getByLabel("Of which host").selectOption({ label: new URL(receiver.url).origin });
  const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 16);
  await many.getByLabel("Since").fill(tomorrow);
  await many.getByRole("button", { name: "Replay" }).click();
  await page.getByText("0 reports go out again.").waitFor();
  assert.equal(receiver.requests.length, 4);
  await page.getByRole("button", { name: "Replay dead letters…" }).click();
  const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 16);
  await many.getByLabel("Since").fill(yesterday);
  await many.getByRole("button", { name: "Replay" }).click();
  await page.getByText("2 reports go out again.").waitFor();
  await receiver.waitForRequests(6);
  await page.getByRole("heading", { name: "Every report was taken" }).waitFor();
});

test("an operator sees the hosts of every account", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(500));
  await send(`${receiver.url}/x`, basic("HASTY", "password"));
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("operator", "/reports");
  const host = page.getByRole("listitem").filter({ hasText: new URL(receiver.url).origin });
  await host.getByRole("link", { name: "HASTY" }).waitFor();
  await host.getByText("given up").first().waitFor();
});

test("what a phone writes comes in by itself, and is answered from there", async (t) => {
  const { page, enter } = await openPage(t, browser, service.url);
  await enter("demo", "/incoming");
  await page.getByRole("heading", { name: "No phone has written yet" }).waitFor();
  await page.getByText("Phones write to 12345").waitFor();
  await service.call("POST", "/sandbox/1/incoming", {
    body: { from: "41790000042", to: "12345", text: "Who is there?" },
  });
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await row("Who is there?").getByText("to be fetched").waitFor();

  await page.getByRole("button", { name: "Let a phone write…" }).click();
  const dialog = page.getByRole("dialog", { name: "Let a phone write" });
  await dialog.getByLabel("Text").fill("Stop");
  await dialog.getByRole("button", { name: "Write" }).click();
  await row("Stop").getByText("opted out").waitFor();

  assert.equal((await service.call("GET", "/sms/1/inbox/reports?limit=1")).json.messageCount, 1);
  await row("Who is there?").getByText("fetched", { exact: true }).waitFor();
  await row("Stop").getByText("to be fetched").waitFor();
  const back = row("Who is there?").getByRole("link", { name: "Write back to 41790000042" });
  assert.equal(await back.getAttribute("href"), "/compose?to=41790000042&from=12345");
});
