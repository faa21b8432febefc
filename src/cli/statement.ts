/** `heliograph statement ACCOUNT`: what an account had, spent and got over a time, as its postings say; or all clients of a reseller. */
import type { Command } from "commander";
import {
  type Balances,
  balancesOf,
  linesOf,
  type Period,
  type StatementLine,
  type StatementSource,
  statementCsv,
} from "../admin/statements.ts";
import { formatMicros } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { ManagedAccount } from "../store/port/accounts.ts";
import { print } from "./console.ts";
import { type Column, counted, type JsonOption, showJson, showTable } from "./show.ts";
import { periodOf, stateAll } from "./statement-of-all.ts";
import { accountNamed, type CommonOptions, jsonCommand, onStore, say, UsageFault } from "./support.ts";

interface StatementOptions extends CommonOptions, JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly csv?: boolean;
  readonly postings?: boolean;
  readonly reseller?: string;
}

export function statementCommand(): Command {
  return jsonCommand(
    "statement",
    "Say what an account had, was charged, got back and was given over a time. The beginning is in it, the end is not; days begin at midnight UTC.",
    "heliograph statement ACME --from 2026-10-01 --to 2026-11-01",
    "heliograph statement ACME --from 2026-10-01 --to 2026-11-01 --csv > acme.csv",
    "heliograph statement --reseller SHOP --from 2026-10-01 --to 2026-11-01",
  )
    .argument("[account]", "its key")
    .option("--reseller <key>", "in place of one account, all clients of this reseller")
    .option("--from <time>", "a day, or a moment with its offset (default: the beginning of this month)")
    .option("--to <time>", "the same (default: now)")
    .option("--postings", "every posting, and not the sums alone")
    .option("--csv", "every posting, as comma-separated values")
    .action(state);
}

interface Sum {
  readonly count: number;
  readonly parts: number;
  readonly amountMicros: bigint;
}

async function state(key: string | undefined, options: StatementOptions): Promise<void> {
  if (options.csv === true && options.json === true) throw new UsageFault("say either --csv or --json");
  const { reseller } = options;
  if ((key === undefined) === (reseller === undefined))
    throw new UsageFault("name an account, or a reseller with --reseller");
  if (reseller !== undefined && options.postings === true)
    throw new UsageFault("--postings is for one account; --csv has every posting of all");
  const span = periodOf(options);
  await onStore(options, async (store) => {
    const source: StatementSource = { store, clock: systemClock, take: (look) => look() };
    if (reseller !== undefined) return stateAll(store, source, reseller, span, options);
    const account = await accountNamed(store, key!);
    const period = { accountId: account.id, ...span };
    if (options.csv === true) {
      for await (const text of statementCsv(source, [account], period)) print(text);
      return;
    }
    const { openingMicros } = await balancesOf(source, period);
    const sums: Sums = {};
    let closingMicros = openingMicros;
    // Of a large account there are millions: they are kept only to be shown at the end.
    const shownLines: ShownLine[] = [];
    for await (const lines of linesOf(source, period, openingMicros)) {
      for (const line of lines) sums[line.kind] = added(sums[line.kind], line);
      if (options.postings === true) for (const line of lines) shownLines.push(shownLine(line));
      closingMicros = lines.at(-1)?.balanceMicros ?? closingMicros;
    }
    const statement = shown({ account, ...span, openingMicros, closingMicros, sums });
    if (options.json === true)
      showJson({ ...statement, ...(options.postings === true ? { postings: shownLines } : {}) });
    else show(statement, shownLines);
  });
}

const NOTHING: Sum = { count: 0, parts: 0, amountMicros: 0n };

function added({ count, parts, amountMicros } = NOTHING, line: StatementLine): Sum {
  return {
    count: count + 1,
    parts: parts + (line.partCount ?? 0),
    amountMicros: amountMicros + line.amountMicros,
  };
}

function shownLine({ atMs, kind, amountMicros, balanceMicros, partCount, messageKey, description }: StatementLine) {
  return {
    at: formatDateTime(atMs),
    kind,
    amount: formatMicros(amountMicros),
    balance: formatMicros(balanceMicros),
    parts: partCount,
    messageId: messageKey,
    description,
  };
}

type Sums = { [Kind in StatementLine["kind"]]?: Sum };

interface Statement extends Balances, Omit<Period, "accountId"> {
  readonly account: ManagedAccount;
  readonly sums: Sums;
}

function shown({ account: { key, currency }, sinceMs, untilMs, openingMicros, closingMicros, sums }: Statement) {
  const of = ({ count, parts, amountMicros } = NOTHING) => ({ count, parts, amount: formatMicros(amountMicros) });
  return {
    account: key,
    currency,
    from: formatDateTime(sinceMs),
    to: formatDateTime(untilMs),
    opening: formatMicros(openingMicros),
    charges: of(sums.charge),
    refunds: of(sums.refund),
    funds: of(sums.funds),
    corrections: of(sums.correction),
    transfers: of(sums.transfer),
    writeOffs: of(sums.writeOff),
    closing: formatMicros(closingMicros),
  };
}

type ShownLine = ReturnType<typeof shownLine>;

const COLUMNS: readonly Column<ShownLine>[] = [
  { title: "TIME", of: ({ at }) => at },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "AMOUNT", of: ({ amount }) => amount, right: true },
  { title: "BALANCE", of: ({ balance }) => balance, right: true },
  { title: "PARTS", of: ({ parts }) => parts, right: true },
  { title: "MESSAGE", of: ({ messageId }) => messageId },
  { title: "DESCRIPTION", of: ({ description }) => description ?? "" },
];

function show(statement: ReturnType<typeof shown>, lines: readonly ShownLine[]): void {
  const { account, currency, from, to, opening, closing, charges, refunds, funds } = statement;
  const { corrections, transfers, writeOffs } = statement;
  // Few accounts have any of these.
  const seldom = (what: string, { count, amount }: { readonly count: number; readonly amount: string }) =>
    count === 0 ? [] : [[what, amount, counted(count, "posting")] as const];
  say(`${account}, in ${currency}, from ${from} to ${to}`);
  if (lines.length > 0) {
    say("");
    showTable(COLUMNS, lines);
    say("");
  }
  const rows: readonly (readonly [string, string, string])[] = [
    ["Balance at the beginning", opening, ""],
    ["Charged", charges.amount, `${counted(charges.count, "posting")}, ${counted(charges.parts, "part")}`],
    ["Given back", refunds.amount, counted(refunds.count, "posting")],
    ["Funds", funds.amount, counted(funds.count, "posting")],
    ...seldom("Corrected", corrections),
    ...seldom("To or from other accounts", transfers),
    ...seldom("Written off", writeOffs),
    ["Balance at the end", closing, ""],
  ];
  const width = Math.max(...rows.map(([, amount]) => amount.length));
  for (const [what, amount, more] of rows) say(`${what.padEnd(26)}${amount.padStart(width)}  ${more}`.trimEnd());
}
