/**
 * What opened a link, read from its User-Agent: a few patterns that hold for nearly all phones, and nothing where none does. Programs that only
 * look at a link for somebody, such as the previews of messengers, are known by their names.
 */
import type { Device } from "../message/links.ts";

/** Longer ones say nothing more, and nobody shall make us search them. */
const READ_LENGTH = 400;

/** The first that is found counts: most systems also name another one that they are like. */
const SYSTEMS: readonly (readonly [word: string, os: string])[] = [
  ["Windows Phone", "Windows Phone"],
  ["KAIOS", "KaiOS"],
  ["Android", "Android"],
  ["iPhone", "iOS"],
  ["iPad", "iPadOS"],
  ["iPod", "iOS"],
  ["Windows", "Windows"],
  ["CrOS", "ChromeOS"],
  ["Macintosh", "macOS"],
  ["Linux", "Linux"],
];

const TYPES: readonly (readonly [word: string, type: string])[] = [
  ["iPad", "Tablet"],
  ["Tablet", "Tablet"],
  ["Mobile", "Phone"],
  ["iPhone", "Phone"],
  ["iPod", "Phone"],
  // An Android that is not mobile.
  ["Android", "Tablet"],
  ["Windows", "Computer"],
  ["CrOS", "Computer"],
  ["Macintosh", "Computer"],
  ["Linux", "Computer"],
];

const NAMES = ["iPhone", "iPad", "iPod"];
/** "(Linux; Android 13; SM-G991B Build/TP1A)" */
const ANDROID_NAME = /Android [\d.]{1,12}; ([^;)]{2,60})/;

/** Programs that look at links and are nobody who clicks. */
const WATCHERS = [
  "bot/",
  "bot-",
  "telegrambot",
  "crawl",
  "spider",
  "facebookexternalhit",
  "whatsapp",
  "preview",
  "slurp",
];

export function deviceOf(userAgent: string | undefined): Device {
  const text = (userAgent ?? "").slice(0, READ_LENGTH);
  const first = (table: readonly (readonly [string, string])[]): string | null =>
    table.find(([word]) => text.includes(word))?.[1] ?? null;
  return { deviceType: first(TYPES), os: first(SYSTEMS), deviceName: nameIn(text) };
}

function nameIn(text: string): string | null {
  const apple = NAMES.find((name) => text.includes(`(${name}`));
  if (apple !== undefined) return apple;
  // Browsers that hide the name write "K", which is too short to be one.
  const name = ANDROID_NAME.exec(text)?.[1]?.split(" Build/")[0]?.trim();
  return name === undefined || name.length < 2 ? null : name;
}

/** Whether a request for a link is no click: somebody's program looks at it beforehand. */
export function isWatcher(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const purposes = [headers["sec-purpose"], headers.purpose, headers["x-moz"], headers["x-purpose"]];
  if (purposes.some((purpose) => typeof purpose === "string" && /prefetch|preview|prerender/i.test(purpose)))
    return true;
  const agent = (headers["user-agent"] ?? "").slice(0, READ_LENGTH).toString().toLowerCase();
  return WATCHERS.some((word) => agent.includes(word));
}
