/** `heliograph statement --reseller KEY`: a statement over all of a reseller's clients, with the sums of each and their total. */
import { allAccounts } from "../admin/all-accounts.ts";
import {
  checkPeriod,
  type Period,
  type StatementAccount,
  type StatementSource,
  type Sums,
  statementCsv,
  sumsOf,
  totalOf,
} from "../admin/statements.ts";
import { formatMicros } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime, monthOf } from "../schedule/date-time.ts";
import type { Store } from "../store/port/store.ts";
import { print } from "./console.ts";
import { type Column, counted, type JsonOption, shownAsJson, showTable } from "./show.ts";
import { accountNamed, momentOf, say, UsageFault } from "./support.ts";

type Span = Pick<Period, "sinceMs" | "untilMs">;

/** The time of a statement, by --from and --to: this month so far unless they say otherwise. */
export function periodOf({ from, to }: { readonly from?: string; readonly to?: string }): Span {
  const nowMs = systemClock.now();
  const sinceMs = from === undefined ? monthOf(nowMs) : momentOf(from, "--from");
  const untilMs = to === undefined ? nowMs : momentOf(to, "--to");
  checkPeriod({ sinceMs, untilMs }, "--from");
  return { sinceMs, untilMs };
}

export async function stateAll(
  store: Store,
  source: StatementSource,
  resellerKey: string,
  span: Span,
  options: JsonOption & { readonly csv?: boolean },
): Promise<void> {
  const reseller = await accountNamed(store, resellerKey);
  if (reseller.kind !== "reseller") throw new UsageFault(`--reseller must name a reseller, and ${resellerKey} is none`);
  const accounts = allAccounts(store, { kind: null, suspended: null, resellerId: reseller.id });
  if (options.csv === true) {
    for await (const text of statementCsv(source, accounts, span)) print(text);
    return;
  }
  const all: (StatementAccount & Sums)[] = [];
  for await (const { id, key, currency } of accounts)
    all.push({ id, key, currency, ...(await sumsOf(source, { accountId: id, ...span })) });
  const totals = [...Map.groupBy(all, ({ currency }) => currency)].map(([currency, some]) =>
    shown(counted(some.length, "account"), currency, totalOf(some)),
  );
  const rows = all.map(({ key, currency, ...sums }) => shown(key, currency, sums));
  const [from, to] = [formatDateTime(span.sinceMs), formatDateTime(span.untilMs)];
  const bare = totals.map(({ account: _, ...total }) => total);
  if (shownAsJson(options, { reseller: resellerKey, from, to, totals: bare, accounts: rows })) return;
  say(`The clients of ${resellerKey}, from ${from} to ${to}`);
  say("");
  if (rows.length > 0) showTable(COLUMNS, [...rows, ...totals]);
  else say("It has no clients.");
}

function shown(account: string, currency: string, sums: Sums) {
  return {
    account,
    currency,
    opening: formatMicros(sums.openingMicros),
    charged: formatMicros(sums.chargedMicros),
    refunded: formatMicros(sums.refundedMicros),
    funds: formatMicros(sums.fundedMicros),
    closing: formatMicros(sums.closingMicros),
    parts: sums.smsCount,
    postings: sums.postings,
  };
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "ACCOUNT", of: ({ account }) => account },
  { title: "OPENING", of: ({ opening }) => opening, right: true },
  { title: "CHARGED", of: ({ charged }) => charged, right: true },
  { title: "GIVEN BACK", of: ({ refunded }) => refunded, right: true },
  { title: "FUNDS", of: ({ funds }) => funds, right: true },
  { title: "CLOSING", of: ({ closing }) => closing, right: true },
  { title: "CURRENCY", of: ({ currency }) => currency },
  { title: "PARTS", of: ({ parts }) => parts, right: true },
];
