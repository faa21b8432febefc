/** For whoever watches the service: is the process up, can it take work, what it finds wrong with itself, and its metrics. */
import type { FastifyRequest } from "fastify";
import { storeMark } from "../doctor/store-mark.ts";
import { type TSchema, Type } from "../runtime/type.ts";
import { networksOf } from "../settings/settings.ts";
import { carrierFindings } from "./console/carrier-findings.ts";
import { ApiError, unavailable } from "./errors.ts";
import type { Api } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { HealthResponse, StatusResponse } from "./schemas.ts";

export interface HealthParts extends Pick<ApiParts, "health" | "settings"> {
  /** Resolves when the service can take work, and rejects with the reason when it cannot. */
  readonly ready: () => Promise<void>;
  /** The service is about to stop. */
  readonly isLeaving: () => boolean;
  /** The metrics page, in Prometheus' text form. */
  readonly metrics: () => Promise<string>;
}

const MAX_FINDINGS = 100;

export function healthOperations(api: Api, parts: HealthParts): void {
  const { ready, isLeaving, metrics, health, settings } = parts;
  const mark = storeMark(settings.store);
  const readers = networksOf(settings, "metricsNetworks");
  const forReaders = (what: string) => async (request: FastifyRequest) => {
    if (!readers.has(request.ip)) throw new ApiError("forbidden", `${what} not for this address.`);
  };
  const open = <Answer extends TSchema>(operationId: string, summary: string, answer: Answer) => ({
    config: { auth: "none" as const, always: true },
    schema: { operationId, tags: ["Health"], summary, security: [], response: { 200: answer } },
  });

  api.get("/healthz", open("getHealth", "Is the process up", HealthResponse), async () => ({ status: "ok" }));

  api.get("/readyz", open("getReadiness", "Can it take work", HealthResponse), async () => {
    if (isLeaving()) throw unavailable("The service is stopping.");
    try {
      await ready();
    } catch {
      throw unavailable("The store does not answer.");
    }
    return { status: "ready" };
  });

  api.get(
    "/statusz",
    {
      ...open("getStatus", "What the service finds wrong with its carriers, for heliograph doctor", StatusResponse),
      onRequest: forReaders("The status is"),
    },
    async () => {
      const isReady = await ready().then(
        () => true,
        () => false,
      );
      const findings = carrierFindings(await health.carriers())
        .slice(0, MAX_FINDINGS)
        .map(({ mend, ...finding }) => ({ ...finding, mend: mend ?? "" }));
      return { status: isReady ? "ready" : "the store does not answer", store: mark, findings };
    },
  );

  api.get(
    "/metrics",
    {
      config: { auth: "none", always: true },
      onRequest: forReaders("The metrics are"),
      schema: {
        operationId: "getMetrics",
        tags: ["Health"],
        summary: "Metrics for Prometheus",
        security: [],
        response: { 200: { content: { "text/plain": { schema: Type.String() } } } },
      },
      serializerCompiler: () => String,
    },
    async (_, reply) => reply.type("text/plain; version=0.0.4; charset=utf-8").send(await metrics()),
  );
}
