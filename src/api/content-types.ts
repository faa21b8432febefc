/** The content types that the API takes: the body of a request is read into memory, within the bound of its operation, and parsed. */
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Clock, Timer } from "../runtime/clock.ts";
import { Slices } from "../runtime/slices.ts";
import type { Settings } from "../settings/settings.ts";
import type { Bodies } from "./bodies.ts";
import { type KnownNames, knownNames, parseForm, parseJson } from "./body-parsers.ts";
import type { ClientConnections } from "./client-connections.ts";
import { namesIn } from "./known-fields.ts";
import { LARGE_OCTETS, LargeRequests } from "./large-requests.ts";
import { type Api, SMALL_BODY } from "./operation.ts";
import type { RateLimits } from "./rate-limits.ts";

type Done = (error: Error | null, body?: unknown) => void;

export interface ContentTypeParts {
  readonly limits: Settings["limits"];
  readonly bodies: Bodies;
  readonly connections: ClientConnections;
  readonly clock: Clock;
  readonly rateLimits: Pick<RateLimits, "refusal">;
}

/** A client that has gone has no answer that could end its work; by then it is done. */
const MAX_WORK_MS = 60_000;

export function takeContentTypes(api: Api, parts: ContentTypeParts): void {
  const { limits, bodies, connections, clock, rateLimits } = parts;
  api.removeAllContentTypeParsers();
  const large = new LargeRequests(clock);
  const slices = new Slices();
  /** Parses a body, a large one when it is its account's turn. */
  const inTurn = (request: FastifyRequest, body: Buffer, parse: () => void, refuse: (error: Error) => void): void => {
    const { account, progress } = request;
    if (body.length <= LARGE_OCTETS || account === null) {
      parse();
      return;
    }
    large.enter(account.id, body.length).then(async (leave) => {
      let isDone = false;
      let timer: Timer | null = null;
      request.workDone = () => {
        isDone = true;
        timer?.cancel();
        leave();
      };
      progress!.holds(() => {
        if (!isDone) timer = clock.after(MAX_WORK_MS, leave);
      });
      await slices.turn(account.id);
      parse();
    }, refuse);
  };
  const refusalOf = ({ account, routeOptions }: FastifyRequest): Error | null => {
    if (account === null) return null;
    const isSending = routeOptions.config.scope === "send";
    return large.refusal(account.id) ?? (isSending ? rateLimits.refusal(account) : null);
  };
  const parsedBy =
    (parse: (body: Buffer, request: FastifyRequest) => unknown) =>
    (request: FastifyRequest, raw: IncomingMessage, done: Done): void => {
      const { bodyOctets = SMALL_BODY, octets = false } = request.routeOptions.config;
      const limit = bodyOctets === "large" ? limits.bodyBytes : Math.min(bodyOctets, limits.bodyBytes);
      const progress = request.progress!;
      const owner = {
        accountId: request.account?.id ?? null,
        dismiss: () => connections.dismiss(progress.connection),
        holds: (release: () => void) => progress.holds(release),
      };
      const read = (body: Buffer): void => {
        request.rawBody = body;
        let value: unknown;
        try {
          value = parse(body, request);
        } catch (fault) {
          done(fault as Error);
          return;
        }
        done(null, value);
      };
      // One too many is told so before it is read: to read it costs as much as a hundred small requests.
      const isLarge = !octets && Number(raw.headers["content-length"]) > LARGE_OCTETS;
      const refusal = isLarge ? refusalOf(request) : null;
      if (refusal !== null) {
        done(refusal);
        return;
      }
      bodies.read(raw, limit, owner, (error, body) => {
        if (error !== null) done(error);
        else if (octets) done(null, body!);
        else inTurn(request, body!, () => read(body!), done);
      });
    };
  const known = new Map<string, KnownNames | null>();
  /** What a body may name, once for each operation. */
  const knownTo = ({ method, routeOptions }: FastifyRequest): KnownNames | null => {
    const { url, schema, config } = routeOptions;
    const operation = `${method} ${url}`;
    const before = known.get(operation);
    if (before !== undefined) return before;
    const names = namesIn(schema?.body, config.alsoTakes);
    const found = names === null ? null : knownNames(names);
    known.set(operation, found);
    return found;
  };
  const json = parsedBy((body, request) => parseJson(body, body.length > LARGE_OCTETS ? knownTo(request) : null));
  api.addContentTypeParser("application/json", json);
  api.addContentTypeParser(
    "application/x-www-form-urlencoded",
    parsedBy((body, { routeOptions, headers }) =>
      parseForm(body, routeOptions.config.form === "lists", headers["content-type"]),
    ),
  );
  // Only what has no Content-Type comes here: the others were refused before their body was read.
  api.addContentTypeParser("*", json);
}
