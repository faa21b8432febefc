/**
 * How well a carrier is that is bound, by what it answered to whom. Pure: whoever watches it (health-watch.ts) says when a second is over.
 *
 *   well ──two bad seconds──▶ slow ──five, and many phones──▶ sick ──three probes taken──▶ a tenth ──▶ a quarter ──▶ half ──▶ well
 *     ▲                        │                               ▲                              │          │           │
 *     └─────a good second──────┘                               └────────a bad second──────────┴──────────┴───────────┘
 *
 * A second is bad if something was answered and hardly any of it taken, or if messages are with the carrier and nothing was answered; it is good
 * if some were taken. So a carrier with a limit is not sick however much it throttles, for it takes what its limit allows. A second in which
 * there was nothing to answer says nothing. A message that the carrier refuses for good was dealt with, and counts as taken.
 *
 * One phone says nothing of the carrier: how many it takes depends on what they were told (PHONES). While it is sick, single messages are
 * its probes. When it takes them, it gets a share of what is new, and more with every share that goes well.
 */
import type { HealthFacts } from "../carriers/facts.ts";
import type { Submission } from "../carriers/port.ts";

/** What speaks against a carrier. */
export type Sign = "throttled" | "unanswered" | "put off";

/** Different phones that make a carrier sick. "Throttled" is said of the carrier, "put off" as a rule of the phone; together they count by their share. */
const PHONES: Readonly<Record<Sign, number>> = { throttled: 3, unanswered: 5, "put off": 10 };
/** On its way back it has to prove itself: fewer are enough. */
const RELAPSE_SHARE = 0.3;
const SLOW_SECONDS = 2;
const SICK_SECONDS = 5;
const RELAPSE_SECONDS = 1;
/** Silence is held against a carrier after so many times what its answers usually take, but never later than this. */
const PATIENCE = 3;
const MAX_SILENT_SECONDS = 20;
/** Up to this share of the answers of a second, hardly any were taken. */
const HARDLY_ANY = 0.1;

/** Of new messages, from sick to well; and how many have to be taken before it gets the next share. While it is sick it gets probes. */
const SHARES = [0, 0.1, 0.25, 0.5, 1] as const;
const TAKEN_FOR_NEXT = [3, 5, 5, 5] as const;
const WELL = SHARES.length - 1;
const SICK = 0;

/** Between two probes; twice as long after each that was not answered, for it stays in doubt. */
const PROBE_EVERY_MS = 2_000;
const MAX_PROBE_EVERY_MS = 30_000;

/** Phones of the last messages that are remembered: a power of two. */
const REMEMBERED_PHONES = 8;

/** How it stands with a carrier at the end of a second. */
export interface Second {
  /** Messages that it has not answered. */
  readonly inFlight: number;
  /** It may not be handed any more before it answers. */
  readonly isFull: boolean;
  /** How long its answers usually take; 0 where that is not known. */
  readonly usualAnswerMs: number;
  /** On the wall clock. */
  readonly atMs: number;
}

export class CarrierHealth {
  /** The place in SHARES. */
  #degree: number = WELL;
  /** In this second. */
  #taken = 0;
  #denied = 0;
  #badSeconds = 0;
  /** Phones whose messages were not taken since the last good second, and what they prove: 1 is enough. */
  readonly #phones = new Set<string>();
  #proof = 0;
  #sign: Sign = "unanswered";
  /** What the carrier called it. */
  #status: string | undefined;
  readonly #last: string[] = [];
  #handed = 0;
  /** Taken since it got its share, and what it owes of it. */
  #takenOfShare = 0;
  #credit = 0;
  #nextProbeMs = 0;
  /** In this second. */
  #probes = 0;
  #unansweredProbes = 0;
  #sinceMs: number;
  #why: string | null = null;

  constructor(atMs: number) {
    this.#sinceMs = atMs;
  }

  /** All new messages are for it. */
  get takesAll(): boolean {
    return this.#degree === WELL;
  }

  get isSick(): boolean {
    return this.#degree === SICK;
  }

