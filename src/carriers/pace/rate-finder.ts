/**
 * Finds how many parts a second a carrier takes, from the answers that say "throttled" (ESME_RTHROTTLED), as congestion control does in
 * networks. There are two reasons for such answers. A carrier with a limit throttles what is above it: sending less makes the answers go
 * away, and no less is taken. A carrier that throttles now and then does so at any rate: sending less only sends less. What tells
 * the two apart is to send a little less than was taken, and to look.
 *
 *   free ──many throttled──▶ settling ──a second──▶ holding ──clean──▶ probing ──clean──▶ probing, further …
 *     ▲                         ▲                    │   ▲                │
 *     │                         └───many throttled───┤   └──── throttled──┘  (settling first)
 *     └──── many are throttled with less, too: it is not the rate ◀┘
 *
 * settling   A limit looks back over a second, so for a second after a change nothing is concluded. Nor is it from answers to parts
 *            that were sent before: each part is sent with the number of its epoch, and only answers of the current one count.
 * holding    At a rate that should work. "Many" is judged part by part: each throttled answer adds one, each answer takes off the share
 *            that is tolerated, and the sum must reach ALARM (Page's CUSUM). The tolerated share is twice the *base*, which is the share that is
 *            throttled at rates that work, and that stays when less is sent. More than MAX_BASE is never taken for chance.
 * lowering   To a little less than was taken in the last second; if next to nothing was, to a tenth.
 * probing    Above the rate that works: by 3 %, then 6 %, and so on while all goes well, so that a limit that rose is found in seconds; and back
 *            to what worked when it does not. Between probes that fail there are so many answers that throttled ones stay few.
 * A rate says something only if it was used: while less is offered nothing is concluded, and after a while it is forgotten.
 */
import type { Clock } from "../../runtime/clock.ts";
import { Meter } from "./meter.ts";

const SECOND_MS = 1_000;
const MIN_RATE = 1;
/** Throttled answers beyond the tolerated share that make an alarm: so many, and of many answers a second so large a share of them. */
const ALARM = 2;
const ALARM_SHARE = 0.01;
/** Up to here a rate that is held counts as clean, and in a probe up to this share of the answers. */
const CLEAN = 1;
const MAX_CLEAN_SHARE = 0.03;
const MIN_TOLERATED = 0.015;
const MAX_BASE = 0.1;
/** So many answers at a rate that works weigh as much as all that is known of the base. */
const BASE_ANSWERS = 200;
/** From less nothing is concluded, unless so many answers have come that are mostly throttled. */
const MIN_WATCH_MS = 200;
const FLOOD_ANSWERS = 100;
const FLOOD_SHARE = 0.5;
const SETTLE_MS = 1_000;
const ROUND_MS = 1_000;
/** Far below what works rounds are short. */
const SHORT_ROUND_MS = 250;
const SHORT_ROUND_ANSWERS = 20;
/** A probe ends early for two throttled answers more than chance explains; where there are few in a second, for the first. */
const SLACK_RATE = 25;
/** Between two probes near a limit: so long, and so many answers unless that takes too long. */
const HOLD_MS = 2_000;
const HOLD_ANSWERS = 80;
const MAX_HOLD_MS = 8_000;
/** Of what was taken in the last second. */
const BELOW_TAKEN = 0.98;
const MIN_CUT = 0.1;
/** So often it is lowered before the rate is taken for innocent: what was taken may be overrated the first time. */
const LOWERINGS = 2;
/** By so much at least, and so many parts a second. */
const MIN_STEP = 0.03;
const MIN_STEP_PARTS = 0.5;
const FIRST_STEP = 0.1;
const MAX_STEP = 3;
/** Less than this of the rate is not a use of it. */
const USED = 0.9;
const UNUSED_MS = 30_000;

interface Before {
  readonly rate: number;
  lowerings: number;
}

const minStepAt = (rate: number): number => Math.max(MIN_STEP, MIN_STEP_PARTS / rate);

type Phase = "free" | "settling" | "holding" | "probing";

