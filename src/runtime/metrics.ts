/** The figures that /metrics shows: those of the HTTP edge, and those that other parts hand over when asked. */
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** A number that another part counts, perhaps on another thread. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly value: number;
}

const PREFIX = "heliograph_";

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<"route" | "status">;

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: PREFIX });
    this.#requests = new Histogram({
      name: `${PREFIX}http_request_seconds`,
      help: "How long requests took, by route and status",
      labelNames: ["route", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers: [this.#registry],
    });
  }

  observeRequest(route: string, status: number, durationMs: number): void {
    this.#requests.observe({ route, status: String(status) }, durationMs / 1_000);
  }

  async page(figures: readonly Figure[]): Promise<string> {
    const lines = figures.map(({ name, help, type, value }) => {
      const full = `${PREFIX}${name}`;
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${full} ${value}\n`;
    });
    return `${await this.#registry.metrics()}\n${lines.join("")}`;
  }

  /** prom-client measures the event loop until it is told to stop. */
  stop(): void {
    this.#registry.clear();
  }
}
