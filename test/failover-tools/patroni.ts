/** Three servers that Patroni watches over with etcd, and HAProxy, which leads to the one that takes writes. */
import { randomBytes } from "node:crypto";
import { eventually } from "../support/patience.ts";
import { closedPort } from "../support/ports.ts";
import { command } from "../support/postgres-server.ts";
import { type Managed, primary, type Server, settled } from "./failovers.ts";
import { fromPage } from "./page.ts";
import { BIN, installed, type Place, versionOf } from "./place.ts";

export const PATRONI = {
  programs: ["patroni", "patronictl", "etcd", "haproxy", "postgres"],
  packages: "patroni etcd-server haproxy postgresql-15",
  version: () =>
    `Patroni ${versionOf("patroni", "--version")}, etcd ${versionOf("etcd", "--version")}, HAProxy ${versionOf("haproxy", "-v")}, ${installed()}`,
};

const HOST = "127.0.0.1";

export async function startPatroni(place: Place): Promise<Managed & { readonly balanced: string }> {
  const password = randomBytes(12).toString("hex");
  const urlOf = (address: string) => `postgres://heliograph:${password}@${address}/heliograph`;
  const [etcd, peer, proxy] = [await closedPort(), await closedPort(), await closedPort()];
  place.start(
    "etcd",
    "etcd",
    ...["--data-dir", place.path("etcd")],
    ...["--listen-client-urls", `http://${HOST}:${etcd}`, "--advertise-client-urls", `http://${HOST}:${etcd}`],
    ...["--listen-peer-urls", `http://${HOST}:${peer}`, "--initial-advertise-peer-urls", `http://${HOST}:${peer}`],
    ...["--initial-cluster", `default=http://${HOST}:${peer}`],
  );
  const ports: Record<string, string> = {};
  const made: { server: Server; config: string }[] = [];
  for (const number of [1, 2, 3]) {
    const name = `db${number}`;
    const data = place.data(name);
    const address = `${HOST}:${await closedPort()}`;
    const rest = String(await closedPort());
    const config = place.write(
      `${name}.yml`,
      fromPage("scope:", {
        "10.0.0.11:5432": address,
        "10.0.0.11:8008": `${HOST}:${rest}`,
        "10.0.0.21:2379,10.0.0.22:2379,10.0.0.23:2379": `${HOST}:${etcd}`,
        "10.0.0.0/24": `${HOST}/32`,
        "/var/lib/postgresql/15/heliograph": data,
        "/usr/lib/postgresql/15/bin": BIN!,
        PASSWORD: password,
        db1: name,
      }),
    );
    ports[`10.0.0.1${number}:5432 check port 8008`] = `${address} check port ${rest}`;
    const watch = () => place.start(name, "patroni", config);
    const adminUrl = `postgres://postgres:${password}@${address}/postgres`;
    made.push({ server: { name, data, adminUrl, url: urlOf(address), watcher: watch(), watch }, config });
  }
  const servers = made.map(({ server }) => server);
  const [{ config }] = made as [(typeof made)[0]];
  const haproxy = fromPage("defaults", { ...ports, "10.0.0.20:5432": `${HOST}:${proxy}` });
  place.start("haproxy", "haproxy", "-db", "-f", place.write("haproxy.cfg", haproxy));
  const { adminUrl } = await settled(servers);
  await command(
    adminUrl,
    `CREATE ROLE heliograph LOGIN PASSWORD '${password}'`,
    "CREATE DATABASE heliograph OWNER heliograph",
  );
  return {
    servers,
    balanced: urlOf(`${HOST}:${proxy}`),
    // It refuses until it has noted which standby commits wait for.
    switchOver: (old) =>
      eventually(async () => {
        if ((await primary(servers)) !== old) return true;
        await place.run("patronictl", "-c", config, "switchover", "--master", old.name, "--force").catch(() => null);
      }),
  };
}
