/** How long requests took, by route and status. Routes are those of the API, and whatever is none shares one name, so there is a bound to both. */
import { Histogram, histogram, type Metric } from "../runtime/metrics.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export class RequestTimes {
  readonly #byRoute = new Map<string, Map<number, Histogram>>();

  observe(route: string, status: number, durationMs: number): void {
    const times = this.#byRoute.get(route)?.get(status) ?? this.#begin(route, status);
    times.observe(durationMs / 1_000);
  }

  #begin(route: string, status: number): Histogram {
    const times = new Histogram(SECONDS);
    const byStatus = this.#byRoute.get(route) ?? new Map<number, Histogram>();
    this.#byRoute.set(route, byStatus.set(status, times));
    return times;
  }

  metric(): Metric {
    const series = [...this.#byRoute].flatMap(([route, byStatus]) =>
      [...byStatus].map(([status, { distribution: value }]) => ({ labels: { route, status: String(status) }, value })),
    );
    return histogram("heliograph_http_request_seconds", "How long requests took, by route and status", series);
  }
}
