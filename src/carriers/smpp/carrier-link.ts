/**
 * One connection to a carrier, kept up for as long as the service runs: reached, used, and when it is lost reached again.
 *
 *   connecting ──the first host that binds──▶ bound ──lost──▶ connecting: host, host, host ──none──▶ waiting ──▶ connecting …
 *
 * How long it waits is in retry-wait.ts, and what a refusal changes in bind-refusals.ts. A host that does not answer keeps nobody waiting: the next one is tried beside it, and so is itself
 * after the wait; the first try that is bound counts, and the others are given up.
 * Nothing is begun without the lease: another node may have the connection by then.
 */
import type { Socket } from "node:net";
import type { Lease } from "../../node/lease.ts";
import { type Clock, Interval } from "../../runtime/clock.ts";
import type { Log, LogLimiter } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import type { LinkFacts } from "../facts.ts";
import { tlsOf } from "./authority.ts";
import { BindRefusals, type LinkProblem } from "./bind-refusals.ts";
import { BindTries } from "./bind-tries.ts";
import type { Pdu, PduDraft } from "./codec/pdu.ts";
import { statusName } from "./codec/statuses.ts";
import { endedWords, unreachedWords } from "./link-words.ts";
import { type SmppCounts, toldProblem } from "./problems.ts";
import type { SmppProfile } from "./profile.ts";
import { hostPatienceMs, LASTING_MS, retryWaitMs } from "./retry-wait.ts";
import { connectSocket } from "./session/connect.ts";
import type { MessageRequestName, Reply, SessionHandlers } from "./session/contract.ts";
import { SmppSession } from "./session/session.ts";
import type { BindKind } from "./session/states.ts";
import type { Hears } from "./session/window.ts";

export interface LinkParts {
  readonly profile: SmppProfile;
  readonly kind: BindKind;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly lease: Lease;
  /** The carrier's: a bound on the lines that it can cause. */
  readonly limiter: LogLimiter;
  readonly counts: SmppCounts;
  /** `mayWait`: the carrier sends more although this is not answered. */
  readonly onRequest: (pdu: Pdu<MessageRequestName>, mayWait: boolean) => Reply | Promise<Reply>;
  /** What the session tells is told as it is. */
  readonly handlers: Pick<SessionHandlers, "onUnreadable" | "onSubmit" | "onWritten">;
  /** It was bound, was lost, or has room again. */
  readonly onChange: () => void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const LEASE_LOOK_MS = 250;
const NO_LEASE_WAIT_MS = 1_000;
const RECONNECT_SECONDS = 60;
const ANSWER_SECONDS = 30;
const BIND_SECONDS = 10;
const ENQUIRE_LINK_SECONDS = 30;
const ENQUIRE_LINK_ANSWER_SECONDS = 10;
export const WINDOW = 10;
/** What the carrier sends and we have not answered: so many receipts can share a commit. Some 300 KB at most. */
const MAX_UNANSWERED = 1_000;

export class CarrierLink {
  readonly #parts: LinkParts;
  #stopped = false;
  #session: SmppSession | null = null;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #hostIndex = 0;
  #isBound = false;
  #sinceMs: number;
  #problem: LinkProblem | null = null;
  readonly #refusals = new BindRefusals();
  #nextTryMs: number | null = null;
  /** On the monotonic clock: since when it is not there. */
  #lostMs: number;
  /** Somebody wants it to be tried at once. */
  #isHurried = false;
  /** Sessions in a row that were bound and did not last. A carrier that takes every bind and drops it is not asked every second for ever. */
  #drops = 0;
  /** Such a session was the last that was heard of it. One that cannot be reached since is simply down. */
  #isDropped = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#sinceMs = parts.clock.now();
    this.#lostMs = parts.clock.monotonic();
  }

  get facts(): LinkFacts {
    const { profile, kind } = this.#parts;
    // A wrong login has to be mended by somebody, whatever else goes wrong behind it.
    const problem = this.#refusals.wrongLogin ?? this.#problem;
    return {
      kind,
      host: profile.hosts[this.#hostIndex]!,
      isBound: this.#isBound,
      isRefused: this.#refusals.isRefused,
      sinceMs: this.#sinceMs,
      problem: problem?.says ?? null,
      problemMs: problem?.atMs ?? null,
      nextTryMs: this.#nextTryMs,
      inFlight: this.#session?.inFlight ?? 0,
    };
  }

  /** If it is not there it is tried now, and as if it had been lost now. */
  connectNow(): void {
    this.#isHurried = true;
    this.#refusals.forget();
    this.#drops = 0;
    this.#lostMs = this.#parts.clock.monotonic();
    this.#wake();
  }

  #note(isBound: boolean): void {
    this.#isBound = isBound;
    this.#sinceMs = this.#parts.clock.now();
  }

  /** Whether it is bound and may submit. */
  get canSubmit(): boolean {
    const state = this.#session?.state;
    return state === "bound_tx" || state === "bound_trx";
  }

  get room(): number {
    return this.canSubmit ? this.#session!.room : 0;
  }

