/** Whose service is measured: that of this checkout, or of another one, which has its own `node_modules` and may be of an older state. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { OptionFault } from "./options.ts";

export interface Checkout {
  /** Null: this one. */
  readonly name: string | null;
  readonly root: string;
  /** The Node that runs it, and its program. */
  readonly node: string;
  readonly program: string;
}

const ROOT = resolve(import.meta.dirname, "../..");

export const HERE: Checkout = {
  name: null,
  root: ROOT,
  node: process.execPath,
  program: join(ROOT, "bin/heliograph.js"),
};

/** The one of `--against DIRECTORY`. It brings its own Node, if it has one. */
export function otherCheckout(directory: string): Checkout {
  const root = resolve(directory);
  const program = join(root, "bin/heliograph.js");
  for (const needed of [program, join(root, "node_modules")]) {
    if (!existsSync(needed))
      throw new OptionFault(`--against needs a checkout with its own node_modules, and there is no ${needed}`);
  }
  const node = join(root, "node_modules/.bin/node");
  return { name: directory, root, node: existsSync(node) ? node : process.execPath, program };
}

/** This one, and the other one if there is one: in the order of their turns. */
export function checkoutsOf(against: string | null): Checkout[] {
  return against === null ? [HERE] : [HERE, otherCheckout(against)];
}
