/** Every page of every kind of account, in light and dark, wide and narrow, looked through by axe-core; and the frame by keyboard alone. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { openConsole, openPage } from "./support/browser.ts";
import { fillConsole } from "./support/filled.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const shared = await openConsole({ after });
const filled = await fillConsole(shared.service);

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: { readonly html: string; readonly failureSummary: string }[];
}

async function findings(page: Page): Promise<string[]> {
  // The driver puts it into the page: the page's own policy would not let it in.
  if (!(await page.evaluate(() => "axe" in window))) {
    const { readFile } = await import("node:fs/promises");
    await page.evaluate(await readFile(AXE, "utf8"));
  }
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: { run(): Promise<{ violations: Finding[] }> } }).axe.run(),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}

/** The pages that the menu has, and one of each kind of thing that a list leads to. */
async function placesOf(page: Page): Promise<string[]> {
  const links = await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link").all();
  return Promise.all(links.map(async (link) => (await link.getAttribute("href"))!));
}

for (const username of ["demo", "reseller", "operator"] as const) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`the pages of ${username} have no serious finding in ${colorScheme}`, async (t) => {
      const { page, enter } = await openPage(t, shared.browser, shared.service.url, {
        colorScheme,
        // What fades in is read when it is there.
        reducedMotion: "reduce",
      });
      await enter(username);
      const places = [...(await placesOf(page)), ...filled.places[username]];
      for (const place of places) {
        await page.goto(`${shared.service.url}${place}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page.locator("main").getByText("Loading…").first().waitFor({ state: "detached" });
        assert.deepEqual(await findings(page), [], `${place} at full width`);
        await page.setViewportSize({ width: 380, height: 800 });
        assert.deepEqual(await findings(page), [], `${place} at phone width`);
        const { wide, seen } = await page.evaluate(() => ({
          wide: document.documentElement.scrollWidth,
          seen: document.documentElement.clientWidth,
        }));
        assert.ok(wide <= seen, `${place} is ${wide} px wide on a screen of ${seen}`);
        await page.setViewportSize({ width: 1280, height: 900 });
      }
    });
  }
}

test("the sign-in page has no serious finding", async (t) => {
  const { page } = await openPage(t, shared.browser, shared.service.url);
  await page.goto(shared.service.url);
  await page.getByLabel("Username").waitFor();
  assert.deepEqual(await findings(page), []);
});

test("what is typed right after a key has opened something goes there", async (t) => {
  const { page } = await openPage(t, shared.browser, shared.service.url);
  await page.goto(shared.service.url);
  await page.getByRole("button", { name: "demo" }).click();
  await page.getByRole("heading", { level: 1, name: "Start" }).waitFor();
  const opened = await page.evaluate(async () => {
    const seen = [];
    for (const [key, ctrlKey] of [
      ["k", true],
      ["k", true],
      ["?", false],
    ] as const) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true, cancelable: true }));
      // The next key comes as a task of its own: before anything is painted, on a slow machine.
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage(null);
      });
      const dialog = document.activeElement?.closest("dialog") ?? null;
      seen.push(
        dialog === null ? "nothing" : (dialog.getAttribute("aria-label") ?? dialog.querySelector("h2")?.textContent),
      );
    }
    return seen;
  });
  assert.deepEqual(opened, ["Search or go to a page", "nothing", "Keys"]);
});

test("everything in the frame is done by keyboard", async (t) => {
  const { page } = await openPage(t, shared.browser, shared.service.url);
  await page.goto(shared.service.url);
  await page.getByRole("button", { name: "demo" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Start" }).waitFor();

  await page.keyboard.press("Control+k");
  await page.keyboard.type("money");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Money" }).waitFor();

  await page.keyboard.press("c");
  await page.getByRole("heading", { level: 1, name: "Compose" }).waitFor();
  await page.keyboard.press("Escape");

  await page.keyboard.press("Control+k");
  await page.keyboard.type("failed");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/messages\?q=failed/);
  await page.getByRole("row").filter({ hasText: "Is anybody there?" }).waitFor();
  await page.getByRole("table", { name: "Messages, newest first" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/messages\/.+/);
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/messages\?q=failed/);

  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
});
