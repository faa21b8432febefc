/** The nodes that share a store, and the connections to carriers that they share out. */
import type { Role } from "../../node/roles.ts";
import type { ReplicationFacts } from "./replication.ts";

/** The nodes that share this store, as they are now. */
export interface Cluster {
  /** How many nodes there are for each role, this one included. */
  readonly nodes: Readonly<Record<Role, number>>;
  /** Whether this node is the one that makes the rounds which one node alone has to make. */
  readonly leads: boolean;
}

/** What a node would do with a carrier's connections. */
export interface BindClaim {
  readonly carrierId: string;
  /** How many connections the carrier allows, for all nodes together. */
  readonly binds: number;
  /** Those that this node had and has closed. */
  readonly closed: readonly number[];
}

export interface BindShare {
  readonly carrierId: string;
  /** The connections that this node may have: numbers from 0 to `binds` - 1. */
  readonly slots: readonly number[];
  /** How many of them it has to close and give back, because others have fewer. */
  readonly excess: number;
}

/** A node as the others see it. */
export interface NodeFacts {
  /** For people: machine and process. */
  readonly name: string;
  readonly roles: readonly Role[];
  readonly isSelf: boolean;
  readonly leads: boolean;
  readonly isAlive: boolean;
  /** Its number in the ids that it makes. */
  readonly slot: number;
  /** How many of each carrier's connections it may have; where there is one node it has all, and none is listed. */
  readonly binds: readonly { readonly carrierId: string; readonly count: number }[];
}

/** What the data takes, and how it lies. */
export interface StorageFacts {
  readonly octets: number;
  /** Of the embedded store: the files by name, and what waits in the journal for its table. */
  readonly files: readonly { readonly name: string; readonly octets: number }[];
  readonly journalEntries: number | null;
  /** Of PostgreSQL: the partitions of messages, by the first day of each. */
  readonly partitions: readonly { readonly name: string; readonly fromMs: number; readonly toMs: number }[];
}

export interface ClusterFacts {
  readonly engine: "sqlite" | "postgres";
  readonly nodes: readonly NodeFacts[];
  /** Nodes that are gone and whose messages are being freed. */
  readonly gone: readonly string[];
  /** Null unless it was asked for, and where the store is a file. */
  readonly replication: ReplicationFacts | null;
  /** Null unless it was asked for. */
  readonly storage: StorageFacts | null;
}

/** What waits, each counted up to a bound. */
export interface Backlog {
  /** In the store for a carrier, beside those in the memory of nodes. */
  readonly queued: number;
  /** Until their time. */
  readonly scheduled: number;
  /** Of those, whose time has come. */
  readonly due: number;
  /** Reports that wait for a try, and that nobody took. */
  readonly reports: number;
  readonly deadReports: number;
  /** Since when the oldest message that may go, and the oldest report, has been due; null when there is none. */
  readonly oldestDueAtMs: number | null;
  readonly oldestReportDueAtMs: number | null;
}
