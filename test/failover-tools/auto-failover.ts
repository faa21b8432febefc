/** Two servers that pg_auto_failover watches over, and its monitor. Nodes know both, as `pg_autoctl show uri` tells them to. */
import { randomBytes } from "node:crypto";
import { eventually } from "../support/patience.ts";
import { closedPort } from "../support/ports.ts";
import { command } from "../support/postgres-server.ts";
import { type Managed, type Server, settled } from "./failovers.ts";
import { installed, type Place, postmaster, versionOf } from "./place.ts";

export const AUTO_FAILOVER = {
  programs: ["pg_autoctl", "postgres"],
  packages: "pg-auto-failover-cli postgresql-15-auto-failover",
  version: () => `pg_auto_failover ${versionOf("pg_autoctl", "version")}, ${installed()}`,
};

const HOST = "127.0.0.1";
/** Nobody but this run reaches these servers for the minutes that they live. */
const COMMON = ["--auth", "trust", "--no-ssl", "--hostname", HOST, "--run"];

export async function startAutoFailover(place: Place): Promise<Managed> {
  const password = randomBytes(12).toString("hex");
  const port = await closedPort();
  const monitor = place.data("monitor");
  const watchUrl = `postgres://autoctl_node@${HOST}:${port}/pg_auto_failover`;
  place.start("watch", "pg_autoctl", "create", "monitor", "--pgdata", monitor, "--pgport", String(port), ...COMMON);
  await eventually(async () => command(watchUrl, "SELECT 1 FROM pgautofailover.formation").catch(() => false));
  const servers: Server[] = [];
  for (const name of ["db1", "db2"]) {
    const data = place.data(name);
    const port = await closedPort();
    const create = ["create", "postgres", "--pgdata", data, "--pgport", String(port), "--name", name];
    const first = place.start(name, "pg_autoctl", ...create, "--listen", HOST, "--monitor", watchUrl, ...COMMON);
    const adminUrl = `postgres://postgres@${HOST}:${port}/postgres`;
    const url = `postgres://heliograph:${password}@${HOST}:${port}/heliograph`;
    const watch = () => place.start(name, "pg_autoctl", "run", "--pgdata", data);
    servers.push({ name, data, url, adminUrl, watcher: first, watch });
    await eventually(async () => postmaster(data) !== null);
  }
  const { adminUrl } = await settled(servers);
  await command(
    adminUrl,
    `CREATE ROLE heliograph LOGIN PASSWORD '${password}'`,
    "CREATE DATABASE heliograph OWNER heliograph",
  );
  return { servers, switchOver: () => place.run("pg_autoctl", "perform", "switchover", "--pgdata", monitor) };
}
