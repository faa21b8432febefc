/**
 * PgBouncer before a server that is killed and comes back: how long nobody gets a 200, with PgBouncer's own time between two logins and with
 * one second. And what the service says of a pool that gives one session to many.
 */
import type { TestContext } from "node:test";
import { runProgram } from "../support/child.ts";
import { pause } from "../support/cluster.ts";
import { eventually } from "../support/patience.ts";
import { closedPort } from "../support/ports.ts";
import { command, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { type Place, versionOf } from "./place.ts";
import { seconds, Trial } from "./trial.ts";

export const PGBOUNCER = {
  programs: ["pgbouncer"],
  packages: "pgbouncer",
  version: () => `PgBouncer ${versionOf("pgbouncer", "--version")}`,
};

/** How long the server is away. */
const AWAY_MS = 5_000;

async function startPool(
  place: Place,
  name: string,
  { url }: PostgresServer,
  lines: readonly string[],
): Promise<string> {
  const { username, password, port: serverPort } = new URL(url);
  const port = await closedPort();
  const config = [
    "[databases]",
    `* = host=127.0.0.1 port=${serverPort}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = scram-sha-256",
    `auth_file = ${place.write(`${name}.txt`, `"${username}" "${password}"\n`)}`,
    "default_pool_size = 50",
    ...lines,
  ];
  place.start(name, "pgbouncer", place.write(`${name}.ini`, config.join("\n")));
  const pool = new URL(url);
  pool.port = String(port);
  await eventually(() => command(pool.href, "SELECT 1").catch(() => null));
  return pool.href;
}

export async function sayVersion({ url }: PostgresServer): Promise<void> {
  const [row] = await command(url, "SHOW server_version");
  console.log(`PostgreSQL ${row!.server_version}`);
}

/** As if its machine had lost its power; it is started again as soon as what is left of it lets go of the data. */
async function killAndReturn(server: PostgresServer): Promise<void> {
  process.kill(server.pid!, "SIGKILL");
  await server.stop();
  await pause(AWAY_MS);
  await eventually(() =>
    server.start().then(
      () => true,
      () => false,
    ),
  );
}

export async function tryPgBouncer(t: TestContext, place: Place, rounds: number): Promise<void> {
  for (const lines of [["server_login_retry = 1"], [], null]) {
    const mode = `pool_mode = ${lines === null ? "transaction" : "session"}`;
    await t.test([mode, ...(lines ?? [])].join(", "), async (t) => {
      const server = await startPostgres({ durable: true });
      t.after(() => server.remove());
      await sayVersion(server);
      const name = `pool${lines?.length ?? ""}`;
      const pool = await startPool(place, name, server, [mode, ...(lines ?? [])]);
      if (lines === null) {
        for (let node = 1; node <= 2; node++) {
          const { code, stdout, stderr } = await runProgram(["init"], { HELIOGRAPH_STORE_URL: pool });
          console.log(`exit code ${code}: ${stdout}${stderr}`);
        }
        return;
      }
      const trial = await Trial.start(t, server.url, undefined, pool);
      for (let round = 1; round <= rounds; round++) {
        await trial.flows();
        await killAndReturn(server);
        const { accepts, dispatches } = await trial.goesOn(trial.sight());
        console.log(
          JSON.stringify({ round, "back to a 200, s": seconds(accepts), "to a part, s": seconds(dispatches) }),
        );
      }
      await trial.finish();
    });
  }
}
