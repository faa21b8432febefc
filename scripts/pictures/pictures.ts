/** Every picture by the name of its file. */
import type { Drawing } from "./drawing.ts";
import { messageLife } from "./message-life.ts";
import { money } from "./money.ts";
import { retries } from "./retries.ts";
import { routes } from "./routes.ts";

export const PICTURES: Readonly<Record<string, () => Drawing>> = {
  "message-life": messageLife,
  retries,
  money,
  routes,
};
