/** What is measured: a gateway with its processes, as the rest of the benchmark sees it. */
import type { GeneratorTarget } from "./generator.ts";

export interface Subject {
  readonly name: string;
  /** Where requests go to: one place for each node. */
  readonly targets: readonly GeneratorTarget[];
  /** CPU time so far of each part that can be told apart. Empty where the system does not tell. */
  cpuMicros(): Readonly<Record<string, number>>;
  /** The most memory that its processes have had, added up; null where the system does not tell. */
  peakMemoryBytes(): number | null;
  writtenBytes(): number | null;
  flushes(): Promise<number | null>;
  /** The end of the log, for when something went wrong. */
  lastWords(): string;
  stop(): Promise<void>;
}

/** What the gateway meets at both ends, and what it is to do. */
export interface Surroundings {
  readonly directory: string;
  readonly smscPort: number;
  readonly sinkPort: number;
  readonly sender: string;
}

/** Adds up what is known; null if any is not. */
export function sumKnown(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}
