/** What V8 makes of our code: kept from start to start, and set for a service that runs for long. */
import module from "node:module";
import { setFlagsFromString } from "node:v8";

/** Kept for the next start now, not only at the end: what a thread compiled is found again under the same settings of V8 only. */
export function keepCompiled(): void {
  module.flushCompileCache();
}

/**
 * V8 guesses, from its first moments under load, which objects will live long, and makes those in the old generation from then on: parts of requests,
 * which die at once, and hold all that they name until the whole heap is collected. It is told not to, for all threads. Not at the start of the
 * process: Node's own modules are compiled for V8's usual settings, and with others each thread would compile them anew.
 */
export function neverGuessLives(): void {
  keepCompiled();
  setFlagsFromString("--no-allocation-site-pretenuring");
}
