/** The HTTP client, loaded with the first push: it is the largest of all that delivery has, and takes as long to load as the rest of it. */
import { createRequire } from "node:module";
import { once } from "../runtime/lazy.ts";

export const undici = once(() => createRequire(import.meta.url)("undici") as typeof import("undici"));
