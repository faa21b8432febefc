/**
 * The pages of the console, by the first step of their path. The server answers each of them, and whatever lies below it, with the one page whose
 * script shows the right thing. Plain texts: the browser's code reads this file too.
 */
export const PAGE_NAMES = [
  "sign-in",
  "start",
  "messages",
  "compose",
  "bulks",
  "reports",
  "incoming",
  "requests",
  "money",
  "settings",
  "phones",
  "clients",
  "overview",
  "carriers",
  "routes",
  "accounts",
  "unmatched",
  "nodes",
  "audit",
] as const;
