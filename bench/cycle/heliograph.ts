/**
 * Our own service for a run: set up through the command line as an operator does it, on a store of its own, and served by one node or more. It may be
 * that of another checkout, of an older state: only what has long been there is used, the commands below and settings without which it cannot be measured.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { createAccounts, pairsOf } from "./accounts.ts";
import type { Checkout } from "./checkout.ts";
import { fill, postgresFillable, sqliteFillable } from "./fill.ts";
import { prefixOf } from "./numbers.ts";
import { type CarrierName, DEFAULT_TIMELINE, type Options, SMPP_WINDOW, type StandbyName } from "./options.ts";
import { cleanEnvironment, Program } from "./program.ts";
import { heliographBody, heliographRequest, MODES } from "./requests.ts";
import { CUSTOMER } from "./rig.ts";
import type { ServerWatch } from "./server-profile.ts";
import { type DiskUsage, PartsUsage, type Subject, type Surroundings, sumKnown } from "./subject.ts";
import { partsOf } from "./threads.ts";
import { deviceFlushes, familyOf, memoryBytes, peakMemoryBytes, threadsOf, writtenBytes } from "./usage.ts";

const OPERATOR = "operator";
const ACCOUNT = "BENCH";
/** How its reports look. */
export const REPORTS = { before: '"to":"', delivered: '"groupName":"DELIVERED"' };
/** Whose messages wait, where some are to. */
const OTHER_ACCOUNT = "OTHER";
/** For a thousand million messages at the price below. */
const FUNDS = "10000000";
const DELIVERED_MS = 30_000;
/** A carrier with a rate of its own answers nothing while others have their turn; that is no reason to connect anew. */
const MAX_TURN_SECONDS = 600;
const HOUR_MS = 3_600_000;
/** What is stored came in the last days; what waits, in the last hour, and is far from too old to be sent. */
const STORED_OVER_MS = 7 * 24 * HOUR_MS;
const WAITING_OVER_MS = HOUR_MS;

const run = promisify(execFile);

export interface HeliographParts extends Surroundings {
  readonly options: Options;
  readonly checkout: Checkout;
  readonly carrier: CarrierName;
  readonly nodes: number;
  /** Null: the embedded store. */
  readonly database: Database | null;
  /** Messages that are there before the first: finished ones, and another account's that wait. */
  readonly stored: number;
  readonly waiting: number;
}

/** A database on a PostgreSQL server. */
export interface Database {
  readonly url: string;
  /** The server's first process, if it runs on this machine and is ours to look at. */
  readonly pid: number | null;
  readonly standby: StandbyName;
  disk(): Promise<DiskUsage>;
  /** Begins to look at what the server does; null where the server is not ours. */
  readonly watch: (() => Promise<ServerWatch>) | null;
}

