/**
 * Below /operator/1 a parameter of the query that the operation does not know is refused, as an unknown field of a body is there: what it was to narrow or to
 * choose would otherwise be left out in silence, and whoever asked for CSV would get JSON.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { didYouMean } from "../runtime/near.ts";
import { badField } from "./errors.ts";
import type { Api } from "./operation.ts";

const STRICT = "/operator/1/";

/** For every operation that is registered from now on. */
export function refuseUnknownParameters(api: Api): void {
  api.addHook("onRoute", (route) => {
    if (!route.url.startsWith(STRICT)) return;
    const { querystring } = (route.schema ?? {}) as { readonly querystring?: { readonly properties: object } };
    const known = new Set(Object.keys(querystring?.properties ?? {}));
    const check = (request: FastifyRequest, _: FastifyReply, done: () => void): void => {
      for (const name in request.query as object) {
        const plain = name.endsWith("[]") ? name.slice(0, -2) : name;
        if (!known.has(plain)) throw badField(name, `is not known here${didYouMean(plain, known)}`);
      }
      done();
    };
    route.preValidation = [check, ...[route.preValidation ?? []].flat()] as NonNullable<typeof route.preValidation>;
  });
}