  /** `hears` what became of it, and may not use the link there and then. */
  submit(draft: PduDraft<"submit_sm">, hears: Hears<"submit_sm">): void {
    if (this.#session === null) hears({ kind: "unsent", why: "state" });
    else this.#session.ask(draft, hears);
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#session?.unbind();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const session = await this.#reach();
      if (session === null) return;
      if (this.#stopped) await session.unbind();
      else await this.#use(session);
      this.#lostMs = this.#parts.clock.monotonic();
    }
  }

  /** Goes round the hosts until one of them is bound; null when it is stopped. */
  async #reach(): Promise<SmppSession | null> {
    const { profile, clock, lease } = this.#parts;
    const { hosts } = profile;
    const refusals = this.#refusals;
    const tries = new BindTries({
      bind: (host, givenUp) => this.#bind(host, givenUp),
      onEnd: () => this.#wake(),
    });
    const isBound = (): boolean => tries.bound !== null;
    let first = this.#hostIndex;
    // What was lost a moment ago is not met by all its customers at once: a wait comes first then.
    let isWaiting = this.#problem !== null;
    this.#isHurried = false;
    while (!this.#stopped && !isBound()) {
      if (isWaiting) await this.#wait(isBound);
      isWaiting = true;
      const { counted } = refusals;
      const isRefused = (): boolean => refusals.counted !== counted;
      for (let place = 0; place < hosts.length && !this.#stopped && !isBound() && !isRefused(); place++) {
        if (!lease.holds()) {
          await tries.giveUp(null);
          await this.#pause(NO_LEASE_WAIT_MS, () => false);
          isWaiting = false;
          break;
        }
        const index = (first + place) % hosts.length;
        if (!refusals.mayAsk(hosts[index]!, clock.monotonic(), this.#maxWaitMs)) continue;
        const one = tries.begin(hosts[index]!);
        if (one === null) continue;
        this.#hostIndex = index;
        await this.#pause(hostPatienceMs(hosts.length), () => one.isOver || isBound() || isRefused());
        if (!one.isOver && !isBound() && !isRefused())
          this.#problem = { says: `${one.host}: no answer so far`, atMs: clock.now() };
      }
      // A refusal ends the round, also a late one of another host.
      if (isRefused()) first = (this.#hostIndex + 1) % hosts.length;
    }
    const { bound } = tries;
    if (bound !== null) this.#hostIndex = hosts.indexOf(bound.host);
    await tries.giveUp(bound);
    return bound?.session ?? null;
  }

  get #maxWaitMs(): number {
    return (this.#parts.profile.reconnectSeconds ?? RECONNECT_SECONDS) * 1_000;
  }

  get #awayMs(): number {
    return this.#parts.clock.monotonic() - this.#lostMs;
  }

  /** Between two rounds. A refusal that comes meanwhile makes it longer, from then on. */
  async #wait(isBound: () => boolean): Promise<void> {
    const { clock, random } = this.#parts;
    const refusals = this.#refusals;
    const isOver = (): boolean => this.#isHurried || isBound();
    let counted: number;
    do {
      counted = refusals.counted;
      const refused = { isWrongLogin: refusals.wrongLogin !== null, refusals: refusals.inRow };
      const drops = this.#isDropped ? this.#drops : 0;
      const waitMs = retryWaitMs({ ...refused, drops, awayMs: this.#awayMs, maxMs: this.#maxWaitMs }, random);
      this.#nextTryMs = clock.now() + waitMs;
      await this.#pause(waitMs, () => isOver() || refusals.counted !== counted);
    } while (!this.#stopped && !isOver() && refusals.counted !== counted);
    this.#nextTryMs = null;
    this.#isHurried = false;
  }

  /** Connects and binds; null where that fails, which is noted unless it was given up. */
  async #bind(place: string, givenUp: AbortSignal): Promise<SmppSession | null> {
    const { profile, clock } = this.#parts;
    try {
      const tls = profile.tls === true ? { tls: await tlsOf(profile) } : {};
      const target = { place, timeoutMs: CONNECT_TIMEOUT_MS, signal: givenUp, ...tls };
      const connection = await connectSocket(target, clock);
      if (connection.kind === "failed") {
        if (!givenUp.aborted) this.#failed(place, connection.error.message, null, unreachedWords(connection.error));
        return null;
      }
      const session = this.#sessionOn(connection.socket, place);
      givenUp.addEventListener("abort", () => void session.close(), { once: true });
      // It may have been given up in the very turn in which it was connected.
      if (givenUp.aborted) void session.close();
      const { systemId, password, systemType = "" } = profile;
      const answer = await session.bind(this.#parts.kind, { systemId, password, systemType });
      if (answer.kind === "answered" && answer.pdu.status === 0) return session;
      await session.close();
      if (givenUp.aborted) return null;
      const status = answer.kind === "answered" ? answer.pdu.status : null;
      const name = status === null ? null : statusName(status);
      if (name === null) this.#failed(place, "no answer to the bind", null, "the bind was not answered");
      else this.#failed(place, `bind refused: ${name}`, status, `the bind was refused: ${name}`);
    } catch (error) {
      // For example a certificate file that is not there.
      this.#failed("", (error as Error).message, null);
    }
    return null;
  }

  #sessionOn(socket: Socket, host: string): SmppSession {
    const { profile, clock, counts } = this.#parts;
    let isNoted = false;
    /** It has had so many requests without an answer at a time: while there are fewer it does not wait for ours. */
    let mostUnanswered = 0;
    const session: SmppSession = new SmppSession(socket, {
      role: "esme",
      clock,
      window: profile.window ?? WINDOW,
      maxHandling: MAX_UNANSWERED,
      requestTimeoutMs: (profile.answerSeconds ?? ANSWER_SECONDS) * 1_000,
      bindTimeoutMs: (profile.bindSeconds ?? BIND_SECONDS) * 1_000,
      idleMs: (profile.enquireLinkSeconds ?? ENQUIRE_LINK_SECONDS) * 1_000,
      probeTimeoutMs: (profile.enquireLinkAnswerSeconds ?? ENQUIRE_LINK_ANSWER_SECONDS) * 1_000,
      onRequest: (pdu) => {
        const unanswered = session.handling + 1;
        const mayWait = unanswered < mostUnanswered;
        mostUnanswered = Math.max(mostUnanswered, unanswered);
        return this.#parts.onRequest(pdu, mayWait);
      },
      ...this.#parts.handlers,
      onRoom: this.#parts.onChange,
      mayAsk: () => this.#parts.lease.holds(),
      onProblem: (problem) => {
        if (problem.kind !== "unencodable") counts.problems++;
        const { says, facts } = toldProblem(problem);
        this.#say("warn", problem.kind, { host, ...facts }, says);
      },
      onMended: ({ command, sequence }, how) => {
        counts.mended++;
        // Whoever does it once does it always: one line is enough for a connection.
        if (isNoted) return;
        isNoted = true;
        const says =
          "the carrier sent a PDU that is wrong by an octet; such ones are read all the same on this connection, without a line for each";
        this.#say("info", "mended", { host, command, sequence, how }, says);
      },
    });
    return session;
  }

  /** From the bind to the end of the connection. */
  async #use(session: SmppSession): Promise<void> {
    const { profile, clock, lease } = this.#parts;
    const host = profile.hosts[this.#hostIndex]!;
    const boundMs = clock.monotonic();
    this.#session = session;
    this.#refusals.bound(host);
    this.#note(true);
    this.#say("info", `bound ${host}`, { host, bind: this.#parts.kind }, "bound to a carrier");
    this.#parts.onChange();
    // Whoever takes over gets this connection's place at the carrier: it has to be free by then.
    const watching = new Interval(clock, LEASE_LOOK_MS, async () => {
      if (!lease.holds()) await session.close();
    });
    const { why, error } = await session.closed;
    await watching.stop();
    this.#session = null;
    this.#note(false);
    this.#isDropped = clock.monotonic() - boundMs < LASTING_MS;
    this.#drops = this.#isDropped ? this.#drops + 1 : 0;
    const drops = this.#drops > 1 ? `, soon after the bind, ${this.#drops} times in a row` : "";
    this.#problem = { says: `${host}: ${endedWords(why, error)}${drops}`, atMs: clock.now() };
    const reason = error === undefined ? {} : { error: error.message };
    const facts = { host, why, ...reason, ...(drops === "" ? {} : { drops: this.#drops }) };
    if (!this.#stopped)
      this.#say("warn", `ended ${host} ${why} ${error?.message ?? ""}`, facts, "the connection to a carrier ended");
    this.#parts.onChange();
  }

  /** `refusal` is the status of a bind that was refused. */
  #failed(host: string, why: string, refusal: number | null, inWords = why): void {
    const { clock } = this.#parts;
    const problem = { says: host === "" ? inWords : `${host}: ${inWords}`, atMs: clock.now() };
    this.#problem = problem;
    this.#isDropped = false;
    if (refusal !== null) {
      const times = { heardMs: clock.monotonic(), awayMs: this.#awayMs };
      this.#refusals.note({ host, status: refusal, problem, ...times });
    }
    // By its reason: one that is new is always said.
    this.#say("warn", `unreached ${host} ${why}`, { host, why }, "a carrier could not be reached");
  }

  #say(level: "info" | "warn", kind: string, facts: object, says: string): void {
    const { limiter, log, profile } = this.#parts;
    limiter.write(kind, (more) => log[level]({ carrier: profile.id, ...facts, ...more }, says));
  }

  /** For so long, unless it is over before or the link is stopped. */
  async #pause(waitMs: number, isOver: () => boolean): Promise<void> {
    const { clock } = this.#parts;
    const untilMs = clock.monotonic() + waitMs;
    while (!this.#stopped && !isOver()) {
      const leftMs = untilMs - clock.monotonic();
      if (leftMs <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = clock.after(leftMs, resolve);
        this.#wake = () => {
          timer.cancel();
          resolve();
        };
      });
    }
  }
}
