/** A database that is there and cannot serve: its disk is full, or somebody holds a lock on the messages for half a minute. */
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import pg from "pg";
import { pause } from "../support/cluster.ts";
import { eventually } from "../support/patience.ts";
import { command, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { sayVersion } from "./pgbouncer.ts";
import { killed, type Place } from "./place.ts";
import { seconds, Trial } from "./trial.ts";

const TROUBLE_MS = 30_000;
const LOOKS = 3;
const DISK = "400m";
const BALLAST = Buffer.alloc(64 * 1024);

/** What clients and load balancers are told in the course of the trouble. */
async function lookOn(trial: Trial): Promise<void> {
  const began = trial.sight();
  for (let look = 1; look <= LOOKS; look++) {
    await pause(TROUBLE_MS / LOOKS);
    const { atMs, accepted } = trial.sight();
    console.log(`after ${seconds(atMs - began.atMs)} s, ${accepted - began.accepted} accepted: ${await trial.says()}`);
  }
}

async function goesOn(trial: Trial): Promise<void> {
  const { accepts, dispatches } = await trial.goesOn(trial.sight());
  console.log(`over: ${seconds(accepts)} s to a 200, ${seconds(dispatches)} s to a part`);
}

export async function tryLocked(t: TestContext): Promise<void> {
  const server = await startPostgres({ durable: true });
  t.after(() => server.remove());
  await sayVersion(server);
  const trial = await Trial.start(t, server.url);
  const other = new pg.Client({ connectionString: server.url });
  await other.connect();
  await other.query("BEGIN; LOCK TABLE message IN ACCESS EXCLUSIVE MODE");
  await lookOn(trial);
  await other.end();
  await goesOn(trial);
  await trial.finish();
}

function fill(folder: string): string {
  const ballast = join(folder, "ballast");
  try {
    for (;;) appendFileSync(ballast, BALLAST);
  } catch {
    return ballast; // full
  }
}

/** Its supervisor's work, where the server has ended. */
async function startAgain(server: PostgresServer): Promise<boolean> {
  if (killed(server.pid!, 0)) return false;
  await server.stop();
  await server.start();
  return true;
}

/** First only tables cannot grow; then the log needs a new file as well, which PostgreSQL does not survive. */
export async function tryFullDisk(t: TestContext, place: Place): Promise<void> {
  const folder = place.disk("disk", DISK);
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  const server = await startPostgres({ durable: true });
  Object.assign(process.env, { TMPDIR: TMPDIR ?? "/tmp" });
  t.after(() => server.remove());
  await sayVersion(server);
  const trial = await Trial.start(t, server.url);
  for (const what of ["tables", "the log"]) {
    const ballast = fill(folder);
    console.log(`the disk is full for ${what}`);
    if (what === "the log") await command(server.url, "SELECT pg_switch_wal()").catch(() => null);
    await lookOn(trial);
    rmSync(ballast);
    if (await startAgain(server)) console.log("the server had ended and was started again");
    await eventually(() => command(server.url, "SELECT 1").catch(() => null));
    await goesOn(trial);
  }
  await trial.finish();
}
