/**
 * The pace of a bulk with a speed limit: at most so many messages in any minute, hour or day, spread evenly.
 *
 * Time is cut into *slots*, each good for one handing over. A message that has a slot is handed to its carrier from the slot's start on, and at most
 * `graceMs` later; one that is later than that needs another slot. So what is handed over in any stretch of one unit has its slots in a stretch of
 * unit and grace. Slots are so far apart that no more than `amount` of them start in that:
 *
 *      |←──── grace ────→|←────────────── unit ──────────────→|
 *      slot   slot   slot   slot   slot   slot   slot   slot   slot
 *
 * That is why a bulk takes up to a twentieth longer than its limit says.
 */
import { type DeliveryWindow, isOpen, nextOpening } from "./window.ts";

export interface SpeedLimit {
  /** Messages, at least one. */
  readonly amount: number;
  readonly unitMs: number;
}

const UNIT_MS = { MINUTE: 60_000, HOUR: 3_600_000, DAY: 86_400_000 } as const;
export type TimeUnit = keyof typeof UNIT_MS;
export const TIME_UNITS = Object.keys(UNIT_MS) as readonly TimeUnit[];

/** The limit as a client writes it. */
export function speedLimitOf(
  wish: { readonly amount: number; readonly timeUnit?: TimeUnit } | undefined,
): SpeedLimit | null {
  return wish === undefined ? null : { amount: wish.amount, unitMs: UNIT_MS[wish.timeUnit ?? "MINUTE"] };
}

export interface Slot {
  /** When its message is due: now, or the first step of the clock behind its start. */
  readonly dueAtMs: number;
  /** It is good until then. */
  readonly untilMs: number;
}

const US = 1_000;
const GRACE_SHARE = 20;
const MAX_GRACE_MS = 60_000;
/** Slots that wait come due at multiples of this, so that what is released in a moment is released together. */
const STEP_MS = 100;
/** So late a release takes the slot as it was meant, and the bulk does not fall behind for it. Within the grace, with room for the handing over. */
const MAX_LAG_MS = 1_000;

/** Until when after its start a slot is good. */
export function graceMs({ unitMs }: SpeedLimit): number {
  return Math.min(Math.floor(unitMs / GRACE_SHARE), MAX_GRACE_MS);
}

/** How far apart slots are, in millionths of a second: a limit may allow many in a millisecond. */
export function slotEveryUs(limit: SpeedLimit): number {
  // One more millisecond, or the ends of the stretch could both have a slot.
  return Math.max(1, Math.ceil(((limit.unitMs + graceMs(limit) + 1) * US) / limit.amount));
}

/** Gives slots, one behind the other. */
export class Pace {
  readonly limit: SpeedLimit;
  readonly #everyUs: number;
  #nextUs: number;

  /** The first slot starts then, or later. */
  constructor(limit: SpeedLimit, nextUs: number) {
    this.limit = limit;
    this.#everyUs = slotEveryUs(limit);
    this.#nextUs = nextUs;
  }

  get nextUs(): number {
    return this.#nextUs;
  }

  /** Whether the next slot is now. */
  isFree(nowMs: number): boolean {
    return this.#nextUs <= nowMs * US;
  }

  /** The next slot, for a message that may go from then on. */
  take(nowMs: number, fromMs: number, window: DeliveryWindow | null): Slot {
    return this.#takeBefore(Number.POSITIVE_INFINITY, nowMs, fromMs, window)!;
  }

  /**
   * The next slot for a message that is due: one that is a moment old will do. If that is not due before the message's end there is none for it, and
   * the next message may have it.
   */
  takeDue(nowMs: number, window: DeliveryWindow | null, endMs = Number.POSITIVE_INFINITY): Slot | null {
    return this.#takeBefore(endMs, nowMs, nowMs - Math.min(MAX_LAG_MS, graceMs(this.limit)), window);
  }

  #takeBefore(endMs: number, nowMs: number, fromMs: number, window: DeliveryWindow | null): Slot | null {
    let startUs = Math.max(this.#nextUs, fromMs * US);
    let dueAtMs = dueOf(startUs, nowMs);
    if (window !== null && !isOpen(window, dueAtMs)) {
      dueAtMs = nextOpening(window, dueAtMs);
      startUs = dueAtMs * US;
    }
    if (dueAtMs >= endMs) return null;
    this.#nextUs = startUs + this.#everyUs;
    return { dueAtMs, untilMs: Math.floor(startUs / US) + graceMs(this.limit) };
  }

  /** When a slot that was taken here starts. */
  startOf({ untilMs }: Slot): number {
    return untilMs - graceMs(this.limit);
  }

  /** When the first slot behind one starts that starts in this millisecond. */
  behindUs(startMs: number): number {
    return (startMs + 1) * US + this.#everyUs;
  }
}

function dueOf(startUs: number, nowMs: number): number {
  if (startUs <= nowMs * US) return nowMs;
  return Math.ceil(startUs / (US * STEP_MS)) * STEP_MS;
}
