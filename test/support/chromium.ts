/** The browser of the tests: the one that is named, else one that is installed, else that of the npm package, which is a program for x86-64 on Linux. */
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

export interface ChromiumProgram {
  readonly path: string;
  /** After the browser has ended. */
  remove(): Promise<void>;
}

/** The environment variable with the path of a browser to use. */
const NAMED = "CHROME_PATH";
/** The first has no window and no GPU to begin with: it takes a third of the time. */
const PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
export const NO_CHROMIUM = `there is no browser for them: install Chromium (on Debian the package chromium), or name one in ${NAMED}`;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installed(): string | null {
  const named = process.env[NAMED];
  if (named !== undefined) return named;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return [...PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name))), MAC].find(isProgram) ?? null;
}

const hasPackage = process.platform === "linux" && process.arch === "x64";

export const hasChromium = (): boolean => installed() !== null || hasPackage;

export async function chromiumProgram(): Promise<ChromiumProgram> {
  const path = installed();
  if (path !== null) return { path, remove: async () => {} };
  if (!hasPackage) throw new Error(NO_CHROMIUM);
  const directory = await mkdtemp(join(tmpdir(), "heliograph-browser-"));
  const before = process.env.TMPDIR;
  // The package unpacks its browser into the directory for temporary files, whatever else does so at the same time.
  process.env.TMPDIR = directory;
  try {
    const { default: packed } = await import("@sparticuz/chromium");
    return {
      path: await packed.executablePath(),
      remove: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }),
    };
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
