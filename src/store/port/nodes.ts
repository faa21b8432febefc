/** The nodes that share a store, and the connections to carriers that they share out. */
import type { Role } from "../../runtime/roles.ts";

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
