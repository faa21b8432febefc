/**
 * Failovers and switchovers by whatever tool watches over the servers: in each round the server that takes writes is killed with its
 * watcher (`kill -9`, as if its machine were gone), or the tool is asked to change places; then all servers are waited for.
 */
import pg from "pg";
import { eventually } from "../support/service.ts";
import { killed, postmaster, type Started } from "./place.ts";
import { seconds, type Trial } from "./trial.ts";

export interface Server {
  readonly name: string;
  readonly data: string;
  /** Of the service's database, on this server alone. */
  readonly url: string;
  readonly adminUrl: string;
  watcher: Started;
  /** Starts the watcher again, which starts the server. */
  readonly watch: () => Started;
}

export interface Managed {
  readonly servers: readonly Server[];
  switchOver(from: Server): Promise<unknown>;
}

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query({ text: sql, rowMode: "array" })).rows[0]?.[0];
  } catch {
    return null; // it is away, or not yet there
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The server that takes writes. pg_auto_failover keeps one that is no standby any more from doing so for a while. */
export function primary(servers: readonly Server[]): Promise<Server> {
  return eventually(async () => {
    for (const server of servers)
      if ((await ask(server.adminUrl, "SHOW transaction_read_only")) === "off") return server;
    return null;
  });
}

const STANDBYS = `SELECT count(*)::int FROM pg_stat_replication WHERE state = 'streaming'`;
const WAITED_FOR = `${STANDBYS} AND sync_state IN ('sync', 'quorum')`;

/** Every other server follows, and a commit waits for one of them at the least. */
export async function settled(servers: readonly Server[]): Promise<Server> {
  const first = await primary(servers);
  await eventually(async () => (await ask(first.adminUrl, STANDBYS)) === servers.length - 1);
  await eventually(async () => Number(await ask(first.adminUrl, WAITED_FOR)) > 0);
  return first;
}

async function killAll({ watcher, data }: Server): Promise<void> {
  watcher.kill();
  killed(postmaster(data)!, "SIGKILL");
}

export interface Rounds {
  readonly failovers: number;
  readonly switchovers: number;
}

export async function goThrough({ servers, switchOver }: Managed, trial: Trial, rounds: Rounds): Promise<void> {
  const rows: Record<string, unknown>[] = [];
  for (let round = 1; round <= rounds.failovers + rounds.switchovers; round++) {
    const old = await settled(servers);
    await trial.flows();
    const kills = round <= rounds.failovers;
    const refused = trial.refused();
    const before = trial.sight();
    const changing = kills ? killAll(old) : switchOver(old);
    await primary(servers.filter((server) => server !== old));
    const promoted = trial.sight();
    const { accepts, dispatches } = await trial.goesOn(promoted);
    await changing;
    if (kills) old.watcher = old.watch();
    const row = {
      round,
      event: `${kills ? "kill" : "switchover"} of ${old.name}`,
      "to writes, s": seconds(promoted.atMs - before.atMs),
      "then to a 200, s": seconds(accepts),
      "then to a part, s": seconds(dispatches),
      "answers of 503": trial.refused() - refused,
    };
    rows.push(row);
    console.log(JSON.stringify(row));
  }
  await settled(servers);
  console.table(rows);
}
