/**
 * GET /events/1/live: what happens to an account's messages, as it happens, in server-sent events (WHATWG HTML, 9.2); `heliograph listen` prints them.
 * Each event `live` has the events of a moment, and how many more there were that could not be told: nothing is kept for a reader that is slow or away.
 * With several nodes one hears of what this node does.
 */
import type { FastifyRequest } from "fastify";
import { LIVE_KINDS, type LiveBatch, type LiveEvent, type LiveHub, missedIn } from "../events/live.ts";
import { boundedCache } from "../runtime/cache.ts";
import { Type } from "../runtime/type.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { watchRefusal } from "./auth.ts";
import { finderOf, sendStream } from "./console/live.ts";
import type { LiveStream } from "./console/live-stream.ts";
import { accountOfSearch } from "./console/messages.ts";
import { badField } from "./errors.ts";
import { type Api, accountOf, TRACKING } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { fieldsOf, readList, readText } from "./query.ts";
import { OptionalText } from "./shapes.ts";

/** What a reader that is slow has not taken yet; what comes beyond is missed. */
const MAX_WAITING = 2_000;
/** Names of accounts that are remembered, by their ids. */
const MAX_NAMES = 10_000;

/** Hidden from /docs, and so here for the names of its fields alone. */
const Query = Type.Object({
  account: OptionalText("For operators and resellers: whose messages."),
  events: OptionalText("Only events of these kinds, separated by commas."),
});

interface Wish {
  /** Null for all accounts. */
  readonly accountId: number | null;
  /** Null for all kinds. */
  readonly kinds: ReadonlySet<string> | null;
}

function readKinds(query: unknown): ReadonlySet<string> | null {
  const kinds = readList(fieldsOf(query), "events");
  const unknown = kinds?.find((kind) => !(LIVE_KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined) throw badField("events", `must be some of ${LIVE_KINDS.join(", ")}`);
  return kinds === null ? null : new Set(kinds);
}

function shown({ accountId: _, atMs, dueAtMs, report, ...event }: LiveEvent, account: string): object {
  return {
    at: formatDateTime(atMs),
    account,
    ...event,
    ...(dueAtMs === undefined ? {} : { dueAt: formatDateTime(dueAtMs) }),
    ...(report === undefined ? {} : { report: shownReport(report) }),
  };
}

function shownReport({ url, retryAtMs, ...report }: NonNullable<LiveEvent["report"]>): object {
  return { ...report, url, retryAt: retryAtMs === null ? null : formatDateTime(retryAtMs) };
}

/** What one reader gets, and has still to get. */
class EventFeed {
  readonly #stream: LiveStream;
  readonly #wish: Wish;
  readonly #nameOf: (accountId: number) => Promise<string>;
  readonly #stop: () => void;
  #waiting: LiveEvent[] = [];
  #missed = 0;
  #writing = false;

  constructor(hub: LiveHub, stream: LiveStream, wish: Wish, nameOf: (accountId: number) => Promise<string>) {
    this.#stream = stream;
    this.#wish = wish;
    this.#nameOf = nameOf;
    this.#stop = hub.subscribe((batch) => this.#take(batch));
  }

  stop(): void {
    this.#stop();
    this.#waiting = [];
  }

  /** Its reader has room again. */
  touch(): void {
    void this.#write();
  }

  #take(batch: LiveBatch): void {
    const { accountId, kinds } = this.#wish;
    this.#missed += accountId === null ? missedIn(batch) : (batch.missed.get(accountId) ?? 0);
    for (const event of batch.events) {
      if (accountId !== null && event.accountId !== accountId) continue;
      if (kinds !== null && !kinds.has(event.kind)) continue;
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(event);
      else this.#missed++;
    }
    void this.#write();
  }

  async #write(): Promise<void> {
    if (this.#writing || this.#waiting.length + this.#missed === 0) return;
    this.#writing = true;
    const events = this.#waiting;
    const missed = this.#missed;
    this.#waiting = [];
    this.#missed = 0;
    // Each account is asked for once, however many events it has.
    const ids = [...new Set(events.map(({ accountId }) => accountId))];
    const names = new Map(await Promise.all(ids.map(async (id) => [id, await this.#nameOf(id)] as const)));
    const told = events.map((event) => shown(event, names.get(event.accountId)!));
    this.#writing = false;
    if (this.#stream.tell("live", JSON.stringify({ events: told, missed }))) {
      void this.#write();
      return;
    }
    // Its reader is slow: it gets them when it has room.
    const all = [...events, ...this.#waiting];
    this.#waiting = all.slice(0, MAX_WAITING);
    this.#missed += missed + all.length - this.#waiting.length;
  }
}

export function liveEventOperation(api: Api, parts: ApiParts): void {
  const { store, live, liveHub } = parts;
  const names = boundedCache<number, string>(MAX_NAMES);
  const nameOf = async (accountId: number): Promise<string> => {
    const known = names.get(accountId);
    if (known !== undefined) return known;
    try {
      const name = (await store.profile({ resellerId: null, accountId }))?.key ?? String(accountId);
      names.set(accountId, name);
      return name;
    } catch {
      return String(accountId);
    }
  };
  const open = async (request: FastifyRequest): Promise<LiveStream> => {
    const account = accountOf(request);
    const key = readText(fieldsOf(request.query), "account");
    const wish = { accountId: await accountOfSearch(parts, account, key), kinds: readKinds(request.query) };
    return live.openFeed(account, finderOf(parts, request), (stream) => {
      const feed = new EventFeed(liveHub, stream, wish, nameOf);
      stream.tell("open", JSON.stringify({ account: wish.accountId === null ? null : (key ?? account.key) }));
      return {
        touch: () => feed.touch(),
        stop: () => feed.stop(),
        // The right to it may have been taken away meanwhile.
        renew: (now) => {
          if (watchRefusal(parts, now, TRACKING) !== null) stream.end();
        },
      };
    });
  };
  // Hidden from /docs: whoever tries it out there would wait for its end. And no HEAD: it would have no end either.
  api.get(
    "/events/1/live",
    {
      exposeHeadRoute: false,
      schema: { hide: true, querystring: Query },
      validatorCompiler: () => () => true,
      config: { ...TRACKING, json: false },
    },
    async (request, reply) => sendStream(request, reply, await open(request)),
  );
}
