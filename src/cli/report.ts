/** `heliograph report dead|replay`: reports that nobody took in time, shown with their tries and sent again. */
import { Command } from "commander";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { DeadLetter } from "../store/port/reports.ts";
import { withExample } from "./example.ts";
import { type JsonOption, printable, showJson, withJson } from "./show.ts";
import { type CommonOptions, limitOf, onStore, say, UsageFault, withStoreOptions } from "./support.ts";

interface FilterOptions extends CommonOptions {
  readonly account?: string;
  readonly url?: string;
}

interface ListOptions extends FilterOptions, JsonOption {
  readonly limit: string;
}

interface ReplayOptions extends FilterOptions {
  readonly all?: boolean;
}

/** Sent again in one transaction; the command goes on until none is left. */
const REPLAY_PAGE = 1_000;

function withFilter(command: Command): Command {
  return withStoreOptions(command)
    .option("--account <key>", "only those of one account")
    .option("--url <url>", "only those for one URL");
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
  const dead = withExample(
    withJson(
      withFilter(
        new Command("dead").description("Show reports that nobody took in time, newest first, with their last try."),
      ),
    ),
    "heliograph report dead --account ACME",
  )
    .option("--limit <number>", "how many", "50")
    .action(async (options: ListOptions) => {
      const filter = { accountKey: options.account ?? null, url: options.url ?? null };
      const letters = await onStore(options, (store) =>
        store.deadLetters({ ...filter, beforeId: null, limit: limitOf(options) }),
      );
      if (options.json === true) {
        showJson(letters.map(shown));
        return;
      }
      for (const { id, accountKey, url, itemCount, attempts, deadAtMs, reason, history } of letters) {
        say(
          `${id}  ${formatDateTime(deadAtMs)}  ${accountKey}  ${printable(url)}  ${itemCount} items, ${attempts} tries: ${printable(reason)}`,
        );
        const excerpt = history.at(-1)?.excerpt ?? "";
        if (excerpt !== "") say(`    ${printable(excerpt)}`);
      }
      say(letters.length === 0 ? "There are no dead letters." : '"heliograph report replay" sends them again.');
    });

  const replay = withExample(
    withFilter(new Command("replay").description("Send dead letters again, as if for the first time.")),
    "heliograph report replay --url https://acme.example/reports",
  )
    .argument("[ids...]", "of the reports")
    .option("--all", "all there are")
    .action(async (ids: string[], options: ReplayOptions) => {
      const { account, url, all = false } = options;
      if (ids.length === 0 && account === undefined && url === undefined && !all) {
        throw new UsageFault("name the reports to send again by their ids, or with --account or --url, or say --all");
      }
      if (ids.some((id) => !/^\d{1,18}$|^[1-8]\d{18}$/.test(id)))
        throw new UsageFault("an id is a number, as `heliograph report dead` shows it");
      const which = ids.length > 0 ? { ids } : { accountKey: account ?? null, url: url ?? null };
      const count = await onStore(options, async (store) => {
        for (let sum = 0; ; ) {
          const { replayed } = await store.replayDeadLetters({
            ...which,
            nowMs: systemClock.now(),
            limit: REPLAY_PAGE,
          });
          sum += replayed;
          if (replayed < REPLAY_PAGE) return sum;
        }
      });
      say(`${count} ${count === 1 ? "report goes" : "reports go"} out again.`);
    });
  return new Command("report")
    .description("Delivery reports that could not be pushed.")
    .addCommand(dead)
    .addCommand(replay);
}
