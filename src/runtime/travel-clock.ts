/**
 * A clock that can be moved forwards, for the sandbox: two hours later is then a moment away. It is the system's clock plus an offset, which is in
 * shared memory, so that all threads have the same time. A jump is like a machine that slept: each timer keeps its due time, and those that
 * came due meanwhile fire at once, in the order of their times.
 *
 * `monotonic()` jumps with `now()`. Whoever waits here reads it to learn whether a timer that fired is really due (the simulator's timetable, the
 * chores of maintenance, delayed claims): with a monotonic clock that stood, a jump would wake them and they would go back to sleep. A rate limit is
 * full after a jump and a cache is empty, as after so long a pause.
 *
 * Somebody outside does not travel with us. So two other clocks go with this one:
 *
 *      outside   the same time of day, durations and timers of the real clock: for connections to carriers, whose answers and signs of life come in
 *                real time. A jump must not look like a carrier that was silent for two hours.
 *      real      the real clock whole: for requests to receivers of reports. What they are told in a header, and sign, they compare with their own clock.
 *
 * The lease between nodes does not read a Clock at all, and there is no time travel where there are several nodes.
 */
import type { Clock, Timer } from "./clock.ts";

interface Alarm {
  /** A reading of this clock's `monotonic`. */
  readonly dueMs: number;
  readonly run: () => void;
  timer: Timer;
}

/** What is due in less than this is due: timers of the system count whole milliseconds. */
const RESOLUTION_MS = 1;

export class TravelClock implements Clock {
  readonly real: Clock;
  readonly outside: Clock;
  /** One cell: by how much this clock is ahead of the real one, in milliseconds. */
  readonly #offset: BigInt64Array;
  /** In the order in which they were asked for. */
  readonly #alarms = new Set<Alarm>();

  /** With the `memory` of another thread's clock both have the same time. */
  constructor(real: Clock, memory = TravelClock.memoryAt(0)) {
    this.real = real;
    this.#offset = new BigInt64Array(memory);
    this.outside = {
      now: () => this.now(),
      monotonic: () => real.monotonic(),
      after: (delayMs, run) => real.after(delayMs, run),
    };
  }

  static memoryAt(offsetMs: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
    new BigInt64Array(memory)[0] = BigInt(Math.trunc(offsetMs));
    return memory;
  }

  get memory(): SharedArrayBuffer {
    return this.#offset.buffer as SharedArrayBuffer;
  }

  get offsetMs(): number {
    return Number(Atomics.load(this.#offset, 0));
  }

  now(): number {
    return this.real.now() + this.offsetMs;
  }

  monotonic(): number {
    return this.real.monotonic() + this.offsetMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const alarm: Alarm = { dueMs: this.monotonic() + Math.max(delayMs, 0), run, timer: NONE };
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return {
      cancel: () => {
        this.#alarms.delete(alarm);
        alarm.timer.cancel();
      },
    };
  }

  /** Moves all clocks on this memory forwards. Their timers hear of it when each is told to `rearm`. */
  move(byMs: number): void {
    if (!Number.isSafeInteger(byMs) || byMs < 0) throw new RangeError(`a clock cannot jump by ${byMs} ms`);
    Atomics.add(this.#offset, 0, BigInt(byMs));
  }

  /** The offset has changed: every timer is set anew, and what is due fires in the order of its time, each in a turn of its own. */
  rearm(): void {
    // Sorting is stable: those of one moment stay in the order in which they were asked for.
    const alarms = [...this.#alarms].sort((one, other) => one.dueMs - other.dueMs);
    for (const alarm of alarms) {
      alarm.timer.cancel();
      this.#arm(alarm);
    }
  }

  #arm(alarm: Alarm): void {
    const waitMs = Math.max(alarm.dueMs - this.monotonic(), 0);
    alarm.timer = this.real.after(Math.ceil(waitMs), () => {
      // The system's timers are bounded, and so may fire long before what was asked for.
      if (alarm.dueMs - this.monotonic() >= RESOLUTION_MS) {
        this.#arm(alarm);
        return;
      }
      this.#alarms.delete(alarm);
      alarm.run();
    });
  }
}

const NONE: Timer = { cancel: () => undefined };

/** The clock for connections that are not part of the sandbox. */
export function outsideOf(clock: Clock): Clock {
  return clock instanceof TravelClock ? clock.outside : clock;
}

/** The clock by which everybody else lives. */
export function realOf(clock: Clock): Clock {
  return clock instanceof TravelClock ? clock.real : clock;
}
