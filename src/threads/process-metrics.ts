/**
 * What the process and its threads take, under the names that Prometheus' clients have for it. The numbers of the system are those of the whole
 * process. Each thread has a heap and an event loop of its own, which the label `thread` tells apart.
 */
import { readdirSync, readFileSync } from "node:fs";
import { PerformanceObserver, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { LoopLag } from "../runtime/loop-lag.ts";
import { counter, gauge, Histogram, histogram, type Metric } from "../runtime/metrics.ts";
import { maxOpenFiles } from "../runtime/open-files.ts";
import { orElse } from "../runtime/or-else.ts";
import { VERSION } from "../runtime/version.ts";

const GC_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];
const GC_KINDS: Readonly<Record<number, string>> = { 1: "minor", 4: "major", 8: "incremental", 16: "weakcb" };

/** What is asked of the system. Only Linux tells all of it; elsewhere some are missing. */
export function processMetrics(engine: "sqlite" | "postgres"): Metric[] {
  const { user, system } = process.cpuUsage();
  const { VmSize, VmData } = procMemory();
  const [major = "", minor = "", patch = ""] = process.versions.node.split(".");
  const info = (labels: Readonly<Record<string, string>>) => [{ labels, value: 1 }];
  return [
    gauge(
      "heliograph_build_info",
      "Which version of Heliograph runs, and on which store",
      info({ version: VERSION, store: engine }),
    ),
    counter("process_cpu_user_seconds_total", "CPU time in user mode, of all threads", user / 1e6),
    counter("process_cpu_system_seconds_total", "CPU time in the kernel, of all threads", system / 1e6),
    counter("process_cpu_seconds_total", "CPU time, of all threads", (user + system) / 1e6),
    gauge(
      "process_start_time_seconds",
      "When the process was started, in seconds since 1970",
      performance.timeOrigin / 1e3,
    ),
    gauge("process_resident_memory_bytes", "Memory that the process has in RAM", process.memoryUsage.rss()),
    ...ifTold("process_virtual_memory_bytes", "Address space of the process", VmSize),
    ...ifTold("process_heap_bytes", "Data of the process in its address space", VmData),
    ...ifTold("process_open_fds", "Files and connections that the process has open", countOpenFiles()),
    ...ifTold("process_max_fds", "Files and connections that it may have open", maxOpenFiles()),
    gauge(
      "nodejs_version_info",
      "Which version of Node.js runs",
      info({ version: process.version, major, minor, patch }),
    ),
  ];
}

const ifTold = (name: string, help: string, value: number | null | undefined): Metric[] =>
  value == null ? [] : [gauge(name, help, value)];

/** One thread's heap and event loop, measured since it was made. */
export class ThreadMetrics {
  readonly #thread: string;
  readonly #loopLag = new LoopLag();
  readonly #collections: { readonly observer: PerformanceObserver; readonly byKind: Map<string, Histogram> } | null;

  /** To be told of each garbage collection has a price, so it is for a thread that has the time. */
  constructor(thread: "edge" | "store" | "delivery", { collections }: { readonly collections: boolean }) {
    this.#thread = thread;
    this.#collections = collections ? observeCollections() : null;
  }

  /** Of the event loop, how late it was since this was last asked. */
  metrics(): Metric[] {
    const labels = { thread: this.#thread };
    const of = (value: number) => [{ labels, value }];
    const heap = getHeapStatistics();
    const lag = this.#loopLag.take();
    const lags = lag.percentiles.map(({ percent, seconds }) =>
      gauge(
        `nodejs_eventloop_lag_p${percent}_seconds`,
        `How late the event loop was, the ${percent}th percentile since the last look`,
        of(seconds),
      ),
    );
    const metrics = [
      gauge("nodejs_heap_size_total_bytes", "Size of the thread's heap", of(heap.total_heap_size)),
      gauge("nodejs_heap_size_used_bytes", "What is in use of it", of(heap.used_heap_size)),
      gauge("nodejs_external_memory_bytes", "Memory outside of the heap that it refers to", of(heap.external_memory)),
      gauge("nodejs_eventloop_lag_mean_seconds", "How late the event loop was, since the last look", of(lag.mean)),
      gauge("nodejs_eventloop_lag_max_seconds", "How late it was at most, since the last look", of(lag.max)),
      ...lags,
      counter(
        "heliograph_thread_busy_seconds_total",
        "Time that the thread's event loop was at work",
        of(performance.eventLoopUtilization().active / 1e3),
      ),
    ];
    if (this.#collections !== null)
      metrics.push(
        histogram(
          "nodejs_gc_duration_seconds",
          "How long garbage collections took",
          [...this.#collections.byKind].map(([kind, { distribution: value }]) => ({
            labels: { ...labels, kind },
            value,
          })),
        ),
      );
    return metrics;
  }

  stop(): void {
    this.#loopLag.stop();
    this.#collections?.observer.disconnect();
  }
}

function observeCollections() {
  const byKind = new Map(Object.values(GC_KINDS).map((kind) => [kind, new Histogram(GC_SECONDS)]));
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as typeof entry & { readonly detail?: { readonly kind?: number } };
      const kind = GC_KINDS[detail?.kind ?? 0];
      if (kind !== undefined) byKind.get(kind)?.observe(duration / 1e3);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return { observer, byKind };
}

function procMemory(): { readonly VmSize?: number; readonly VmData?: number } {
  const status = orElse(() => readFileSync("/proc/self/status", "utf8"), "");
  const lines = [...status.matchAll(/^(VmSize|VmData):\s+(\d+) kB$/gm)];
  return Object.fromEntries(lines.map(([, name, kilobytes]) => [name, Number(kilobytes) * 1_024]));
}

function countOpenFiles(): number | null {
  // One of them is the directory that is read.
  return orElse(() => readdirSync("/proc/self/fd").length - 1, null);
}
