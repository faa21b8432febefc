/**
 * `npm run screenshots -- [DIRECTORY] [--all]`: pictures of the main pages, from a real browser before a whole sandbox. Without a directory those in
 * docs/console/ are made anew; with --all every page is taken, wide and narrow, in light and dark.
 */
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SANDBOX_SETTINGS } from "../../src/cli/sandbox.ts";
import { openConsole, openPage } from "./support/browser.ts";
import { fillConsole } from "./support/filled.ts";

interface Picture {
  readonly name: string;
  readonly who: "demo" | "reseller" | "operator";
  readonly path: string;
  readonly dark?: true;
  readonly narrow?: true;
}

const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 380, height: 820 };
/** For charts and live views to have come. */
const DRAWN_MS = 1_500;

const cleaning: (() => Promise<void>)[] = [];
const t = { after: (clean: () => Promise<void>) => void cleaning.unshift(clean) };

const isAll = process.argv.includes("--all");
const [directory = join(import.meta.dirname, "../../docs/console")] = process.argv
  .slice(2)
  .filter((word) => !word.startsWith("--"));

const { browser, service } = await openConsole(t, {
  catalogue: readFileSync(join(import.meta.dirname, "../../sandbox.catalogue.toml"), "utf8"),
  settings: SANDBOX_SETTINGS,
});
const { places } = await fillConsole(service);
const [delivered, failed, retried] = places.demo;

const MAIN: readonly Picture[] = [
  { name: "start", who: "demo", path: "/start" },
  { name: "start-dark", who: "demo", path: "/start", dark: true },
  { name: "start-phone", who: "demo", path: "/start", narrow: true },
  { name: "messages", who: "demo", path: "/messages" },
  { name: "message", who: "demo", path: delivered! },
  { name: "message-failed", who: "demo", path: failed! },
  { name: "message-dark", who: "demo", path: retried!, dark: true },
  {
    name: "compose",
    who: "demo",
    path: "/compose?to=4915112345678&from=Shop&text=Gr%C3%BC%C3%9Fe%20%E2%80%93%20bis%20morgen",
  },
  { name: "phones", who: "demo", path: "/phones" },
  { name: "bulks", who: "demo", path: "/bulks" },
  { name: "reports", who: "demo", path: "/reports" },
  { name: "requests", who: "demo", path: "/requests" },
  { name: "money", who: "demo", path: "/money" },
  { name: "overview", who: "operator", path: "/overview" },
  { name: "carriers", who: "operator", path: "/carriers" },
  { name: "routes", who: "operator", path: "/routes?to=41793026727&from=Shop" },
  { name: "messages-phone-dark", who: "demo", path: "/messages", dark: true, narrow: true },
];

async function everything(): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const who of ["demo", "reseller", "operator"] as const) {
    const { page, enter } = await openPage(t, browser, service.url);
    await enter(who);
    const links = await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link").all();
    const menu = await Promise.all(links.map(async (link) => (await link.getAttribute("href"))!));
    for (const path of [...menu, ...places[who]]) {
      const name = `${who}${path.replaceAll("/", "-")}`;
      pictures.push({ name, who, path }, { name: `${name}-dark`, who, path, dark: true });
      pictures.push(
        { name: `${name}-phone`, who, path, narrow: true },
        { name: `${name}-phone-dark`, who, path, dark: true, narrow: true },
      );
    }
  }
  return pictures;
}

try {
  await mkdir(directory, { recursive: true });
  const pictures = isAll ? await everything() : MAIN;
  const looks = Map.groupBy(pictures, ({ who, dark, narrow }) => `${who} ${dark} ${narrow}`);
  for (const group of looks.values()) {
    const { who, dark, narrow } = group[0]!;
    const { page, enter } = await openPage(t, browser, service.url, {
      viewport: narrow ? NARROW : WIDE,
      colorScheme: dark ? "dark" : "light",
    });
    await enter(who);
    for (const { name, path } of group) {
      await page.goto(`${service.url}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      if (path === "/start") {
        await page.getByRole("button", { name: "Send", exact: true }).click();
        await page
          .getByText(/Delivered to the handset|Nothing was sent/)
          .first()
          .waitFor();
      }
      await page.waitForTimeout(DRAWN_MS);
      await page.screenshot({ path: join(directory, `${name}.png`), fullPage: isAll });
      console.log(`${name}.png`);
    }
  }
} finally {
  for (const clean of cleaning) await clean();
}
