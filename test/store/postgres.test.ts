/** The store's contract on PostgreSQL, and what only PostgreSQL has to show. */
import pg from "pg";
import { RULES } from "../../src/commands/table.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { localStore } from "../../src/store/group.ts";
import { PostgresEngine } from "../../src/store/postgres/engine.ts";
import { takeOverFromAll } from "../support/nodes.ts";
import { PATIENT_MS, postgresUrl } from "../support/postgres.ts";
import { command } from "../support/postgres-server.ts";
import { storeContract } from "./contract.ts";
import { bulksContract } from "./contract-bulks.ts";
import { fundsContract } from "./contract-funds.ts";
import { idsContract } from "./contract-ids.ts";
import { incomingContract } from "./contract-incoming.ts";
import { keysContract } from "./contract-keys.ts";
import { laterReceiptsContract } from "./contract-later.ts";
import { linksContract } from "./contract-links.ts";
import { listsContract } from "./contract-lists.ts";
import { managingContract } from "./contract-managing.ts";
import { messagesContract } from "./contract-messages.ts";
import { moneyContract } from "./contract-money.ts";
import { octetsContract } from "./contract-octets.ts";
import { pacingContract } from "./contract-pacing.ts";
import { pinsContract } from "./contract-pins.ts";
import { quarantineContract } from "./contract-quarantine.ts";
import { receiptsContract } from "./contract-receipts.ts";
import { retentionContract } from "./contract-retention.ts";
import { sameIdsContract } from "./contract-same-ids.ts";
import { secondFactorContract } from "./contract-second-factor.ts";
import { subscriptionsContract } from "./contract-subscriptions.ts";
import { trackingContract } from "./contract-tracking.ts";
import type { MakeDatabase, TestDatabase } from "./harness.ts";

async function database(url: string, beforeStart: string | null): Promise<TestDatabase> {
  const rows = async (sql: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  let lastNode: number | null = null;
  return {
    rows,
    async open(clock, lanes, onFeed) {
      await takeOverFromAll(url);
      if (beforeStart !== null) await command(url, beforeStart);
      const engine = await PostgresEngine.open({
        rules: RULES,
        url,
        connections: 3,
        statementTimeoutMs: PATIENT_MS,
        leaseMs: 60_000,
        partitionDays: 1,
        clock,
        log: silentLog,
        lanes,
        mode: "deliver",
      });
      // As if it had come by the same number again, and with it by the service's own wallets that it had.
      if (lastNode !== null)
        await rows(`UPDATE wallet SET shard = ${engine.ids.node} WHERE account_id IS NULL AND shard = ${lastNode}`);
      lastNode = engine.ids.node;
      return {
        store: localStore(engine, onFeed),
        ids: engine.ids,
        overflowed: await engine.overflowedLanes(),
        close: () => engine.abandon(),
      };
    },
  };
}

const makeDatabase: MakeDatabase = async (t) => database(await postgresUrl(t), null);
/** Every start gets the number of the one before. */
const makeWithOneNumber: MakeDatabase = async (t) => database(await postgresUrl(t), "UPDATE counter SET starts = 0");

storeContract("PostgreSQL", makeDatabase);
idsContract("PostgreSQL", makeWithOneNumber);
incomingContract("PostgreSQL", makeDatabase);
trackingContract("PostgreSQL", makeDatabase);
bulksContract("PostgreSQL", makeDatabase);
keysContract("PostgreSQL", makeDatabase);
secondFactorContract("PostgreSQL", makeDatabase);
octetsContract("PostgreSQL", makeDatabase);
pinsContract("PostgreSQL", makeDatabase);
pacingContract("PostgreSQL", makeDatabase);
quarantineContract("PostgreSQL", makeDatabase);
receiptsContract("PostgreSQL", makeDatabase);
sameIdsContract("PostgreSQL", makeDatabase);
laterReceiptsContract("PostgreSQL", makeDatabase);
linksContract("PostgreSQL", makeDatabase);
listsContract("PostgreSQL", makeDatabase);
subscriptionsContract("PostgreSQL", makeDatabase);
managingContract("PostgreSQL", makeDatabase);
messagesContract("PostgreSQL", makeDatabase);
moneyContract("PostgreSQL", makeDatabase);
fundsContract("PostgreSQL", makeDatabase);
retentionContract("PostgreSQL", makeDatabase);
