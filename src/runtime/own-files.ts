/**
 * Our own files find each other by their names alone, in the thread that loads this file first. Node looks each of them up (is it there, what does it
 * really lie at, which package.json says of which kind it is): of a start that is a tenth, for three threads with five hundred files.
 */
import { registerHooks } from "node:module";

/** The folder src of a clone, or lib of a package. */
const ROOT = new URL("..", import.meta.url).href;
const ENDING = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
const FORMAT = ENDING === ".ts" ? "module-typescript" : "module";

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    const isOwn = specifier.startsWith(".") && specifier.endsWith(ENDING) && parentURL?.startsWith(ROOT) === true;
    if (!isOwn) return next(specifier, context);
    return { url: besides(parentURL, specifier), format: FORMAT, shortCircuit: true };
  },
});

/** As `new URL(specifier, parentUrl)` makes it of "./a.ts" and "../b/a.ts", in a tenth of its time. */
export function besides(parentUrl: string, specifier: string): string {
  let end = parentUrl.lastIndexOf("/");
  let at = specifier.startsWith("./") ? 2 : 0;
  for (; specifier.startsWith("../", at); at += 3) end = parentUrl.lastIndexOf("/", end - 1);
  return `${parentUrl.slice(0, end)}/${specifier.slice(at)}`;
}
