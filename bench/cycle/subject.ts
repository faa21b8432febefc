/** What is measured: a gateway with its processes, as the rest of the benchmark sees it. */
import type { GeneratorTarget } from "./generator.ts";
import type { Progress } from "./progress.ts";
import type { ModeName } from "./requests.ts";
import type { CarrierBehaviour } from "./smsc.ts";
import type { ThreadUsage } from "./usage.ts";

export interface Subject {
  readonly name: string;
  /** Where requests of a load go to, with so many accounts: one place for each account and node that it goes over. */
  targets(mode: ModeName, load: number, accounts: number): readonly GeneratorTarget[];
  usage(): Usage;
  /** What its processes have now, added up. */
  memoryBytes(): number | null;
  /** The most memory that its processes have had, added up; null where the system does not tell. */
  peakMemoryBytes(): number | null;
  disk(): Promise<DiskUsage>;
  /** The end of the log, for when something went wrong. */
  lastWords(): string;
  stop(): Promise<void>;
  /** What is wrong with its books, when it has stopped: a sentence, or null if nothing is. */
  auditBooks(): Promise<string | null>;
}

/** What a gateway has used so far. */
export interface Usage {
  /** CPU time of each part that can be told apart. Empty where the system does not tell. */
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** How often the threads of each part were woken. */
  readonly wakeUps: Readonly<Record<string, number>>;
  /** How long its threads could have run and had no core: what else runs on the machine shows here. */
  readonly waitMicros: number | null;
}

/** What a gateway, or its database, has had written and flushed so far; null where nobody tells. */
export interface DiskUsage {
  readonly writtenBytes: number | null;
  /** Of those, the database's log. */
  readonly logBytes: number | null;
  readonly flushes: number | null;
}

/** What the gateway meets at both ends, and what it is to do. */
export interface Surroundings {
  readonly directory: string;
  /** One for each load. */
  readonly carrierPorts: readonly number[];
  readonly sinkPorts: readonly number[];
  readonly sender: string;
  /** From the next connection on. */
  setCarrier(behaviour: CarrierBehaviour): Promise<void>;
  readonly progress: Progress;
}

/** Adds up what is known; null if any is not. */
export function sumKnown(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

/** Adds up threads by the part that they belong to. */
export class PartsUsage implements Usage {
  readonly cpuMicros: Record<string, number> = {};
  readonly wakeUps: Record<string, number> = {};
  waitMicros: number | null = null;

  add(part: string, { cpuMicros, waitMicros, wakeUps }: ThreadUsage): void {
    this.cpuMicros[part] = (this.cpuMicros[part] ?? 0) + cpuMicros;
    this.wakeUps[part] = (this.wakeUps[part] ?? 0) + wakeUps;
    this.waitMicros = (this.waitMicros ?? 0) + waitMicros;
  }
}
