/**
 * A real browser before a whole service. A page that writes an error on the browser's console, or asks another host for anything, fails its test.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { chromiumProgram } from "../../support/chromium.ts";
import { type Cleanup, startTestService, type TestService, type TestServiceOptions } from "../../support/service.ts";

/** Nothing but what the tests ask for. */
const QUIET = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-features=OptimizationHints,MediaRouter,Translate",
  "--disable-sync",
  "--metrics-recording-only",
  "--no-first-run",
  "--no-pings",
  "--font-render-hinting=none",
];

const BUILT = join(import.meta.dirname, "../../../console/dist/index.html");
/** However slow the machine is: what is awaited comes, or the test has failed. */
const PATIENCE_MS = 30_000;

export async function startBrowser(t: Cleanup): Promise<Browser> {
  assert.ok(existsSync(BUILT), "the console is not built: npm run build:console");
  const program = await chromiumProgram();
  const browser = await chromium.launch({ executablePath: program.path, args: QUIET });
  t.after(async () => {
    await browser.close();
    await program.remove();
  });
  return browser;
}

export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors on the browser's console that the test brings about, as by a request that is refused. */
  expectError(pattern: RegExp): void;
  /** Goes in by one click on an account of the sandbox, and waits for the frame. */
  enter(username?: "demo" | "reseller" | "operator", path?: string): Promise<void>;
  /** Fails if anything was wrong on the page so far. It is called at the end of the test too. */
  check(): void;
}

/** A page of its own, with its own cookies. */
export async function openPage(
  t: Cleanup,
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: "en-GB",
    timezoneId: "Europe/Zurich",
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const wrong: string[] = [];
  const expected: RegExp[] = [];
  const { host } = new URL(url);
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") wrong.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.host !== host && asked.protocol !== "data:" && asked.protocol !== "blob:")
      wrong.push(`asked ${request.url()}`);
  });
  const check = (): void => {
    assert.deepEqual(
      wrong.filter((text) => !expected.some((pattern) => pattern.test(text))),
      [],
    );
  };
  t.after(async () => {
    await context.close();
    // What was set up first is taken down first: the service may have gone while the page still asked for something.
    expected.push(/net::ERR_/);
    check();
  });
  return {
    page,
    context,
    expectError: (pattern) => expected.push(pattern),
    check,
    async enter(username = "demo", path = "/") {
      await page.goto(`${url}${path}`);
      await page
        .getByRole("region", { name: "Accounts of the sandbox" })
        .getByRole("button", { name: username })
        .click();
      await page.locator(".frame").waitFor();
    },
  };
}

export interface ConsoleTest extends ConsolePage {
  readonly browser: Browser;
  readonly service: TestService;
}

/** A service, a browser and a page, for one test or for all tests of a file. */
export async function openConsole(t: Cleanup, options: TestServiceOptions = {}): Promise<ConsoleTest> {
  const service = await startTestService(t, options);
  const browser = await startBrowser(t);
  return { ...(await openPage(t, browser, service.url)), browser, service };
}
