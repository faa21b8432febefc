/** How long the console takes from the click on sign-in to the first page with its messages on it, with an empty cache and with a full one. */
import { performance } from "node:perf_hooks";
import { openConsole, openPage } from "../test/console/support/browser.ts";
import { fillConsole } from "../test/console/support/filled.ts";

const TIMES = 5;
const cleaning: (() => Promise<void>)[] = [];
const t = { after: (clean: () => Promise<void>) => void cleaning.unshift(clean) };

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1]!;

try {
  const { browser, service } = await openConsole(t);
  await fillConsole(service);
  const signedIn: number[] = [];
  const reloaded: number[] = [];
  for (let turn = 0; turn < TIMES; turn++) {
    const { page } = await openPage(t, browser, service.url);
    await page.goto(`${service.url}/messages`);
    const button = page.getByRole("button", { name: "demo" });
    await button.waitFor();
    const row = page.getByText("Hello from my own phone network").first();
    const clickedAt = performance.now();
    await button.click();
    await row.waitFor();
    signedIn.push(performance.now() - clickedAt);
    const reloadedAt = performance.now();
    await page.reload();
    await row.waitFor();
    reloaded.push(performance.now() - reloadedAt);
  }
  console.log(`first view after sign-in: ${median(signedIn).toFixed(0)} ms (median of ${TIMES})`);
  console.log(`the page loaded again:    ${median(reloaded).toFixed(0)} ms`);
} finally {
  for (const clean of cleaning) await clean();
}
