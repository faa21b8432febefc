/**
 * The service on a database that dies, with the tools that operators use: `npm run failover -- TOOL`. It is not part of `npm test`, because it needs
 * programs that npm does not bring, and takes minutes. It leaves nothing behind.
 */
import { type TestContext, test } from "node:test";
import { parseArgs } from "node:util";
import { AUTO_FAILOVER, startAutoFailover } from "./auto-failover.ts";
import { goThrough, type Managed, primary, type Rounds } from "./failovers.ts";
import { PATRONI, startPatroni } from "./patroni.ts";
import { PGBOUNCER, tryPgBouncer } from "./pgbouncer.ts";
import { missing, Place } from "./place.ts";
import { Trial } from "./trial.ts";
import { tryFullDisk, tryLocked } from "./troubles.ts";

const EXIT_USAGE = 2;
const HELP = `npm run failover -- TOOL [options]
  patroni          three servers, Patroni with etcd; nodes go through HAProxy, or with --hosts to the servers themselves
  auto-failover    two servers and a monitor of pg_auto_failover; nodes know both servers
  pgbouncer        a server that is killed and comes back behind PgBouncer, with two settings, and its transaction mode
  full-disk        a server whose disk is full, for tables and then for its log; it needs root, for a file system of its own
  locked           half a minute in which somebody holds a lock on all messages
Options
  --rounds N       failovers, by kill -9 of the primary and its watcher (3)
  --switchovers N  changes of places that the tool is asked for (1)
  --hosts          the nodes' URL names all servers
`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "3" },
    switchovers: { type: "string", default: "1" },
    hosts: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const rounds: Rounds = { failovers: Number(values.rounds), switchovers: Number(values.switchovers) };

interface Tool {
  readonly programs: readonly string[];
  readonly packages: string;
  readonly needsRoot?: boolean;
  readonly version?: () => string;
  readonly run: (t: TestContext, place: Place) => Promise<void>;
}

const TOOLS: Readonly<Record<string, Tool>> = {
  patroni: {
    ...PATRONI,
    async run(t, place) {
      const managed = await startPatroni(place);
      await failOver(t, managed, values.hosts ? hostsUrl(managed) : managed.balanced);
    },
  },
  "auto-failover": {
    ...AUTO_FAILOVER,
    async run(t, place) {
      const managed = await startAutoFailover(place);
      await failOver(t, managed, hostsUrl(managed));
    },
  },
  "full-disk": { programs: ["mount"], packages: "mount", needsRoot: true, run: tryFullDisk },
  locked: { programs: [], packages: "", run: tryLocked },
  pgbouncer: { ...PGBOUNCER, run: (t, place) => tryPgBouncer(t, place, rounds.failovers) },
};

/** One URL with all servers, of which the node takes the one that takes writes. */
function hostsUrl({ servers }: Managed): string {
  const [first] = servers;
  const hosts = servers.map(({ url }) => new URL(url).host).join(",");
  return `${first!.url.replace(new URL(first!.url).host, hosts)}?target_session_attrs=read-write`;
}

async function failOver(t: TestContext, managed: Managed, nodeUrl: string): Promise<void> {
  let first = await primary(managed.servers);
  const trial = await Trial.start(t, nodeUrl, () => first.url);
  await goThrough(managed, trial, rounds);
  first = await primary(managed.servers);
  await trial.finish();
}

const tool = TOOLS[positionals[0] ?? ""];
if (values.help || tool === undefined) {
  process.stdout.write(HELP);
  process.exitCode = values.help ? 0 : EXIT_USAGE;
} else if (missing(tool.programs).length > 0) {
  console.error(`It needs ${missing(tool.programs).join(", ")}. On Debian: apt-get install ${tool.packages}`);
  process.exitCode = EXIT_USAGE;
} else if (tool.needsRoot === true && process.getuid?.() !== 0) {
  console.error("It makes a file system of its own, for which it has to be root");
  process.exitCode = EXIT_USAGE;
} else {
  test(positionals[0], async (t) => {
    const place = new Place();
    try {
      if (tool.version !== undefined) console.log(tool.version());
      await tool.run(t, place);
    } finally {
      place.remove();
    }
  });
}
