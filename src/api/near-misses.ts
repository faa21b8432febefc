/**
 * Near misses: fields that an operation does not know and that look like one that it does, as notifyURL does like notifyUrl, or that belong elsewhere
 * (other-places.ts). Unknown fields are accepted, because clients send what other services know. But whoever has only mistyped one should hear of it: in a
 * header of the answer, in the log, and in the sandbox's output.
 *
 * A request that has nothing but known fields costs a look into a set for each, and nothing is made for it.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { LiveHub } from "../events/live.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import { type KnownFields, type KnownRequest, knownRequest, type RouteSchema } from "./known-fields.ts";
import type { Api } from "./operation.ts";
import { type OtherPlaces, otherPlaces } from "./other-places.ts";
import { folded, isNearly } from "./spelling.ts";

export const WARNINGS_HEADER = "X-Heliograph-Warnings";

/** Of one request, how many fields are looked at, and how many warnings are given. */
const MAX_LOOKED_AT = 2_000;
const MAX_UNKNOWN = 100;
const MAX_WARNINGS = 10;
const MAX_HEADER_LENGTH = 1_000;
const MAX_NAME_LENGTH = 64;
/** Unknown names that are remembered of one object. */
const MAX_MEANT = 200;
const MAX_DEPTH = 16;

/** What is left to be looked at. Shared by all requests: each is looked at in one go. */
let left = 0;

/** Whether there is a field that nobody knows here. Of an array of objects all are looked at. */
function hasUnknown(known: KnownFields, value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left > 0; index++)
      if (hasUnknown(known, value[index], depth + 1)) return true;
    return false;
  }
  for (const name in value) {
    if (left-- <= 0) return false;
    if (!isKnown(known, name)) return true;
    const field = (value as Record<string, unknown>)[name];
    if (typeof field !== "object") continue;
    const within = known.inside.get(name);
    if (within !== undefined && hasUnknown(within, field, depth + 1)) return true;
  }
  return false;
}

/** A list in a query may be written as `name[]`. */
function isKnown({ names }: KnownFields, name: string): boolean {
  return names.has(name) || (name.endsWith("[]") && names.has(name.slice(0, -2)));
}

function meantBy(known: KnownFields, name: string, elsewhere: OtherPlaces | null): string | null {
  if (name.length > MAX_NAME_LENGTH) return null;
  const before = known.meant.get(name);
  if (before !== undefined) return before;
  const written = folded(name);
  const names = [...known.names];
  const meant =
    names.find((each) => folded(each) === written) ??
    names.find((each) => isNearly(written, folded(each))) ??
    elsewhere?.(name) ??
    null;
  if (known.meant.size >= MAX_MEANT) known.meant.clear();
  known.meant.set(name, meant);
  return meant;
}

/** Each name once for the objects of one place in the schema: the first that has it stands for the others. */
class Warnings {
  readonly texts: string[] = [];
  readonly #told = new Set<string>();
  readonly #elsewhere: OtherPlaces | null;
  #unknowns = 0;

  constructor(elsewhere: OtherPlaces | null) {
    this.#elsewhere = elsewhere;
  }

