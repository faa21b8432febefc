/**
 * Gives memory back while a thread has nothing to do. A start, or a time of load, leaves a heap of which half and more is garbage and room for more,
 * and V8 collects when memory is asked for, which an idle thread does not do: so it keeps all of it for as long as it idles. Here a thread that was
 * idle for some seconds, and whose heap has grown since the last time, is collected whole, once.
 */
import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Clock, Interval } from "./clock.ts";

const LOOK_EVERY_MS = 5_000;
/** A thread that was at work for less than this share of the time between two looks is idle. */
const IDLE_SHARE = 0.02;
/** A collection takes some 50 ms of the thread, and is worth it when the heap is so many times what the last one left. */
const WORTH_TIMES = 1.5;

export interface HeapRestParts {
  readonly clock: Clock;
  /** How long the thread's event loop has been at work since it began. */
  readonly activeMs?: () => number;
  readonly heapBytes?: () => number;
  readonly collect?: () => void;
}

export class HeapRest {
  readonly #parts: Required<HeapRestParts>;
  readonly #looking: Interval;
  #seen: { readonly atMs: number; readonly activeMs: number };
  /** What the last collection left. */
  #leftBytes = 0;

  constructor(parts: HeapRestParts) {
    this.#parts = {
      activeMs: () => performance.eventLoopUtilization().active,
      heapBytes: () => getHeapStatistics().total_heap_size,
      collect: collectWhole,
      ...parts,
    };
    this.#seen = this.#now();
    this.#looking = Interval.together(parts.clock, LOOK_EVERY_MS, async () => this.#look());
  }

  #now() {
    return { atMs: this.#parts.clock.monotonic(), activeMs: this.#parts.activeMs() };
  }

  #look(): void {
    const before = this.#seen;
    this.#seen = this.#now();
    const isIdle = this.#seen.activeMs - before.activeMs < (this.#seen.atMs - before.atMs) * IDLE_SHARE;
    const { heapBytes, collect } = this.#parts;
    if (!isIdle || heapBytes() < this.#leftBytes * WORTH_TIMES) return;
    collect();
    this.#leftBytes = heapBytes();
    this.#seen = this.#now();
  }

  stop(): Promise<void> {
    return this.#looking.stop();
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
