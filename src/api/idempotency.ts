/**
 * Idempotency: a request with an Idempotency-Key that comes twice is done once. The store keeps the key, a hash that tells one request from another,
 * and the answer; here is what a request says of it.
 */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";

const MAX_IDEMPOTENCY_KEY = 255;

/** The operations that heed the header, by their ids. The others do not look at it, and their descriptions do not name it. */
export const HEEDS_KEY: ReadonlySet<string> = new Set([
  ...["Text", "Binary"].flatMap((kind) =>
    ["Advanced", "Multi", "Single"].flatMap((form) => [`send${kind}${form}`, `send${kind}${form}V2`]),
  ),
  "sendTextSingleByQuery",
  "sendMessages",
  "sendTextByQuery",
  "oneApiSend",
  "kannelSend",
  "kannelPost",
  "addFunds",
  "moveFunds",
]);

function heedsKey(request: FastifyRequest): boolean {
  const { operationId = "" } = (request.routeOptions.schema ?? {}) as { readonly operationId?: string };
  return HEEDS_KEY.has(operationId);
}

/** The Idempotency-Key header, if there is one and the operation heeds it. */
export function idempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined || !heedsKey(request)) return null;
  if (typeof key !== "string" || key.length === 0 || key.length > MAX_IDEMPOTENCY_KEY) {
    throw new ApiError("badRequest", {
      variables: ["Idempotency-Key"],
      description: `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY} characters long.`,
    });
  }
  return key;
}

/** Tells one request from another: the operation, its query where that has parameters, and every byte of the body. */
export function bodyHash(request: FastifyRequest, query = ""): string {
  const hash = createHash("sha256").update(`${request.method} ${request.routeOptions.url}${query}\n`);
  return hash.update(request.rawBody ?? "").digest("base64url");
}

export const keyReused = (): ApiError => new ApiError("conflict", "The Idempotency-Key was used for another request.");
