/** `heliograph report dead|replay`: reports that nobody took in time, shown with their tries and sent again. */
import { Command } from "commander";
import { systemClock } from "../runtime/clock.ts";
import { shownUrl } from "../runtime/shown-url.ts";
import { hostOf } from "../runtime/urls.ts";
import { formatDateTime, parseDateTime } from "../schedule/date-time.ts";
import type { DeadLetter } from "../store/port/reports.ts";
import type { Store } from "../store/port/store.ts";
import { type Column, shownAsJson, showTable, withJson } from "./show.ts";
import {
  accountNamed,
  CommandFault,
  type CommonOptions,
  LIMIT,
  type LimitOptions,
  limitOf,
  onStore,
  say,
  storeCommand,
  UsageFault,
} from "./support.ts";

interface FilterOptions extends CommonOptions {
  readonly account?: string;
  readonly url?: string;
  readonly host?: string;
}

type ListOptions = FilterOptions & LimitOptions;

interface ReplayOptions extends FilterOptions {
  readonly all?: boolean;
  readonly since?: string;
}

/** Hosts that are looked at, and named, where a filter finds nothing. */
const MAX_HOSTS = 50;
const HOSTS_NAMED = 10;
const REPLAY_HINT =
  '"heliograph report replay --all" sends them again; --account, --host, --url or ids name some of them.';
/** Of what was answered last. */
const MAX_EXCERPT = 80;

const COLUMNS: readonly Column<DeadLetter>[] = [
  { title: "REPORT", of: ({ id }) => id, right: true },
  { title: "DEAD SINCE", of: ({ deadAtMs }) => formatDateTime(deadAtMs) },
  { title: "ACCOUNT", of: ({ accountKey }) => accountKey },
  { title: "URL", of: ({ url }) => url },
  { title: "ITEMS", of: ({ itemCount }) => itemCount, right: true },
  { title: "TRIES", of: ({ attempts }) => attempts, right: true },
  { title: "REASON", of: ({ reason }) => reason },
  { title: "LAST ANSWER", of: ({ history }) => (history.at(-1)?.excerpt ?? "").slice(0, MAX_EXCERPT) },
];

/** Sent again in one transaction; the command goes on until none is left. */
const REPLAY_PAGE = 1_000;

function filteredCommand(name: string, description: string, example: string): Command {
  return storeCommand(name, description, example)
    .option("--account <key>", "only those of one account")
    .option("--url <url>", "only those for one URL")
    .option("--host <host>", "only those for one host, as https://example.com or https://example.com:8443");
}

/** An account that there is none of is refused: it would look as if it had no dead letters. */
async function filterOf(store: Store, { account, url, host }: FilterOptions) {
  if (account !== undefined) await accountNamed(store, account);
  return { accountKey: account ?? null, url: url ?? null, host: host ?? null };
}

/** Where a filter by URL or host finds nothing: which hosts there are dead letters for, because nobody can know a host that is mistyped. */
async function othersOf(store: Store, { account, url, host }: FilterOptions): Promise<string> {
  if (url === undefined && host === undefined) return "";
  const hosts = await store.reportHosts({ accountKey: account ?? null, limit: MAX_HOSTS });
  const dead = [...new Set(hosts.filter((one) => one.dead > 0).map((one) => one.host))];
  if (dead.length === 0) return "";
  const named = dead.slice(0, HOSTS_NAMED).map(shownUrl).join(", ");
  return ` for ${shownUrl(url ?? host!)}, only for ${named}${dead.length > HOSTS_NAMED ? " and others" : ""}`;
}

/** Where no dead letter is found: what is still tried, which whoever looks for a report may be after. */
async function waitingOf(store: Store, { account, url, host }: FilterOptions): Promise<string> {
  const place = host ?? url;
  const wanted = place === undefined ? null : hostOf(place);
  const hosts = await store.reportHosts({ accountKey: account ?? null, limit: MAX_HOSTS });
  const waiting = hosts.filter((one) => one.nextTryAtMs !== null && (wanted === null || one.host === wanted));
  if (waiting.length === 0) return "";
  const count = waiting.reduce((sum, one) => sum + one.waiting, 0);
  const first = waiting.reduce((one, other) => (other.nextTryAtMs! < one.nextTryAtMs! ? other : one));
  const next = formatDateTime(first.nextTryAtMs!);
  const why = first.last === null ? "" : ` The last one to ${first.host}: ${first.last.reason}.`;
  return count === 1
    ? ` One report waits for its next try, at ${next}.${why}`
    : ` ${count} reports wait for their next try, the first at ${next}.${why}`;
}

