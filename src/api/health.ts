/** For whoever watches the service: is the process up, can it take work, and its metrics. */
import { type TSchema, Type } from "typebox";
import { networksOf, type Settings } from "../runtime/settings.ts";
import { ApiError, RETRY_SOON } from "./errors.ts";
import type { Api } from "./operation.ts";
import { ErrorResponse, HealthResponse } from "./schemas.ts";

export interface HealthParts {
  /** Resolves when the service can take work, and rejects with the reason when it cannot. */
  readonly ready: () => Promise<void>;
  /** The metrics page, in Prometheus' text form. */
  readonly metrics: () => Promise<string>;
  readonly settings: Settings;
}

export function healthOperations(api: Api, { ready, metrics, settings }: HealthParts): void {
  const readers = networksOf(settings, "metricsNetworks");
  const open = <Answer extends TSchema>(summary: string, answer: Answer) => ({
    config: { auth: "none" as const, always: true },
    schema: { tags: ["Health"], summary, security: [], response: { 200: answer, "5xx": ErrorResponse } },
  });

  api.get("/healthz", open("Is the process up", HealthResponse), async () => ({ status: "ok" }));

  api.get("/readyz", open("Can it take work", HealthResponse), async () => {
    try {
      await ready();
    } catch {
      throw new ApiError("unavailable", {
        description: "The store does not answer.",
        headers: RETRY_SOON,
      });
    }
    return { status: "ready" };
  });

  api.get(
    "/metrics",
    {
      config: { auth: "none", always: true },
      onRequest: async (request) => {
        if (!readers.has(request.ip))
          throw new ApiError("forbidden", { description: "The metrics are not for this address." });
      },
      schema: {
        tags: ["Health"],
        summary: "Metrics for Prometheus",
        security: [],
        response: {
          200: { content: { "text/plain": { schema: Type.String() } } },
          "4xx": ErrorResponse,
          "5xx": ErrorResponse,
        },
      },
      serializerCompiler: () => String,
    },
    async (_, reply) => reply.type("text/plain; version=0.0.4; charset=utf-8").send(await metrics()),
  );
}