  look(known: KnownFields, value: unknown, path: string, depth = 0): void {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length && left > 0; index++)
        this.look(known, value[index], `${path}[${index}]`, depth + 1);
      return;
    }
    for (const name in value) {
      if (left-- <= 0 || this.texts.length >= MAX_WARNINGS) return;
      const within = known.inside.get(name);
      if (within !== undefined)
        this.look(within, (value as Record<string, unknown>)[name], path === "" ? name : `${path}.${name}`, depth + 1);
      else if (!isKnown(known, name)) this.#unknown(known, name, path);
    }
  }

  #unknown(known: KnownFields, name: string, path: string): void {
    // Each is compared with all that there are: a caller who makes up names by the thousand is told of the first.
    if (++this.#unknowns > MAX_UNKNOWN) return;
    const meant = meantBy(known, name, this.#elsewhere);
    if (meant === null) return;
    const place = path.replaceAll(/\[\d+\]/g, "[]");
    if (this.#told.has(`${place}.${name}`)) return;
    this.#told.add(`${place}.${name}`);
    const field = path === "" ? name : `${path}.${name}`;
    this.texts.push(`${plain(field)} is not known here; did you mean ${meant}?`);
  }
}

/** In ASCII and without signs that a header or a terminal would take for its own: the caller has chosen the name. */
export function plain(field: string): string {
  return field.toWellFormed().replaceAll(/[^\w.[\]-]/gu, (character) => encodeURIComponent(character));
}

function headerOf(warnings: readonly string[]): string {
  let text = "";
  for (const warning of warnings) {
    if (text.length + warning.length > MAX_HEADER_LENGTH) break;
    text += text === "" ? warning : `, ${warning}`;
  }
  return text;
}

/** The near misses among the fields of a body and a query; with `elsewhere` also those that are right in another place. */
export function nearMisses(
  known: KnownRequest,
  body: unknown,
  query: unknown,
  elsewhere: OtherPlaces | null = null,
): readonly string[] {
  left = MAX_LOOKED_AT;
  const isPlain =
    (known.query === null || !hasUnknown(known.query, query, 0)) &&
    (known.body === null || body instanceof Buffer || !hasUnknown(known.body, body, 0));
  if (isPlain) return NONE;
  const warnings = new Warnings(elsewhere);
  left = MAX_LOOKED_AT;
  if (known.query !== null) warnings.look(known.query, query, "");
  if (known.body !== null && !(body instanceof Buffer)) warnings.look(known.body, body, "");
  return warnings.texts;
}

const NONE: readonly string[] = [];

export interface NearMissParts {
  readonly log: Log;
  readonly live: LiveHub;
  readonly clock: Clock;
}

/** Tells of one request, before its answer goes out. */
type TellWarnings = (request: FastifyRequest, reply: FastifyReply, warnings: readonly string[]) => void;

const MISTYPED = "a request has fields that look mistyped";

/** Every operation that is registered from now on tells of near misses. What is returned tells of what else is odd about a request. */
export function tellNearMisses(api: Api, { log, live, clock }: NearMissParts): TellWarnings {
  const limiter = new LogLimiter(systemClock);
  const tell = (
    request: FastifyRequest,
    reply: FastifyReply,
    warnings: readonly string[],
    says = "a request looks odd",
  ): void => {
    const { method, account } = request;
    const route = `${method} ${request.routeOptions.url}`;
    const before = reply.getHeader(WARNINGS_HEADER);
    reply.header(WARNINGS_HEADER, headerOf(typeof before === "string" ? [before, ...warnings] : warnings));
    const by = account?.key ?? null;
    limiter.write(`${by} ${route}`, (more) => log.info({ account: by, route, warnings, ...more }, says));
    if (live.isOn && account !== null)
      live.take({
        events: [{ kind: "warning", accountId: account.id, atMs: clock.now(), request: route, warnings }],
        missed: new Map(),
      });
  };
  api.addHook("onRoute", (route) => {
    const { schema, config = {} } = route;
    const known = schema === undefined ? null : knownRequest(schema as RouteSchema, config.alsoTakes ?? []);
    if (known === null) return;
    const { body, querystring } = schema as RouteSchema;
    const elsewhere = config.scope === "send" ? otherPlaces((body ?? querystring) as object) : null;
    const look = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      const warnings = nearMisses(known, request.body, request.query, elsewhere);
      if (warnings.length > 0) tell(request, reply, warnings, MISTYPED);
      done();
    };
    // Before those of the operation itself, which may read the query into another form.
    route.preValidation = [look, ...[route.preValidation ?? []].flat()] as NonNullable<typeof route.preValidation>;
  });
  return tell;
}
