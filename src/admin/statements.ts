/**
 * An account's statement for a period: what it had, every posting with the balance after it, and what it had at the end. The beginning is in the period,
 * the end is not. The API gives it in pages or as CSV, the command line whole; both have the same balances and the same CSV. A statement over several
 * accounts has the sums of each; its CSV is that of one account after the other.
 */
import { formatMicros, type Micros } from "../money/amounts.ts";
import { csvRow } from "../money/csv.ts";
import type { Posting, PostingPosition } from "../money/postings.ts";
import type { Clock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { ManagedAccount } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { invalid } from "./refusal.ts";

/** Postings from one command: other commands wait for it. */
const PAGE_POSTINGS = 500;
/** A posting is in the store this soon after its time; what is older can be added up at leisure. */
const SETTLED_MS = 3_000;

/** What statements are read from. */
export interface StatementSource {
  readonly store: Pick<Store, "balanceBehind" | "postings" | "turnover">;
  readonly clock: Clock;
  /** Makes one look at the store, when it is this reader's turn. */
  readonly take: <Page>(look: () => Promise<Page>) => Promise<Page>;
}

export interface Period {
  readonly accountId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface Balances {
  readonly openingMicros: Micros;
  readonly closingMicros: Micros;
}

export type StatementLine = Posting & { readonly balanceMicros: Micros };

/** `beginning` is what the caller calls the beginning. A period may be empty. */
export function checkPeriod({ sinceMs, untilMs }: Pick<Period, "sinceMs" | "untilMs">, beginning = "from"): void {
  if (untilMs < sinceMs) throw invalid("to", `must not be before ${beginning}`);
}

/**
 * What the account had at the beginning and at the end. A posting may still come that has a time of some moments ago. So both are reckoned from a
 * moment before which nothing more comes: what is said of the beginning stays so, whatever is posted meanwhile.
 */
export async function balancesOf(source: StatementSource, period: Period): Promise<Balances> {
  const { accountId, sinceMs, untilMs } = period;
  const anchorMs = Math.max(sinceMs, Math.min(untilMs, source.clock.now() - SETTLED_MS));
  const anchor = await balanceAt(source, accountId, anchorMs);
  return {
    openingMicros: anchor - (await turnover(source, { accountId, sinceMs, untilMs: anchorMs })),
    closingMicros: anchor + (await turnover(source, { accountId, sinceMs: anchorMs, untilMs })),
  };
}

/** Every posting of the period, a page at a time: the next one is read when this one was taken. */
export async function* linesOf(
  { store, take }: StatementSource,
  period: Period,
  openingMicros: Micros,
): AsyncGenerator<StatementLine[]> {
  let balance = openingMicros;
  let after: PostingPosition | null = null;
  do {
    const range = { ...period, after, limit: PAGE_POSTINGS };
    const postings: Posting[] = await take(() => store.postings(range));
    const lines = withBalances(postings, balance);
    yield lines;
    balance = lines.at(-1)?.balanceMicros ?? balance;
    after = postings.length === PAGE_POSTINGS ? postings.at(-1)! : null;
  } while (after !== null);
}

/** Postings with the balance after each, where `balanceMicros` was before the first. */
export function withBalances(postings: readonly Posting[], balanceMicros: Micros): StatementLine[] {
  let balance = balanceMicros;
  return postings.map((posting) => {
    balance += posting.amountMicros;
    return { ...posting, balanceMicros: balance };
  });
}

/** What a period came to. */
export interface Sums extends Balances {
  /** Below zero: what the balance changed by. */
  readonly chargedMicros: Micros;
  readonly refundedMicros: Micros;
  /** What was given, without what was taken back; with corrections, transfers and what was written off. */
  readonly fundedMicros: Micros;
  readonly smsCount: number;
  readonly postings: number;
}

/** The sums of one account, out of the lines that its own statement has. */
export async function sumsOf(source: StatementSource, period: Period): Promise<Sums> {
  const { openingMicros } = await balancesOf(source, period);
  const sums = { charge: 0n, refund: 0n, funds: 0n };
  let closingMicros = openingMicros;
  let smsCount = 0;
  let postings = 0;
  for await (const lines of linesOf(source, period, openingMicros)) {
    for (const { kind, amountMicros, partCount } of lines) {
      sums[kind === "charge" || kind === "refund" ? kind : "funds"] += amountMicros;
      if (kind === "charge") smsCount += partCount ?? 0;
    }
    postings += lines.length;
    closingMicros = lines.at(-1)?.balanceMicros ?? closingMicros;
  }
  const { charge, refund, funds } = sums;
  const moved = { chargedMicros: charge, refundedMicros: refund, fundedMicros: funds };
  return { openingMicros, closingMicros, ...moved, smsCount, postings };
}

/** The same added up. Amounts of one currency can be. */
export function totalOf(all: readonly Sums[]): Sums {
  const sum = (amountOf: (sums: Sums) => Micros): Micros => all.reduce((total, sums) => total + amountOf(sums), 0n);
  return {
    openingMicros: sum(({ openingMicros }) => openingMicros),
    closingMicros: sum(({ closingMicros }) => closingMicros),
    chargedMicros: sum(({ chargedMicros }) => chargedMicros),
    refundedMicros: sum(({ refundedMicros }) => refundedMicros),
    fundedMicros: sum(({ fundedMicros }) => fundedMicros),
    smsCount: all.reduce((total, { smsCount }) => total + smsCount, 0),
    postings: all.reduce((total, { postings }) => total + postings, 0),
  };
}

export type StatementAccount = Pick<ManagedAccount, "id" | "key" | "currency">;
type Accounts = Iterable<StatementAccount> | AsyncIterable<StatementAccount>;

const COLUMNS = ["date", "kind", "amount", "balance", "currency", "messageId", "smsCount", "description", "account"];

/** All of it as one CSV file, a page in memory at a time; of several accounts, one after the other. */
export async function* statementCsv(
  source: StatementSource,
  accounts: Accounts,
  { sinceMs, untilMs }: Pick<Period, "sinceMs" | "untilMs">,
): AsyncGenerator<string> {
  // It goes out with the first balance: until then what fails can still be told with a status.
  let head = csvRow(COLUMNS);
  for await (const { id: accountId, key, currency } of accounts) {
    const period = { accountId, sinceMs, untilMs };
    const edge = (kind: string, atMs: number, balance: Micros): string =>
      csvRow([formatDateTime(atMs), kind, "", formatMicros(balance), currency, "", "", "", key]);
    let { openingMicros: balance } = await balancesOf(source, period);
    yield head + edge("opening", sinceMs, balance);
    head = "";
    for await (const lines of linesOf(source, period, balance)) {
      if (lines.length === 0) continue;
      yield lines.map((line) => csvOf(line, currency, key)).join("");
      balance = lines.at(-1)!.balanceMicros;
    }
    yield edge("closing", untilMs, balance);
  }
  if (head !== "") yield head;
}

function csvOf(line: StatementLine, currency: string, accountKey: string): string {
  const { atMs, kind, amountMicros, balanceMicros, messageKey, partCount, description } = line;
  const amounts = [formatMicros(amountMicros), formatMicros(balanceMicros), currency];
  return csvRow([formatDateTime(atMs), kind, ...amounts, messageKey, partCount, description, accountKey]);
}

async function turnover({ store, take }: StatementSource, period: Period): Promise<Micros> {
  let sum = 0n;
  let after: PostingPosition | null = null;
  if (period.untilMs <= period.sinceMs) return sum;
  do {
    const range = { ...period, after, limit: PAGE_POSTINGS };
    const page: { amountMicros: Micros; next: PostingPosition | null } = await take(() => store.turnover(range));
    sum += page.amountMicros;
    after = page.next;
  } while (after !== null);
  return sum;
}

/** The balance as it was at a time: that of now, without what has been posted since. Only what is not settled must be of one moment with it. */
async function balanceAt(source: StatementSource, accountId: number, atMs: number): Promise<Micros> {
  const settledMs = Math.max(atMs, source.clock.now() - SETTLED_MS);
  const settled = await turnover(source, { accountId, sinceMs: atMs, untilMs: settledMs });
  const place = { atMs: settledMs, id: -1 };
  return (await source.take(() => source.store.balanceBehind({ accountId, place }))).thenMicros - settled;
}
