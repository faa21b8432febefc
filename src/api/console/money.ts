/** What the page about money looks at: the balance over time, what a period cost, and the newest postings. */
import { managedAccount } from "../../admin/manager.ts";
import { type StatementLine, withBalances } from "../../admin/statements.ts";
import { formatMicros, type Micros } from "../../money/amounts.ts";
import type { Posting, PostingPosition, SentCost, SentPosition, TurnoverStep } from "../../money/postings.ts";
import { perKey } from "../../runtime/lazy.ts";
import { Type } from "../../runtime/type.ts";
import type { Account } from "../../store/port/accounts.ts";
import { mayLookBeyond, notBeyond } from "../beyond.ts";
import { ApiError } from "../errors.ts";
import type { ApiParts } from "../parts.ts";
import { type Fields, readForm, readText, readWhole } from "../query.ts";
import { Flag, OptionalText, Text, TextOrNull, Whole } from "../shapes.ts";
import { RunningTotals } from "./running-totals.ts";
import { isoTime } from "./schemas.ts";
import { MONEY, type View } from "./view.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_DAYS = 366;
const DEFAULT_DAYS = 30;
/** Up to so many days are shown by the hour: 336 points. */
const HOURLY_DAYS = 14;
/** A statement waits for 3 seconds (admin/statements.ts). What comes later than this is seen by the balance, and all is read anew. */
const POSTINGS_SETTLED_MS = 10_000;
/** A message is recorded as sent so long after its time (admin/log-search.ts). */
const MESSAGES_SETTLED_MS = 15_000;
/** Messages that change are in memory for a second and are written once; whoever looks has them written at once. So nobody looks too often. */
const COSTS_EVERY_MS = 2_000;
/** Nothing says whether a message was recorded later than that, such as when the database was away. So after so long all are read anew. */
const COSTS_RENEW_MS = HOUR_MS;
const STATEMENT_ROWS = 100;
/** Countries and carriers in an answer: there are some 220 countries. */
const MAX_GROUPS = 250;
const NEWEST: PostingPosition = { atMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };
const MAX_DESCRIPTION = 255;

const Moment = Text("ISO 8601.");
const Amount = Text("A decimal, in the account's currency.");
const Complete = Flag("False while more of the past is being added up.");
const PeriodQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DAYS, default: DEFAULT_DAYS })),
});

const HistoryAnswer = Type.Object({
  currency: Type.String(),
  balance: Amount,
  stepMinutes: Type.Integer(),
  complete: Complete,
  points: Type.Array(
    Type.Object({
      at: Moment,
      balance: Text("At that moment."),
      charged: Text("From then until the next point."),
      refunded: Type.String(),
      funded: Type.String(),
    }),
  ),
});

const counted = { messages: Type.Integer(), parts: Type.Integer(), amount: Amount };
const CostsAnswer = Type.Object({
  currency: Type.String(),
  since: Moment,
  complete: Complete,
  keptDays: Whole("How long messages are kept; 0 for always."),
  ...counted,
  countries: Type.Array(Type.Object({ country: TextOrNull("ISO 3166-1; null where it is not known."), ...counted })),
  carriers: Type.Array(Type.Object({ carrier: Type.String(), ...counted })),
  days: Type.Array(Type.Object({ day: Text("In UTC, such as 2026-02-12."), ...counted })),
});

const StatementAnswer = Type.Object({
  account: Type.String(),
  currency: Type.String(),
  balance: Amount,
  results: Type.Array(
    Type.Object({
      id: Type.String(),
      at: Moment,
      kind: Text("charge, refund or funds."),
      amount: Text("What the balance changed by."),
      balance: Text("After it."),
      messageId: TextOrNull("The message that a refund is for, or the first of those that a charge is for."),
      smsCount: Type.Union([Type.Integer(), Type.Null()]),
      description: TextOrNull("What was said when funds were added."),
    }),
  ),
  next: TextOrNull("Give it as after for older ones; null where there are none."),
});
const StatementQuery = Type.Object({
  account: OptionalText("For managers: the key of another account than their own."),
  after: OptionalText("What the page before gave as next."),
});

