/** `heliograph statement ACCOUNT`: what an account had, spent and got over a time, as its postings say. */
import { Command } from "commander";
import { formatMicros } from "../money/amounts.ts";
import { csvLine } from "../money/csv.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { ManagedAccount, Posting, PostingPosition, Store } from "../store/port.ts";
import { print } from "./console.ts";
import { withExample } from "./example.ts";
import { type Column, counted, type JsonOption, showJson, showTable, withJson } from "./show.ts";
import {
  accountNamed,
  CommandFault,
  type CommonOptions,
  momentOf,
  onStore,
  say,
  UsageFault,
  withStoreOptions,
} from "./support.ts";

interface StatementOptions extends CommonOptions, JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly csv?: boolean;
  readonly postings?: boolean;
}

const PAGE = 5_000;
/** Past every time that a posting can have. */
const FOREVER_MS = 8_640_000_000_000_000;
const MAX_TRIES = 5;

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

type Line = Posting & { readonly balanceMicros: bigint };

interface Sum {
  count: number;
  parts: number;
  amountMicros: bigint;
}

interface Statement {
  readonly account: string;
  readonly currency: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly openingMicros: bigint;
  readonly closingMicros: bigint;
  readonly sums: Readonly<Record<Posting["kind"], Sum>>;
}

async function state(key: string, options: StatementOptions): Promise<void> {
  if (options.csv === true && options.json === true) throw new UsageFault("say either --csv or --json");
  const nowMs = systemClock.now();
  const fromMs = options.from === undefined ? monthOf(nowMs) : momentOf(options.from, "--from");
  const toMs = options.to === undefined ? nowMs : momentOf(options.to, "--to");
  if (toMs <= fromMs) throw new UsageFault("--to must be after --from");
  const lines: Line[] = [];
  // Of a large account there are millions: they are kept only to be shown at the end.
  const onLine = (line: Line, currency: string): void => {
    if (options.csv === true) printCsv(line, currency);
    else if (options.postings === true) lines.push(line);
  };
  const statement = await onStore(options, async (store) => {
    const account = await accountNamed(store, key);
    if (options.csv === true) say("time,kind,amount,currency,balance,parts,messageId,description");
    return statementOf(store, account, { fromMs, toMs, onLine });
  });
  if (options.csv === true) return;
  if (options.json === true) {
    const postings = options.postings === true ? { postings: lines.map(shownLine) } : {};
    showJson({ ...shown(statement), ...postings });
  } else show(statement, lines);
}

function monthOf(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}

interface Reading {
  readonly fromMs: number;
  readonly toMs: number;
  readonly onLine: (line: Line, currency: string) => void;
}

async function statementOf(
  store: Store,
  { id: accountId, key, currency }: ManagedAccount,
  { fromMs, toMs, onLine }: Reading,
): Promise<Statement> {
  const openingMicros = await balanceAt(store, accountId, fromMs);
  const none = (): Sum => ({ count: 0, parts: 0, amountMicros: 0n });
  const sums = { charge: none(), refund: none(), funds: none() };
  let balanceMicros = openingMicros;
  for (let after: PostingPosition | null = null; ; ) {
    const page: Posting[] = await store.postings({ accountId, sinceMs: fromMs, untilMs: toMs, after, limit: PAGE });
    for (const posting of page) {
      const sum = sums[posting.kind];
      sum.count++;
      sum.parts += posting.partCount ?? 0;
      sum.amountMicros += posting.amountMicros;
      balanceMicros += posting.amountMicros;
      onLine({ ...posting, balanceMicros }, currency);
    }
    if (page.length < PAGE) break;
    after = { atMs: page.at(-1)!.atMs, id: page.at(-1)!.id };
  }
  return { account: key, currency, fromMs, toMs, openingMicros, closingMicros: balanceMicros, sums };
}

/** Today's balance without what has moved since. Money that moves while we count would be wrong on one side, so the balance is read twice. */
async function balanceAt(store: Store, accountId: number, atMs: number): Promise<bigint> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const { balanceMicros } = await store.balance({ accountId });
    let moved = 0n;
    for (let after: PostingPosition | null = null; ; ) {
      const page: { amountMicros: bigint; next: PostingPosition | null } = await store.turnover({
        accountId,
        sinceMs: atMs,
        untilMs: FOREVER_MS,
        after,
        limit: PAGE,
      });
      moved += page.amountMicros;
      if (page.next === null) break;
      after = page.next;
    }
    if ((await store.balance({ accountId })).balanceMicros === balanceMicros) return balanceMicros - moved;
  }
  throw new CommandFault("the account sends so much at this moment that its balance cannot be told: try again later");
}

function shownLine({ atMs, kind, amountMicros, balanceMicros, partCount, messageKey, description }: Line) {
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

function shown({ account, currency, fromMs, toMs, openingMicros, closingMicros, sums }: Statement) {
  const of = ({ count, parts, amountMicros }: Sum) => ({ count, parts, amount: formatMicros(amountMicros) });
  return {
    account,
    currency,
    from: formatDateTime(fromMs),
    to: formatDateTime(toMs),
    opening: formatMicros(openingMicros),
    charges: of(sums.charge),
    refunds: of(sums.refund),
    funds: of(sums.funds),
    closing: formatMicros(closingMicros),
  };
}

const COLUMNS: readonly Column<ReturnType<typeof shownLine>>[] = [
  { title: "TIME", of: ({ at }) => at },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "AMOUNT", of: ({ amount }) => amount, right: true },
  { title: "BALANCE", of: ({ balance }) => balance, right: true },
  { title: "PARTS", of: ({ parts }) => parts, right: true },
  { title: "MESSAGE", of: ({ messageId }) => messageId },
  { title: "DESCRIPTION", of: ({ description }) => description ?? "" },
];

function show(statement: Statement, lines: readonly Line[]): void {
  const { account, currency, from, to, opening, closing, charges, refunds, funds } = shown(statement);
  say(`${account}, in ${currency}, from ${from} to ${to}`);
  if (lines.length > 0) {
    say("");
    showTable(COLUMNS, lines.map(shownLine));
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

function printCsv(line: Line, currency: string): void {
  const { at, kind, amount, balance, parts, messageId, description } = shownLine(line);
  print(`${csvLine([at, kind, amount, currency, balance, parts, messageId, description])}\n`);
}
