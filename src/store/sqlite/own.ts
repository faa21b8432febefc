/** What only SQLite does this way: there is one node, and old messages are deleted row by row. */
import { readdirSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Db } from "../../drivers/sqlite/database.ts";
import { ROLES } from "../../node/roles.ts";
import { firstIdAt } from "../../runtime/ids.ts";
import type { OwnCommands } from "../command-table.ts";
import { PURGE_START } from "../port/delivery.ts";
import type { StorageFacts } from "../port/nodes.ts";
import { chargePieces, isOver, keepCharge, unfetchedBefore } from "../retention.ts";
import type { SqliteTables } from "./tables.ts";

/** The rows of a page: those behind `after` and before `end`. What has ended before a time goes, if its report can no longer be fetched. */
interface PageBounds {
  readonly after: bigint;
  readonly end: bigint;
  readonly limit: number;
  readonly before: number;
  readonly unfetched: number;
}

interface Page {
  /** Null when there is none. */
  readonly last: string | null;
  readonly looked: number;
  readonly over: number;
}

const OVER = isOver("@before", "@unfetched");
const FETCHED = "to_fetch = 0";
/** There are a handful. */
const MAX_FILES = 20;

/** A bounded number of rows is looked at, whatever is to be done with them: those that stay are not looked at again in the same pass. */
function pageOf(table: string, isGone: string): string {
  return `SELECT CAST(max(key) AS TEXT) AS last, count(*) AS looked, coalesce(sum(gone), 0) AS over
    FROM (SELECT key, (${isGone}) AS gone FROM ${table} WHERE key > @after AND key < @end ORDER BY key LIMIT @limit) AS page`;
}

/** The database and its log. */
function storageOf(db: Db): StorageFacts {
  const files = readdirSync(dirname(db.name))
    .filter((name) => name.startsWith("heliograph.sqlite"))
    .slice(0, MAX_FILES)
    .map((name) => ({ name, octets: statSync(join(dirname(db.name), name), { throwIfNoEntry: false })?.size ?? 0 }));
  const journalEntries = db.prepare<[], number>("SELECT count(*) FROM journal").pluck().get()!;
  return { octets: files.reduce((sum, { octets }) => sum + octets, 0), files, journalEntries, partitions: [] };
}

export function ownCommands(db: Db, tables: SqliteTables): OwnCommands {
  const messagePage = db.prepare<[PageBounds], Page>(pageOf("message", OVER));
  const dropMessages = db.prepare<[PageBounds & { last: bigint }], { accountId: bigint; chargedMicros: bigint }>(
    `DELETE FROM message WHERE key > @after AND key <= @last AND ${OVER}
     RETURNING account_id AS accountId, charged_micros AS chargedMicros`,
  );
  const dropLater = db.prepare<[PageBounds & { last: bigint }]>(
    `DELETE FROM later_receipt WHERE message_key > @after AND message_key <= @last
       AND NOT EXISTS (SELECT 1 FROM message WHERE message.key = message_key)`,
  );
  // Those that somebody has yet to fetch wait.
  const incomingPage = db.prepare<[PageBounds], Page>(pageOf("incoming_message", FETCHED));
  const dropIncoming = db.prepare<[PageBounds & { last: bigint }]>(
    `DELETE FROM incoming_message WHERE key > @after AND key <= @last AND ${FETCHED}`,
  );
  const keep = db.prepare<[bigint, bigint]>(keepCharge("?", "?"));

  function purgeOldMessages(bounds: PageBounds): Page {
    const page = messagePage.get(bounds)!;
    if (page.over === 0) return page;
    const upToLast = { ...bounds, last: BigInt(page.last!) };
    // What the journal still has of them would bring them back.
    tables.flush();
    const charges = new Map<bigint, bigint>();
    for (const { accountId, chargedMicros } of dropMessages.safeIntegers().all(upToLast))
      charges.set(accountId, (charges.get(accountId) ?? 0n) + chargedMicros);
    dropLater.run(upToLast);
    for (const [accountId, chargedMicros] of charges)
      for (const piece of chargePieces(chargedMicros)) keep.run(accountId, piece);
    return page;
  }

  function purgeOldIncoming(bounds: PageBounds): Page {
    const page = incomingPage.get(bounds)!;
    if (page.over > 0) dropIncoming.run({ ...bounds, last: BigInt(page.last!) });
    return page;
  }

  return {
    cluster: () => ({ nodes: { api: 1, dispatch: 1, reports: 1 }, leads: true }),

    nodes: ({ storage = false }) => ({
      engine: "sqlite",
      nodes: [
        {
          name: `${hostname()} ${process.pid}`,
          roles: ROLES,
          isSelf: true,
          leads: true,
          isAlive: true,
          slot: 0,
          binds: [],
        },
      ],
      gone: [],
      replication: null,
      storage: storage ? storageOf(db) : null,
    }),

    shareBinds: ({ claims }) =>
      claims.map(({ carrierId, binds }) => ({ carrierId, slots: [...Array(binds).keys()], excess: 0 })),

    purgeMessages({ beforeMs, nowMs, limit, cursor }) {
      // Once in a pass: what is so old has been in its table for long, unless little has happened since.
      if (cursor.message === PURGE_START.message) tables.flush();
      // Nothing ends before it was accepted, so what was accepted later need not be looked at.
      const end = firstIdAt(beforeMs);
      const bounds = { end, limit, before: beforeMs, unfetched: unfetchedBefore(nowMs) };
      const messages = purgeOldMessages({ ...bounds, after: BigInt(cursor.message) });
      const incoming = purgeOldIncoming({ ...bounds, after: BigInt(cursor.incoming) });
      if (messages.looked < limit && incoming.looked < limit) return { cursor: PURGE_START, more: false };
      const next = { message: messages.last ?? cursor.message, incoming: incoming.last ?? cursor.incoming };
      return { cursor: next, more: true };
    },
  };
}
