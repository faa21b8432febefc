/**
 * Live views: `GET /console/1/live?view=messages%3Fq%3Dfailed&view=me` answers with server-sent events (WHATWG HTML, 9.2). Each view is answered at
 * once and again whenever its answer has changed; one that fails says so, and the others go on. Nothing is remembered for a client that was away:
 * whoever comes again gets every answer as it is then.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock, Timer } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Account } from "../../store/port/accounts.ts";
import { AUTHENTICATION, type AuthParts, checkAddress, readToken, watchRefusal } from "../auth.ts";
import { MemoryBudget } from "../budget.ts";
import { ApiError, badField, tooMany, unavailable } from "../errors.ts";
import { type Api, accountOf } from "../operation.ts";
import { LiveStream } from "./live-stream.ts";
import { problemNews, type Question, type Serialize, SharedViews, type Viewer } from "./shared-views.ts";
import { VIEW_ROOT, type View } from "./view.ts";

const MAX_VIEWS = 8;
const MAX_VIEW_CHARACTERS = 2_048;
/** What the readers of all streams have not taken. */
const UNREAD_OCTETS = 32 * 1024 * 1024;
const TICK_MS = 1_000;

export interface LiveParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<Settings, "console">;
}

/** Looks again who watches, without keeping a session alive; and the token of that session, if it is one. */
export interface Finder {
  readonly token: string | null;
  find(): Promise<Account | null>;
}

