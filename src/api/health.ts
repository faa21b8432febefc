/** For whoever watches the service: is the process up, can it take work, and its figures. */
import type { Api } from "./operation.ts";

export interface HealthParts {
  /** Resolves when the service can take work, and rejects with the reason when it cannot. */
  readonly ready: () => Promise<void>;
  /** The metrics page, in Prometheus' text form. */
  readonly metrics: () => Promise<string>;
}

export function healthOperations(api: Api, { ready, metrics }: HealthParts): void {
  const open = (summary: string) => ({
    config: { auth: "none" as const },
    schema: { tags: ["Health"], summary, security: [] },
  });

  api.get("/healthz", open("Is the process up"), async () => ({ status: "ok" }));

  api.get("/readyz", open("Can it take work"), async (_, reply) => {
    try {
      await ready();
      return { status: "ready" };
    } catch (error) {
      return reply
        .code(503)
        .header("retry-after", "1")
        .send({ status: "not ready", reason: (error as Error).message });
    }
  });

  api.get("/metrics", open("Figures for Prometheus"), async (_, reply) => {
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(await metrics());
  });
}
