/** The store's contract on PostgreSQL: its parts are files of their own, which run side by side. */
import { localStore } from "../../src/store/group.ts";
import { openEngine, takeOverFromAll } from "../support/nodes.ts";
import { postgresUrl } from "../support/postgres.ts";
import { command } from "../support/postgres-server.ts";
import { CONTRACTS } from "./contracts.ts";
import type { TestDatabase } from "./harness.ts";

interface Shape {
  /** A statement that each start finds done. */
  readonly beforeStart?: string;
  /** Of each partition: to make them is most of what a first start takes, so there are few unless they are what is tested. */
  readonly partitionDays: number;
}

const USUAL: Shape = { partitionDays: 30 };
const DAILY: Shape = { partitionDays: 1 };
const SHAPES: Readonly<Record<string, Shape>> = {
  // Every start gets the number of the one before.
  idsContract: { ...USUAL, beforeStart: "UPDATE counter SET starts = 0" },
  // They drop partitions.
  laterReceiptsContract: DAILY,
  linksContract: DAILY,
  moneyContract: DAILY,
  retentionContract: DAILY,
};

export function contractOnPostgres(part: keyof typeof CONTRACTS): void {
  for (const contract of CONTRACTS[part])
    contract("PostgreSQL", async (t) => database(await postgresUrl(t), SHAPES[contract.name] ?? USUAL));
}

export async function database(url: string, { beforeStart, partitionDays }: Shape = USUAL): Promise<TestDatabase> {
  const rows = (sql: string) => command(url, sql);
  let lastNode: number | null = null;
  return {
    rows,
    async open(clock, lanes, onFeed) {
      if (lastNode !== null) await takeOverFromAll(url);
      if (beforeStart !== undefined) await command(url, beforeStart);
      const engine = await openEngine(url, { partitionDays, clock, lanes });
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
