/** The HTTP client, loaded with the first push: it is the largest of all that delivery has, and takes as long to load as the rest of it. */
import { library } from "../runtime/lazy.ts";

export const undici = library<typeof import("undici")>("undici");
