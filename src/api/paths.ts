/** The paths of the API: how a request's target is brought to one, and what is said of a path that is not there. */
import type { FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";
import type { Api } from "./operation.ts";

const NO_REQUESTS_HERE = "This node takes no requests: its roles do not include api.";
/** Leads nowhere, as any other path that is not there. */
const UNDECODABLE = "/undecodable";

/** The path and query of a request's target, as the router takes it. */
export function routedPath(target: string): string {
  return decodable(pathOf(target));
}

/** A request target in absolute form, as old clients and proxies send it, is served by its path. */
function pathOf(target: string): string {
  const match = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (match === null) return target;
  const path = match[1]!;
  return path.startsWith("/") ? path : `/${path}`;
}

/** What the router cannot decode it would refuse by itself, past every bound and header. */
function decodable(path: string): string {
  if (!path.includes("%")) return path;
  try {
    decodeURIComponent(path.split(/[?#;]/, 1)[0]!);
    return path;
  } catch {
    return UNDECODABLE;
  }
}

/** Learns the routes as they are added, and so knows which methods a path has. */
export class KnownPaths {
  readonly #takesRequests: boolean;
  readonly #methodsOf = new Map<string, Set<string>>();

  constructor(api: Api, takesRequests: boolean) {
    this.#takesRequests = takesRequests;
    api.addHook("onRoute", ({ url, method }) => {
      const path = url.replace(/\/$/, "") || "/";
      const methods = this.#methodsOf.get(path) ?? new Set();
      for (const name of [method].flat()) methods.add(name);
      this.#methodsOf.set(path, methods);
    });
  }

  /** What a request to a path or method that is not there is told. */
  unknown(request: FastifyRequest): ApiError {
    if (request.url === UNDECODABLE) return new ApiError("notFound", { description: "The path is not a valid URL." });
    const path = request.url.split("?")[0]!.replace(/\/$/, "") || "/";
    const methods = this.#methodsOf.get(path) ?? this.#methodsLike(path);
    if (methods === undefined)
      return new ApiError("notFound", this.#takesRequests ? {} : { description: NO_REQUESTS_HERE });
    return new ApiError("methodNotAllowed", { headers: { allow: [...methods].sort().join(", ") } });
  }

  /** Of a path with names in it, such as /operator/1/accounts/:key. */
  #methodsLike(path: string): Set<string> | undefined {
    const steps = path.split("/");
    for (const [pattern, methods] of this.#methodsOf) {
      const wanted = pattern.split("/");
      if (
        wanted.length === steps.length &&
        wanted.every((step, index) => step.startsWith(":") || step === steps[index])
      )
        return methods;
    }
    return undefined;
  }
}
