/** `heliograph statement ACCOUNT`: what an account had, spent and got over a time, as its postings say. */
import { Command } from "commander";
import {
  type Balances,
  balancesOf,
  checkPeriod,
  linesOf,
  type StatementLine,
  type StatementSource,
  statementCsv,
} from "../admin/statements.ts";
import { formatMicros } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { ManagedAccount } from "../store/port/accounts.ts";
import { print } from "./console.ts";
import { withExample } from "./example.ts";
import { type Column, counted, type JsonOption, showJson, showTable, withJson } from "./show.ts";
import { accountNamed, type CommonOptions, momentOf, onStore, say, UsageFault, withStoreOptions } from "./support.ts";

interface StatementOptions extends CommonOptions, JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly csv?: boolean;
  readonly postings?: boolean;
}

export function statementCommand(): Command {
  const command = new Command("statement").description(
    "Say what an account had, was charged, got back and was given over a time. The beginning is in it, the end is not; days begin at midnight UTC.",
  );
  return withExample(
    withJson(withStoreOptions(command)),
    "heliograph statement ACME --from 2026-10-01 --to 2026-11-01",
    "heliograph statement ACME --from 2026-10-01 --to 2026-11-01 --csv > acme.csv",
  )
    .argument("<account>", "its key")
    .option("--from <time>", "a day, or a moment with its offset (default: the beginning of this month)")
    .option("--to <time>", "the same (default: now)")
    .option("--postings", "every posting, and not the sums alone")
    .option("--csv", "every posting, as comma-separated values")
    .action(state);
}

interface Sum {
  count: number;
  parts: number;
  amountMicros: bigint;
}

async function state(key: string, options: StatementOptions): Promise<void> {
  if (options.csv === true && options.json === true) throw new UsageFault("say either --csv or --json");
  const nowMs = systemClock.now();
  const sinceMs = options.from === undefined ? monthOf(nowMs) : momentOf(options.from, "--from");
  const untilMs = options.to === undefined ? nowMs : momentOf(options.to, "--to");
  checkPeriod({ sinceMs, untilMs }, "--from");
  await onStore(options, async (store) => {
    const account = await accountNamed(store, key);
    const source: StatementSource = { store, clock: systemClock, take: (look) => look() };
    const period = { accountId: account.id, sinceMs, untilMs };
    if (options.csv === true) {
      for await (const text of statementCsv(source, account, period)) print(text);
      return;
    }
    const { openingMicros } = await balancesOf(source, period);
    const sums = { charge: none(), refund: none(), funds: none() };
    let closingMicros = openingMicros;
    // Of a large account there are millions: they are kept only to be shown at the end.
    const shownLines: ShownLine[] = [];
    for await (const lines of linesOf(source, period, openingMicros)) {
      for (const { kind, partCount, amountMicros } of lines) add(sums[kind], partCount ?? 0, amountMicros);
      if (options.postings === true) for (const line of lines) shownLines.push(shownLine(line));
      closingMicros = lines.at(-1)?.balanceMicros ?? closingMicros;
    }
    const statement = shown({ account, sinceMs, untilMs, openingMicros, closingMicros, sums });
    if (options.json === true)
      showJson({ ...statement, ...(options.postings === true ? { postings: shownLines } : {}) });
    else show(statement, shownLines);
  });
}

function monthOf(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}

function none(): Sum {
  return { count: 0, parts: 0, amountMicros: 0n };
}

function add(sum: Sum, parts: number, amountMicros: bigint): void {
  sum.count++;
  sum.parts += parts;
  sum.amountMicros += amountMicros;
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

interface Statement extends Balances {
  readonly account: ManagedAccount;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly sums: Readonly<Record<StatementLine["kind"], Sum>>;
}

function shown({ account: { key, currency }, sinceMs, untilMs, openingMicros, closingMicros, sums }: Statement) {
  const of = ({ count, parts, amountMicros }: Sum) => ({ count, parts, amount: formatMicros(amountMicros) });
  return {
    account: key,
    currency,
    from: formatDateTime(sinceMs),
    to: formatDateTime(untilMs),
    opening: formatMicros(openingMicros),
    charges: of(sums.charge),
    refunds: of(sums.refund),
    funds: of(sums.funds),
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
    ["Balance at the end", closing, ""],
  ];
  const width = Math.max(...rows.map(([, amount]) => amount.length));
  for (const [what, amount, more] of rows) say(`${what.padEnd(26)}${amount.padStart(width)}  ${more}`.trimEnd());
}
