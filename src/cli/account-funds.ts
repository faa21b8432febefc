/** `heliograph account top-up|take-back|correct`: an operator moves the money of an account. */
import { createHash } from "node:crypto";
import type { Command } from "commander";
import { type FundsOrder, moveFunds } from "../admin/account-funds.ts";
import { inWords } from "../drivers/store-trouble.ts";
import { formatMicros, money, parseMicros } from "../money/amounts.ts";
import { shellWord } from "../runtime/text.ts";
import type { Settings } from "../settings/settings.ts";
import { StoreUnavailable } from "../store/port/errors.ts";
import type { ReplayGuard } from "../store/port/messages.ts";
import { commandLine } from "./operator.ts";
import { type JsonOption, shownAsJson } from "./show.ts";
import { CommandFault, type CommonOptions, jsonCommand, onStore, say, UsageFault } from "./support.ts";

/** As long as the API's. */
const MAX_KEY = 255;

interface FundsOptions extends CommonOptions, JsonOption {
  readonly reason?: string;
  readonly key?: string;
}

/** `said` stands between the account and the amount: "ACME was topped up by 10 EUR." */
const COMMANDS = [
  {
    name: "top-up",
    kind: "topUp",
    description: "Give an account money that was paid. A service that runs has it at once.",
    amount: "how much, in the account's currency",
    reason: "what for, such as the number of an invoice; it stands in the statement",
    example: 'heliograph account top-up ACME 25 --reason "invoice 4711" --key invoice-4711',
    said: "was topped up by",
  },
  {
    name: "take-back",
    kind: "takeBack",
    description: "Take money from an account that is given back outside: no more than it has, with its credit limit.",
    amount: "how much, in the account's currency",
    reason: "why; it stands in the statement",
    example: 'heliograph account take-back ACME 5 --reason "paid twice"',
    said: "has given back",
  },
  {
    name: "correct",
    kind: "correction",
    description: "Correct a balance that is wrong, for a reason that stands in the statement and in the audit.",
    amount: "what the balance changes by, below zero to lower it",
    reason: "why; there must be one",
    example: 'heliograph account correct ACME -2.5 --reason "charged for a test"',
    said: "was corrected by",
  },
] as const;

export function fundsCommands(): Command[] {
  return COMMANDS.map((words) => {
    const { name, description, amount, reason, example } = words;
    return jsonCommand(name, description, example)
      .argument("<key>", "the account's")
      .argument("<amount>", amount)
      .option("--reason <text>", reason)
      .option("--key <text>", "done once, however often it is run with this key, such as the number of an invoice")
      .action((key: string, given: string, options: FundsOptions) => move(words, key, given, options));
  });
}

type FundsWords = (typeof COMMANDS)[number];

async function move({ kind, said }: FundsWords, key: string, amount: string, options: FundsOptions): Promise<void> {
  const { reason, key: token } = options;
  const order: FundsOrder = { kind, amount, ...(reason === undefined ? {} : { reason }) };
  const moved = await onStore(options, (store, settings) =>
    moveFunds(store, commandLine(), key, order, replayOf(token, key, order)).catch((error: unknown) => {
      throw isInDoubt(error, settings) ? mayBeMoved(error, settings, key, token) : error;
    }),
  );
  if (moved === "key reused")
    throw new CommandFault(
      `the key ${token} was used for another change of ${key}: nothing is moved; give another key if this is a new one`,
    );
  const { transactionId, amountMicros, balanceMicros, currency, isRepeat } = moved;
  const amounts = { amount: formatMicros(amountMicros), balance: formatMicros(balanceMicros), currency };
  const repeat = token === undefined ? {} : { isRepeat };
  const shown = { account: key, kind, ...amounts, reason: reason ?? null, transactionId, ...repeat };
  if (shownAsJson(options, shown)) return;
  const size = kind === "takeBack" ? -amountMicros : amountMicros;
  if (isRepeat) {
    const then = `${said} ${money(size, currency)}, and had ${money(balanceMicros, currency)} after it`;
    say(`Nothing is moved: with this key ${key} ${then} before.`);
    return;
  }
  say(`${key} ${said} ${money(size, currency)}, and has ${money(balanceMicros, currency)} now.`);
}

/** As with the API's Idempotency-Key: what is asked for tells one order from another. */
function replayOf(
  token: string | undefined,
  account: string,
  { kind, amount, reason }: FundsOrder,
): ReplayGuard | null {
  if (token === undefined) return null;
  if (token === "" || token.length > MAX_KEY) throw new UsageFault(`--key must be 1 to ${MAX_KEY} characters long`);
  const asked = JSON.stringify([kind, account, String(parseMicros(String(amount))), reason ?? null]);
  return { key: token, bulk: false, bodyHash: createHash("sha256").update(asked).digest("base64url") };
}

/** The answer to a commit may be lost on its way. The embedded store knows what it has written, unless its disk fails. */
function isInDoubt(error: unknown, { store }: Settings): error is StoreUnavailable {
  return error instanceof StoreUnavailable && (store.url !== "" || error.reason?.startsWith("SQLITE_IOERR") === true);
}

/** Whoever takes it for failed would do it twice. */
function mayBeMoved(
  error: StoreUnavailable,
  { store }: Settings,
  key: string,
  token: string | undefined,
): CommandFault {
  const mend =
    token === undefined
      ? `look at "heliograph audit --kind funds --subject ${shellWord(key)}" before you repeat it`
      : "run it again with the same --key, and it is booked once";
  const says = `${inWords(error, store)}; it may have been booked all the same: ${mend}`;
  return new CommandFault(says, { cause: error });
}
