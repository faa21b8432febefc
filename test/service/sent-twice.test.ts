/**
 * How many messages go out twice when the store cannot be told what became of them, or the process ends: never more than were on their way,
 * which is the sum of the carriers' windows. The real program, a carrier that answers after a while, and both stores. The table is printed.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { openStore } from "../../src/commands/open.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { localStore } from "../../src/store/group.ts";
import type { Store } from "../../src/store/port/store.ts";
import { compileRecorder, whyNoRecorder } from "../powercut/recorder.ts";
import { addAccount } from "../support/accounts.ts";
import { type Child, startChild } from "../support/child.ts";
import { smppCatalogue, startWatchedSmsc, type WatchedSmsc } from "../support/cluster.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { basic, callService, eventually, temporaryDirectory } from "../support/service.ts";

const BINDS = 2;
const WINDOW = 25;
const WINDOWS = BINDS * WINDOW;
const MESSAGES = 2_000;
const A_REQUEST = 500;
const LEASE_MS = 15_000;
/** The carrier's answer takes so long, so that its windows are full. */
const ANSWER_MS = 15;
/** How many the carrier has when the fault comes. */
const BEFORE_FAULT = 500;
/** The schema and some hundred messages fit into it, and all of them do not. */
const FULL_KB = 800;
const NOT_WRITTEN = 74;
/** Tries that fail before the fault is over. */
const OFTEN = 6;
const STORE_FAILS = /the store did not take what carriers said/;

/** What is wrong with the disk of a service: it is full beyond so much, or one flush of it fails (test/powercut/recorder.c). */
interface IllDisk {
  readonly largestFileKb?: number;
  readonly flush?: string;
}

interface Run {
  readonly t: TestContext;
  readonly network: WatchedSmsc;
  /** A service on the store. */
  start(disk?: IllDisk): Promise<Child>;
  /** Where SQLite's data are. */
  readonly data: string;
  /** The database's server. */
  readonly server: PostgresServer | null;
}

const ILL_DISKS: Readonly<Record<string, IllDisk>> = {
  "disk full, stopped, space freed": { largestFileKb: FULL_KB },
  // One among the load.
  "a flush fails": { flush: "commit:40" },
};

/** What a fault does: gives the service that goes on after it, and how many messages were said to be in doubt. */
type Fault = (run: Run, child: Child) => Promise<{ child: Child; inDoubt: number | null }>;

async function stopped(child: Child): Promise<number> {
  const code = await child.end("SIGTERM");
  const [, count = "0"] = /what became of (\d+) messages/.exec(child.output()) ?? [];
  assert.equal(code, count === "0" ? 0 : NOT_WRITTEN, child.output());
  return Number(count);
}

/** The store has failed so often: what was begun has come to its end by then, and nothing else should have begun. */
async function failing(child: Child, times = 1): Promise<void> {
  await eventually(async () => child.output().split(STORE_FAILS).length > times);
}

const killed: Fault = async ({ start }, child) => {
  await child.end("SIGKILL");
  return { child: await start(), inDoubt: null };
};

const stoppedInOrder: Fault = async ({ start }, child) => {
  const inDoubt = await stopped(child);
  return { child: await start(), inDoubt };
};

/** Holds the one writer's place of SQLite, as a backup might. */
function holdWriter(data: string): () => void {
  const db = new Database(join(data, "heliograph.sqlite"), { timeout: 10_000 });
  db.exec("BEGIN IMMEDIATE");
  return () => {
    db.exec("ROLLBACK");
    db.close();
  };
}

const FAULTS: Readonly<Record<"SQLite" | "PostgreSQL", Readonly<Record<string, Fault>>>> = {
  SQLite: {
    "another holds the database for a while": async ({ data }, child) => {
      const release = holdWriter(data);
      await failing(child, OFTEN);
      release();
      return { child, inDoubt: null };
    },
    "disk full, stopped, space freed": async ({ start }, child) => {
      await failing(child, OFTEN);
      const inDoubt = await stopped(child);
      return { child: await start(), inDoubt };
    },
    "a flush fails": async (_run, child) => {
      await eventually(async () => child.output().includes("the store's log is whole again"));
      return { child, inDoubt: null };
    },
    stopped: stoppedInOrder,
    killed,
  },
  PostgreSQL: {
    "database away for a while": async ({ server }, child) => {
      await server!.stop();
      await failing(child, OFTEN);
      await server!.start();
      return { child, inDoubt: null };
    },
    "stopped while the database is away": async ({ server, start }, child) => {
      await server!.stop();
      await failing(child);
      const inDoubt = await stopped(child);
      await server!.start();
      return { child: await start(), inDoubt };
    },
    stopped: stoppedInOrder,
    killed,
  },
};

/** What a service that was only kept from its store sent twice: nothing. */
const NOTHING_TWICE = new Set([
  "another holds the database for a while",
  "a flush fails",
  "database away for a while",
  "stopped",
]);

