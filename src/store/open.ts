/**
 * Opens the engine that the settings name: the embedded one, or PostgreSQL. With the rules it makes a store (commands/open.ts). An engine with its
 * driver is loaded when it is the one: neither is small, and a service has the other for nothing.
 */
import { databaseName } from "../drivers/postgres/servers.ts";
import type { WriteAheadLog } from "../drivers/sqlite/write-ahead-log.ts";
import type { Lease } from "../node/lease.ts";
import type { Role } from "../node/roles.ts";
import type { WriteMark } from "../node/write-mark.ts";
import type { Clock } from "../runtime/clock.ts";
import type { IdSource } from "../runtime/ids.ts";
import type { Log } from "../runtime/log.ts";
import { tooOpen } from "../runtime/private-files.ts";
import { missingKey, parseSecretKeys, type SecretBox, SecretFault, secretBox } from "../runtime/secrets.ts";
import type { Settings } from "../settings/settings.ts";
import type { Rules } from "./command-table.ts";
import { type Engine, localStore } from "./group.ts";
import type { LaneBounds } from "./lanes.ts";
import type { LaneName } from "./port/delivery.ts";
import type { SecretCount, SecretCursor } from "./port/secrets.ts";
import type { Store } from "./port/store.ts";
import type { EngineEvents } from "./postgres/engine.ts";

export interface StoreOptions {
  readonly settings: Pick<Settings, "store" | "node">;
  readonly clock: Clock;
  readonly log: Log;
  /** For whoever delivers: what may be in memory. Without it the store is opened beside running services, which see each change. */
  readonly deliver: {
    readonly lanes: LaneBounds;
    readonly roles: readonly Role[];
    readonly lease: Lease;
    /** Kept by the embedded store. */
    readonly mark?: WriteMark | null;
  } | null;
  /** Opens it as it is: nothing is written and nothing migrated, and only reads are answered. For whoever delivers nothing. */
  readonly look?: boolean;
  /** What this process is called among others, for people. */
  readonly name: string;
}

export interface OpenStore {
  readonly engine: Engine;
  /** Names what this node makes. */
  readonly ids: IdSource;
  /** Lanes with messages that nobody has in memory. */
  readonly overflowed: readonly LaneName[];
  /** To be called by whoever delivers, when what happens can be told. */
  start(events: StoreEvents): void;
  /** What only the embedded store has. */
  readonly embedded: EmbeddedStore | null;
  close(): Promise<void>;
}

/** A store that this process alone has open, but for the command line, which may write beside it and tells nobody. */
export interface EmbeddedStore {
  readonly log: Pick<WriteAheadLog, "leaveCheckpoints" | "look">;
  readonly keeps: boolean;
  /** Looks whether another process has written something, and if so notes it in the mark. */
  lookForOthers(): void;
}

export interface StoreEvents extends EngineEvents {
  /** Nothing more can be kept here: the process should end, and be started anew. */
  readonly onLost?: (reason: string) => void;
}

const NOTHING = { lane: 0, total: 0 };

