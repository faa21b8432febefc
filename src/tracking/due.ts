/** When a message was to go, and when it may go now. */
import type { MessageLife } from "../store/port/message-life.ts";

type Times = Pick<MessageLife, "dueAtMs" | "expiresAtMs" | "validityMs">;

/** As its request had it, or its bulk since that was moved: validity counts from then. What put it off later does not change it. */
export function plannedMs({ expiresAtMs, validityMs }: Omit<Times, "dueAtMs">): number {
  return expiresAtMs - validityMs;
}

/** Whether it waits for nothing but its end: its window does not open again before, or its bulk is paused until then. */
export function waitsForEnd({ dueAtMs, expiresAtMs }: Omit<Times, "validityMs">): boolean {
  return dueAtMs >= expiresAtMs;
}

/** When it may go. Of one that waits for its end, when it was to go: it is never sent at the moment when it expires. */
export function shownDueMs(life: Times): number {
  return waitsForEnd(life) ? plannedMs(life) : life.dueAtMs;
}
