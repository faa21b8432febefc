/** The doctor on PostgreSQL: whether it can be reached, keeps what it says it has kept, and which nodes are alive. */
import { join } from "node:path";
import { asDatabaseError } from "../drivers/postgres/faults.ts";
import { PostgresLink } from "../drivers/postgres/link.ts";
import { serversOf } from "../drivers/postgres/servers.ts";
import { storeTrouble } from "../drivers/store-trouble.ts";
import { ROLES } from "../node/roles.ts";
import { systemClock } from "../runtime/clock.ts";
import { counted } from "../runtime/text.ts";
import type { Settings } from "../settings/settings.ts";
import { storeName } from "../store/open.ts";
import { replicationInWords } from "../store/port/replication.ts";
import { type Setback, toldSetback } from "../store/postgres/committed-groups.ts";
import { replicationOf } from "../store/postgres/replication.ts";
import type { Findings } from "./finding.ts";
import { stepsIn, toldSchema } from "./schema.ts";

const MIGRATIONS = join(import.meta.dirname, "../store/postgres/migrations");
const OLDEST_VERSION = 14;
/** What is asked here is small: an answer that takes longer is a finding. */
const MAX_STATEMENT_MS = 10_000;
const LARGE_CLOCK_DIFFERENCE_MS = 1_000;
const WRONG_CLOCK_DIFFERENCE_MS = 60_000;
const LOSS_TOLD_MS = 7 * 86_400_000;

/** Whether the store can be opened without changing it. Whatever the database does, or does not, becomes a finding. */
export async function lookAtPostgres(settings: Settings, found: Findings): Promise<boolean> {
  const { url, statementTimeoutMs } = settings.store;
  const patienceMs = statementTimeoutMs === 0 ? MAX_STATEMENT_MS : Math.min(statementTimeoutMs, MAX_STATEMENT_MS);
  let link: PostgresLink | null = null;
  try {
    link = new PostgresLink(
      { url, statementTimeoutMs: patienceMs, leaseMs: settings.node.leaseMs, onlyReads: true },
      "heliograph doctor",
    );
    await link.connect(() => undefined);
    return await lookOver(link, settings, found);
  } catch (error) {
    toldTrouble(error, settings, found);
    return false;
  } finally {
    if (link?.alive === true) await link.end();
    else link?.destroy();
  }
}

function toldTrouble(error: unknown, settings: Settings, found: Findings): void {
  const fault = asDatabaseError(error) as Error;
  const trouble = storeTrouble(fault, settings.store);
  const what = trouble === null || trouble.kind === "away" ? "cannot be reached" : "cannot be used";
  const mend = trouble?.mend ?? "see the log of the database, and correct [store] url if it names another one";
  found.wrong("database", `${storeName(settings)} ${what}: ${fault.message}`, mend);
}

async function lookOver(link: PostgresLink, settings: Settings, found: Findings): Promise<boolean> {
  await lookAtServer(link, settings, found);
  await lookAtWrites(link, found);
  await lookAtReplication(link, settings, found);
  await lookAtClock(link, found);
  const version = await schemaVersion(link);
  if (version === null) {
    found.wrong(
      "schema",
      `${storeName(settings)} has none`,
      'correct [store] url if it names another database than yours; "heliograph init --store …" sets up a new one',
    );
    return false;
  }
  if (!toldSchema(version, stepsIn(MIGRATIONS), found)) return false;
  await lookAtNodes(link, settings, found);
  await lookAtLoss(link, found);
  return true;
}

/** A standby, or a database that was set so, takes no writes. */
async function lookAtWrites(link: PostgresLink, found: Findings): Promise<void> {
  if ((await settingNamed(link, "transaction_read_only")) !== "on") return;
  const isStandby = (await settingNamed(link, "in_hot_standby")) === "on";
  found.wrong(
    "writes",
    isStandby ? "this database is a standby, which takes no writes" : "this database is read-only for this user",
    isStandby
      ? "name the primary in [store] url; promote this one only if that is gone and stays so"
      : "see default_transaction_read_only of the database and of the user",
  );
}

/** Whether somebody beside this server has what it has. That it takes no writes is told before. */
async function lookAtReplication(link: PostgresLink, { store }: Settings, found: Findings): Promise<void> {
  const facts = await replicationOf(link).catch((error: Error) => error);
  if (facts instanceof Error)
    return found.warn("replication", `it could not be asked for: ${facts.message}`, "see for yourself who has a copy");
  const { mode, hidden, user, names } = facts;
  const says = replicationInWords(facts);
  const wait = "name standbys in synchronous_standby_names; with only one, nothing is accepted while that is away";
  if (mode === "waiting")
    found.wrong("replication", says, "start the standby: without it in synchronous_standby_names a failover may lose");
  else if (mode === "asynchronous")
    found.warn("replication", says, names === "" ? wait : "set synchronous_commit = on");
  else if (mode === "alone" && serversOf(store.url).length > 1)
    found.warn("replication", says, "[store] url names several servers, and none follows this one: see to their logs");
  else if (hidden > 0) found.warn("replication", says, `let this user see them: GRANT pg_monitor TO ${user}`);
  else if (mode !== "no_writes") found.ok("replication", says);
}

