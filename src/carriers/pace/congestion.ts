/**
 * What a carrier says of its own load, in `congestion_state` (SMPP 5.0 §4.8.4.18): 80 to 89 is the optimum, from 90 on it is nearly congested,
 * 100 is congested. From 90 on it is sent less: of what it was sent when that began 95 % at 90, half at 99, a quarter at 100. That is looked
 * at once a second, by the worst that was said in it. A carrier that says so whatever it is sent does not mean us: as long as it does not get
 * worse it is gradually sent more again. A few parts now and then congest nobody: nothing is concluded from them, and what was concluded
 * before is forgotten.
 */
import type { Clock } from "../../runtime/clock.ts";

const NEARLY_CONGESTED = 90;
const CONGESTED = 100;
/** A round: so long, and so many answers unless that takes too long. */
const ROUND_MS = 1_000;
const MIN_ANSWERS = 10;
const MAX_ROUND_MS = 5_000;
const CONGESTED_SHARE = 0.25;
const FIRST_SHARE = 0.95;
const SHARE_PER_STATE = 0.05;
/** How far the share may move in a round. */
const MAX_STEP_DOWN = 0.7;
const STEP_UP = 1.1;
const GROWTH = 1.05;
const GROWTH_CONGESTED = 1.01;

export class Congestion {
  readonly #clock: Clock;
  /** Parts a second that went when it began; null while there is no congestion. */
  #from: number | null = null;
  #share = 1;
  #isOn = false;
  #worst = 0;
  #worstBefore = 0;
  #answers = 0;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Parts a second that it may be sent. */
  get rate(): number {
    return this.#from === null ? Number.POSITIVE_INFINITY : this.#from * this.#share;
  }

  /** With every answer; 0 where it says nothing. */
  heard(state: number): void {
    if (!this.#isOn && state < NEARLY_CONGESTED) return;
    const nowMs = this.#clock.monotonic();
    if (!this.#isOn) this.#begin(nowMs);
    this.#answers++;
    this.#worst = Math.max(this.#worst, Math.min(state, CONGESTED));
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < ROUND_MS || (this.#answers < MIN_ANSWERS && elapsedMs < MAX_ROUND_MS)) return;
    if (this.#answers < MIN_ANSWERS) this.#from = null;
    else this.#adjust((this.#answers * 1_000) / elapsedMs);
    if (this.#from === null) this.#share = 1;
    this.#begin(nowMs);
    this.#isOn = this.#from !== null || this.#worstBefore >= NEARLY_CONGESTED;
  }

  #begin(nowMs: number): void {
    this.#isOn = true;
    this.#sinceMs = nowMs;
    this.#worstBefore = this.#worst;
    this.#worst = 0;
    this.#answers = 0;
  }

  #adjust(perSecond: number): void {
    const aim = shareAt(this.#worst);
    this.#from ??= perSecond;
    this.#share = aim < this.#share ? Math.max(aim, this.#share * MAX_STEP_DOWN) : Math.min(aim, this.#share * STEP_UP);
    if (this.#share === 1) this.#from = null;
    else if (this.#worst <= this.#worstBefore) this.#from *= this.#worst < CONGESTED ? GROWTH : GROWTH_CONGESTED;
  }
}

function shareAt(state: number): number {
  if (state < NEARLY_CONGESTED) return 1;
  return state === CONGESTED ? CONGESTED_SHARE : FIRST_SHARE - (state - NEARLY_CONGESTED) * SHARE_PER_STATE;
}
