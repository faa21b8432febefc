/**
 * Finds how many parts a second a carrier takes, from the answers that say "throttled" (ESME_RTHROTTLED), by additive increase and
 * multiplicative decrease, as congestion control does in networks. There are two reasons for such answers. A carrier with a limit
 * throttles what is above it: sending less makes the answers go away, and no less is taken. A carrier that throttles now and then does so at
 * any rate: sending less only sends less. Plain AIMD does not tell the two apart, and what it would reach is in docs/carriers.md, with
 * what each rule here earns.
 *
 *   free ──many throttled──▶ lowered ──clean round──▶ probing ──clean round──▶ probing, further …
 *     ▲                       │ ▲                      │ ▲        │
 *     │                       │ └─────many throttled───┘ └────────┘ throttled: back to what worked, and smaller steps
 *     └──── many are throttled with less, too: it is not the rate
 *
 * rounds     A rate is judged by a round of answers. Each part is sent with the number of its round, and only answers of the current one
 *            count. A limit looks back over a second, so after a decrease the round begins a second later.
 * decrease   When many are throttled: to a little less than was taken in the last second, and to a tenth at least. "Many" is judged part by
 *            part: so many more than the share that is tolerated, which is twice the *base*, and that is what is throttled at rates that work.
 * increase   When a round was clean: by 3 %, then 6 %, and so on while all goes well, so that a limit that rose is found in seconds. A round
 *            has as many answers as show such a step. Near a limit rounds are longer, so that probes which fail cost little.
 * A rate says something only if it was used: while less is offered nothing is concluded, and what was found is kept for the next burst.
 */
import type { Clock } from "../../runtime/clock.ts";
import { SentLog } from "./sent-log.ts";

const SECOND_MS = 1_000;
const FREE = Number.POSITIVE_INFINITY;
const MIN_RATE = 1;
/** Throttled answers beyond the tolerated share that make an alarm: so many, and of many answers a second so large a share of them. */
const ALARM = 2;
const ALARM_SHARE = 0.01;
/** Of the parts of a second, beyond what chance explains: a probe that has so many has failed before its end. */
const PROBE_ALARM_SHARE = 0.04;
const MIN_BASE = 0.0075;
const MAX_BASE = 0.1;
/** So many answers at a rate that works weigh as much as all that is known of the base. */
const BASE_ANSWERS = 200;
/** From less nothing is concluded where no rate is known, unless so many answers have come that nearly all are throttled. */
const MIN_WATCH_MS = 200;
const FLOOD_ANSWERS = 100;
const FLOOD_SHARE = 0.9;
/** A round has so many answers above the rate before it, had it that, and lasts a second; near a limit, so many times that. */
const SHOWING_ANSWERS = 1.5;
const LONG_ROUNDS = 3;
/** So many of the least steps below what failed is near. */
const NEAR_STEPS = 2;
/** Of what was taken in the last second. */
const BELOW_TAKEN = 0.98;
const MIN_CUT = 0.1;
/** So often it is lowered before the rate is taken for innocent: what was taken may be overrated the first time. */
const LOWERINGS = 2;
/** By so much at least, and so many parts a second. */
const MIN_STEP = 0.03;
const MIN_STEP_PARTS = 0.5;
const FIRST_STEP = 0.1;
const STEP_UP = 2;
const STEP_DOWN = 3;
/** Less than this of the rate is not a use of it. */
const USED = 0.9;

export class RateFinder {
  readonly #clock: Clock;
  readonly #taken = new SentLog();
  /** When something was first throttled: most carriers never do that, and then nothing is judged. */
  #watchedSinceMs: number | null = null;
  #rate = FREE;
  /** The highest rate that was used for a round and found clean. */
  #works = 0;
  /** The last one that was not, while that is not refuted. */
  #fails = FREE;
  #step = FIRST_STEP;
  #base = 0;
  /** The rate before it was lowered, while that has not been judged, and how often it was. */
  #before = FREE;
  #lowerings = 0;
  /** The round. */
  #epoch = 0;
  #isSettling = false;
  #isProbing = false;
  #sinceMs = 0;
  #firstAnswerMs = 0;
  #answers = 0;
  #throttled = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Parts a second; infinite where nothing is known. */
  get rate(): number {
    return this.#rate;
  }

  /** To be kept with each part that is sent, for `answered`. */
  get epoch(): number {
    return this.#epoch;
  }