export async function openEngine(options: StoreOptions, rules: Rules): Promise<OpenStore> {
  const { store } = options.settings;
  const secrets = secretBox(parseSecretKeys(store.secretKey) ?? []);
  const opened = await (store.url === "" ? openSqlite : openPostgres)(options, rules, secrets);
  if (options.deliver === null) return opened;
  for (const file of [store.urlFile, store.secretKeyFile]) {
    const says = file === "" ? null : tooOpen(file);
    if (says !== null) options.log.warn(`${says}: chmod 600 ${file}`);
  }
  try {
    await requireKeys(
      localStore(opened.engine, () => undefined),
      secrets,
    );
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A service without one of the keys would fail later, when a report is signed or a carrier bound to. */
async function requireKeys(store: Store, secrets: SecretBox): Promise<void> {
  const counts = await countSecrets(store);
  const missing = counts.flatMap(({ keyId }) => (keyId === null || secrets.keyIds.includes(keyId) ? [] : [keyId]));
  if (missing.length > 0) throw new SecretFault(missingKey(missing, secrets.keyIds.length > 0));
}

const SECRETS_A_PAGE = 1_000;

/** Pages of the store's secrets, one after the other. */
async function* pages<Page extends { readonly next: SecretCursor | null }>(
  ask: (place: { after: SecretCursor | null; limit: number }) => Promise<Page>,
): AsyncGenerator<Page> {
  let after: SecretCursor | null = null;
  do {
    const page: Page = await ask({ after, limit: SECRETS_A_PAGE });
    yield page;
    after = page.next;
  } while (after !== null);
}

/** How many secrets the store has, by the key that they are sealed with. */
export async function countSecrets(store: Pick<Store, "secretKeys">): Promise<SecretCount[]> {
  const counts = new Map<string | null, number>();
  for await (const page of pages(store.secretKeys))
    for (const { keyId, count } of page.counts) counts.set(keyId, (counts.get(keyId) ?? 0) + count);
  return [...counts].map(([keyId, count]) => ({ keyId, count }));
}

/** Seals with the newest key what is not, and tells what it has done. Interrupted, it is done again. */
export async function sealAllSecrets(
  store: Pick<Store, "sealSecrets">,
  renewLost: boolean,
): Promise<{ sealed: number; lost: readonly string[] }> {
  let sealed = 0;
  const lost: string[] = [];
  for await (const page of pages((place) => store.sealSecrets({ ...place, renewLost }))) {
    sealed += page.sealed;
    lost.push(...page.lost);
  }
  return { sealed, lost };
}

/** What the store is called in a message to people: a directory, or a database without its password. */
export function storeName({ store }: Pick<Settings, "store">): string {
  if (store.url === "") return store.data;
  return databaseName(store.url) ?? "the database of store.url";
}

/** Brings the schema up to date and returns how many steps that took. */
export async function migrateStore({ store, node }: StoreOptions["settings"]): Promise<number> {
  if (store.url !== "") {
    const { migrate: migratePostgres } = await import("./postgres/migrate.ts");
    return migratePostgres({ url: store.url, leaseMs: node.leaseMs });
  }
  const { lockIfFree, openDatabase } = await import("../drivers/sqlite/database.ts");
  const { migrate, migrateAlone } = await import("./sqlite/migrate.ts");
  const { openAlone } = await import("../drivers/sqlite/write-ahead-log.ts");
  const unlock = lockIfFree(store.data);
  if (unlock === null) {
    const db = openDatabase(store.data);
    try {
      // Refuses where there is anything to do.
      return migrateAlone(db, store.data);
    } finally {
      db.close();
    }
  }
  try {
    const { db, log } = openAlone(store.data);
    try {
      return migrate(db);
    } catch (error) {
      log.noteError(error);
      throw error;
    } finally {
      log.close();
    }
  } finally {
    unlock();
  }
}

async function openSqlite(
  { settings, clock, log, deliver, look }: StoreOptions,
  rules: Rules,
  secrets: SecretBox,
): Promise<OpenStore> {
  const { SqliteEngine } = await import("./sqlite/engine.ts");
  const { faultsTold } = await import("./sqlite/faults-told.ts");
  const told = faultsTold(log, clock);
  const engine = new SqliteEngine({
    rules,
    directory: settings.store.data,
    clock,
    secrets,
    lanes: deliver?.lanes ?? NOTHING,
    mode: deliver !== null ? "deliver" : look === true ? "look" : "tool",
    onWrite: () => deliver?.mark?.note(),
    ...told,
  });
  if (deliver !== null) {
    const { openToOthers } = await import("../drivers/sqlite/store-files.ts");
    for (const says of openToOthers(settings.store.data))
      log.warn({ data: settings.store.data }, `${says}, and it is another user's: have its owner change that`);
  }
  // The directory's lock is lease enough: nobody else can be here.
  deliver?.lease.hold();
  return {
    engine,
    ids: engine.ids,
    overflowed: deliver === null ? [] : engine.overflowedLanes(),
    start: ({ onLost }) => {
      if (onLost !== undefined) engine.log.onLost(onLost);
    },
    embedded: engine,
    close: async () => {
      try {
        engine.settle();
      } catch (error) {
        // As after a crash: the next start writes them.
        told.onFault(error);
      } finally {
        engine.close();
      }
    },
  };
}

async function openPostgres(
  { settings, clock, log, deliver, look, name }: StoreOptions,
  rules: Rules,
  secrets: SecretBox,
): Promise<OpenStore> {
  const { PostgresEngine } = await import("./postgres/engine.ts");
  const { partitionDays } = await import("./postgres/partitions.ts");
  const { url, connections, statementTimeoutMs, retentionDays } = settings.store;
  const engine = await PostgresEngine.open({
    rules,
    url,
    connections,
    statementTimeoutMs,
    leaseMs: settings.node.leaseMs,
    partitionDays: partitionDays(retentionDays),
    clock,
    secrets,
    log,
    name,
    lanes: deliver?.lanes ?? NOTHING,
    mode: deliver !== null ? "deliver" : look === true ? "look" : "tool",
    ...(deliver === null ? {} : { roles: deliver.roles, lease: deliver.lease }),
  });
  return {
    engine,
    ids: engine.ids,
    // The watch tells of them as soon as it is known which carriers this node talks to.
    overflowed: [],
    start: (events) => engine.start(events),
    embedded: null,
    close: () => engine.close(),
  };
}