function shown({ id, accountKey, url, itemCount, attempts, deadAtMs, reason, history }: DeadLetter) {
  return {
    id,
    account: accountKey,
    url,
    items: itemCount,
    attempts,
    deadAt: formatDateTime(deadAtMs),
    reason,
    tries: history.map(({ atMs, ...attempt }) => ({ at: formatDateTime(atMs), ...attempt })),
  };
}

export function reportCommand(): Command {
  const dead = filteredCommand(
    "dead",
    "Show reports that nobody took in time, newest first, with their last try.",
    "heliograph report dead --account ACME",
  );
  withJson(dead)
    .addOption(LIMIT)
    .action(async (options: ListOptions) => {
      const { letters, none } = await onStore(options, async (store) => {
        const filter = await filterOf(store, options);
        const found = await store.deadLetters({ ...filter, beforeId: null, limit: limitOf(options) });
        if (found.length > 0) return { letters: found, none: "" };
        const none = `There are no dead letters${await othersOf(store, options)}.${await waitingOf(store, options)}`;
        return { letters: found, none };
      });
      if (shownAsJson(options, letters.map(shown))) return;
      if (letters.length > 0) showTable(COLUMNS, letters);
      say(letters.length === 0 ? none : REPLAY_HINT);
    });

  const replay = filteredCommand(
    "replay",
    "Send dead letters again, as if for the first time.",
    "heliograph report replay --url https://acme.example/reports",
  )
    .argument("[ids...]", "of the reports")
    .option("--since <time>", "only reports made then or later, such as 2026-02-12T14:00:00Z")
    .option("--all", "all there are")
    .action(async (ids: string[], options: ReplayOptions) => {
      const { account, url, host, since, all = false } = options;
      if (ids.length === 0 && [account, url, host, since].every((each) => each === undefined) && !all) {
        throw new UsageFault(
          "name the reports to send again by their ids, or with --account, --url, --host or --since, or say --all",
        );
      }
      const sinceMs = since === undefined ? null : parseDateTime(since);
      if (since !== undefined && sinceMs === null)
        throw new UsageFault("--since is a date and time, such as 2026-02-12T14:00:00Z");
      if (ids.some((id) => !/^\d{1,18}$|^[1-8]\d{18}$/.test(id)))
        throw new UsageFault("an id is a number, as `heliograph report dead` shows it");
      const { count, waiting } = await onStore(options, async (store) => {
        const page = { nowMs: systemClock.now(), limit: REPLAY_PAGE };
        let sum = 0;
        for (let at = 0; at < ids.length; at += REPLAY_PAGE) {
          const some = ids.slice(at, at + REPLAY_PAGE);
          sum += (await store.replayDeadLetters({ ids: some, accountKey: null, ...page })).replayed;
        }
        if (ids.length > 0) {
          if (sum === 0)
            throw new CommandFault("none of these is the id of a dead letter: see `heliograph report dead`");
          return { count: sum, waiting: "" };
        }
        const query = { ...(await filterOf(store, options)), sinceMs, ...page };
        let afterId: string | null = null;
        do {
          const { replayed, next } = await store.replayDeadLetters({ ...query, afterId });
          sum += replayed;
          afterId = next;
        } while (afterId !== null);
        const others = sum > 0 ? "" : await othersOf(store, options);
        if (others !== "") throw new CommandFault(`there are no dead letters${others}`);
        return { count: sum, waiting: sum > 0 || since !== undefined ? "" : await waitingOf(store, options) };
      });
      say(`${count} ${count === 1 ? "report goes" : "reports go"} out again.${waiting}`);
    });
  return new Command("report")
    .description("Delivery reports that could not be pushed.")
    .addCommand(dead)
    .addCommand(replay);
}