  sent(): void {
    if (!this.#isSettling) return;
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#sinceMs >= SECOND_MS) this.#begin(this.#rate, nowMs);
  }

  answered(epoch: number, isThrottled: boolean): void {
    if (this.#watchedSinceMs === null && !isThrottled) return;
    const nowMs = this.#clock.monotonic();
    if (this.#watchedSinceMs === null) {
      this.#watchedSinceMs = nowMs;
      this.#begin(FREE, nowMs);
      this.#epoch = epoch;
    }
    if (!isThrottled) this.#taken.written(1, nowMs);
    this.#taken.countAfter(nowMs - SECOND_MS);
    if (epoch !== this.#epoch || this.#isSettling) return;
    if (this.#answers === 0) this.#firstAnswerMs = nowMs;
    this.#answers++;
    if (isThrottled) this.#throttled++;
    if (this.#isProbing) this.#judgeProbe(nowMs);
    else this.#judge(nowMs);
  }

  #begin(rate: number, nowMs: number): void {
    this.#rate = rate;
    this.#epoch++;
    this.#isSettling = false;
    this.#isProbing = false;
    this.#sinceMs = nowMs;
    this.#answers = 0;
    this.#throttled = 0;
  }

  #judge(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    const perSecond = (this.#answers * SECOND_MS) / Math.max(MIN_WATCH_MS, elapsedMs);
    const evidence = this.#throttled - 2 * Math.max(this.#base, MIN_BASE) * this.#answers;
    if (evidence >= ALARM + ALARM_SHARE * perSecond) {
      const isFlood = this.#answers >= FLOOD_ANSWERS && this.#share > FLOOD_SHARE;
      if (this.#rate !== FREE || elapsedMs >= MIN_WATCH_MS || isFlood) this.#alarm(nowMs, perSecond);
      return;
    }
    const isNearLimit = this.#fails <= this.#works * (1 + NEAR_STEPS * this.#minStep);
    if (this.#isBeyondChance || !this.#isOver(nowMs, isNearLimit ? LONG_ROUNDS : 1)) return;
    if (this.#rate === FREE) {
      this.#learn();
      this.#begin(FREE, nowMs);
      return;
    }
    // If the rate was lowered, that has helped.
    this.#lowerings = 0;
    if (this.#isUsed(nowMs)) {
      this.#learn();
      this.#works = this.#rate;
      this.#probe(nowMs);
    } else this.#begin(this.#rate, nowMs);
  }

  get #share(): number {
    return this.#throttled / this.#answers;
  }

  /** What is throttled at a rate that works is chance. */
  #learn(): void {
    this.#base += (this.#share - this.#base) * (this.#answers / (this.#answers + BASE_ANSWERS));
  }

  get #minStep(): number {
    return Math.max(MIN_STEP, MIN_STEP_PARTS / this.#works);
  }

  #isOver(nowMs: number, times: number): boolean {
    const isShown = this.#rate === FREE || this.#answers * this.#step >= times * SHOWING_ANSWERS;
    return isShown && nowMs - this.#firstAnswerMs >= times * SECOND_MS;
  }

  /** More than that is never taken for chance. */
  get #isBeyondChance(): boolean {
    return this.#share > MAX_BASE + 2 * Math.sqrt(MAX_BASE / this.#answers);
  }

  /** Whether parts went as fast as the rate allows. */
  #isUsed(nowMs: number): boolean {
    return this.#answers + 1 >= USED * this.#rate * ((nowMs - this.#firstAnswerMs) / SECOND_MS);
  }

  #probe(nowMs: number): void {
    const halfWay = (this.#fails / this.#works - 1) / 2;
    this.#step = Math.max(this.#minStep, Math.min(this.#step, halfWay));
    this.#begin(this.#works * (1 + this.#step), nowMs);
    this.#isProbing = true;
  }

  #judgeProbe(nowMs: number): void {
    const byChance = Math.max(this.#base, MIN_BASE) * this.#answers + 2 * Math.sqrt(this.#base * this.#answers);
    const isOver = this.#isOver(nowMs, 1);
    if (this.#throttled > byChance + (isOver ? 0 : PROBE_ALARM_SHARE * this.#rate)) {
      // Back to what worked, or to what was taken now if that is more.
      this.#fails = this.#rate;
      this.#step = Math.max(this.#minStep, this.#step / STEP_DOWN);
      this.#lower(Math.min(Math.max(this.#works, this.#takenBelow(nowMs)), this.#rate * BELOW_TAKEN), nowMs);
    } else if (isOver && !this.#isUsed(nowMs)) {
      // Less is offered than it allows: that much works, and the rest is not known.
      this.#begin(this.#rate, nowMs);
    } else if (isOver) {
      this.#works = this.#rate;
      if (this.#works >= this.#fails * BELOW_TAKEN) this.#fails = FREE;
      this.#step *= STEP_UP;
      this.#probe(nowMs);
    }
  }

  #takenBelow(nowMs: number): number {
    const watchedMs = Math.max(MIN_WATCH_MS, nowMs - this.#watchedSinceMs!);
    return (BELOW_TAKEN * this.#taken.countAfter(nowMs - SECOND_MS) * SECOND_MS) / Math.min(SECOND_MS, watchedMs);
  }

  /** Too many are throttled. If they still are after the rate was lowered to what was taken, it is not the reason, and is given back. */
  #alarm(nowMs: number, perSecond: number): void {
    if (this.#rate !== FREE && !this.#isUsed(nowMs)) {
      this.#begin(this.#rate, nowMs);
      return;
    }
    if (this.#isBeyondChance) this.#lowerings = 0;
    if (this.#lowerings === LOWERINGS) {
      this.#base = Math.min(this.#share, MAX_BASE);
      this.#lowerings = 0;
      this.#step = FIRST_STEP;
      this.#begin(this.#before, nowMs);
      return;
    }
    if (this.#lowerings === 0) this.#before = this.#rate;
    this.#lowerings++;
    const taken = this.#takenBelow(nowMs);
    const from = Math.max(this.#rate === FREE ? perSecond : this.#rate, taken / BELOW_TAKEN);
    this.#fails = FREE;
    this.#step = taken < from / 2 ? 1 : FIRST_STEP;
    this.#lower(Math.min(Math.max(taken, from * MIN_CUT), from * BELOW_TAKEN), nowMs);
    this.#works = this.#rate;
  }

  #lower(rate: number, nowMs: number): void {
    this.#begin(Math.max(MIN_RATE, rate), nowMs);
    this.#isSettling = true;
  }
}