export class RateFinder {
  readonly #clock: Clock;
  readonly #taken = new Meter(MIN_WATCH_MS);
  readonly #sentMeter = new Meter(MIN_WATCH_MS);
  /** False until something is throttled: most carriers never do, and then nothing is judged. */
  #isWatching = false;
  #phase: Phase = "free";
  #sinceMs = 0;
  #firstAnswerMs: number | null = null;
  #epoch = 0;
  #rate = Number.POSITIVE_INFINITY;
  /** The highest rate that was used for a round and found clean. */
  #works = 0;
  /** The last one that was not, while that is not refuted. */
  #fails = Number.POSITIVE_INFINITY;
  #step = FIRST_STEP;
  /** In this epoch. */
  #sent = 0;
  #answers = 0;
  #throttled = 0;
  #throttledMs = 0;
  #evidence = 0;
  #base = 0;
  /** What there was before the rate was lowered, while that has not been judged. */
  #before: Before | null = null;
  #mayProbeEarly = false;

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
    if (!this.#isWatching) return;
    const nowMs = this.#clock.monotonic();
    this.#sentMeter.add(nowMs);
    this.#sent++;
    if (this.#phase === "settling" && nowMs - this.#sinceMs >= SETTLE_MS) this.#enter("holding", nowMs);
  }

  answered(epoch: number, isThrottled: boolean): void {
    if (!this.#isWatching && !isThrottled) return;
    const nowMs = this.#clock.monotonic();
    if (!this.#isWatching) {
      this.#isWatching = true;
      this.#taken.start(nowMs);
      this.#sentMeter.start(nowMs);
      this.#enter("free", nowMs);
      this.#epoch = epoch;
    }
    if (!isThrottled) this.#taken.add(nowMs);
    if (epoch !== this.#epoch || this.#phase === "settling") return;
    this.#firstAnswerMs ??= nowMs;
    this.#answers++;
    if (isThrottled) {
      this.#throttled++;
      this.#throttledMs = nowMs;
    }
    this.#evidence = Math.max(0, this.#evidence + (isThrottled ? 1 : 0) - this.#tolerated);
    this.#judge(nowMs);
  }

  get #tolerated(): number {
    return Math.max(MIN_TOLERATED, 2 * this.#base);
  }

  get #share(): number {
    return this.#throttled / this.#answers;
  }

  #enter(phase: Phase, nowMs: number): void {
    this.#phase = phase;
    this.#sinceMs = nowMs;
    this.#firstAnswerMs = null;
    this.#epoch++;
    this.#sent = 0;
    this.#answers = 0;
    this.#throttled = 0;
    this.#evidence = 0;
  }

  #judge(nowMs: number): void {
    if (this.#phase === "probing") {
      this.#judgeProbe(nowMs);
      return;
    }
    const elapsedMs = nowMs - this.#sinceMs;
    if (this.#evidence >= ALARM && this.#evidence >= ALARM + ALARM_SHARE * this.#sentMeter.perSecond(nowMs)) {
      if (this.#phase === "holding" || elapsedMs >= MIN_WATCH_MS) this.#alarm(nowMs);
      else if (this.#answers >= FLOOD_ANSWERS && this.#share > FLOOD_SHARE) this.#lower(nowMs, null);
      return;
    }
    if (this.#phase === "holding") this.#judgeHold(nowMs, elapsedMs);
    else if (elapsedMs >= HOLD_MS) {
      this.#learn();
      this.#enter("free", nowMs);
    }
  }

  /** What is throttled at a rate that works is chance. */
  #learn(): void {
    this.#base += (this.#share - this.#base) * (this.#answers / (this.#answers + BASE_ANSWERS));
  }

  #judgeHold(nowMs: number, elapsedMs: number): void {
    const heardMs = nowMs - (this.#firstAnswerMs ?? nowMs);
    if (heardMs < ROUND_MS) return;
    if (this.#evidence > CLEAN && nowMs - this.#throttledMs < HOLD_MS) return;
    if (this.#before !== null) {
      // The rate was lowered, and that has helped.
      this.#before = null;
      this.#works = this.#rate;
    }
    if (!this.#isUsed(nowMs)) {
      if (elapsedMs >= UNUSED_MS) this.#free(nowMs);
      return;
    }
    const isLong = heardMs >= HOLD_MS && (this.#answers >= HOLD_ANSWERS || heardMs >= MAX_HOLD_MS);
    if (!isLong && !this.#mayProbeEarly) return;
    this.#mayProbeEarly = false;
    this.#works = this.#rate;
    this.#learn();
    this.#probe(nowMs);
  }

  /** Whether parts went as fast as the rate allows. */
  #isUsed(nowMs: number): boolean {
    const elapsedMs = nowMs - this.#sinceMs;
    return elapsedMs >= MIN_WATCH_MS && this.#sent + 1 >= USED * this.#rate * (elapsedMs / SECOND_MS);
  }

  #probe(nowMs: number): void {
    const halfWay = (this.#fails / this.#works - 1) / 2;
    this.#step = Math.max(minStepAt(this.#works), Math.min(this.#step, halfWay));
    this.#rate = this.#works * (1 + this.#step);
    this.#enter("probing", nowMs);
  }

  #judgeProbe(nowMs: number): void {
    const share = Math.max(this.#base, MIN_TOLERATED / 2);
    const byChance = share * this.#answers + 2 * Math.sqrt(this.#base * this.#answers);
    const byStep = Math.min(MAX_CLEAN_SHARE, this.#step / 4) * this.#answers;
    const isShort = this.#step >= 1 && this.#answers >= SHORT_ROUND_ANSWERS;
    const heardMs = nowMs - this.#firstAnswerMs!;
    // So many answers that the step would show in them.
    const isShown = this.#answers * this.#step >= 1.5;
    const isOver = isShown && heardMs >= (isShort ? SHORT_ROUND_MS : ROUND_MS);
    const slack = isOver ? 0 : Math.min(2, this.#rate / SLACK_RATE);
    if (this.#throttled > Math.max(byChance, byStep) + slack) {
      this.#fail(nowMs);
      return;
    }
    if (!isOver) return;
    if (!this.#isUsed(nowMs)) {
      // Less is offered than it allows: that much works, and the rest is not known.
      this.#enter("holding", nowMs);
      return;
    }
    this.#works = this.#rate;
    if (this.#works >= this.#fails * BELOW_TAKEN) this.#fails = Number.POSITIVE_INFINITY;
    this.#step = Math.min(this.#step * 2, MAX_STEP);
    this.#probe(nowMs);
  }

  /** Back to what worked, or to what was taken now if that is more. */
  #fail(nowMs: number): void {
    const taken = BELOW_TAKEN * this.#taken.perSecond(nowMs);
    this.#fails = this.#rate;
    this.#mayProbeEarly = this.#step > 2 * minStepAt(this.#works);
    this.#step /= 4;
    this.#rate = Math.max(MIN_RATE, Math.min(Math.max(this.#works, taken), this.#rate * BELOW_TAKEN));
    this.#enter("settling", nowMs);
  }

  /** Too many are throttled. If they still are after the rate was lowered to what was taken, it is not the reason, and is given back. */
  #alarm(nowMs: number): void {
    if (this.#rate !== Number.POSITIVE_INFINITY && !this.#isUsed(nowMs)) {
      this.#evidence = 0;
      return;
    }
    const before = this.#before;
    const share = this.#share;
    const isSame = before !== null && share <= MAX_BASE + 2 * Math.sqrt(MAX_BASE / this.#answers);
    if (before !== null && isSame && before.lowerings === LOWERINGS) {
      this.#base = Math.min(share, MAX_BASE);
      this.#before = null;
      if (before.rate === Number.POSITIVE_INFINITY) this.#free(nowMs);
      else {
        this.#rate = before.rate;
        this.#mayProbeEarly = true;
        this.#step = FIRST_STEP;
        this.#enter("holding", nowMs);
      }
      return;
    }
    // At the bottom there is nothing to lower, and whether it is over is to be seen at once.
    if (this.#rate <= MIN_RATE) this.#enter("holding", nowMs);
    else this.#lower(nowMs, isSame ? before : null);
  }

  #lower(nowMs: number, before: Before | null): void {
    const taken = BELOW_TAKEN * this.#taken.perSecond(nowMs);
    const from = Math.max(Math.min(this.#rate, this.#sentMeter.perSecond(nowMs)), taken / BELOW_TAKEN);
    this.#before = before ?? { rate: this.#rate, lowerings: 0 };
    this.#before.lowerings++;
    this.#fails = Number.POSITIVE_INFINITY;
    this.#step = taken < from * 0.5 ? 1 : FIRST_STEP;
    this.#mayProbeEarly = true;
    this.#rate = Math.max(MIN_RATE, Math.min(Math.max(taken, from * MIN_CUT), from * BELOW_TAKEN));
    this.#enter("settling", nowMs);
  }

  #free(nowMs: number): void {
    this.#rate = Number.POSITIVE_INFINITY;
    this.#enter("free", nowMs);
  }
}
