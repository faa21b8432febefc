/** The store's contract on PostgreSQL, and what only PostgreSQL has to show. */
import pg from "pg";
import { silentLog } from "../../src/runtime/log.ts";
import { localStore } from "../../src/store/group.ts";
import { PostgresEngine } from "../../src/store/postgres/engine.ts";
import { takeOverFromAll } from "../support/nodes.ts";
import { postgresUrl } from "../support/postgres.ts";
import { storeContract } from "./contract.ts";
import { bulksContract } from "./contract-bulks.ts";
import { incomingContract } from "./contract-incoming.ts";
import { keysContract } from "./contract-keys.ts";
import { managingContract } from "./contract-managing.ts";
import { moneyContract } from "./contract-money.ts";
import { octetsContract } from "./contract-octets.ts";
import { quarantineContract } from "./contract-quarantine.ts";
import { receiptsContract } from "./contract-receipts.ts";
import { retentionContract } from "./contract-retention.ts";
import { secondFactorContract } from "./contract-second-factor.ts";
import { trackingContract } from "./contract-tracking.ts";
import type { MakeDatabase } from "./harness.ts";

const makeDatabase: MakeDatabase = async (t) => {
  const url = await postgresUrl(t);
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
      const engine = await PostgresEngine.open({
        url,
        connections: 3,
        statementTimeoutMs: 10_000,
        leaseMs: 60_000,
        partitionDays: 1,
        clock,
        log: silentLog,
        lanes,
        mode: "deliver",
      });
      // As if it had come by the same number again, and with it by the service's own purses that it had.
      if (lastNode !== null)
        await rows(`UPDATE purse SET shard = ${engine.node} WHERE account_id IS NULL AND shard = ${lastNode}`);
      lastNode = engine.node;
      return {
        store: localStore(engine, onFeed),
        spilled: await engine.spilledLanes(),
        close: () => engine.abandon(),
      };
    },
  };
};

storeContract("PostgreSQL", makeDatabase);
incomingContract("PostgreSQL", makeDatabase);
trackingContract("PostgreSQL", makeDatabase);
bulksContract("PostgreSQL", makeDatabase);
keysContract("PostgreSQL", makeDatabase);
secondFactorContract("PostgreSQL", makeDatabase);
octetsContract("PostgreSQL", makeDatabase);
quarantineContract("PostgreSQL", makeDatabase);
receiptsContract("PostgreSQL", makeDatabase);
managingContract("PostgreSQL", makeDatabase);
moneyContract("PostgreSQL", makeDatabase);
retentionContract("PostgreSQL", makeDatabase);