const CLIENT = basic("client", "password");

async function prepare(store: Store, port: number): Promise<void> {
  await store.claimPurpose({ purpose: "production" });
  await store.putCatalogue({ items: readCatalogueFile(smppCatalogue({ port }, { binds: BINDS, window: WINDOW })) });
  await addAccount(store, { key: "OPERATOR1", kind: "operator", username: "operator" });
  await addAccount(store, { key: "CLIENT01", parentKey: null, username: "client", balanceMicros: 1_000_000_000n });
}

async function setUp(t: TestContext, engine: string): Promise<Run> {
  const network = await startWatchedSmsc(t, { faults: { delayAnswer: { ms: ANSWER_MS } } });
  const server = engine === "PostgreSQL" ? await startPostgres({ durable: true }) : null;
  if (server !== null) t.after(() => server.remove());
  const data = await temporaryDirectory(t);
  const place = server === null ? { data } : { url: server.url };
  const settings = readSettings({ environment: {}, flags: { store: place } });
  const opened = await openStore({ settings, clock: systemClock, log: silentLog, deliver: null, name: "test" });
  try {
    await prepare(
      localStore(opened.engine, () => undefined),
      network.smsc.port,
    );
  } finally {
    await opened.close();
  }
  const args = server === null ? ["--data", data] : [];
  const environment: Record<string, string> = {
    HELIOGRAPH_NODE_LEASE_MS: String(LEASE_MS),
    ...(server === null ? {} : { HELIOGRAPH_STORE_URL: server.url }),
  };
  const start = async ({ largestFileKb, flush }: IllDisk = {}): Promise<Child> => {
    const failing = flush === undefined ? {} : await failingFlush(t, data, flush);
    return startChild(t, ["serve", "--port", "0", ...args], { ...environment, ...failing }, largestFileKb);
  };
  return { t, network, start, data, server };
}

/** The environment in which this flush of a service fails, once. */
async function failingFlush(t: TestContext, data: string, flush: string): Promise<Record<string, string>> {
  const beside = await temporaryDirectory(t);
  return {
    LD_PRELOAD: compileRecorder(beside),
    POWERCUT_DIRECTORY: data,
    POWERCUT_TRACE: join(beside, "trace"),
    POWERCUT_FAIL: flush,
  };
}

/** Sends as much as the store takes; gives the phones whose messages were accepted. */
async function send(child: Child): Promise<Set<string>> {
  const phones = Array.from({ length: MESSAGES }, (_, index) => `4179${String(index).padStart(7, "0")}`);
  const accepted = new Set<string>();
  for (let at = 0; at < phones.length; at += A_REQUEST) {
    const to = phones.slice(at, at + A_REQUEST);
    const body = { from: "Sender", to, text: "x".repeat(150) };
    const answer = await callService(child.url, "POST", "/sms/1/text/single", { body, authorization: CLIENT });
    if (answer.status === 200) for (const phone of to) accepted.add(phone);
  }
  return accepted;
}

const metrics: string[] = [];
after(() => {
  console.log(
    `| store | fault | sent twice | said to be in doubt | windows |\n|---|---|---|---|---|\n${metrics.join("\n")}`,
  );
});

for (const [engine, faults] of Object.entries(FAULTS)) {
  for (const [name, fault] of Object.entries(faults)) {
    test(`${engine}, ${name}: nothing is lost, and no more is sent twice than the windows hold`, {
      timeout: 600_000,
      skip: ILL_DISKS[name]?.flush === undefined ? false : whyNoRecorder(),
    }, async (t) => {
      const run = await setUp(t, engine);
      const { parts } = run.network;
      const first = await run.start(ILL_DISKS[name]);
      const accepted = await send(first);
      if (!name.startsWith("disk full")) await eventually(async () => parts.length >= BEFORE_FAULT);
      const { child, inDoubt } = await fault(run, first);
      const phones = new Map<string, number>();
      await eventually(async () => {
        phones.clear();
        for (const { to } of parts) phones.set(to, (phones.get(to) ?? 0) + 1);
        return [...accepted].every((phone) => phones.has(phone));
      });
      // All that goes again goes before the last: one in order is proof that nothing more comes.
      assert.equal(await child.end("SIGTERM"), 0, child.output());
      const sentTwice = parts.length - phones.size;
      metrics.push(`| ${engine} | ${name} | ${sentTwice} | ${inDoubt ?? "-"} | ${WINDOWS} |`);
      assert.ok(accepted.size > BEFORE_FAULT, `there was load: ${accepted.size}`);
      assert.ok(sentTwice <= WINDOWS, `${sentTwice} sent twice`);
      if (inDoubt !== null)
        assert.ok(sentTwice <= inDoubt, `${sentTwice} sent twice, and ${inDoubt} said to be in doubt`);
      if (NOTHING_TWICE.has(name)) assert.equal(sentTwice, 0);
    });
  }
}
