/**
 * How fast parts may go. Three things say so, and the slowest counts:
 *
 *   the profile    never more than so many in any second, whichever second one looks at, counted when the socket has them
 *   the carrier    what it was found to take (RateFinder), and what it says of its congestion (Congestion)
 *   evenness       within a second they go one after the other, but for a few at once after a pause: a message of another account is not
 *                  to wait for the rest of a second that was used up at its beginning
 *
 * The carrier has a clock and a network of its own: what we send over a second may reach it in a little less. So the second is looked at
 * as if it were a fiftieth longer. A limit of less than one a second, as a node's share of a slow carrier may be, is one in so many seconds.
 */
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { ConnectionFacts } from "../facts.ts";
import { Congestion } from "./congestion.ts";
import { RateFinder } from "./rate-finder.ts";
import { SentLog } from "./sent-log.ts";

const SECOND_MS = 1_000;
const MARGIN = 1.02;
/** Parts that may go at once after a pause: so many, or what goes in so much of a second. */
const BURST_PARTS = 20;
const BURST_SECONDS = 0.02;
/** A carrier that has throttled gets fewer at once: one, and what goes in so much of a second, by which timers may be late. */
const FOUND_BURST_SECONDS = 0.01;
/** There may be room by the time that it is asked how long that will take. */
const MIN_WAKE_MS = 1;
/** Of times that are sums of fractions. */
const ROUNDING = 1e-6;

export class CarrierPace {
  readonly #clock: Clock;
  readonly #finder: RateFinder;
  readonly #congestion: Congestion;
  readonly #log: SentLog;
  readonly #onRoom: () => void;
  #timer: Timer | null = null;
  /** Answers that the carrier is sent too much, and when the last of them came, on the monotonic clock. */
  #throttled = 0;
  #throttledAtMs: number | null = null;
  /** Parts a second that the profile allows; infinite where it has no limit. */
  #limit = Number.POSITIVE_INFINITY;
  /** The same as so many parts in so long. */
  #inSpan = Number.POSITIVE_INFINITY;
  #spanMs = SECOND_MS;
  /** When the last part would have gone, had all gone evenly. */
  #evenMs = Number.NEGATIVE_INFINITY;

  /** `log` has what went before over the same carrier, where something did. `onRoom` is told what `wake` was asked for. */
  constructor(limit: number, clock: Clock, log = new SentLog(), onRoom: () => void = () => undefined) {
    this.#clock = clock;
    this.#log = log;
    this.#onRoom = onRoom;
    this.#finder = new RateFinder(clock);
    this.#congestion = new Congestion(clock);
    this.limit = limit;
  }

  /** From now on. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#inSpan = Math.max(1, Math.floor(limit));
    this.#spanMs = (SECOND_MS * MARGIN) / Math.min(1, limit);
  }

  get facts(): Omit<ConnectionFacts, "links"> {
    const known = (rate: number): number | null => (Number.isFinite(rate) ? Math.round(rate * 10) / 10 : null);
    const throttledAgoMs = this.#throttledAtMs === null ? null : this.#clock.monotonic() - this.#throttledAtMs;
    return { paceLimit: known(this.#limit), paceFound: known(this.#found), throttled: this.#throttled, throttledAgoMs };
  }

  /** What the carrier takes, as far as that is known. */
  get #found(): number {
    return Math.min(this.#finder.rate, this.#congestion.rate);
  }

  /** The time between two parts that go evenly; 0 where nothing limits them. */
  get #eachMs(): number {
    const byLimit = this.#limit === Number.POSITIVE_INFINITY ? 0 : this.#spanMs / this.#inSpan;
    return Math.max(byLimit, SECOND_MS / this.#found);
  }

  /** How many parts may go now. */
  room(): number {
    const eachMs = this.#eachMs;
    if (eachMs === 0) return Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.monotonic();
    const evenly = Math.floor((nowMs - this.#evenSince(nowMs, eachMs)) / eachMs + ROUNDING);
    if (this.#limit === Number.POSITIVE_INFINITY) return Math.max(0, evenly);
    return Math.max(0, Math.min(this.#inSpan - this.#log.countAfter(nowMs - this.#spanMs), evenly));
  }

  /** When there will be room for one more, in milliseconds from now. */
  waitMs(): number {
    if (this.room() > 0) return 0;
    const nowMs = this.#clock.monotonic();
    // The part that must be a second old before another may go. One that is still going says so itself when it has gone.
    const isFull =
      this.#limit !== Number.POSITIVE_INFINITY && this.#log.countAfter(nowMs - this.#spanMs) >= this.#inSpan;
    const agedMs = isFull ? (this.#log.timeOfNewest(this.#inSpan) ?? nowMs) + this.#spanMs : nowMs;
    return Math.max(1, Math.ceil(Math.max(agedMs, this.#evenMs + this.#eachMs) - nowMs));
  }

  /** Tells when there is room again; who asks meanwhile is told with it. */
  wake(): void {
    this.#timer ??= this.#clock.after(Math.max(this.waitMs(), MIN_WAKE_MS), () => {
      this.#timer = null;
      this.#onRoom();
    });
  }

  /** Nobody waits for it any more. */
  rest(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** When the last part would have gone, but no longer ago than what may go at once takes. */
  #evenSince(nowMs: number, eachMs: number): number {
    const perSecond = SECOND_MS / eachMs;
    const burst =
      this.#found === Number.POSITIVE_INFINITY
        ? Math.max(BURST_PARTS, perSecond * BURST_SECONDS)
        : 1 + perSecond * FOUND_BURST_SECONDS;
    return Math.max(this.#evenMs, nowMs - burst * eachMs);
  }

  /** What an answer has to be told with. */
  get stamp(): number {
    return this.#finder.epoch;
  }

  /** A part was gathered to be written. */
  gathered(): void {
    this.#finder.sent();
    const eachMs = this.#eachMs;
    this.#log.gathered();
    if (eachMs === 0) return;
    this.#evenMs = this.#evenSince(this.#clock.monotonic(), eachMs) + eachMs;
  }

  /** So many of those are with the socket, or lost. */
  written(count: number): void {
    const nowMs = this.#clock.monotonic();
    this.#log.written(count, nowMs);
    // Also where nobody asks for room by it: a profile with a limit may come next.
    this.#log.countAfter(nowMs - this.#spanMs);
  }

  /** The carrier has answered a part that was sent with this stamp. */
  answered(stamp: number, isThrottled: boolean): void {
    if (isThrottled) {
      this.#throttled++;
      this.#throttledAtMs = this.#clock.monotonic();
    }
    this.#finder.answered(stamp, isThrottled);
  }

  /** What it said of its congestion with that. */
  congested(state: number): void {
    this.#congestion.heard(state);
  }
}
