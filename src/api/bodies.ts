/**
 * Reads the bodies of requests, within bounds. A body is put together in one piece of memory that grows with it: chunks of one octet would take a
 * hundred times their size if they were kept one by one. All bodies together have a budget; strangers have a small one of their own, in which the oldest makes room for the newest.
 */
import type { IncomingMessage } from "node:http";
import { gauge, type Metric } from "../runtime/metrics.ts";
import { MemoryBudget, Share } from "./budget.ts";
import { ApiError, unavailable } from "./errors.ts";

/** Whoever has not shown who it is may have so many bodies under way, each of at most a few kilobytes. */
const MAX_STRANGERS = 256;
/** Each chunk costs some microseconds, whatever is in it: so many may have less than a few octets on average. */
const MAX_TINY_CHUNKS = 10_000;
const TINY_OCTETS = 16;
/** What a body has at first. */
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
  readonly #budget: MemoryBudget;
  /** The oldest first. */
  readonly #strangers = new Set<BodyOwner>();

  constructor(totalOctets: number) {
    this.#budget = new MemoryBudget(totalOctets);
  }

  metrics(): Metric[] {
    return [gauge("heliograph_http_body_bytes", "Request bodies in memory", this.#budget.held)];
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
    let chunks = 0;
    const share = new Share(this.#budget, owner.accountId);
    let isDone = false;
    owner.holds(() => {
      // What still comes is nobody's.
      isDone = true;
      share.release();
      this.#strangers.delete(owner);
    });

    const finish = (error: Error | null, body?: Buffer): void => {
      isDone = true;
      // Whoever has come whole makes room for nobody.
      this.#strangers.delete(owner);
      done(error, body);
    };
    const onData = (chunk: Buffer): void => {
      if (isDone) return;
      const needed = length + chunk.length;
      if (needed > limit) {
        finish(tooLarge(limit));
        return;
      }
      if (++chunks > MAX_TINY_CHUNKS && needed < chunks * TINY_OCTETS) {
        finish(new ApiError("badRequest", "The chunks of the body are too small."));
        return;
      }
      if (needed > kept.length) {
        // The declared length is the client's word; what is taken at once is at most twice what has come.
        const grown = Math.max(needed, Math.min(declared || limit, Math.max(FIRST_OCTETS, kept.length * 2)));
        if (!share.grow(grown)) {
          finish(unavailable("Too many large bodies are being read."));
          return;
        }
        const larger = Buffer.allocUnsafe(grown);
        kept.copy(larger, 0, 0, length);
        kept = larger;
      }
      chunk.copy(kept, length);
      length = needed;
    };
    // They stay until the request is gone: to take each away again costs more than to look.
    request.on("data", onData);
    request.on("end", () => {
      if (!isDone) finish(null, kept.subarray(0, length));
    });
    request.on("close", () => {
      if (!isDone) finish(new ApiError("badRequest", "The body did not come whole."));
    });
    // It closes after an error, and one that nobody listens for ends the process.
    request.on("error", ignore);
  }

  #admitStranger(owner: BodyOwner): void {
    const [oldest] = this.#strangers;
    if (this.#strangers.size >= MAX_STRANGERS && oldest !== undefined) {
      this.#strangers.delete(oldest);
      oldest.dismiss();
    }
    this.#strangers.add(owner);
  }
}

const NOTHING = Buffer.alloc(0);
const ignore = (): void => undefined;

function tooLarge(limit: number): ApiError {
  return new ApiError("requestTooLarge", `The body is larger than the ${limit} octets that are taken here.`);
}
