/**
 * Short links: GET /l/{code} sends a phone on to where the link leads. Anybody may call it, so a code is looked at before the store is asked, and the
 * target comes from the store alone. A click is in the store before the phone goes on, unless the store takes long or cannot write: a phone must not
 * wait for our counting.
 */
import { type Click, CODE_LENGTH } from "../message/links.ts";
import { systemClock, within } from "../runtime/clock.ts";
import { LogLimiter } from "../runtime/log.ts";
import { parseHttpUrl } from "../runtime/urls.ts";
import { deviceOf, isWatcher } from "./devices.ts";
import { ApiError, RETRY_SOON } from "./errors.ts";
import type { Api } from "./operation.ts";
import type { ApiParts } from "./parts.ts";

/** Clicks that wait to be counted, and so the most of one transaction. What comes beyond is sent on and not counted. */
const MAX_WAITING = 200;
/** A phone waits no longer for its click to be counted. */
const WAIT_MS = 500;
/** Between two transactions of clicks. Whoever clicks without end takes few turns of the store from those who send. */
const WRITE_EVERY_MS = 100;

/** Clicks that come while some are being written go together, in the next transaction. */
class ClickCounter {
  readonly #parts: ApiParts;
  readonly #limiter: LogLimiter;
  #waiting: Click[] = [];
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #writeAtMs = 0;

  constructor(parts: ApiParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock, 1);
  }

  /** Resolves when it is counted, or cannot be, or that takes too long. */
  async count(click: Click): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(click);
    this.#next ??= this.#writing.then(() => this.#turn()).then(() => this.#write());
    // By the machine's own clock: a phone waits in real time.
    await within(systemClock, WAIT_MS, this.#next, undefined);
  }

  async #turn(): Promise<void> {
    const waitMs = this.#writeAtMs - systemClock.monotonic();
    if (waitMs > 0) await new Promise<void>((resolve) => void systemClock.after(waitMs, resolve));
    this.#writeAtMs = systemClock.monotonic() + WRITE_EVERY_MS;
  }

  #write(): Promise<void> {
    const clicks = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    this.#writing = this.#parts.store.clicked({ clicks }).catch((error: unknown) => {
      this.#limiter.write("clicks", (more) =>
        this.#parts.log.warn({ err: error, clicks: clicks.length, ...more }, "clicks could not be counted"),
      );
    });
    return this.#writing;
  }
}

export function linkOperations(api: Api, parts: ApiParts): void {
  const { store, clock } = parts;
  const counter = new ClickCounter(parts);
  api.get("/l/:code", { config: { auth: "none" }, schema: { hide: true } }, async (request, reply) => {
    reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    const { code } = request.params as { code: string };
    if (code.length !== CODE_LENGTH || !/^[0-9A-Za-z]+$/.test(code)) throw new ApiError("linkUnknown");
    let found: { target: string } | null;
    try {
      found = await store.link({ code });
    } catch {
      throw new ApiError("linkAway", { headers: RETRY_SOON });
    }
    // It was one when it was kept. Nothing but http and https is ever gone to.
    const target = found === null ? null : parseHttpUrl(found.target);
    if (target === null) throw new ApiError("linkUnknown");
    if (request.method === "GET" && !isWatcher(request.headers))
      await counter.count({ code, atMs: clock.now(), ...deviceOf(request.headers["user-agent"]) });
    return reply.code(302).header("location", target.href).send();
  });
}
