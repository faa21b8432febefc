/** Parameters of operations that take them wherever a client puts them: in the body, in headers, in the query. */
import { isUtf8 } from "node:buffer";
import type { FastifyRequest } from "fastify";
import { refuseBadText } from "./body-parsers.ts";
import { badField } from "./errors.ts";

export type Fields = Record<string, unknown>;

/** The parameters in the body, JSON or form; none without a body. */
export function bodyFields(request: FastifyRequest): Fields {
  const body = request.body ?? {};
  if (typeof body !== "object" || Array.isArray(body)) throw badField("body", "must be an object");
  return body as Fields;
}

export function queryFields(request: FastifyRequest): Fields {
  refuseBadText(request.query);
  return request.query as Fields;
}

/** Node reads the octets of a header as Latin-1; most clients write UTF-8. */
export function headerText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const octets = Buffer.from(value, "latin1");
  return isUtf8(octets) ? octets.toString("utf8") : value;
}
