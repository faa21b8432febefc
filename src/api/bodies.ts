/**
 * Reads the bodies of requests, within bounds. A body is put together in one piece of memory that grows with it: chunks of one octet would take a
 * hundred times their size if they were kept one by one. All bodies together have a budget, of which one account gets no more than is left for
 * all the others; strangers have a small one of their own, in which the oldest makes room for the newest.
 */
import type { IncomingMessage } from "node:http";
import { ApiError } from "./errors.ts";

/** Whoever has not shown who it is may have so many bodies under way, each of at most a few kilobytes. */
const MAX_STRANGERS = 256;
/** What a body has at first, and where it is counted for its account. */
const SMALL_OCTETS = 65_536;
const FIRST_OCTETS = 4_096;

export interface BodyOwner {
  /** Null for a stranger. */
  readonly accountId: number | null;
  /** Called when it has to make room for another stranger's. */
  readonly dismiss: () => void;
  /** Told what to call when its request is over. */
  readonly holds: (release: () => void) => void;
}

type Done = (error: Error | null, body?: Buffer) => void;

export class Bodies {
  readonly #totalOctets: number;
  #held = 0;
  /** Of bodies that are not small, by account. */
  readonly #heldBy = new Map<number, number>();
  /** The oldest first. */
  readonly #strangers = new Set<BodyOwner>();

  constructor(totalOctets: number) {
    this.#totalOctets = totalOctets;
  }

  /** Octets in memory now. */
  get held(): number {
    return this.#held;
  }

  /** Reads a body of at most `limit` octets. Calls back once, whatever becomes of the request. */
  read(request: IncomingMessage, limit: number, owner: BodyOwner, done: Done): void {
    const declared = Number(request.headers["content-length"] ?? Number.NaN);
    if (declared > limit) {
      done(tooLarge(limit));
      return;
    }
    if (owner.accountId === null) this.#admitStranger(owner);
    let kept = NOTHING;
    let length = 0;
    const held = { octets: 0 };
    owner.holds(() => this.#release(owner, held.octets));

    const finish = (error: Error | null, body?: Buffer): void => {
      request.removeListener("data", onData);
      request.removeListener("end", onEnd);
      request.removeListener("error", onBroken);
      request.removeListener("close", onBroken);
      // An error that nobody listens for ends the process.
      request.on("error", () => undefined);
      done(error, body);
    };
    const onData = (chunk: Buffer): void => {
      const needed = length + chunk.length;
      if (needed > limit) {
        finish(tooLarge(limit));
        return;
      }
      if (needed > kept.length) {
        // The declared length is the client's word; what is taken at once is at most twice what has come.
        const grown = Math.max(needed, Math.min(declared || limit, Math.max(FIRST_OCTETS, kept.length * 2)));
        if (!this.#take(owner, held, grown)) {
          finish(noRoom());
          return;
        }
        const larger = Buffer.allocUnsafe(grown);
        kept.copy(larger, 0, 0, length);
        kept = larger;
      }
      chunk.copy(kept, length);
      length = needed;
    };
    const onEnd = (): void => finish(null, kept.subarray(0, length));
    const onBroken = (): void => finish(new ApiError("badRequest", { description: "The body did not come whole." }));
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("error", onBroken);
    request.on("close", onBroken);
  }

  #admitStranger(owner: BodyOwner): void {
    const [oldest] = this.#strangers;
    if (this.#strangers.size >= MAX_STRANGERS && oldest !== undefined) {
      this.#strangers.delete(oldest);
      oldest.dismiss();
    }
    this.#strangers.add(owner);
  }

  /** False when there is no room for it. */
  #take({ accountId }: BodyOwner, held: { octets: number }, octets: number): boolean {
    const more = octets - held.octets;
    if (this.#held + more > this.#totalOctets) return false;
    if (accountId !== null && octets > SMALL_OCTETS) {
      const before = this.#heldBy.get(accountId) ?? 0;
      const counted = held.octets > SMALL_OCTETS ? more : octets;
      if (before + counted > this.#totalOctets - this.#held) return false;
      this.#heldBy.set(accountId, before + counted);
    }
    this.#held += more;
    held.octets = octets;
    return true;
  }

  #release(owner: BodyOwner, octets: number): void {
    this.#held -= octets;
    const { accountId } = owner;
    if (accountId === null) this.#strangers.delete(owner);
    else if (octets > SMALL_OCTETS) {
      const left = this.#heldBy.get(accountId)! - octets;
      if (left === 0) this.#heldBy.delete(accountId);
      else this.#heldBy.set(accountId, left);
    }
  }
}

const NOTHING = Buffer.alloc(0);

function tooLarge(limit: number): ApiError {
  return new ApiError("requestTooLarge", {
    description: `The body is larger than the ${limit} octets that are taken here.`,
  });
}

function noRoom(): ApiError {
  return new ApiError("unavailable", {
    description: "Too many large bodies are being read.",
    headers: { "retry-after": "1" },
  });
}