export async function startHeliograph(parts: HeliographParts): Promise<Subject> {
  const { options, checkout, carrier, nodes, directory, database, carrierPorts, sinkPorts, sender, stored, waiting } =
    parts;
  const data = join(directory, "data");
  mkdirSync(data, { recursive: true });
  const config = join(directory, "heliograph.toml");
  // Where a provider calls back has to be known before the service listens.
  const ownPort = carrier === "smpp" ? 0 : await freePort();
  writeFileSync(config, settings(data, database, options, ownPort));
  const catalogue = join(directory, "catalogue.toml");
  writeFileSync(catalogue, catalogueOf(options, carrier, carrierPorts));
  const command = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(checkout.node, [checkout.program, ...args, "--config", config], {
      env: cleanEnvironment(),
    });
    return stdout;
  };
  const operatorPassword = /shown only now:\n(\S+)/.exec(await command("init", "--username", OPERATOR))?.[1];
  await command("apply", catalogue);
  const createAccount = async (key: string): Promise<string> => {
    await command("account", "create", "--key", key, "--username", key.toLowerCase(), "--funds", FUNDS);
    return `App ${lastLine(await command("api-key", "create", "--account", key))}`;
  };
  const authorization = await createAccount(ACCOUNT);
  const notifyUrlOf = (load: number): string | null =>
    options.until === "report" ? `http://127.0.0.1:${sinkPorts[load]}/reports` : null;

  const serve = async (log: string, profiling: readonly string[] = []): Promise<{ program: Program; port: number }> => {
    const program = new Program(
      checkout.node,
      [...profiling, checkout.program, "serve", "--config", config],
      join(directory, log),
    );
    const port = await program.until((output) => {
      const match = /^Heliograph listens on http:\/\/[^:]+:(\d+)$/m.exec(output);
      return match === null ? null : Number(match[1]);
    });
    return { program, port };
  };
  const auditBooks = (): Promise<string | null> =>
    command("ledger", "verify").then(
      () => null,
      (error: { stdout?: string; message: string }) => (error.stdout || error.message).trim(),
    );
  /** Lets the service handle one request, and fills the store with copies of what it wrote for that. */
  const fillWith = async (title: string, copied: Copied): Promise<void> => {
    await parts.setCarrier({ open: copied.finished, receipts: copied.finished });
    const { program, port } = await serve("original.log");
    try {
      const body = heliographBody({
        mode: options.modes[0]!,
        sender,
        notifyUrl: copied.finished ? notifyUrlOf(0) : null,
      });
      await sendOriginal(port, { ...copied, path: MODES[options.modes[0]!].path, body });
    } finally {
      await program.stop();
    }
    const store = database === null ? sqliteFillable(data) : await postgresFillable(database.url);
    try {
      const startMs = performance.now();
      await fill(store, { ...copied, onProgress: (done) => parts.progress.show(title, done, copied.messages) });
      const seconds = Math.round((performance.now() - startMs) / 1000);
      parts.progress.say(`${title}: ${copied.messages.toLocaleString("en")} messages in ${seconds} s`);
    } finally {
      await store.close();
    }
    const fault = await auditBooks();
    if (fault !== null) throw new Error(`the store was not filled as the service would have done it: ${fault}`);
  };
  if (stored > 0) {
    const copied = { accountKey: ACCOUNT, authorization, messages: stored, overMs: STORED_OVER_MS, finished: true };
    await fillWith("filling the store", copied);
  }
  if (waiting > 0) {
    const other = { accountKey: OTHER_ACCOUNT, authorization: await createAccount(OTHER_ACCOUNT) };
    const copied = { ...other, messages: waiting, overMs: WAITING_OVER_MS, finished: false };
    await fillWith("filling the queue", copied);
  }
  await parts.setCarrier({ open: options.until !== "accept", receipts: options.until === "report" });

  const profiling = options.profile ? ["--cpu-prof", "--cpu-prof-dir", join(directory, "profiles")] : [];
  const programs: Program[] = [];
  const ports: number[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(programs.map((program) => program.stop()));
  };
  try {
    for (let node = 1; node <= nodes; node++) {
      const { program, port } = await serve(`node-${node}.log`, profiling);
      programs.push(program);
      ports.push(port);
    }
  } catch (error) {
    await stop();
    throw error;
  }

  const others = Array.from({ length: options.accounts - 1 }, (_, index) => `${ACCOUNT}${index + 1}`);
  const authorizations = [
    authorization,
    ...(await createAccounts(ports, `${OPERATOR}:${operatorPassword}`, others, FUNDS)),
  ];
  const pids = programs.map(({ pid }) => pid);
  const serverPids = (): number[] => (database?.pid == null ? [] : familyOf(database.pid));
  return {
    name: nameOf(parts),
    targets: (mode, load, accounts) =>
      pairsOf(accounts, nodes, options.pinned).map(({ account, node }) => {
        const port = ports[node]!;
        const authorization = authorizations[account]!;
        return {
          port,
          template: heliographRequest({ mode, port, authorization, sender, notifyUrl: notifyUrlOf(load) }),
        };
      }),
    usage() {
      const parts = new PartsUsage();
      for (const pid of pids) for (const [part, thread] of partsOf(threadsOf(pid))) parts.add(part, thread);
      for (const pid of serverPids()) for (const thread of threadsOf(pid)) parts.add("postgres", thread);
      return parts;
    },
    memoryBytes: () => sumKnown(pids.map(memoryBytes)),
    peakMemoryBytes: () => sumKnown(pids.map(peakMemoryBytes)),
    disk: async () =>
      database === null
        ? { writtenBytes: sumKnown(pids.map(writtenBytes)), logBytes: null, flushes: deviceFlushes(data) }
        : database.disk(),
    lastWords: () => programs.map((program) => program.lastWords()).join("\n"),
    stop,
    auditBooks,
  };
}

interface Copied {
  readonly accountKey: string;
  readonly authorization: string;
  readonly messages: number;
  readonly overMs: number;
  /** Delivered and reported; else it has been accepted and waits. */
  readonly finished: boolean;
}

