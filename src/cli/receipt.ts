/** `heliograph receipt list`: receipts from carriers that match no message, for finding out why. */
import { Command } from "commander";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { errorById } from "../sms/errors.ts";
import type { ParkedReceipt } from "../store/port/receipts.ts";
import { withExample } from "./example.ts";
import { type Column, type JsonOption, showList, withJson } from "./show.ts";
import { type CommonOptions, limitOf, onStore, withStoreOptions } from "./support.ts";

interface ListOptions extends CommonOptions, JsonOption {
  readonly limit: string;
}

function shown(
  { atMs, carrierId, carrierMessageId, to, outcome, errorId, why, times, octets }: ParkedReceipt,
  nowMs: number,
) {
  return {
    receivedAt: formatDateTime(atMs),
    ageSeconds: Math.max(0, Math.floor((nowMs - atMs) / 1_000)),
    why,
    times,
    carrier: carrierId,
    carrierMessageId,
    to: to ?? null,
    outcome,
    error: errorId === 0 ? null : errorById(errorId).name,
    octets: octets ?? null,
  };
}

const UNITS: readonly [seconds: number, letter: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
];

/** "3d", "12m": in the largest unit that it has one of. */
function ageOf(seconds: number): string {
  const [size, letter] = UNITS.find(([least]) => seconds >= least) ?? UNITS.at(-1)!;
  return `${Math.floor(seconds / size)}${letter}`;
}

/** The header of a PDU, and a little more. */
const OCTETS_SHOWN = 40;

function shortened(octets: string | null): string {
  if (octets === null) return "";
  return octets.length <= OCTETS_SHOWN ? octets : `${octets.slice(0, OCTETS_SHOWN)}…`;
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "RECEIVED", of: ({ receivedAt }) => receivedAt },
  { title: "AGE", of: ({ ageSeconds }) => ageOf(ageSeconds), right: true },
  { title: "WHY", of: ({ why }) => why },
  { title: "CARRIER", of: ({ carrier }) => carrier },
  { title: "ID", of: ({ carrierMessageId }) => carrierMessageId },
  { title: "TO", of: ({ to }) => to },
  { title: "OUTCOME", of: ({ outcome }) => outcome },
  { title: "ERROR", of: ({ error }) => error ?? "" },
  { title: "OCTETS", of: ({ octets }) => shortened(octets) },
];

export function receiptCommand(): Command {
  const list = withExample(
    withJson(
      withStoreOptions(
        new Command("list").description(
          "Show receipts that match no message, newest first, how old they are and why they are kept: no message has their id (unmatched; if there are many, look at receiptIds of the carrier), the message with their id goes to another phone (foreign), several messages have their id (doubtful), or they could not be read (unreadable: --json shows the whole PDU).",
        ),
      ),
    ),
    "heliograph receipt list --limit 20",
  )
    .option("--limit <number>", "how many", "50")
    .action(async (options: ListOptions) => {
      const { count, receipts } = await onStore(options, (store) => store.parkedReceipts({ limit: limitOf(options) }));
      showList(
        options,
        COLUMNS,
        receipts.map((receipt) => shown(receipt, systemClock.now())),
        count === 0
          ? "Every receipt has found its message."
          : `${count} ${count === 1 ? "receipt has" : "receipts have"} found no message.`,
      );
    });
  return new Command("receipt").description("Receipts from carriers.").addCommand(list);
}
