/**
 * A carrier reached over HTTP. Its description says how a message is written and what an answer means; here is the policy above it: how many requests are
 * under way and how fast, what is gathered into one, what to do when nobody answers, and how receipts and messages from phones are fetched.
 *
 *   unsent    there was no connection: nothing happened, the carrier is down for a moment, and its routes go elsewhere
 *   unknown   the request was written and its answer never came: looked up where the provider can be asked, else as `unknownOutcome` says
 */
import { HttpTransport, type Transport } from "../../http/transport.ts";
import type { Clock, Timer } from "../../runtime/clock.ts";
import { given } from "../../runtime/given.ts";
import { type Log, LogLimiter } from "../../runtime/log.ts";
import { encodeBody, isOctets } from "../../sms/body.ts";
import { errorByName } from "../../sms/errors.ts";
import type { ConnectionFacts, LinkFacts } from "../facts.ts";
import { CarrierPace } from "../pace/carrier-pace.ts";
import { SentLog } from "../pace/sent-log.ts";
import {
  type Carrier,
  type CarrierListener,
  NOBODY,
  type OutgoingMessage,
  type OutstandingPart,
  type PartToSubmit,
  type Submission,
} from "../port.ts";
import { type ReadAnswer, readSubmission, type Said } from "./answer.ts";
import { type Called, Calls } from "./calls.ts";
import type { Description, SendDescription } from "./description.ts";
import { listAt, textAt } from "./paths.ts";
import { Poller } from "./poller.ts";
import { describe, WINDOW } from "./presets.ts";
import type { HttpProfile } from "./profile.ts";
import { fillJson, type JsonTemplate, type Values } from "./template.ts";
import { carrierValues, MessageValues } from "./values.ts";

export interface HttpCarrierParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Where the provider may call us; empty where it cannot, and then it is asked. */
  readonly callbacks: Values;
  /** Another one than over the network. */
  readonly transport?: Transport;
}

interface Waiting {
  readonly part: PartToSubmit;
  readonly resolve: (submission: Submission) => void;
}

const NOT_BINARY = errorByName("EC_INVALID_PDU_FORMAT").id;
/** After a connection that could not be made, so long at first, then twice as long each time. */
const MIN_DOWN_MS = 1_000;
const MAX_DOWN_MS = 60_000;
const ANSWER_SECONDS = 30;
const CONNECT_MS = 10_000;
/** Octets of an answer: a page of a thousand receipts has some hundred thousand. */
const MAX_ANSWER = 4_194_304;
const RETRY_MS = 1_000;
const UNANSWERED = "the carrier did not answer: what becomes of its messages is not known";
/** Characters of a provider's warning that people are shown. */
const MAX_WARNING = 300;
/** After a message has expired, its last word may take so long. */
const RECEIPT_WAIT_MS = 3_600_000;

export class HttpCarrier implements Carrier {
  readonly id: string;
  readonly partRule = "every";
  readonly unknownPolicy;
  readonly isRepeatable: boolean;
  readonly window: number;
  readonly resume?: (parts: readonly OutstandingPart[]) => void;
  readonly #parts: HttpCarrierParts;
  readonly #transport: Transport;
  readonly #description: Description;
  readonly #calls: Calls;
  readonly #values: MessageValues;
  readonly #pace: CarrierPace;
  readonly #pollers: readonly Poller[];
  /** The one that asks for each message. */
  readonly #eachPoller: Poller | undefined;
  /** Whether receipts are called in, unless the provider says that they are not. */
  readonly #isCalled: boolean;
  readonly #limiter: LogLimiter;
  readonly #requests: number;
  readonly #url: string;
  /** Messages in one request. */
  readonly #most: number;
  #gathered: Waiting[] = [];
  #isFlushing = false;
  #underWay = 0;
  #downMs = 0;
  /** The last that it said of who we are: it is tried with one message now and then. */
  #isRefused = false;
  #downTimer: Timer | null = null;
  #isStopped = false;
  #sinceMs: number;
  #problem: { readonly says: string; readonly atMs: number } | null = null;
  /** What the provider said when it would not call us. */
  #warning: string | undefined;
  readonly #settled: (() => void)[] = [];
  #listener = NOBODY;

