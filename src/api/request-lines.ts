/**
 * X-Request-Id, and a line of the log for each request. A caller who sends an id gets it back, and finds it in the log. At the level debug every
 * request has a line; whoever sent no id gets one then, so that its line can be found. Never more than the path of its route: what stands in
 * a URL may be a secret.
 */
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isDebugging, type Log } from "../runtime/log.ts";

/** Whatever else it is, it is not given back. */
const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;
const MAX_PATH = 100;

export class RequestLines {
  readonly #log: Log;
  /** Tells the requests of this start from those of another. */
  readonly #start: string;
  readonly isOn: boolean;

  constructor(log: Log, startedMs: number) {
    this.#log = log;
    this.#start = startedMs.toString(36);
    this.isOn = isDebugging(log);
  }

  /** Gives the id of a request back. Of one without, nothing is done unless there will be a line of it. */
  identify(request: FastifyRequest, reply: FastifyReply): void {
    const given = request.headers["x-request-id"];
    if (given === undefined && !this.isOn) return;
    const isUsable = typeof given === "string" && REQUEST_ID.test(given);
    if (isUsable || this.isOn) reply.header("x-request-id", isUsable ? given : this.#ownId(request));
  }

  /** Call it only while it is on. */
  answered(request: FastifyRequest, reply: FastifyReply): void {
    const { method, account, progress, refusal, ip } = request;
    const route = progress?.route;
    this.#log.debug(
      {
        request: reply.getHeader("x-request-id") ?? this.#ownId(request),
        method,
        ...(route === undefined ? { path: pathOf(request.url) } : { route }),
        status: reply.statusCode,
        tookMs: Math.round(reply.elapsedTime * 10) / 10,
        account: account?.key ?? null,
        address: ip,
        ...(refusal === null ? {} : { refusal: refusal.kindName }),
      },
      "a request was answered",
    );
  }

  /** Of what could not be read as a request. */
  broken(code: string, { remoteAddress = null }: { readonly remoteAddress?: Socket["remoteAddress"] | null }): void {
    if (this.isOn) this.#log.debug({ reason: code, address: remoteAddress }, "a request could not be read");
  }

  #ownId({ id }: FastifyRequest): string {
    return `${this.#start}-${id}`;
  }
}

/** Without its query, and no more than the beginning. */
function pathOf(url: string): string {
  const end = url.indexOf("?");
  return url.slice(0, end < 0 ? MAX_PATH : Math.min(end, MAX_PATH));
}