export function moneyViews({ store, clock, settings }: ApiParts): View[] {
  const turnoversBy = perKey(
    (stepMs: number) =>
      new RunningTotals<TurnoverStep, PostingPosition>({
        clock,
        stepMs,
        settledMs: POSTINGS_SETTLED_MS,
        maxSteps: MAX_DAYS + 1,
        page: async (walk) => {
          const { steps, next } = await store.turnoverSteps(walk);
          return { totals: steps, next };
        },
        nameOf: () => "",
        add: addSteps,
        audit: {
          balance: async (accountId) => (await store.balance({ accountId })).balanceMicros,
          amountOf: ({ chargedMicros, refundedMicros, fundedMicros }) => refundedMicros + fundedMicros - chargedMicros,
        },
      }),
  );
  const sentBy = perKey(
    (stepMs: number) =>
      new RunningTotals<SentCost, SentPosition>({
        clock,
        stepMs,
        settledMs: MESSAGES_SETTLED_MS,
        maxSteps: MAX_DAYS + 1,
        page: async (walk) => {
          const { costs, next } = await store.sentCosts(walk);
          return { totals: costs, next };
        },
        nameOf: ({ country, carrierId }) => `${country} ${carrierId}`,
        add: addCosts,
        everyMs: COSTS_EVERY_MS,
        renewMs: COSTS_RENEW_MS,
      }),
  );

  return [
    {
      name: "balance-history",
      summary: "See your balance over time",
      ...MONEY,
      query: PeriodQuery,
      answer: HistoryAnswer,
      async read({ id, currency }, fields) {
        const { stepMs, sinceMs } = periodOf(fields, clock.now());
        const seen = await turnoversBy(stepMs).read(id, sinceMs);
        const now = seen.balance!;
        return {
          currency,
          balance: formatMicros(now),
          stepMinutes: stepMs / 60_000,
          complete: seen.complete,
          points: pointsOf(seen.totals, seen.sinceMs, stepStart(clock.now(), stepMs), stepMs, now),
        };
      },
    },
    {
      name: "costs",
      summary: "See what your messages cost, by country, carrier and day",
      ...MONEY,
      query: PeriodQuery,
      answer: CostsAnswer,
      async read({ id, currency }, fields) {
        const { stepMs, sinceMs } = periodOf(fields, clock.now());
        const { totals, complete, sinceMs: wholeMs } = await sentBy(stepMs).read(id, sinceMs);
        return {
          currency,
          since: isoTime(wholeMs),
          complete,
          keptDays: settings.store.retentionDays,
          ...summed(totals),
          countries: grouped(totals, (cost) => cost.country ?? "").map(({ name, ...sums }) => ({
            country: name === "" ? null : name,
            ...sums,
          })),
          carriers: grouped(totals, (cost) => cost.carrierId).map(({ name, ...sums }) => ({ carrier: name, ...sums })),
          days: grouped(totals, ({ startMs }) => isoTime(startMs).slice(0, "2026-02-12".length))
            .map(({ name, ...sums }) => ({ day: name, ...sums }))
            .sort((one, other) => (one.day < other.day ? -1 : 1)),
        };
      },
    },
    {
      name: "statement",
      summary: "Read the newest postings, each with the balance after it",
      ...MONEY,
      query: StatementQuery,
      answer: StatementAnswer,
      async read(caller, fields) {
        const account = await accountIn(store, caller, readText(fields, "account"));
        const place = readPlace(readForm(fields, "after", PLACE, "must be what the page before gave as next"));
        const range = { accountId: account.id, sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, newestFirst: true };
        const seen = await store.postings({ ...range, after: place?.after ?? null, limit: STATEMENT_ROWS + 1 });
        const rows = seen.slice(0, STATEMENT_ROWS);
        // A page carries the balance below it to the next. The first has it from the store, behind its own last row: newer ones may have come meanwhile.
        const oldest = rows.at(-1);
        const behind = place === null && oldest !== undefined ? oldest : NEWEST;
        const { nowMicros, thenMicros } = await store.balanceBehind({ accountId: account.id, place: behind });
        const moved = rows.reduce((sum, { amountMicros }) => sum + amountMicros, 0n);
        const before = place === null ? thenMicros - (oldest?.amountMicros ?? 0n) : place.balanceMicros - moved;
        return {
          account: account.key,
          currency: account.currency,
          balance: formatMicros(nowMicros),
          results: withBalances(rows.toReversed(), before).toReversed().map(lineOf),
          next: seen.length > STATEMENT_ROWS ? placeOf(rows.at(-1)!, before) : null,
        };
      },
    },
  ];
}

// --- Periods -----------------------------------------------------------------------------------------------------------------

