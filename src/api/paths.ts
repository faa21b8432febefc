/** The paths of the API: how a request's target is brought to one, and what is said of a path that is not there. */
import type { FastifyRequest } from "fastify";
import { plainNames } from "./body-parsers.ts";
import { ApiError } from "./errors.ts";
import type { Api } from "./operation.ts";
import { folded, isNearly } from "./spelling.ts";

const NO_REQUESTS_HERE = "This node takes no requests: its roles do not include api.";
/** Leads nowhere, as any other path that is not there. */
const UNDECODABLE = "/undecodable";
const TOO_LONG = "/too-long";
/** Characters of one step, decoded: ids of clients stand in paths. */
const MAX_STEP = 1_024;

/** The path and query of a request's target, as the router takes it. */
export function routedPath(target: string): string {
  const path = passable(pathOf(target).replace(/^\/\/+/, "/"));
  const mark = path.indexOf("?");
  return mark < 0 ? path : path.slice(0, mark) + plainNames(path.slice(mark));
}

/** The host that a request target in absolute form names, which counts before the Host header (RFC 9112, 3.2.2); null in any other form. */
export function targetHost(target: string): string | null {
  return target.startsWith("/") ? null : (/^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? null);
}

/** A request target in absolute form, as old clients and proxies send it, is served by its path. */
export function pathOf(target: string): string {
  const match = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (match === null) return target;
  const path = match[1]!;
  return path.startsWith("/") ? path : `/${path}`;
}

/** What the router cannot decode, or finds too long, it would refuse by itself, past every bound and header. */
function passable(target: string): string {
  if (target.length <= MAX_STEP && !target.includes("%")) return target;
  try {
    const steps = target.split(/[?#]/, 1)[0]!.split("/").map(decodeURIComponent);
    return steps.some((step) => step.length > MAX_STEP) ? TOO_LONG : target;
  } catch {
    return UNDECODABLE;
  }
}

/** Steps of a path that are looked at; no operation has as many. */
const MAX_STEPS = 20;
/** No step of ours is as long. */
const MAX_NAME = 64;
/** Names that are told of those that stand at one place. */
const MAX_BELOW = 8;
const METHOD = /^[A-Z]{1,10}$/;

function isSameStep(wanted: string, step: string): boolean {
  return wanted === step || (wanted.startsWith(":") && step !== "");
}

/** A path that there is, taken apart once. */
interface KnownPath {
  readonly pattern: string;
  readonly steps: readonly string[];
  /** The steps as they are compared with what is nearly the same. */
  readonly folded: readonly string[];
  readonly methods: Set<string>;
}

function knownPath(pattern: string): KnownPath {
  const steps = pattern.split("/");
  return { pattern, steps, folded: steps.map(folded), methods: new Set() };
}

/** Whether all steps are the same but one, which is written nearly so. */
function isNear(asked: readonly string[], known: KnownPath): boolean {
  let different: number | null = null;
  for (const [index, wanted] of known.steps.entries()) {
    if (isSameStep(wanted, asked[index]!)) continue;
    if (different !== null || wanted === "*") return false;
    different = index;
  }
  if (different === null || asked[different]!.length > MAX_NAME) return false;
  const [written, name] = [folded(asked[different]!), known.folded[different]!];
  return written === name || isNearly(written, name);
}

/** "/operator/1/accounts/:key" as people write it: "/operator/1/accounts/{key}". */
function shownPattern(pattern: string): string {
  return pattern.replaceAll(/:(\w+)/g, "{$1}");
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, "") || "/";
}

/** Learns the routes as they are added, and so knows which methods a path has. */
export class KnownPaths {
  readonly #takesRequests: boolean;
  readonly #paths = new Map<string, KnownPath>();

  constructor(api: Api, takesRequests: boolean) {
    this.#takesRequests = takesRequests;
    api.addHook("onRoute", ({ url, method, exposeHeadRoute = true }) => {
      const path = withoutSlash(url);
      const known = this.#paths.get(path) ?? knownPath(path);
      for (const name of [method].flat()) known.methods.add(name);
      if (method === "GET" && exposeHeadRoute) known.methods.add("HEAD");
      this.#paths.set(path, known);
    });
  }

  /** Whether the route to which a request was led is for its method too: a HEAD is led to that of GET (head.ts). */
  takes({ method, routeOptions }: FastifyRequest): boolean {
    return method !== "HEAD" || this.#paths.get(withoutSlash(routeOptions.url ?? ""))?.methods.has("HEAD") === true;
  }

  /** What a request to a path or method that is not there is told. */
  unknown(request: FastifyRequest): ApiError {
    if (request.url === UNDECODABLE) return new ApiError("notFound", "The path is not a valid URL.");
    const path = withoutSlash(request.url.split("?")[0]!);
    const methods = (this.#paths.get(path) ?? this.#like(path))?.methods;
    if (methods === undefined)
      return new ApiError("notFound", { description: this.#takesRequests ? this.#near(path) : NO_REQUESTS_HERE });
    const allow = [...methods].sort().join(", ");
    return new ApiError("methodNotAllowed", {
      description: `This path does not take ${METHOD.test(request.method) ? request.method : "this method"}, but ${allow}.`,
      headers: { allow },
    });
  }

  /**
   * What there is near a path that is not there: the one that differs in the spelling of one step, or else what there is below the steps that are right.
   * A step is compared, and never the whole path letter by letter: strangers ask for paths that are not there by the thousand.
   */
  #near(path: string): string {
    const steps = path.split("/", MAX_STEPS);
    let right = 0;
    let beginning: readonly string[] = [];
    let below = new Set<string>();
    for (const known of this.#paths.values()) {
      const { pattern, steps: wanted, methods } = known;
      if (wanted.length === steps.length && isNear(steps, known))
        return `There is no such path; did you mean ${[...methods].sort().join(", ")} ${shownPattern(pattern)}?`;
      let same = 0;
      while (same < steps.length && same < wanted.length && isSameStep(wanted[same]!, steps[same]!)) same++;
      if (same < right || same === wanted.length) continue;
      if (same > right) below = new Set();
      right = same;
      beginning = wanted;
      below.add(wanted[same]!);
    }
    // The first step is empty. What is at the very top is the console's too, and says little.
    if (right <= 1) return "There is no such path; GET /docs has all that there are.";
    const names = [...below].map(shownPattern).sort();
    const shown = names.slice(0, MAX_BELOW).join(", ");
    const more = names.length > MAX_BELOW ? " and others" : "";
    return `There is no such path; below ${shownPattern(beginning.slice(0, right).join("/"))}/ there is ${shown}${more}.`;
  }

  /** Of a path with names in it, such as /operator/1/accounts/:key. */
  #like(path: string): KnownPath | undefined {
    const steps = path.split("/", MAX_STEPS + 1);
    const isLike = (step: string, index: number): boolean => step.startsWith(":") || step === steps[index];
    return [...this.#paths.values()].find(
      ({ steps: wanted }) => wanted.length === steps.length && wanted.every(isLike),
    );
  }
}
