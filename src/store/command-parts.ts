/** What the commands are made of, whichever engine they run on. */
import type { IdSource } from "../runtime/ids.ts";
import type { SecretBox } from "../runtime/secrets.ts";
import type { LaneAccounts } from "./lanes.ts";
import type { NextReferences } from "./references.ts";
import type { Sql } from "./sql.ts";
import type { Tables } from "./tables.ts";
import type { Unit } from "./unit.ts";

export interface CommandParts {
  readonly sql: Sql;
  readonly tables: Tables;
  readonly lanes: LaneAccounts;
  /** The transaction that is under way. */
  readonly unit: () => Unit;
  /** Names what is made here: report batches, messages from phones. */
  readonly ids: IdSource;
  /** Numbers the long messages of each phone. */
  readonly references: NextReferences;
  /** The number of this start of the service: who owns what it has in memory. */
  readonly epoch: number;
  /** Whether other nodes have the same store. */
  readonly hasOthers: () => boolean;
  /** Whether this node pushes reports: those that it makes are then its own from the start. */
  readonly pushes: boolean;
  readonly now: () => number;
  /** Seals and opens secrets. */
  readonly secrets: SecretBox;
}
