/** The page at /docs: our own name and mark, and in the sandbox what it shows for clients can be sent as it stands. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startTestService } from "../support/service.ts";
import { openConsole, openPage } from "./support/browser.ts";

/** As the page names them: the tag, the id, and the status that the answer has. */
const TRIED = [
  ["Sending", "sendTextAdvanced", "200"],
  ["Sending", "sendTextSingleByQuery", "200"],
  ["Sending", "kannelSend", "202"],
  ["Sending", "kannelPost", "202"],
  ["Version_3", "sendMessages", "200"],
  ["Tracking", "fetchReports", "200"],
  ["Account", "getBalance", "200"],
  ["Account", "openSession", "200"],
  ["Sandbox", "writeFromPhone", "204"],
] as const;

const { page, service, browser } = await openConsole({ after }, { settings: { kannel: { enabled: true } } });

test("in the sandbox what is filled in works: execute, and the answer is a success", { timeout: 300_000 }, async () => {
  await page.goto(`${service.url}/docs`);
  for (const [tag, id, status] of TRIED) {
    const operation = page.locator(`#operations-${tag}-${id}`);
    const group = page.locator(`#operations-tag-${tag}`);
    await group.click();
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table tbody .response-col_status").first();
    await answer.waitFor();
    assert.match((await answer.textContent())!.trim(), new RegExp(`^${status}`), id);
    await group.click();
  }
});

test("the page has our name and our mark, and no other's", { timeout: 300_000 }, async (t) => {
  await page.goto(`${service.url}/docs`);
  const title = page.locator(".info .title");
  await title.waitFor();
  assert.match((await title.textContent())!, /^Heliograph API/);
  assert.equal(await page.title(), "Heliograph API");
  assert.equal(await page.locator(".topbar").count(), 0);
  const mark = await title.evaluate((element) => getComputedStyle(element, "::before").backgroundImage);
  assert.match(mark, /\/docs\/static\/theme\/favicon\.svg/);
  const icons = page.locator("link[rel~=icon]");
  assert.deepEqual([await icons.count(), await icons.getAttribute("href")], [1, "/docs/static/theme/favicon.svg"]);
  assert.doesNotMatch((await page.locator("#swagger-ui").textContent())!, /swagger/i);
  assert.match((await page.locator(".info").textContent())!, /This is a sandbox/);

  const real = await startTestService(t, { sandbox: false });
  const { page: realPage } = await openPage(t, browser, real.url);
  await realPage.goto(`${real.url}/docs`);
  await realPage.locator(".info .title").waitFor();
  assert.doesNotMatch(
    (await realPage.locator(".info").textContent())!,
    /sandbox|demo/,
    "nobody has that account there",
  );
});
