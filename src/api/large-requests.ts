/**
 * Requests with large bodies, which cost the edge and the store many milliseconds each. Accounts take turns with them, and few are in work at a time, so
 * that whatever one account has sent, the small requests of all others are answered between two pieces of its work. One that would wait for too long, by
 * what the service really took of late, is told when to come again.
 */
import type { Clock } from "../runtime/clock.ts";
import { type ApiError, tooMany } from "./errors.ts";

/** A body that is not larger waits for nobody. */
export const LARGE_OCTETS = 65_536;
/** Requests in work at a time: of one account as many as keep the edge and the store busy, of all together twice that. */
const IN_WORK_OF_ACCOUNT = 2;
const IN_WORK = 4;
/** Whoever would wait for longer than this comes again. */
const MAX_WAIT_MS = 10_000;
/** Of a new measurement, so much counts. */
const NEWEST_SHARE = 0.2;

interface Waiting {
  readonly octets: number;
  readonly begin: () => void;
}

interface Line {
  readonly waiting: Waiting[];
  waitingOctets: number;
  inWork: number;
}

export class LargeRequests {
  readonly #clock: Clock;
  /** By account, in the order in which their turns come. */
  readonly #lines = new Map<number, Line>();
  #inWork = 0;
  /** How long an octet was in work of late; null before the first. */
  #msOfOctet: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The answer to one too many, before its body is read; null where there is room. */
  refusal(accountId: number): ApiError | null {
    const line = this.#lines.get(accountId);
    const waitMs = line === undefined ? 0 : this.#waitMs(line);
    if (waitMs <= MAX_WAIT_MS) return null;
    return tooMany("The account has more large requests waiting than can be answered soon.", waitMs);
  }

  /** Resolves when it is the request's turn, with what is to be called when its work is done; rejects with the answer to one too many. */
  enter(accountId: number, octets: number): Promise<() => void> {
    const refusal = this.refusal(accountId);
    if (refusal !== null) return Promise.reject(refusal);
    const line = this.#lines.get(accountId) ?? { waiting: [], waitingOctets: 0, inWork: 0 };
    this.#lines.set(accountId, line);
    line.waitingOctets += octets;
    return new Promise((resolve) => {
      line.waiting.push({ octets, begin: () => resolve(this.#begin(accountId, line, octets)) });
      this.#next();
    });
  }

  /** How long those of the account that wait will take, with the others that do. */
  #waitMs({ waitingOctets }: Line): number {
    const accounts = Math.max(1, this.#lines.size);
    const atATime = Math.min(IN_WORK_OF_ACCOUNT, IN_WORK / accounts);
    return (waitingOctets * (this.#msOfOctet ?? 0)) / atATime;
  }

  #begin(accountId: number, line: Line, octets: number): () => void {
    const fromMs = this.#clock.monotonic();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const msOfOctet = (this.#clock.monotonic() - fromMs) / octets;
      this.#msOfOctet = (this.#msOfOctet ?? msOfOctet) * (1 - NEWEST_SHARE) + msOfOctet * NEWEST_SHARE;
      this.#inWork--;
      line.inWork--;
      if (line.inWork + line.waiting.length === 0) this.#lines.delete(accountId);
      this.#next();
    };
  }

  #next(): void {
    for (const [accountId, line] of this.#lines) {
      if (this.#inWork >= IN_WORK) return;
      if (line.inWork >= IN_WORK_OF_ACCOUNT) continue;
      const first = line.waiting.shift();
      if (first === undefined) continue;
      line.waitingOctets -= first.octets;
      line.inWork++;
      this.#inWork++;
      // To the end, behind the accounts that wait.
      this.#lines.delete(accountId);
      this.#lines.set(accountId, line);
      first.begin();
    }
  }
}
