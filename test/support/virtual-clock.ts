/**
 * A clock that stands still until a test moves it. Timers run in the order of their time, and between two of them everything that was
 * set off gets to run: promises, microtasks and setImmediate. Of real I/O it waits only for what it was told of (`waitFor`: a database);
 * for the rest (a socket, a thread) a test waits for a condition.
 */
import assert from "node:assert/strict";
import type { Clock, Timer } from "../../src/runtime/clock.ts";
import { PATIENT_MS } from "./patience.ts";

/** How many turns of the event loop count as settled: work that hops through setImmediate more often than this is not waited for. */
const TURNS_TO_SETTLE = 3;

interface Alarm {
  readonly dueMs: number;
  readonly run: () => void;
}

export class VirtualClock implements Clock {
  #monotonicMs = 0;
  #wallMs: number;
  /** By time; those of the same time in the order in which they were set. */
  readonly #alarms: Alarm[] = [];
  #advancing = false;
  #alarmsSet = 0;
  readonly #atRest: (() => boolean)[] = [];

  constructor(startMs = Date.UTC(2026, 0, 5, 12)) {
    this.#wallMs = startMs;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const alarm = { dueMs: this.#monotonicMs + Math.max(delayMs, 0), run };
    const firstLater = this.#alarms.findIndex((other) => other.dueMs > alarm.dueMs);
    this.#alarms.splice(firstLater === -1 ? this.#alarms.length : firstLater, 0, alarm);
    this.#alarmsSet++;
    return {
      cancel: () => {
        const place = this.#alarms.indexOf(alarm);
        if (place !== -1) this.#alarms.splice(place, 1);
      },
    };
  }

  /** Time does not go on while something is under way elsewhere. */
  waitFor(isAtRest: () => boolean): void {
    this.#atRest.push(isAtRest);
  }

  /** How many timers wait now: none, once everything has been stopped. */
  get timersPending(): number {
    return this.#alarms.length;
  }

  /** How often a timer was asked for. */
  get timersSet(): number {
    return this.#alarmsSet;
  }

  /** Lets `ms` pass, and runs what comes due meanwhile, what it sets off and what that sets again included. */
  async advance(ms: number): Promise<void> {
    assert.ok(!this.#advancing, "the clock is being advanced already: await the first advance");
    this.#advancing = true;
    try {
      const endMs = this.#monotonicMs + ms;
      await this.#settle();
      for (let next = this.#alarms[0]; next !== undefined && next.dueMs <= endMs; next = this.#alarms[0]) {
        this.#alarms.shift();
        // After a leap it may have been due before.
        this.#moveTo(Math.max(next.dueMs, this.#monotonicMs));
        next.run();
        await this.#settle();
      }
      this.#moveTo(endMs);
    } finally {
      this.#advancing = false;
    }
  }

  /**
   * As when a machine was asleep: `ms` have passed, and what was due meanwhile comes now, once. For long times in which what happens again and again is
   * of no interest.
   */
  async leap(ms: number): Promise<void> {
    await this.#settle();
    this.#moveTo(this.#monotonicMs + ms);
    await this.advance(0);
  }

  /** Lets time pass until `work` is done, which may wait for timers and for sockets: a service that stops. */
  async passWhile(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const over = work.finally(() => {
      isDone = true;
    });
    over.catch(() => undefined);
    const deadline = performance.now() + PATIENT_MS;
    while (!isDone) {
      if (performance.now() > deadline) throw new Error("what time passed for was not done");
      await this.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await over;
  }

  /** The machine finds out that its clock was fast. Timers and the monotonic reading do not notice. */
  stepBack(ms: number): void {
    this.#wallMs -= ms;
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  async #settle(): Promise<void> {
    const until = performance.now() + PATIENT_MS;
    do {
      while (this.#atRest.some((isAtRest) => !isAtRest())) {
        if (performance.now() > until) throw new Error("what the clock waits for does not come to rest");
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      for (let turn = 0; turn < TURNS_TO_SETTLE; turn++) {
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    } while (this.#atRest.some((isAtRest) => !isAtRest()));
  }
}
