/**
 * One connection to a carrier, kept up for as long as the service runs: connect, bind, use, and when it is lost do it again.
 *
 *   connecting ──▶ binding ──▶ bound ──lost──▶ waiting ──▶ connecting (the next host) …
 *        └────────────┴─────failed────────────────▲
 *
 * The wait grows with every failure and has chance in it, so that a carrier that comes back is not met by all its customers at once.
 * Nothing is begun without the lease: another node may have the connection by then.
 */
import { type Clock, Interval, type Timer } from "../../runtime/clock.ts";
import type { Lease } from "../../runtime/lease.ts";
import type { Log, LogLimiter } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import { tlsOf } from "./authority.ts";
import type { PduDraft } from "./codec/pdu.ts";
import { statusName } from "./codec/statuses.ts";
import { toldProblem } from "./problems.ts";
import type { SmppProfile } from "./profile.ts";
import { connectSocket } from "./session/connect.ts";
import type { Answer, SessionHandlers } from "./session/contract.ts";
import { Session } from "./session/session.ts";
import type { BindKind } from "./session/states.ts";

export interface LinkParts {
  readonly profile: SmppProfile;
  readonly kind: BindKind;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly lease: Lease;
  /** The carrier's: a bound on the lines that it can cause. */
  readonly limiter: LogLimiter;
  /** The carrier sent something that cannot be read, or that we could not deal with. */
  readonly onProblem: () => void;
  /** The carrier sent something that is wrong by an octet, and was read all the same. */
  readonly onMended: () => void;
  readonly onRequest: NonNullable<SessionHandlers["onRequest"]>;
  readonly onUnreadable: NonNullable<SessionHandlers["onUnreadable"]>;
  /** As the session tells it: a submit was taken in, and so many were written. */
  readonly onSubmit: () => void;
  readonly onWritten: (submits: number) => void;
  /** It was bound, was lost, or has room again. */
  readonly onChange: () => void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const LEASE_LOOK_MS = 250;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_SECONDS = 60;
const ANSWER_SECONDS = 30;
const ENQUIRE_LINK_SECONDS = 30;
export const WINDOW = 10;
/** What the carrier sends and we have not answered: so many receipts can share a commit. Some 300 KB at most. */
const MAX_UNANSWERED = 1_000;
/** ESME_RINVPASWD and ESME_RINVSYSID: asking again soon only locks the account. */
const WRONG_CREDENTIALS = new Set([0x0e, 0x0f]);

export class Link {
  readonly #parts: LinkParts;
  readonly #aborting = new AbortController();
  #session: Session | null = null;
  #sleep: { timer: Timer; wake: () => void } | null = null;
  #running: Promise<void> = Promise.resolve();
  #failures = 0;
  #hostIndex = 0;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** Whether it is bound and may submit. */
  get canSubmit(): boolean {
    const state = this.#session?.state;
    return state === "bound_tx" || state === "bound_trx";
  }

  get room(): number {
    return this.canSubmit ? this.#session!.room : 0;
  }

  submit(draft: PduDraft<"submit_sm">): Promise<Answer<"submit_sm">> {
    return this.#session?.request(draft) ?? Promise.resolve({ kind: "unsent", why: "state" });
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#aborting.abort();
    this.#sleep?.timer.cancel();
    this.#sleep?.wake();
    await this.#session?.unbind();
    await this.#running;
  }

