/** The metrics that /metrics shows: those of the HTTP edge, and those that other parts hand over when asked. */
import { collectDefaultMetrics, Registry } from "prom-client";

/** A number that another part counts, perhaps on another thread. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly value: number;
}

export const counter = (name: string, help: string, value: number): Metric => ({ name, help, type: "counter", value });
export const gauge = (name: string, help: string, value: number): Metric => ({ name, help, type: "gauge", value });

const PREFIX = "heliograph_";

interface Series {
  /** By bucket; the last is what took longer than all bounds. */
  readonly counts: number[];
  sumSeconds: number;
}

/** A histogram by route and status. prom-client's own takes more than a microsecond for each request, a fiftieth of what one costs in all. */
class RequestTimes {
  /** The upper bounds of the buckets, in seconds. */
  static readonly #BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
  static readonly #NAME = `${PREFIX}http_request_seconds`;
  readonly #series = new Map<string, Map<number, Series>>();

  observe(route: string, status: number, seconds: number): void {
    const series = this.#series.get(route)?.get(status) ?? this.#begin(route, status);
    const bucket = RequestTimes.#BOUNDS.findIndex((bound) => seconds <= bound);
    series.counts[bucket < 0 ? RequestTimes.#BOUNDS.length : bucket]!++;
    series.sumSeconds += seconds;
  }

  #begin(route: string, status: number): Series {
    const series = { counts: new Array(RequestTimes.#BOUNDS.length + 1).fill(0), sumSeconds: 0 };
    const byStatus = this.#series.get(route) ?? new Map();
    this.#series.set(route, byStatus.set(status, series));
    return series;
  }

  page(): string {
    const name = RequestTimes.#NAME;
    const lines = [`# HELP ${name} How long requests took, by route and status`, `# TYPE ${name} histogram`];
    for (const [route, byStatus] of this.#series) {
      for (const [status, { counts, sumSeconds }] of byStatus) {
        const labels = `route="${route}",status="${status}"`;
        let count = 0;
        for (const [index, bound] of [...RequestTimes.#BOUNDS, "+Inf"].entries()) {
          count += counts[index]!;
          lines.push(`${name}_bucket{le="${bound}",${labels}} ${count}`);
        }
        lines.push(`${name}_sum{${labels}} ${sumSeconds}`, `${name}_count{${labels}} ${count}`);
      }
    }
    return `${lines.join("\n")}\n`;
  }
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new RequestTimes();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: PREFIX });
  }

  observeRequest(route: string, status: number, durationMs: number): void {
    this.#requests.observe(route, status, durationMs / 1_000);
  }

  async page(metrics: readonly Metric[]): Promise<string> {
    const lines = metrics.map(({ name, help, type, value }) => {
      const full = `${PREFIX}${name}`;
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${full} ${value}\n`;
    });
    return `${await this.#registry.metrics()}\n${this.#requests.page()}\n${lines.join("")}`;
  }

  /** prom-client measures the event loop until it is told to stop. */
  stop(): void {
    this.#registry.clear();
  }
}
