/**
 * Gives back what the start has left in memory. Loading leaves a heap of which half and more is garbage and room for more, and V8 collects when memory is
 * asked for, which an idle thread does not do: it would keep all of it for as long as it idles. So a thread that has nothing to do soon after the
 * start is collected whole, once. Not later, and not when there has been a message: V8 throws code away with it that was made fast meanwhile, and at low
 * load that costs more than the memory is worth.
 */
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Clock, Timer } from "./clock.ts";

const LOOK_EVERY_MS = 5_000;
/** After so many looks it is too late. */
const LOOKS = 6;
/** A thread that was at work for less than this share of the time between two looks is idle. */
const IDLE_SHARE = 0.02;

export interface HeapRestParts {
  readonly clock: Clock;
  /** How long the thread's event loop has been at work since it began. */
  readonly activeMs?: () => number;
  readonly collect?: () => void;
}

export class HeapRest {
  readonly #parts: Required<HeapRestParts>;
  #timer: Timer | null = null;

  constructor(parts: HeapRestParts) {
    this.#parts = {
      activeMs: () => performance.eventLoopUtilization().active,
      collect: collectWhole,
      ...parts,
    };
    this.#lookLater(LOOKS);
  }

  #lookLater(looks: number): void {
    const { clock, activeMs, collect } = this.#parts;
    const before = activeMs();
    this.#timer = clock.after(LOOK_EVERY_MS, () => {
      const share = (activeMs() - before) / LOOK_EVERY_MS;
      if (share < IDLE_SHARE) collect();
      else if (looks > 1) this.#lookLater(looks - 1);
    });
  }

  /** There is a first message, or the thread ends. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}

/** As V8 does before it gives up for want of memory: also what it keeps to be faster, such as room for the young generation, is given back. */
function collectWhole(): void {
  // Only a context that is made meanwhile has it. V8 keeps compiled code by its settings, which are the same again afterwards.
  setFlagsFromString("--expose-gc");
  try {
    const collect = runInNewContext("gc") as (options: object) => void;
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