/** Sends the request of which copies will be made, and waits until it is as they are to be. */
async function sendOriginal(
  port: number,
  { path, body, authorization, finished }: Copied & { readonly path: string; readonly body: string },
): Promise<void> {
  const call = async <Answer>(target: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { Authorization: authorization, "Content-Type": "application/json", Accept: "application/json" };
    const answer = await fetch(`http://127.0.0.1:${port}${target}`, { ...init, headers });
    if (!answer.ok) throw new Error(`${target} was answered: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
  const { bulkId } = await call<{ bulkId: string }>(path, { method: "POST", body });
  const endMs = performance.now() + DELIVERED_MS;
  while (finished) {
    const { results } = await call<{ results: { status: { groupName: string } }[] }>(
      `/sms/1/logs?bulkId=${bulkId}&limit=1000`,
    );
    if (results.length > 0 && results.every(({ status }) => status.groupName === "DELIVERED")) return;
    if (performance.now() > endMs) throw new Error("the first message was not delivered");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function nameOf({ checkout, nodes, database, options, carrier, stored, waiting }: HeliographParts): string {
  const store = database === null ? "SQLite" : `PostgreSQL, ${nodes} ${nodes === 1 ? "node" : "nodes"}`;
  const follows = { none: [], sync: ["synchronous standby"], async: ["asynchronous standby"] }[
    database?.standby ?? "none"
  ];
  const from =
    options.accounts === 1 ? [] : [`${options.accounts} accounts${options.pinned ? ", each over one node" : ""}`];
  const before =
    options.stored > 0
      ? [stored > 0 ? `${stored.toLocaleString("en")} messages stored` : "empty at the start"]
      : options.waiting > 0
        ? [waiting > 0 ? `${waiting.toLocaleString("en")} messages of another account waiting` : "idle otherwise"]
        : [];
  const over = carrier === "smpp" ? (options.carriers.length > 1 ? ["over SMPP"] : []) : [`over HTTP, ${carrier}`];
  const whose = checkout.name === null ? "" : ` of ${checkout.name}`;
  return [`Heliograph${whose} on ${store}`, ...follows, ...from, ...over, ...before].join(", ");
}

/** All load may come from one account, and does from one address; the rate limits stay on, for they cost something, and are out of reach. */
function settings(data: string, database: Database | null, { timeline }: Options, port: number): string {
  return `
[server]
port = ${port}
${port === 0 ? "" : `publicUrl = "http://127.0.0.1:${port}"`}
maxRequests = 10000
connectionsPerAddress = 10000
requestsPerAddress = 9000

[limits]
requestsPerSecond = 1000000
messagesPerSecond = 10000000
connectionsPerAccount = 9000

[store]
data = ${JSON.stringify(data)}
${database === null ? "" : `url = ${JSON.stringify(database.url)}`}

[reports]
dangerousAllowPrivateCallbacks = true

${timeline === DEFAULT_TIMELINE ? "" : `[console]\ntimeline = ${JSON.stringify(timeline)}\n`}
[log]
level = "warn"
`;
}

const HTTP_WINDOW = 64;
/** Presets of real providers have a pace. */
const NO_LIMIT = 100_000;

function carrierOf({ window, binds, partsPerSecond }: Options, carrier: CarrierName, port: number): string {
  const { username, password } = CUSTOMER;
  if (carrier !== "smpp")
    return `
kind = "http"
preset = ${JSON.stringify(carrier)}
url = "http://127.0.0.1:${port}"
username = ${JSON.stringify(username)}
password = ${JSON.stringify(password)}
${carrier === "twilio" ? "" : `apiKey = ${JSON.stringify(password)}`}
window = ${window ?? HTTP_WINDOW}
partsPerSecond = ${partsPerSecond ?? NO_LIMIT}`;
  return `
kind = "smpp"
hosts = ["127.0.0.1:${port}"]
systemId = "heliograph"
password = "secret"
window = ${window ?? SMPP_WINDOW}
binds = ${binds}
answerSeconds = ${MAX_TURN_SECONDS}
${partsPerSecond === null ? "" : `partsPerSecond = ${partsPerSecond}`}`;
}

const carrierId = (load: number): string => (load === 0 ? "bench" : `bench-${load}`);

/** A carrier for each load, with a route for its numbers. */
function catalogueOf(options: Options, carrier: CarrierName, ports: readonly number[]): string {
  const carriers = ports.map(
    (port, load) => `
[[carrier]]
id = "${carrierId(load)}"${carrierOf(options, carrier, port)}

[[route]]
prefix = ${JSON.stringify(load === 0 ? "" : prefixOf(load))}
carrier = "${carrierId(load)}"
`,
  );
  return `${carriers.join("")}
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;
}

/** One that nobody listens on just now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!;
}