  get #stopped(): boolean {
    return this.#aborting.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      if (!this.#parts.lease.holds()) {
        await this.#sleepFor(FIRST_WAIT_MS);
        continue;
      }
      const status = await this.#useOnce().catch((error: Error) => {
        // For example a certificate file that is not there.
        this.#failed("", error.message);
        return 0;
      });
      if (this.#stopped) return;
      await this.#wait(status);
    }
  }

  /** Connects, binds and stays until the connection ends. Returns the status of a bind that was refused. */
  async #useOnce(): Promise<number> {
    const { profile, clock, log, limiter, onProblem, onMended } = this.#parts;
    const place = profile.hosts[this.#hostIndex % profile.hosts.length]!;
    const { host, port } = readHost(place);
    const tls = profile.tls === true ? { tls: await tlsOf(profile) } : {};
    const signal = this.#aborting.signal;
    const connection = await connectSocket({ host, port, timeoutMs: CONNECT_TIMEOUT_MS, signal, ...tls }, clock);
    if (connection.kind === "failed") {
      this.#failed(place, connection.error.message);
      return 0;
    }
    let isNoted = false;
    const session = new Session(connection.socket, {
      role: "esme",
      clock,
      window: profile.window ?? WINDOW,
      maxHandling: MAX_UNANSWERED,
      requestTimeoutMs: (profile.answerSeconds ?? ANSWER_SECONDS) * 1_000,
      idleMs: (profile.enquireLinkSeconds ?? ENQUIRE_LINK_SECONDS) * 1_000,
      onRequest: this.#parts.onRequest,
      onUnreadable: this.#parts.onUnreadable,
      onRoom: this.#parts.onChange,
      onSubmit: this.#parts.onSubmit,
      onWritten: this.#parts.onWritten,
      mayAsk: () => this.#parts.lease.holds(),
      onProblem: (problem) => {
        if (problem.kind !== "unencodable") onProblem();
        const { says, facts } = toldProblem(problem);
        limiter.write(problem.kind, (more) => log.warn({ carrier: profile.id, host: place, ...facts, ...more }, says));
      },
      onMended: ({ command, sequence }, how) => {
        onMended();
        // Whoever does it once does it always: one line is enough for a connection.
        if (isNoted) return;
        isNoted = true;
        limiter.write("mended", (more) =>
          log.info(
            { carrier: profile.id, host: place, command, sequence, how, ...more },
            "the carrier sent a PDU that is wrong by an octet; such ones are read all the same on this connection, without a line for each",
          ),
        );
      },
    });
    this.#session = session;
    const { systemId, password, systemType = "" } = profile;
    const answer = await session.bind(this.#parts.kind, { systemId, password, systemType });
    const status = answer.kind === "answered" ? answer.pdu.status : -1;
    if (status === 0) {
      this.#failures = 0;
      limiter.write(`bound ${place}`, (more) =>
        log.info({ carrier: profile.id, host: place, bind: this.#parts.kind, ...more }, "bound to a carrier"),
      );
      this.#parts.onChange();
      // Whoever takes over gets this connection's place at the carrier: it has to be free by then.
      const watching = new Interval(clock, LEASE_LOOK_MS, async () => {
        if (!this.#parts.lease.holds()) await session.close();
      });
      const { why, error } = await session.closed;
      await watching.stop();
      this.#session = null;
      if (!this.#stopped)
        limiter.write(`ended ${place}`, (more) =>
          log.warn(
            {
              carrier: profile.id,
              host: place,
              why,
              ...(error === undefined ? {} : { error: error.message }),
              ...more,
            },
            "the connection to a carrier ended",
          ),
        );
      this.#parts.onChange();
      return 0;
    }
    await session.close();
    this.#session = null;
    this.#failed(place, status === -1 ? "no answer to the bind" : `bind refused: ${statusName(status)}`);
    return Math.max(status, 0);
  }

  #failed(host: string, why: string): void {
    this.#failures++;
    this.#hostIndex++;
    const { limiter, log, profile } = this.#parts;
    limiter.write(`unreached ${host}`, (more) =>
      log.warn({ carrier: profile.id, host, why, ...more }, "a carrier could not be reached"),
    );
  }

  #wait(status: number): Promise<void> {
    const { profile, random } = this.#parts;
    const longestMs = (profile.reconnectSeconds ?? MAX_WAIT_SECONDS) * 1_000;
    const grownMs = FIRST_WAIT_MS * 2 ** Math.min(Math.max(this.#failures - 1, 0), 20);
    const waitMs = WRONG_CREDENTIALS.has(status) ? longestMs : Math.min(grownMs, longestMs);
    // Half of it for sure, the other half by chance.
    return this.#sleepFor(waitMs * (0.5 + random.next() / 2));
  }

  #sleepFor(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#parts.clock.after(waitMs, resolve);
      this.#sleep = { timer, wake: resolve };
    });
  }
}

/** "host:port", the host of IPv6 in brackets. */
function readHost(place: string): { host: string; port: number } {
  const colon = place.lastIndexOf(":");
  return { host: place.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(place.slice(colon + 1)) };
}
