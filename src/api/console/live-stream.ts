/**
 * One stream of server-sent events. A reader that is slow gets the newest answers and not those between: while it has not taken what was written,
 * nothing more is; it is offered the next read. All streams together have a budget for what their readers have not taken.
 */
import { Readable } from "node:stream";
import type { Clock } from "../../runtime/clock.ts";
import type { Account } from "../../store/port/accounts.ts";
import { type MemoryBudget, Share } from "../budget.ts";
import type { News, Viewer } from "./shared-views.ts";

const RETRY_MS = 1_000;
/** The console gives up a stream that is silent for 12 s (SILENT_MS of console/src/live.ts). */
const HEARTBEAT_MS = 5_000;
/** A reader that has taken nothing for so long is gone. */
const MAX_BLOCKED_MS = 30_000;
/** Then it is opened anew, by another request. */
const MAX_STREAM_MS = 15 * 60_000;
/** For what nobody tells of: a session that ends by itself or on another node, and a key that expires. */
const CHECK_EVERY_MS = 10_000;

export interface LiveStreamParts {
  readonly clock: Clock;
  readonly account: Account;
  /** Of the session with which it was opened; null for another credential. */
  readonly token: string | null;
  readonly budget: MemoryBudget;
  /** Looks again who watches; false when nobody does who may. */
  readonly check: (stream: LiveStream) => Promise<boolean>;
}

export class LiveStream extends Readable {
  readonly accountId: number;
  readonly token: string | null;
  readonly watches: (Viewer | null)[] = [];
  readonly #parts: LiveStreamParts;
  readonly #share: Share;
  readonly #startedMs: number;
  /** The hash of what was written last, by view. */
  readonly #written: (string | undefined)[] = [];
  #writtenMs: number;
  #checkedMs: number;
  #blockedMs: number | null = null;
  #isChecking = false;
  /** Who watches may have changed since the last check, or that one failed. */
  #isDue = false;
  #isOver = false;

  constructor(parts: LiveStreamParts) {
    super();
    this.#parts = parts;
    this.accountId = parts.account.id;
    this.token = parts.token;
    this.#share = new Share(parts.budget, this.accountId);
    this.#startedMs = parts.clock.monotonic();
    this.#checkedMs = this.#startedMs;
    this.#writtenMs = this.#startedMs;
    this.#write(`retry: ${RETRY_MS}\n\n`);
  }

  /** What a view has brought. */
  offer(index: number, { event, fields, hash }: News): void {
    if (this.#written[index] === hash || this.#blockedMs !== null) return;
    if (this.#write(`event: ${event}\ndata: {"view":${index},${fields}}\n\n`)) this.#written[index] = hash;
  }

  /** Something that is told once. False where its reader has no room for it now: its watch is touched when there is. */
  tell(event: string, data: string): boolean {
    return this.#blockedMs === null && this.#write(`event: ${event}\ndata: ${data}\n\n`);
  }

  /** False where nothing was written. */
  #write(text: string): boolean {
    if (this.#isOver) return false;
    const octets = Buffer.from(text);
    if (!this.#share.grow(octets.length)) return false;
    this.#writtenMs = this.#parts.clock.monotonic();
    if (this.push(octets)) this.#share.release();
    else this.#blockedMs = this.#writtenMs;
    return true;
  }

  override _read(): void {
    if (this.#blockedMs === null) return;
    this.#blockedMs = null;
    this.#share.release();
    for (const watch of this.watches) watch?.touch();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stop();
    done(error);
  }

  /** Its reader opens another, or has been told why not. */
  end(last = ""): void {
    if (this.#isOver) return;
    if (this.#blockedMs !== null) {
      this.destroy();
      return;
    }
    if (last !== "") this.#write(last);
    this.#stop();
    this.push(null);
  }

  #stop(): void {
    this.#isOver = true;
    this.#share.release();
    for (const watch of this.watches) watch?.stop();
  }

  /** Called about once a second. */
  tick(): void {
    const nowMs = this.#parts.clock.monotonic();
    if (this.#blockedMs !== null && nowMs - this.#blockedMs > MAX_BLOCKED_MS) this.destroy();
    else if (nowMs - this.#startedMs > MAX_STREAM_MS) this.end();
    else if (nowMs - this.#writtenMs > HEARTBEAT_MS && this.#blockedMs === null) this.#write(":\n\n");
    if (this.#isDue || nowMs - this.#checkedMs > CHECK_EVERY_MS) void this.#check();
  }

  /** Who watches may have changed. */
  recheck(): void {
    this.#isDue = true;
    void this.#check();
  }

  async #check(): Promise<void> {
    if (this.#isOver || this.#isChecking) return;
    this.#isChecking = true;
    this.#isDue = false;
    this.#checkedMs = this.#parts.clock.monotonic();
    try {
      if (!(await this.#parts.check(this))) this.end("event: signed-out\ndata: {}\n\n");
    } catch {
      // The store does not answer: the views say so, and the next check is soon.
      this.#isDue = true;
    } finally {
      this.#isChecking = false;
    }
  }
}
