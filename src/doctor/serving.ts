/** The doctor on the service itself: whether one runs on this store, and what waits as long as none does. */
import { hostname } from "node:os";
import { isServed } from "../drivers/sqlite/database.ts";
import { servingProcess } from "../drivers/store-trouble.ts";
import { systemClock } from "../runtime/clock.ts";
import { counted } from "../runtime/text.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/port/store.ts";
import type { Examined, Findings } from "./finding.ts";

/** Messages and reports are counted up to this. */
const MAX_COUNTED = 10_000;

/** Nodes are called so in the database, and "host 4711" where they tell of their carriers. */
const NODE_NAME = /^heliograph (?=\S)/;

export interface Serving {
  readonly runs: boolean;
  /** Machine and process of what runs, as nodes tell it of themselves; empty where the system does not say. */
  readonly processes: readonly string[];
}

/** Whether somebody hands messages of this store to carriers now. Whoever was killed does not. */
export async function servingOf(
  store: Pick<Store, "nodes">,
  { store: place }: Pick<Settings, "store">,
): Promise<Serving> {
  if (place.url === "") {
    const runs = isServed(place.data);
    const pid = runs ? servingProcess(place.data) : null;
    return { runs, processes: pid === null ? [] : [`${hostname()} ${pid}`] };
  }
  const { nodes } = await store.nodes({ storage: false });
  const serving = nodes.filter(({ isAlive, roles }) => isAlive && roles.includes("dispatch"));
  return { runs: serving.length > 0, processes: serving.map(({ name }) => name.replace(NODE_NAME, "")) };
}

export async function lookAtServing(examined: Examined, found: Findings): Promise<void> {
  // What the changes are about that are only in the journal is not counted.
  const { store, settings, answers = false, unwritten = 0 } = examined;
  const serving = await servingOf(store, settings);
  if (serving.runs) {
    if (!answers && settings.store.url === "") toldElsewhere(serving, settings, found);
    return;
  }
  const backlog = await store.backlog({ nowMs: systemClock.now(), limit: MAX_COUNTED, held: true });
  const messages = backlog.queued + backlog.due;
  const { reports, oldestDueAtMs } = backlog;
  const since = oldestDueAtMs === null ? "" : `, the oldest since ${formatDateTime(oldestDueAtMs)}`;
  const waits = [
    ...(messages > 0 ? [`${waiting(messages, "message")}${since}`] : []),
    ...(reports > 0 ? [waiting(reports, "report")] : []),
    ...(unwritten > 0 ? [`${counted(unwritten, "change is", "changes are")} in the journal only`] : []),
  ];
  if (waits.length === 0) {
    found.ok("service", "it does not run, and nothing waits for it");
    return;
  }
  found.warn(
    "service",
    `the service does not run; ${waits.join("; ")}`,
    'start it as you always do ("heliograph serve --config …", "systemctl start heliograph"): what waits goes then, and nothing is lost. If it ended by itself, its log says why',
  );
}

/** "3 messages wait" */
function waiting(count: number, noun: string): string {
  const most = count >= MAX_COUNTED ? "at least " : "";
  return `${most}${counted(count, `${noun} waits`, `${noun}s wait`)}`;
}

/** It runs, and was not asked: these settings are not its own. */
function toldElsewhere({ processes }: Serving, { server }: Settings, found: Findings): void {
  const who = processes.length === 0 ? "" : ` (${processes.join(", ")})`;
  if (server.port === 0) {
    found.ok("service", `it runs on this data${who}; these settings do not say where it listens, so it was not asked`);
    return;
  }
  found.warn(
    "service",
    `it runs on this data${who}, and does not answer on ${server.host}:${server.port}: it was not asked how its carriers are`,
    "name its settings with --config, or its port with HELIOGRAPH_SERVER_PORT",
  );
}
