/** `heliograph statement ACCOUNT`: what an account had, spent and got over a time, as its postings say. */
import { Command } from "commander";
import { formatMicros } from "../ledger/money.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { Posting, PostingPosition, Store } from "../store/port.ts";
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
const MOST_TRIES = 5;

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

interface Statement {
  readonly account: string;
  readonly currency: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly openingMicros: bigint;
  readonly closingMicros: bigint;
  readonly postings: readonly (Posting & { readonly balanceMicros: bigint })[];
}

async function state(key: string, options: StatementOptions): Promise<void> {
  if (options.csv === true && options.json === true) throw new UsageFault("say either --csv or --json");
  const nowMs = systemClock.now();
  const fromMs = options.from === undefined ? monthOf(nowMs) : momentOf(options.from, "--from");
  const toMs = options.to === undefined ? nowMs : momentOf(options.to, "--to");
  if (toMs <= fromMs) throw new UsageFault("--to must be after --from");
  const statement = await onStore(options, (store) => statementOf(store, key, fromMs, toMs));
  if (options.csv === true) showCsv(statement);
  else if (options.json === true) showJson(shown(statement, options.postings === true));
  else show(statement, options.postings === true);
}

function monthOf(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}

async function statementOf(store: Store, key: string, fromMs: number, toMs: number): Promise<Statement> {
  const { id: accountId, currency } = await accountNamed(store, key);
  const openingMicros = await balanceAt(store, accountId, fromMs);
  const postings: (Posting & { balanceMicros: bigint })[] = [];
  let balanceMicros = openingMicros;
  for (let after: PostingPosition | null = null; ; ) {
    const page: Posting[] = await store.postings({ accountId, sinceMs: fromMs, untilMs: toMs, after, limit: PAGE });
    for (const posting of page) {
      balanceMicros += posting.amountMicros;
      postings.push({ ...posting, balanceMicros });
    }
    if (page.length < PAGE) break;
    after = { atMs: page.at(-1)!.atMs, id: page.at(-1)!.id };
  }
  return { account: key, currency, fromMs, toMs, openingMicros, closingMicros: balanceMicros, postings };
}

/** Today's balance without what has moved since. Money that moves while we count would be wrong on one side, so the balance is read twice. */
async function balanceAt(store: Store, accountId: number, atMs: number): Promise<bigint> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
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

function sumsOf({ postings }: Statement) {
  const of = (kind: Posting["kind"]) => {
    const some = postings.filter((posting) => posting.kind === kind);
    return {
      count: some.length,
      parts: some.reduce((sum, { partCount }) => sum + (partCount ?? 0), 0),
      amount: formatMicros(some.reduce((sum, { amountMicros }) => sum + amountMicros, 0n)),
    };
  };
  return { charges: of("charge"), refunds: of("refund"), funds: of("funds") };
}

function shownPosting({
  atMs,
  kind,
  amountMicros,
  balanceMicros,
  partCount,
  messageKey,
  description,
}: Statement["postings"][number]) {
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

function shown(statement: Statement, withPostings: boolean) {
  const { account, currency, fromMs, toMs, openingMicros, closingMicros, postings } = statement;
  return {
    account,
    currency,
    from: formatDateTime(fromMs),
    to: formatDateTime(toMs),
    opening: formatMicros(openingMicros),
    ...sumsOf(statement),
    closing: formatMicros(closingMicros),
    ...(withPostings ? { postings: postings.map(shownPosting) } : {}),
  };
}

const COLUMNS: readonly Column<ReturnType<typeof shownPosting>>[] = [
  { title: "TIME", of: ({ at }) => at },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "AMOUNT", of: ({ amount }) => amount, right: true },
  { title: "BALANCE", of: ({ balance }) => balance, right: true },
  { title: "PARTS", of: ({ parts }) => parts, right: true },
  { title: "MESSAGE", of: ({ messageId }) => messageId },
  { title: "DESCRIPTION", of: ({ description }) => description ?? "" },
];

function show(statement: Statement, withPostings: boolean): void {
  const { account, currency, from, to, opening, closing, charges, refunds, funds } = shown(statement, false);
  say(`${account}, in ${currency}, from ${from} to ${to}`);
  if (withPostings && statement.postings.length > 0) {
    say("");
    showTable(COLUMNS, statement.postings.map(shownPosting));
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

function showCsv({ postings, currency }: Statement): void {
  say("time,kind,amount,currency,balance,parts,messageId,description");
  for (const posting of postings) {
    const { at, kind, amount, balance, parts, messageId, description } = shownPosting(posting);
    say([at, kind, amount, currency, balance, parts ?? "", messageId ?? "", quoted(description ?? "")].join(","));
  }
}

/** RFC 4180; and what a spreadsheet would take for a formula begins with an apostrophe. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