/** A setting of the server; null where it has none of that name. */
async function settingNamed(link: PostgresLink, name: string): Promise<string | null> {
  const { rows } = await link.query<{ value: string | null }>("SELECT current_setting($1, true) AS value", [name]);
  return rows[0]?.value ?? null;
}

/** What must be on, and what is lost without it. */
const DURABLE: readonly (readonly [setting: string, without: string])[] = [
  ["fsync", "a power cut can take away, or destroy, what clients were told is kept"],
  ["synchronous_commit", "a crash of the database can take away messages that clients were told are kept"],
  ["full_page_writes", "a power cut can leave pages half written"],
];

async function lookAtServer(link: PostgresLink, settings: Settings, found: Findings): Promise<void> {
  const version = Number((await settingNamed(link, "server_version_num")) ?? 0);
  const told = `${storeName(settings)}, PostgreSQL ${await settingNamed(link, "server_version")}`;
  if (version < OLDEST_VERSION * 10_000)
    found.warn("database", told, `use PostgreSQL ${OLDEST_VERSION} or later: it is not tried with older ones`);
  else found.ok("database", told);

  for (const [setting, without] of DURABLE) {
    if ((await settingNamed(link, setting)) === "off")
      found.wrong(setting, `it is off: ${without}`, `set ${setting} = on`);
    else found.ok(setting, "on");
  }
  const encoding = await settingNamed(link, "server_encoding");
  if (encoding !== null && encoding !== "UTF8")
    found.wrong(
      "encoding",
      `the database's is ${encoding}, which cannot hold every text`,
      "make a database with the encoding UTF8",
    );

  const allowed = Number((await settingNamed(link, "max_connections")) ?? 0);
  const { connections } = settings.store;
  if (allowed > 0 && allowed < 2 * connections + 5)
    found.warn(
      "connections",
      `the database allows ${allowed}, and each node takes ${connections}`,
      "raise max_connections, or lower [store] connections",
    );
}

async function lookAtClock(link: PostgresLink, found: Findings): Promise<void> {
  const before = systemClock.now();
  const { rows } = await link.query<{ ms: number }>(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms",
  );
  const after = systemClock.now();
  const differenceMs = Math.round(rows[0]!.ms - (before + after) / 2);
  const told = `this machine's and the database's differ by ${Math.abs(differenceMs)} ms`;
  const mend = "run a time service (NTP) on both machines";
  if (Math.abs(differenceMs) > WRONG_CLOCK_DIFFERENCE_MS) found.wrong("clock", told, mend);
  else if (Math.abs(differenceMs) > LARGE_CLOCK_DIFFERENCE_MS) found.warn("clock", told, mend);
  else found.ok("clock", told);
}

async function schemaVersion(link: PostgresLink): Promise<number | null> {
  const { rows } = await link.query<{ found: boolean }>("SELECT to_regclass('heliograph_schema') IS NOT NULL AS found");
  if (rows[0]?.found !== true) return null;
  const { rows: versions } = await link.query<{ version: number }>("SELECT version FROM heliograph_schema");
  return versions[0]?.version ?? null;
}

/** What a server that took over had not received. */
async function lookAtLoss(link: PostgresLink, found: Findings): Promise<void> {
  const { rows } = await link.query<Setback & { node: string }>(
    'SELECT node, groups, from_ms AS "fromMs", until_ms AS "untilMs" FROM lost_commit WHERE at_ms > $1 ORDER BY at_ms LIMIT 20',
    [systemClock.now() - LOSS_TOLD_MS],
  );
  for (const { node, ...setback } of rows)
    found.wrong(
      "loss",
      `${node}: ${toldSetback(setback)}`,
      "tell the clients who sent in that time; with a synchronous standby a failover loses nothing",
    );
}

async function lookAtNodes(link: PostgresLink, settings: Settings, found: Findings): Promise<void> {
  const { rows } = await link.query<{ name: string; roles: string; alive: boolean }>(
    "SELECT name, roles, alive_until > clock_timestamp() AS alive FROM node ORDER BY epoch",
  );
  const alive = rows.filter((node) => node.alive);
  for (const { name } of rows.filter((node) => !node.alive))
    found.warn(
      "nodes",
      `${name} has not been heard of for ${settings.node.leaseMs} ms or more`,
      "start it again; other nodes take over what it had, and with none alive all waits",
    );
  if (alive.length === 0) {
    found.ok("nodes", "none is alive: nothing is sent until one is started");
    return;
  }
  found.ok(
    "nodes",
    `${counted(alive.length, "node")} alive: ${alive.map(({ name, roles }) => `${name} (${roles})`).join(", ")}`,
  );
  for (const role of ROLES) {
    if (alive.some(({ roles }) => roles.split(",").includes(role))) continue;
    found.wrong(
      "roles",
      `no node that is alive has the role ${role}`,
      `start one with "heliograph serve --roles ${role}"`,
    );
  }
}
