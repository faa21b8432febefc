/** The ways to wait, all with the same patience: a wait ends as soon as it is so, and patience only ends a test that would hang, however busy the machine is. */
import assert from "node:assert/strict";

/** So long a statement may take, too, in a test that is not about that. */
export const PATIENT_MS = 120_000;
const LOOK_EVERY_MS = 5;

/** Waits until `check` gives something, and returns it. */
export async function eventually<Result>(check: () => Promise<Result | null | undefined | false>): Promise<Result> {
  const deadline = performance.now() + PATIENT_MS;
  for (;;) {
    const result = await check();
    if (result !== null && result !== undefined && result !== false) return result;
    assert.ok(performance.now() < deadline, `waited in vain for ${check}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** The same for what is looked up in this process: at every turn of the event loop, so that no time goes by. */
export async function until(condition: () => boolean, what = String(condition)): Promise<void> {
  const deadline = performance.now() + PATIENT_MS;
  while (!condition()) {
    assert.ok(performance.now() < deadline, `waited in vain for ${what}`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
