/** `heliograph receipt list|clear`: receipts from carriers that match no message, for finding out why, and deleted afterwards. */
import { Command } from "commander";
import { listItems } from "../admin/catalogue.ts";
import { clearReceipts } from "../admin/receipts.ts";
import { systemClock } from "../runtime/clock.ts";
import { given } from "../runtime/given.ts";
import { didYouMean } from "../runtime/near.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { errorById } from "../sms/errors.ts";
import type { ParkedReceipt } from "../store/port/receipts.ts";
import type { Store } from "../store/port/store.ts";
import { confirmed, isTerminal } from "./console.ts";
import { type Column, counted, showList } from "./show.ts";
import {
  byCommandLine,
  CommandFault,
  type CommonOptions,
  jsonCommand,
  LIMIT,
  type LimitOptions,
  limitOf,
  numbersOf,
  onStore,
  say,
  storeCommand,
  UsageFault,
} from "./support.ts";

interface ListOptions extends LimitOptions {
  readonly carrier?: string;
}

interface ClearOptions extends CommonOptions {
  readonly carrier?: string;
  readonly olderThan?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

function shown(
  { id, atMs, carrierId, carrierMessageId, to, outcome, errorId, why, times, octets }: ParkedReceipt,
  nowMs: number,
) {
  return {
    receipt: String(id),
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
  { title: "RECEIPT", of: ({ receipt }) => receipt, right: true },
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
  const list = jsonCommand(
    "list",
    "Show receipts that match no message, newest first, how old they are and why they are kept: no message has their id (unmatched; if there are many, look at receiptIds of the carrier), the message with their id goes to another phone (foreign), several messages have their id (doubtful), or they could not be read (unreadable: --json shows the whole PDU).",
    "heliograph receipt list --limit 20",
  )
    .option("--carrier <id>", "only those of a carrier")
    .addOption(LIMIT)
    .action(async (options: ListOptions) => {
      const filter = { ...given({ carrierId: options.carrier }), limit: limitOf(options) };
      const { count, receipts } = await onStore(options, async (store) => {
        await knownCarrier(store, options);
        return store.parkedReceipts(filter);
      });
      showList(
        options,
        COLUMNS,
        receipts.map((receipt) => shown(receipt, systemClock.now())),
        count === 0
          ? "There are none that wait for their message."
          : `${count} ${count === 1 ? "receipt has" : "receipts have"} found no message.`,
      );
    });
  const clear = storeCommand(
    "clear",
    "Delete receipts that match no message, when you have looked at them: by the numbers that the list shows, of a carrier, older than an age, or all. One that is deleted finds its message no more. The audit says who did so.",
    "heliograph receipt clear 17 18",
    "heliograph receipt clear --carrier first --older-than 7d --yes",
  )
    .argument("[receipt...]", "the numbers of some")
    .option("--carrier <id>", "only those of a carrier")
    .option("--older-than <age>", "only those that came before: 30m, 12h or 7d ago")
    .option("--all", "whatever they are")
    .option("--yes", "do not ask")
    .action(clearParked);
  return new Command("receipt").description("Receipts from carriers.").addCommand(list).addCommand(clear);
}

/** A carrier that there is none of is refused, unless receipts of it are still here: it would look as if all were well. */
async function knownCarrier(store: Store, { carrier }: { readonly carrier?: string }): Promise<void> {
  if (carrier === undefined) return;
  const known = (await listItems(store, "carrier")).map(({ id }) => id);
  if (known.includes(carrier)) return;
  const { receipts } = await store.parkedReceipts({ carrierId: carrier, limit: 1 });
  if (receipts.length > 0) return;
  const named = known.slice(0, CARRIERS_NAMED).join(", ") || "none";
  const more = known.length > CARRIERS_NAMED ? ` and ${known.length - CARRIERS_NAMED} more` : "";
  throw new UsageFault(`there is no carrier "${carrier}", only ${named}${more}${didYouMean(carrier, known)}`);
}

const CARRIERS_NAMED = 20;

async function clearParked(numbers: string[], options: ClearOptions): Promise<void> {
  const { carrier, olderThan, all, yes } = options;
  numbersOf(numbers, "a receipt", "heliograph receipt list");
  const hasFilter = carrier !== undefined || olderThan !== undefined;
  if ([numbers.length > 0, hasFilter, all === true].filter(Boolean).length !== 1)
    throw new UsageFault("say which receipts: by their numbers, or with --carrier and --older-than, or --all");
  const ageMs = olderThan === undefined ? undefined : ageOfText(olderThan);
  const which = [
    numbers.length > 0 ? `${numbers.length === 1 ? "receipt" : "receipts"} ${numbers.join(", ")}` : "the receipts",
    carrier === undefined ? "" : ` of ${carrier}`,
    olderThan === undefined ? "" : ` older than ${olderThan}`,
  ].join("");
  await onStore(options, (store) => knownCarrier(store, options));
  if (yes !== true) {
    if (!isTerminal()) throw new UsageFault("what is deleted is gone for good: say --yes if you mean it");
    if (!(await confirmed(`Delete ${which} that match no message?`))) throw new CommandFault("nothing is changed");
  }
  const made = byCommandLine();
  const filter = given({ carrierId: carrier, beforeMs: ageMs === undefined ? undefined : made.atMs - ageMs });
  const ids = numbers.length > 0 ? numbers : null;
  let cleared = 0;
  await onStore(options, async (store) => {
    for (let more = true; more; ) {
      const page = await clearReceipts(store, { ids, filter, ...made });
      cleared += page.cleared;
      more = page.more;
    }
  });
  if (numbers.length > 0 && cleared === 0)
    throw new CommandFault(
      `there is no ${which} that matches no message: "heliograph receipt list" shows those there are`,
    );
  say(`${counted(cleared, "receipt")} deleted.`);
}

function ageOfText(text: string): number {
  const [, count = "", letter = ""] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const unit = UNITS.find(([, name]) => name === letter);
  if (unit === undefined) throw new UsageFault(`--older-than must be an age such as 30m, 12h or 7d, not "${text}"`);
  return Number(count) * unit[0] * 1_000;
}
