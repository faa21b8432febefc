/**
 * Idempotency: a request with an Idempotency-Key that comes twice is done once. The store keeps the key, a hash that tells one request from another,
 * and the answer; here is what a request says of it.
 */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";

const MAX_IDEMPOTENCY_KEY = 255;

/** The Idempotency-Key header, if there is one. */
export function idempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
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

export const keyReused = (): ApiError =>
  new ApiError("conflict", { description: "The Idempotency-Key was used for another request." });