  get state(): HealthFacts["state"] {
    if (this.#degree === SICK) return "sick";
    return this.#degree < WELL || this.#badSeconds >= SLOW_SECONDS ? "slow" : "well";
  }

  get facts(): HealthFacts {
    return { state: this.state, sinceMs: this.#sinceMs, why: this.#why, share: SHARES[this.#degree]! };
  }

  /** What made it sick. */
  get sign(): Sign {
    return this.#sign;
  }

  /** As if nothing had happened: it was set up anew, or somebody says that it works. */
  forget(atMs: number): void {
    const before = this.state;
    this.#degree = WELL;
    this.#forgive();
    this.#noteChange(before, atMs);
  }

  /** A message to this phone goes to it. */
  handed(to: string): void {
    this.#last[this.#handed++ & (REMEMBERED_PHONES - 1)] = to;
  }

  /** What it said to a part. What it did not say itself has no status, and counts for nothing. */
  answered(to: string, answer: Submission): void {
    if (answer.kind === "accepted" || (answer.kind === "refused" && answer.status !== undefined)) {
      this.#taken++;
      this.#nextProbeMs = 0;
    } else if (answer.kind === "not now") this.#deny(to, "put off", answer.status);
    else if (answer.kind === "unknown") this.#deny(to, "unanswered", undefined);
    else if (answer.kind === "later" && answer.status !== undefined) this.#deny(to, "throttled", answer.status);
    else return;
    if (answer.kind === "unknown") return;
    // It speaks again: the next probe need not wait as if it did not.
    if (this.#unansweredProbes > 1) this.#nextProbeMs = 0;
    this.#unansweredProbes = 0;
  }

  #deny(to: string, sign: Sign, status: string | undefined): void {
    this.#denied++;
    this.#sign = sign;
    this.#status = status;
    this.#prove(to, sign);
  }

  #prove(to: string, sign: Sign): void {
    // More than enough need not be remembered.
    if (this.#proof >= 1 || this.#phones.has(to)) return;
    this.#phones.add(to);
    // Of sums of fractions.
    this.#proof += 1 / PHONES[sign] + 1e-9;
  }

  /** Whether a new message is for it, though it does not take all. Each yes is one message. */
  admits(nowMs: number): boolean {
    if (this.#degree !== SICK) {
      this.#credit += SHARES[this.#degree]!;
      if (this.#credit < 1) return false;
      this.#credit--;
      return true;
    }
    if (nowMs < this.#nextProbeMs || this.#probes >= TAKEN_FOR_NEXT[SICK]) return false;
    this.#probes++;
    this.#nextProbeMs = nowMs + Math.min(PROBE_EVERY_MS * 2 ** this.#unansweredProbes++, MAX_PROBE_EVERY_MS);
    return true;
  }

  /** A second is over. */
  judge(second: Second): void {
    const before = this.state;
    const taken = this.#taken;
    const answers = taken + this.#denied;
    this.#taken = 0;
    this.#denied = 0;
    this.#probes = 0;
    const isSilent = answers === 0 && second.inFlight > 0;
    if (answers === 0 && !isSilent) return;
    if (taken > HARDLY_ANY * answers) this.#good(taken);
    else this.#bad(second, isSilent);
    this.#noteChange(before, second.atMs);
  }

  #good(taken: number): void {
    this.#forgive();
    if (this.#degree === WELL) return;
    this.#takenOfShare += taken;
    if (this.#takenOfShare < TAKEN_FOR_NEXT[this.#degree]!) return;
    this.#takenOfShare = 0;
    this.#credit = 0;
    this.#degree++;
  }

  #forgive(): void {
    this.#badSeconds = 0;
    this.#proof = 0;
    this.#phones.clear();
  }

  #bad({ inFlight, isFull, usualAnswerMs }: Second, isSilent: boolean): void {
    this.#badSeconds++;
    if (isSilent) {
      this.#sign = "unanswered";
      this.#status = undefined;
      for (let back = 1; back <= Math.min(inFlight, this.#last.length); back++)
        this.#prove(this.#last[(this.#handed - back) & (REMEMBERED_PHONES - 1)]!, "unanswered");
      if (isFull) this.#proof = 1;
    }
    this.#takenOfShare = 0;
    if (this.#degree === SICK) return;
    const isRelapse = this.#degree < WELL;
    const usually = Math.min(Math.ceil((PATIENCE * usualAnswerMs) / 1_000), MAX_SILENT_SECONDS);
    const seconds = isSilent ? Math.max(SICK_SECONDS, usually) : isRelapse ? RELAPSE_SECONDS : SICK_SECONDS;
    if (this.#badSeconds < seconds || this.#proof < (isRelapse ? RELAPSE_SHARE : 1)) return;
    this.#degree = SICK;
    this.#nextProbeMs = 0;
    this.#unansweredProbes = 0;
  }

  #noteChange(before: HealthFacts["state"], atMs: number): void {
    const { state } = this;
    if (state !== before) this.#sinceMs = atMs;
    if (state === "well") this.#why = null;
    else if (state === "slow" && this.#degree < WELL)
      this.#why = `it takes messages again, and gets ${SHARES[this.#degree]! * 100} % of the new ones`;
    else if (state !== before) this.#why = this.#whyBad;
  }

  get #whyBad(): string {
    const phones = this.#phones.size === 1 ? "one phone" : `${this.#phones.size} phones`;
    const what = this.#status ?? (this.#sign === "unanswered" ? "no answer" : this.#sign);
    return `for ${this.#badSeconds} s hardly any message was taken, of ${phones} at least: ${what}`;
  }
}
