/** `heliograph quarantine list|retry|drop`: what the store refused and kept aside, and the messages that are in doubt for it. */
import { Command } from "commander";
import { type Decision, dropQuarantined, type QuarantineStore, retryHeld } from "../admin/quarantine.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { Quarantined } from "../store/port/quarantine.ts";
import { type Column, counted, showList } from "./show.ts";
import {
  byCommandLine,
  type CommonOptions,
  jsonCommand,
  LIMIT,
  type LimitOptions,
  limitOf,
  numbersOf,
  onStore,
  say,
  storeCommand,
} from "./support.ts";

const MAX_REASON = 80;

function shown({ id, atMs, command, subject, reason, heldKey, detail }: Quarantined) {
  return { id: String(id), at: formatDateTime(atMs), command, subject, held: heldKey !== null, reason, detail };
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "ID", of: ({ id }) => id, right: true },
  { title: "SINCE", of: ({ at }) => at },
  { title: "WHAT", of: ({ command }) => command },
  { title: "OF", of: ({ subject }) => subject },
  { title: "HOLDS", of: ({ held }) => (held ? "the message" : "") },
  { title: "REASON", of: ({ reason }) => reason.slice(0, MAX_REASON) },
];

/** A command that decides about some of them. */
function deciding(
  name: string,
  description: string,
  decide: (store: QuarantineStore, decision: Decision) => Promise<number>,
  said: (count: number) => string,
): Command {
  return storeCommand(name, description, `heliograph quarantine ${name} 17 18`)
    .argument("<number...>", "the numbers that the list shows")
    .action(async (numbers: string[], options: CommonOptions) => {
      const ids = numbersOf(numbers, "the list", "heliograph quarantine list");
      const wanted = { ids, ...byCommandLine() };
      say(said(await onStore(options, (store) => decide(store, wanted))));
    });
}

export function quarantineCommand(): Command {
  const list = jsonCommand(
    "list",
    "Show what the store refused and kept aside, newest first, and why. A message whose outcome is among it is held: its carrier may have it, so nobody hands it over again before you retry or drop it.",
    "heliograph quarantine list --limit 20",
  )
    .addOption(LIMIT)
    .action(async (options: LimitOptions) => {
      const { count, held, items } = await onStore(options, (store) => store.quarantined({ limit: limitOf(options) }));
      showList(
        options,
        COLUMNS,
        items.map(shown),
        count === 0
          ? "The store has refused nothing."
          : `${counted(count, "thing is", "things are")} kept aside, and ${counted(held, "message is", "messages are")} held for it.`,
      );
    });
  return new Command("quarantine")
    .description("What the store refused and kept aside.")
    .addCommand(list)
    .addCommand(
      deciding(
        "retry",
        "Hand the messages over again that these hold. A phone whose carrier had it gets it twice. It goes with the next start of the service that had it.",
        retryHeld,
        (count) => `${counted(count, "message goes", "messages go")} again.`,
      ),
    )
    .addCommand(
      deciding(
        "drop",
        "Delete these, and end the messages that they hold: what became of those is not known (EXPIRED_UNKNOWN), and their charge stays. The audit says who did so.",
        dropQuarantined,
        (count) => `${counted(count, "is", "are")} dropped.`,
      ),
    );
}