  constructor(profile: HttpProfile, parts: HttpCarrierParts) {
    const { url, description, partsPerSecond } = describe(profile);
    this.id = profile.id;
    this.#url = url;
    this.#description = description;
    this.#parts = parts;
    this.isRepeatable = description.repeatable === true;
    this.unknownPolicy = profile.unknownOutcome ?? (this.isRepeatable ? "resend" : "hold");
    this.#requests = profile.window ?? WINDOW;
    this.#most = description.send?.many?.most ?? 1;
    this.window = this.#requests * this.#most;
    const limit = partsPerSecond ?? Number.POSITIVE_INFINITY;
    this.#pace = new CarrierPace(limit, parts.clock, new SentLog(), () => this.#changed());
    this.#limiter = new LogLimiter(parts.clock);
    this.#sinceMs = parts.clock.now();
    this.#transport = parts.transport ?? transportOf(profile, parts.clock);
    this.#calls = new Calls({
      url,
      auth: description.auth,
      transport: this.#transport,
      clock: parts.clock,
      values: carrierValues(profile),
    });
    this.#values = new MessageValues(description, parts.callbacks);
    this.#pollers = Poller.of(description, {
      clock: parts.clock,
      calls: this.#calls,
      hasCallbacks: parts.callbacks.receiptsUrl !== undefined,
      everySeconds: profile.pollSeconds,
      onReceipt: (receipt) => this.#listener.onReceipt(receipt),
      onIncoming: (part) => this.#listener.onIncoming(part),
      onProblem: (says) => this.#warn("a poll failed", says),
    });
    this.#eachPoller = this.#pollers.find(({ asksEach }) => asksEach);
    this.#isCalled = parts.callbacks.receiptsUrl !== undefined && description.receipts?.callback === true;
    if (this.#eachPoller !== undefined)
      this.resume = (outstanding) => {
        for (const { carrierMessageId, expiresAtMs } of outstanding)
          this.#eachPoller!.await(carrierMessageId, expiresAtMs);
      };
  }

  isUp(): boolean {
    return this.#downTimer === null && !this.#isStopped;
  }

  room(): number {
    if (!this.isUp()) return 0;
    // Whoever asks with a wrong password again and again is locked out.
    if (this.#isRefused) return this.#underWay + this.#gathered.length === 0 ? 1 : 0;
    const free = (this.#requests - this.#underWay) * this.#most - this.#gathered.length;
    const byPace = this.#pace.room();
    if (byPace === 0 && free > 0) this.#pace.wake();
    return Math.max(0, Math.min(free, byPace));
  }

  /** One part that is the whole message where the provider cuts it. */
  partsOf(message: OutgoingMessage): readonly PartToSubmit[] {
    const { flash = false, reference } = message;
    const isWhole = this.#description.cutBy !== "us" && !isOctets(message.encoding);
    const parts = encodeBody(message, { reference: reference ?? 0, flash, unpacked: false });
    if (parts.length === 1) return [{ message, userData: parts[0]!, place: null }];
    if (isWhole) {
      const octets = Buffer.from(message.text);
      const userData = {
        octets,
        hasHeader: false,
        dataCoding: parts[0]!.dataCoding,
        length: octets.length,
        text: message.text,
      };
      return [{ message, userData, place: null }];
    }
    return parts.map((userData, index) => ({ message, userData, place: { sequence: index + 1, total: parts.length } }));
  }

  submit(part: PartToSubmit): Promise<Submission> {
    if (!this.isUp()) return Promise.resolve({ kind: "later", retryAfterMs: RETRY_MS });
    const send = this.#sendOf(part);
    if (send === undefined) return Promise.resolve({ kind: "refused", errorId: NOT_BINARY });
    this.#pace.gathered();
    this.#pace.written(1);
    if (send.many === undefined) return this.#alone(send, part);
    return new Promise((resolve) => {
      this.#gathered.push({ part, resolve });
      this.#flushSoon();
    });
  }

  #sendOf({ message: { encoding } }: PartToSubmit): SendDescription | undefined {
    return isOctets(encoding) ? this.#description.sendOctets : this.#description.send;
  }

  #valuesOf(part: PartToSubmit): Values {
    return this.#values.of(part, this.#parts.clock.now());
  }

  async #alone(send: SendDescription, part: PartToSubmit): Promise<Submission> {
    const { stamp } = this.#pace;
    const called = await this.#call(() => this.#calls.call(send, this.#valuesOf(part)));
    if (called.kind === "unsent") return this.#heard(this.#unsent(), part, stamp);
    const isAsked = this.#isAsked(send, called);
    const said: Said =
      called.kind === "answered" ? readSubmission(send, called, called.data, part.message) : { kind: "unknown" };
    return this.#heard(await this.#lookedUp(said, part), part, stamp, isAsked);
  }

  /** What is handed over in the same turn goes together. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      while (this.#gathered.length > 0 && this.#underWay < this.#requests)
        void this.#together(this.#gathered.splice(0, this.#most));
    });
  }

  async #together(batch: readonly Waiting[]): Promise<void> {
    const send = this.#description.send!;
    const many = send.many!;
    const { stamp } = this.#pace;
    const values = batch.map(({ part }) => this.#valuesOf(part));
    const items = values.map((each) => fillJson(many.item, each) ?? null);
    const called = await this.#call(() =>
      this.#calls.call(send, values[0]!, placed(send.json ?? {}, many.at, items, values[0]!)),
    );
    if (called.kind === "unsent") {
      const said = this.#unsent();
      for (const { part, resolve } of batch) resolve(this.#heard(said, part, stamp));
      return;
    }
    const isAsked = this.#isAsked(send, called);
    const itemOf = called.kind === "answered" ? answersIn(many, called, batch) : () => undefined;
    const saidOf = (part: PartToSubmit, index: number): Said => {
      const item = itemOf(part, index);
      // An answer that has nothing about one of them does not say that it was taken.
      if (called.kind === "unknown" || (item === undefined && called.status < 300)) return { kind: "unknown" };
      return readSubmission(send, called, item ?? called.data, part.message);
    };
    for (const [index, { part, resolve }] of batch.entries())
      void this.#lookedUp(saidOf(part, index), part).then((said) => resolve(this.#heard(said, part, stamp, isAsked)));
  }

  /** One request among those that may be under way. */
  async #call(call: () => Promise<Called>): Promise<Called> {
    this.#underWay++;
    const called = await call();
    this.#underWay--;
    if (called.kind === "unsent") this.#goDown(called.reason);
    else this.#cameBack(called);
    if (this.#underWay === 0) for (const settled of this.#settled.splice(0)) settled();
    if (this.#gathered.length > 0) this.#flushSoon();
    this.#changed();
    return called;
  }

  /** Nothing has happened: the carrier is down for a moment. */
  #unsent(): Submission {
    return { kind: "later", retryAfterMs: this.#downMs };
  }

  /** What was said of a message; where nobody knows, what the provider says when it is asked. */
  async #lookedUp(answered: Said, part: PartToSubmit): Promise<Submission> {
    const { lookup } = this.#description;
    if (answered.kind === "login refused") return this.#loginRefused(answered.status);
    if (answered.kind !== "unknown") this.#isBack();
    if (answered.kind !== "unknown" || lookup === undefined) return answered;
    const found = await this.#calls.call(lookup, this.#valuesOf(part));
    if (found.kind !== "answered") return { kind: "unknown" };
    const said = readSubmission(lookup, found, found.data, part.message);
    if (said.kind === "accepted") return said;
    if (said.kind === "login refused") this.#loginRefused(said.status);
    // It knows nothing of the message, so it may go again without becoming two.
    return said.kind === "refused" ? { kind: "not now", retryAfterMs: RETRY_MS } : { kind: "unknown" };
  }

  /** Whoever we say that we are, the provider does not take it: that is so for all messages. */
  #loginRefused(status: string): Submission {
    this.#isRefused = true;
    this.#goDown(`the login was refused: ${status}`, "the carrier refused the login");
    // Who was told that the request has ended has seen it up.
    this.#changed();
    return this.#unsent();
  }

  /** Whether the provider is asked for receipts: it cannot call us, or says that it will not. */
  #isAsked({ uncalled }: SendDescription, called: Called): boolean {
    const header =
      uncalled === undefined || called.kind !== "answered" ? null : called.headers[uncalled.header.toLowerCase()];
    const says = typeof header === "string" && header.includes(uncalled!.says) ? header.slice(0, MAX_WARNING) : null;
    if (says !== null && this.#isCalled) {
      this.#warning = `it does not call back, and is asked for receipts: ${says}`;
      this.#warn("the carrier does not call back, and is asked for receipts instead", says);
    }
    return says !== null || !this.#isCalled;
  }

  #heard(submission: Submission, { message }: PartToSubmit, stamp: number, isAsked = false): Submission {
    if (submission.kind === "accepted" && isAsked)
      for (const id of [submission.carrierMessageId, ...(submission.others ?? [])])
        this.#eachPoller?.await(id, message.expiresAtMs + RECEIPT_WAIT_MS);
    // Its receipt proves that it arrived.
    if (submission.kind === "unknown" && isAsked && this.isRepeatable && message.key !== undefined)
      this.#eachPoller?.await(message.key, message.expiresAtMs);
    this.#pace.answered(stamp, submission.kind === "later" && submission.status !== undefined);
    return submission;
  }

  #goDown(reason: string, what = "the carrier cannot be reached"): void {
    this.#note(reason);
    this.#warn(what, reason);
    if (this.#downTimer !== null || this.#isStopped) return;
    this.#downMs = Math.min(Math.max(this.#downMs * 2, MIN_DOWN_MS), MAX_DOWN_MS);
    this.#sinceMs = this.#parts.clock.now();
    this.#downTimer = this.#parts.clock.after(this.#downMs, () => this.connectNow());
  }

  #cameBack(called: Called): void {
    if (called.kind === "unknown") {
      this.#note(called.reason);
      this.#warn(UNANSWERED, called.reason);
    } else if (called.kind === "answered" && called.status >= 400) this.#note(`HTTP ${called.status}`);
  }

  /** It speaks of messages again. */
  #isBack(): void {
    this.#isRefused = false;
    if (this.#downMs === 0) return;
    this.#downMs = 0;
    this.#sinceMs = this.#parts.clock.now();
  }

  #note(says: string): void {
    this.#problem = { says, atMs: this.#parts.clock.now() };
  }

  #warn(what: string, reason: string): void {
    this.#limiter.write(what, (more) => this.#parts.log.warn({ carrier: this.id, reason, ...more }, what));
  }

  /** It is tried with the next message. */
  connectNow(): void {
    this.#downTimer?.cancel();
    this.#downTimer = null;
    this.#changed();
  }

  listen(listener: Partial<CarrierListener>): void {
    this.#listener = { ...this.#listener, ...listener };
  }

  #changed(): void {
    this.#listener.onChange();
  }

  connections(): ConnectionFacts {
    const link: LinkFacts = {
      kind: "http",
      host: new URL(this.#url).host,
      isBound: this.isUp() && !this.#isRefused,
      isRefused: this.#isRefused,
      sinceMs: this.#sinceMs,
      problem: this.#problem?.says ?? null,
      problemMs: this.#problem?.atMs ?? null,
      nextTryMs: this.#downTimer === null ? null : this.#sinceMs + this.#downMs,
      inFlight: this.#underWay,
    };
    return { links: [link], ...this.#pace.facts, ...given({ warning: this.#warning }) };
  }

  async start(): Promise<void> {
    for (const poller of this.#pollers) poller.start();
  }

  /** What is under way is waited for; its time is bounded by the transport. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#downTimer?.cancel();
    this.#pace.rest();
    for (const { resolve } of this.#gathered.splice(0)) resolve({ kind: "later", retryAfterMs: RETRY_MS });
    await Promise.all(this.#pollers.map((poller) => poller.stop()));
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#settled.push(resolve));
    await this.#transport.close();
  }
}

/** The operator names the address himself, so it may be one of his own network. */
export function transportOf(
  { answerSeconds = ANSWER_SECONDS, window = WINDOW, proxy, tlsCaPem }: HttpProfile,
  clock: Clock,
): Transport {
  const answerMs = answerSeconds * 1_000;
  return new HttpTransport({
    clock,
    policy: { allowLoopback: true, allowPrivate: true },
    settings: {
      connectionsPerHost: window,
      connectTimeoutMs: Math.min(answerMs, CONNECT_MS),
      headersTimeoutMs: answerMs,
      bodyTimeoutMs: answerMs,
      answerLimitBytes: MAX_ANSWER,
      excerptBytes: MAX_ANSWER,
    },
    ...given({ proxy, authority: tlsCaPem }),
  });
}

/** The body of a request for several messages: the description's own, with the list at its path. */
function placed(template: JsonTemplate, path: string, items: readonly JsonTemplate[], values: Values): JsonTemplate {
  if (path === "") return items;
  const body = structuredClone(fillJson(template, values) ?? {}) as Record<string, JsonTemplate>;
  const names = path.split(".");
  let place = body;
  for (const name of names.slice(0, -1)) {
    place[name] ??= {};
    place = place[name] as Record<string, JsonTemplate>;
  }
  place[names.at(-1)!] = items;
  return body;
}

/** What an answer says of each message: by our key where it tells it, else by the order. */
function answersIn(
  { answers, key }: NonNullable<SendDescription["many"]>,
  { data }: ReadAnswer,
  batch: readonly Waiting[],
) {
  const list = listAt(data, answers);
  if (key === undefined)
    return (_: PartToSubmit, index: number) => (list.length === batch.length ? list[index] : undefined);
  const byKey = new Map(list.map((item) => [textAt(item, key), item]));
  return ({ message }: PartToSubmit) => byKey.get(message.key);
}
