/**
 * Which tests run when. `npm test` is the short run, for every change. The long run has parts with names: for a night, a release, and a change to what
 * a part is about. A test file is in the short run unless a part has it in `files`.
 */
import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { hasChromium } from "../support/chromium.ts";
import type { Job } from "./job.ts";

export interface Plan {
  readonly name: string;
  readonly jobs: readonly Job[];
  readonly slots: number;
  readonly environment: NodeJS.ProcessEnv;
  /** Files that cannot run here for want of a browser. */
  readonly withoutBrowser: readonly string[];
}

interface Part {
  readonly about: string;
  /** Test files that are in no other run. */
  readonly files?: readonly string[];
  /** Test files that the short run has too, there in a smaller size (support/chance.ts) or on the other store. */
  readonly again?: readonly string[];
  readonly store?: Job["store"];
  /** It measures or loads the machine, so that nothing runs beside it. */
  readonly alone?: boolean;
}

/** What is answered before the store is asked, or is kept in memory: a run on another store would show nothing. */
const STORELESS =
  /(addresses|auth-cost|documentation|errors.*|headers|health|login-attempts|preview|sending-parts|tls)\.test\.ts$/;

export const LONG_PARTS: Readonly<Record<string, Part>> = {
  attacks: {
    about: "what no honest client sends, by callers with an account and without",
    again: ["test/hostile/{bodies,callers,strangers}.test.ts"],
    alone: true,
  },
  backup: {
    about: "copies of the store under load, and what is restored from them",
    files: ["test/cli/backup.test.ts"],
  },
  bench: { about: "the benchmark's own parts", files: ["test/bench/*.test.ts"] },
  browser: {
    about: "all pages of the console in a browser; the short run has three of them",
    files: [
      "test/console/{accessibility,bulks,docs-page,messages,money,operator,phones,reports,routes,settings}.test.ts",
    ],
  },
  cluster: { about: "several nodes on one PostgreSQL", files: ["test/cluster/!(failover*).test.ts"], alone: true },
  docs: {
    about: "the commands of the longer pages, as pasted",
    files: ["test/docs/{carriers-http,operating,reselling}.test.ts"],
  },
  doctor: {
    about: "doctor in every trouble that can be made, and what is told of one message",
    files: ["test/cli/{doctor-files,doctor-postgres,doctor-service,listen,message-show}.test.ts"],
  },
  failover: {
    about: "PostgreSQL's failover to a standby, under load: SEED and SEEDS choose the kills",
    files: ["test/cluster/failover-cases.test.ts"],
    again: ["test/cluster/failover.test.ts"],
    alone: true,
  },
  faults: {
    about: "carriers and links that fail in every way",
    files: ["test/carriers/smpp/{faults,wrong-octets}.test.ts", "test/smsc/faults.test.ts"],
  },
  "full-disk": { about: "a disk with no room left", files: ["test/service/full-disk.test.ts"] },
  generated: { about: "requests made from the API's own schemas", again: ["test/hostile/generated-requests.test.ts"] },
  kannel: { about: "Kannel as a customer, where it is installed", files: ["test/carriers/kannel.test.ts"] },
  kills: { about: "a process killed at any moment", again: ["test/service/kill.test.ts"] },
  linear: {
    about: "cost that must not grow faster than its input, measured",
    files: ["test/hostile/linear.test.ts", "test/sms/linear.test.ts", "test/dispatch/scale.test.ts"],
    alone: true,
  },
  pace: { about: "rates of carriers, found and kept", files: ["test/carriers/pace/rate-finder.test.ts"] },
  postgres: {
    about: "the tests of the API once more, on PostgreSQL, and the store's contract there in full size",
    again: ["test/api/*.test.ts", "test/store/postgres-{accounts,messages,pins,receipts}.test.ts"],
    store: "postgres",
  },
  powercut: {
    about: "power cuts at any moment, and after a flush that failed; it needs a C compiler",
    files: ["test/powercut/powercut.test.ts"],
    alone: true,
  },
  properties: {
    about: "properties with ten times the cases, drawn afresh",
    again: [
      "test/sms/agreement.test.ts",
      "test/carriers/http/template.test.ts",
      "test/carriers/smpp/{charged-parts,codec-fuzz,codec-mending,codec-properties,pace,receipt}.test.ts",
      "test/{console/counting,message/incoming-parts,money/csv,reports/xml,schedule/window,sms/properties}.test.ts",
      "test/{api/funds,api/logs,dispatch/references,store/postgres-money,store/sqlite,store/sqlite-journal}.test.ts",
    ],
  },
  starts: {
    about: "the program started, watched and stopped, many times",
    files: ["test/cli/{sandbox-life,stop,stop-load}.test.ts", "test/service/{log,metrics,start}.test.ts"],
  },
  providers: {
    about:
      "providers over HTTP: every fault, error and poll with every preset; two services in a row, one of them killed",
    files: ["test/carriers/http/{errors,faults,row-kill}.test.ts"],
  },
  "sent-twice": {
    about: "what a crash between any two steps may send twice",
    files: ["test/service/sent-twice.test.ts"],
  },
};

/** Tests of the API whose way through the store differs between the engines: the short run has them on PostgreSQL too. */
const ON_POSTGRES_TOO: readonly string[] = [
  "balance",
  "bulks",
  "funds",
  "idempotency",
  "inbox",
  "logs",
  "operator-money",
  "pull-reports",
  "reports",
  "sending-single",
];

/** What their paths begin with is begun first, so that none of them is the last to end. */
const LONGEST_FIRST: readonly string[] = ["store/postgres-", "store/sqlite", "cli/"];

/**
 * Folders of files that keep nothing to themselves: so many of them share a process. To start one, load the service and run its code for the first time
 * takes as long as a dozen tests.
 */