/** All streams of this node. */
export class Live {
  readonly #parts: LiveParts;
  readonly #streams = new Set<LiveStream>();
  readonly #perAccount = new Map<number, number>();
  readonly #shared: SharedViews;
  readonly #budget = new MemoryBudget(UNREAD_OCTETS);
  #ticking: Timer | null = null;
  #isStopped = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#shared = new SharedViews(parts);
  }

  /** The account has done something on this node: what it watches is read at once. */
  touch(accountId: number): void {
    this.#shared.touch(accountId);
  }

  /** Accounts or keys have changed: whoever watches may do so no more. */
  recheck(): void {
    for (const stream of this.#streams) stream.recheck();
  }

  /** A session has ended, and with it what was opened with it. */
  signedOut(token: string): void {
    for (const stream of this.#streams) if (stream.token === token) stream.recheck();
  }

  /** Ends every stream, so that a stop waits for none, and lets no other begin. */
  stop(): void {
    this.#isStopped = true;
    for (const stream of this.#streams) stream.end();
  }

  /** A stream of these views. */
  open(account: Account, views: readonly (Question | ApiError)[], auth: AuthParts, finder: Finder) {
    const stream = this.#begin(account, finder, (watching, now) => {
      for (const [index, view] of views.entries()) this.#renew(watching, index, view, now, auth);
    });
    for (const [index, view] of views.entries()) {
      stream.watches[index] = null;
      const refusal = view instanceof ApiError ? view : watchRefusal(auth, account, view.view);
      if (refusal !== null) stream.offer(index, problemNews(refusal));
      else stream.watches[index] = this.#shared.watch(view as Question, account, (news) => stream.offer(index, news));
    }
    return stream;
  }

  /** A stream of what is told once and for all, which `watch` begins. */
  openFeed(account: Account, finder: Finder, watch: (stream: LiveStream) => Viewer): LiveStream {
    const stream = this.#begin(account, finder, (watching, now) => watching.watches[0]?.renew(now));
    stream.watches[0] = watch(stream);
    return stream;
  }

  #begin(account: Account, { token, find }: Finder, renew: (stream: LiveStream, now: Account) => void): LiveStream {
    if (this.#isStopped) throw unavailable("The service is stopping.");
    this.#makeRoom(account.id);
    const check = async (watching: LiveStream): Promise<boolean> => {
      const now = await find();
      if (now === null || now.suspended) return false;
      renew(watching, now);
      return true;
    };
    const stream = new LiveStream({ clock: this.#parts.clock, account, token, budget: this.#budget, check });
    this.#streams.add(stream);
    stream.once("close", () => this.#remove(stream));
    this.#tick();
    return stream;
  }

  #makeRoom(accountId: number): void {
    const { liveStreams, liveStreamsPerAccount } = this.#parts.settings.console;
    const own = this.#perAccount.get(accountId) ?? 0;
    if (own >= liveStreamsPerAccount)
      throw tooMany(`The account has ${liveStreamsPerAccount} pages that watch already: close one.`);
    if (this.#streams.size >= liveStreams) throw unavailable("Too many pages of the console watch right now.");
    this.#perAccount.set(accountId, own + 1);
  }

  #remove(stream: LiveStream): void {
    this.#streams.delete(stream);
    const left = this.#perAccount.get(stream.accountId)! - 1;
    if (left === 0) this.#perAccount.delete(stream.accountId);
    else this.#perAccount.set(stream.accountId, left);
    if (this.#streams.size > 0) return;
    this.#ticking?.cancel();
    this.#ticking = null;
  }

  #tick(): void {
    this.#ticking ??= this.#parts.clock.after(TICK_MS, () => {
      this.#ticking = null;
      for (const stream of this.#streams) stream.tick();
      if (this.#streams.size > 0) this.#tick();
    });
  }

  /** What a view asks for may have been taken away from its caller meanwhile. */
  #renew(stream: LiveStream, index: number, view: Question | ApiError, now: Account, auth: AuthParts): void {
    const watch = stream.watches[index] ?? null;
    if (watch === null || view instanceof ApiError) return;
    const refusal = watchRefusal(auth, now, view.view);
    if (refusal === null) {
      watch.renew(now);
      return;
    }
    watch.stop();
    stream.watches[index] = null;
    stream.offer(index, problemNews(refusal));
  }
}

/** The texts of the parameter `view`, each a view's name and its query. */
function readViews(query: unknown): readonly string[] {
  const { view } = query as { view?: unknown };
  const texts = [view ?? []].flat().map(String);
  if (texts.length === 0) throw badField("view", "is required: the name of a view, with its query");
  if (texts.length > MAX_VIEWS) throw badField("view", `must be given at most ${MAX_VIEWS} times`);
  if (texts.some((text) => text.length > MAX_VIEW_CHARACTERS))
    throw badField("view", `must be at most ${MAX_VIEW_CHARACTERS} characters long`);
  return texts;
}

/** Looks again who it is that brought this request. */
export function finderOf(auth: AuthParts, request: FastifyRequest): Finder {
  const { authorization: header } = request.headers;
  const address = request.ip;
  const token = readToken(header);
  const find = async (): Promise<Account | null> => {
    try {
      const caller = { header, address, connection: { caller: null } };
      const account = token === null ? await AUTHENTICATION.known(auth, caller) : await auth.sessions.look(token);
      if (account !== null) checkAddress(account, address);
      return account;
    } catch (error) {
      if (error instanceof ApiError && error.kind.status < 429) return null;
      throw error;
    }
  };
  return { token, find };
}

export function sendStream(request: FastifyRequest, reply: FastifyReply, stream: LiveStream): FastifyReply {
  request.progress!.streams();
  return reply
    .type("text/event-stream; charset=utf-8")
    .headers({ "x-accel-buffering": "no", connection: "close" })
    .send(stream);
}

export function liveOperation(api: Api, live: Live, auth: AuthParts, views: readonly View[]): void {
  const byName = new Map(views.map((view) => [view.name, view]));
  const questionOf = (text: string, reply: FastifyReply): Question | ApiError => {
    const mark = text.indexOf("?");
    const view = byName.get(mark < 0 ? text : text.slice(0, mark));
    if (view === undefined) return new ApiError("notFound", "There is no such view.");
    const serialize = reply.compileSerializationSchema(view.answer as Record<string, unknown>) as Serialize;
    return { view, query: mark < 0 ? "" : text.slice(mark + 1), serialize };
  };

  // Hidden from /docs: whoever tries it out there would wait for its end. And no HEAD: it would have no end either.
  api.get(
    `${VIEW_ROOT}live`,
    { exposeHeadRoute: false, schema: { hide: true }, config: { auth: "known", scope: null } },
    async (request, reply) => {
      const questions = readViews(request.query).map((text) => questionOf(text, reply));
      const stream = live.open(accountOf(request), questions, auth, finderOf(auth, request));
      return sendStream(request, reply, stream);
    },
  );
}