/** The days that are asked for. Its last step is the one of now. A short one is in hours, so that 24 hours do not begin with the day. */
function periodOf(fields: Fields, nowMs: number): { readonly stepMs: number; readonly sinceMs: number } {
  const days = readWhole(fields, "days", MAX_DAYS, DEFAULT_DAYS);
  const stepMs = days <= HOURLY_DAYS ? HOUR_MS : DAY_MS;
  return { stepMs, sinceMs: stepStart(nowMs, stepMs) + stepMs - days * DAY_MS };
}

function stepStart(atMs: number, stepMs: number): number {
  return atMs - (atMs % stepMs);
}

// --- The balance over time ---------------------------------------------------------------------------------------------------

function addSteps(one: TurnoverStep, other: TurnoverStep): TurnoverStep {
  return {
    startMs: one.startMs,
    chargedMicros: one.chargedMicros + other.chargedMicros,
    refundedMicros: one.refundedMicros + other.refundedMicros,
    fundedMicros: one.fundedMicros + other.fundedMicros,
    postings: one.postings + other.postings,
  };
}

/** A point for each step, from the newest back: what it had at its beginning is what it has without what has come since. */
function pointsOf(steps: readonly TurnoverStep[], sinceMs: number, lastMs: number, stepMs: number, now: Micros) {
  const byStart = new Map(steps.map((step) => [step.startMs, step]));
  const points = [];
  let balance = now;
  for (let atMs = lastMs; atMs >= sinceMs; atMs -= stepMs) {
    const { chargedMicros = 0n, refundedMicros = 0n, fundedMicros = 0n } = byStart.get(atMs) ?? {};
    balance += chargedMicros - refundedMicros - fundedMicros;
    points.push({
      at: isoTime(atMs),
      balance: formatMicros(balance),
      charged: formatMicros(chargedMicros),
      refunded: formatMicros(refundedMicros),
      funded: formatMicros(fundedMicros),
    });
  }
  return points.reverse();
}

// --- Costs -------------------------------------------------------------------------------------------------------------------

function addCosts(one: SentCost, other: SentCost): SentCost {
  return {
    ...one,
    messages: one.messages + other.messages,
    parts: one.parts + other.parts,
    amountMicros: one.amountMicros + other.amountMicros,
  };
}

function summed(costs: readonly SentCost[]) {
  const amountMicros = costs.reduce((sum, cost) => sum + cost.amountMicros, 0n);
  const sumOf = (name: "messages" | "parts") => costs.reduce((sum, cost) => sum + cost[name], 0);
  return { messages: sumOf("messages"), parts: sumOf("parts"), amount: formatMicros(amountMicros) };
}

/** By a name, the dearest first. */
function grouped(costs: readonly SentCost[], nameOf: (cost: SentCost) => string) {
  const groups = [...Map.groupBy(costs, nameOf)].map(([name, group]) => ({
    name,
    micros: group.reduce((sum, cost) => sum + cost.amountMicros, 0n),
    ...summed(group),
  }));
  return groups
    .sort((one, other) =>
      one.micros === other.micros ? compare(one.name, other.name) : one.micros < other.micros ? 1 : -1,
    )
    .slice(0, MAX_GROUPS + MAX_DAYS)
    .map(({ micros: _, ...group }) => group);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

// --- Postings ----------------------------------------------------------------------------------------------------------------

/** The caller's own account, or one that it manages. */
async function accountIn(store: ApiParts["store"], caller: Account, key: string | null) {
  if (key === null || key === caller.key) return caller;
  if (caller.kind === "client") throw new ApiError("accountNotFound");
  if (!mayLookBeyond(caller)) throw notBeyond();
  return managedAccount(store, { account: caller }, key);
}

const PLACE = /^\d{1,16}\.\d{1,16}\.-?\d{1,19}$/;

/** Where a page ends, with the balance before its last posting, so that the next one need not add up again. */
function placeOf({ atMs, id }: Posting, balanceMicros: Micros): string {
  return [atMs, id, balanceMicros].join(".");
}

function readPlace(text: string | null): { readonly after: PostingPosition; readonly balanceMicros: Micros } | null {
  if (text === null) return null;
  const [atMs, id, balance] = text.split(".");
  return { after: { atMs: Number(atMs), id: Number(id) }, balanceMicros: BigInt(balance!) };
}

function lineOf(line: StatementLine) {
  return {
    ...line,
    id: String(line.id),
    at: isoTime(line.atMs),
    amount: formatMicros(line.amountMicros),
    balance: formatMicros(line.balanceMicros),
    messageId: line.messageKey,
    smsCount: line.partCount,
    description: line.description?.slice(0, MAX_DESCRIPTION) ?? null,
  };
}