const SHARED_PROCESS: Readonly<Record<string, number>> = {
  admin: 10,
  api: 8,
  auth: 20,
  carriers: 8,
  cli: 6,
  dispatch: 6,
  events: 10,
  intake: 10,
  message: 20,
  node: 10,
  money: 20,
  reports: 8,
  runtime: 20,
  settings: 10,
  schedule: 20,
  sms: 20,
  smsc: 10,
  store: 6,
};

/** What a file says that changes something for its whole process. */
const OWN_PROCESS = /strongPasswords: true|process\.env\.\w+ = |contractOnPostgres|CONTRACTS/;

/** Which parts a change to a folder calls for, beside the short run. A path counts for the longest entry that begins it. */
export const PARTS_OF_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "bench/": ["bench"],
  "docs/": ["docs"],
  "console/": ["browser"],
  "src/api/console/": ["browser", "postgres"],
  "src/doctor/": ["doctor"],
  "src/api/": ["attacks", "generated", "postgres"],
  "src/carriers/": ["faults", "pace", "sent-twice"],
  "src/carriers/http/": ["docs", "providers"],
  "src/http/": ["providers"],
  "src/provider/": ["docs", "providers"],
  "src/cli/": ["backup", "docs", "doctor", "starts"],
  "src/commands/": ["cluster", "kills", "postgres"],
  "src/dispatch/": ["cluster", "faults", "kills", "linear", "sent-twice"],
  "src/drivers/": ["backup", "cluster", "failover", "full-disk", "kills", "postgres", "powercut", "sent-twice"],
  "src/intake/": ["attacks", "linear", "postgres"],
  "src/reports/": ["cluster", "kills"],
  "src/service.ts": ["cluster", "full-disk", "kills", "sent-twice", "starts"],
  "src/sms/": ["linear"],
  "src/smsc/": ["faults", "kannel"],
  "src/store/": ["backup", "cluster", "failover", "full-disk", "kills", "postgres", "powercut", "sent-twice"],
  "src/threads/": ["full-disk", "kills"],
};

const expand = (patterns: readonly string[] = []): string[] => globSync([...patterns]).sort();

/** The files of a part. */
export function filesOfPart(name: string): string[] {
  const part = LONG_PARTS[name]!;
  const again = expand(part.again).filter((file) => part.store !== "postgres" || !STORELESS.test(file));
  return [...new Set([...expand(part.files), ...again])];
}

/** The files of the short run, on the embedded store. */
export function shortFiles(): string[] {
  const onlyLong = new Set(Object.values(LONG_PARTS).flatMap((part) => expand(part.files)));
  return expand(["test/**/*.test.ts"]).filter((file) => !onlyLong.has(file));
}

/** A file whose tests are in a browser says so by what it imports. */
const needsBrowser = (file: string): boolean => readFileSync(file, "utf8").includes("support/browser.ts");

function divide(all: readonly string[]): { files: string[]; withoutBrowser: string[] } {
  const withoutBrowser = hasChromium() ? [] : all.filter(needsBrowser);
  return { files: all.filter((file) => !withoutBrowser.includes(file)), withoutBrowser };
}

/** What runs in one process each. */
function together(files: readonly string[]): string[][] {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const folder = file.split("/")[1]!;
    const size = OWN_PROCESS.test(readFileSync(file, "utf8")) ? 1 : (SHARED_PROCESS[folder] ?? 1);
    const group = size === 1 ? undefined : open.get(folder);
    if (group === undefined || group.length === size) {
      groups.push([file]);
      if (size > 1) open.set(folder, groups.at(-1)!);
    } else group.push(file);
  }
  return groups;
}

export function shortPlan(): Plan {
  const { files, withoutBrowser } = divide(shortFiles());
  const jobs: Job[] = [
    ...together(ON_POSTGRES_TOO.map((name) => `test/api/${name}.test.ts`)).map(
      (group): Job => ({ files: group, store: "postgres" }),
    ),
    ...together(files).map((group): Job => ({ files: group, store: "sqlite" })),
  ];
  const rank = (job: Job): number => {
    const index = LONGEST_FIRST.findIndex((path) => job.files[0]!.startsWith(`test/${path}`));
    return index === -1 ? LONGEST_FIRST.length : index;
  };
  return {
    name: "the short run",
    jobs: jobs.toSorted((a, b) => rank(a) - rank(b)),
    // Twice as many as there are processors: half of what tests do is wait.
    slots: 2 * availableParallelism(),
    environment: {},
    withoutBrowser,
  };
}

export function planOfPart(name: string): Plan {
  const part = LONG_PARTS[name];
  if (part === undefined) throw new Error(`no part is called ${name}; --list names all of them`);
  const { files, withoutBrowser } = divide(filesOfPart(name));
  return {
    name,
    withoutBrowser,
    jobs: files.map((file) => ({ files: [file], store: part.store ?? "sqlite" })),
    slots: part.alone === true ? 1 : availableParallelism(),
    environment: { TEST_SIZE: "long" },
  };
}

/** The parts that these changed files call for, in the order of the list. */
export function partsForChange(paths: readonly string[]): string[] {
  const called = new Set(
    paths.flatMap((path) => {
      const entries = Object.keys(PARTS_OF_FOLDERS).filter((folder) => path.startsWith(folder));
      const longest = entries.toSorted((a, b) => b.length - a.length)[0];
      const ofTests = Object.keys(LONG_PARTS).filter((name) => filesOfPart(name).includes(path));
      return [...(longest === undefined ? [] : PARTS_OF_FOLDERS[longest]!), ...ofTests];
    }),
  );
  return Object.keys(LONG_PARTS).filter((name) => called.has(name));
}
