/** Opens the store that the settings name: the embedded one, or PostgreSQL. */
import type { Clock } from "../runtime/clock.ts";
import type { Lease } from "../runtime/lease.ts";
import type { Log } from "../runtime/log.ts";
import type { Settings } from "../runtime/settings.ts";
import type { Engine } from "./group.ts";
import type { LaneBounds } from "./lanes.ts";
import type { LaneName, Role } from "./port.ts";
import { type EngineEvents, PostgresEngine } from "./postgres/engine.ts";
import { migrate as migratePostgres } from "./postgres/migrate.ts";
import { partitionDays } from "./postgres/partitions.ts";
import { migrate as migrateSqlite, openDatabase, openToOthers } from "./sqlite/database.ts";
import { SqliteEngine } from "./sqlite/engine.ts";

export interface StoreOptions {
  readonly settings: Pick<Settings, "store" | "node">;
  readonly clock: Clock;
  readonly log: Log;
  /** For whoever delivers: what may be in memory. Without it the store is opened beside running services, which see each change. */
  readonly deliver: { readonly lanes: LaneBounds; readonly roles: readonly Role[]; readonly lease: Lease } | null;
  /** What this process is called among others, for people. */
  readonly name: string;
}

export interface OpenStore {
  readonly engine: Engine;
  /** The node's number in the ids that it makes. */
  readonly node: number;
  /** The highest message key there is. */
  readonly lastKey: string;
  /** Lanes with messages that nobody has in memory. */
  readonly spilled: readonly LaneName[];
  /** To be called by whoever delivers, when what happens can be told. */
  start(events: EngineEvents): void;
  /** Whether another thread does most of the store's checkpoints; null where it has none to do. */
  readonly leaveCheckpoints: ((toAnother: boolean) => void) | null;
  close(): Promise<void>;
}

const NOTHING = { lane: 0, total: 0 };

export async function openStore(options: StoreOptions): Promise<OpenStore> {
  return options.settings.store.url === "" ? openSqlite(options) : openPostgres(options);
}

/** What the store is called in a message to people: a directory, or a database without its password. */
export function storeName({ store }: Pick<Settings, "store">): string {
  if (store.url === "") return store.data;
  const url = URL.parse(store.url);
  // Behind a password with a slash in it that is not written as %2F, the host stands in the path.
  const isPlain = url !== null && url.host !== "" && !url.pathname.includes("@");
  return isPlain ? `${url.protocol}//${url.host}${url.pathname}` : "the database of store.url";
}

/** Brings the schema up to date and returns how many steps that took. */
export async function migrateStore({ store, node }: StoreOptions["settings"]): Promise<number> {
  if (store.url !== "") return migratePostgres({ url: store.url, leaseMs: node.leaseMs });
  const db = openDatabase(store.data);
  try {
    return migrateSqlite(db);
  } finally {
    db.close();
  }
}

function openSqlite({ settings, clock, log, deliver }: StoreOptions): OpenStore {
  const engine = new SqliteEngine({
    directory: settings.store.data,
    clock,
    lanes: deliver?.lanes ?? NOTHING,
    mode: deliver === null ? "tool" : "deliver",
    onFault: (error) =>
      log.warn({ err: error }, "rows could not be written to their tables; they are still in the journal"),
  });
  if (deliver !== null) {
    for (const says of openToOthers(settings.store.data))
      log.warn({ data: settings.store.data }, `${says}, and it is another user's: have its owner change that`);
  }
  // The directory's lock is lease enough: nobody else can be here.
  deliver?.lease.hold();
  return {
    engine,
    node: 0,
    lastKey: engine.lastKey(),
    spilled: deliver === null ? [] : engine.spilledLanes(),
    start: () => undefined,
    leaveCheckpoints: (toAnother) => engine.leaveCheckpoints(toAnother),
    close: async () => {
      try {
        engine.settle();
      } finally {
        engine.close();
      }
    },
  };
}

async function openPostgres({ settings, clock, log, deliver, name }: StoreOptions): Promise<OpenStore> {
  const { url, connections, statementTimeoutMs, retentionDays } = settings.store;
  const engine = await PostgresEngine.open({
    url,
    connections,
    statementTimeoutMs,
    leaseMs: settings.node.leaseMs,
    partitionDays: partitionDays(retentionDays),
    clock,
    log,
    name,
    lanes: deliver?.lanes ?? NOTHING,
    mode: deliver === null ? "tool" : "deliver",
    ...(deliver === null ? {} : { roles: deliver.roles, lease: deliver.lease }),
  });
  return {
    engine,
    node: engine.node,
    lastKey: await engine.lastKey(),
    // The watch tells of them as soon as it is known which carriers this node talks to.
    spilled: [],
    start: (events) => engine.start(events),
    leaveCheckpoints: null,
    close: () => engine.close(),
  };
}
