/**
 * Money: an account's statement for a period, as JSON in pages or as CSV in one stream, for the account itself and for whoever manages it; and whether
 * the ledger is right.
 */
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { allAccounts } from "../../admin/all-accounts.ts";
import { tenantOf } from "../../admin/manager.ts";
import {
  type Balances,
  balancesOf,
  checkPeriod,
  type Period,
  type StatementAccount,
  type StatementLine,
  type Sums,
  statementCsv,
  sumsOf,
  totalOf,
  withBalances,
} from "../../admin/statements.ts";
import { microsToNumber } from "../../money/amounts.ts";
import type { PostingPosition } from "../../money/postings.ts";
import { Type } from "../../runtime/type.ts";
import { formatDateTime, monthOf } from "../../schedule/date-time.ts";
import { badField, tooMany } from "../errors.ts";
import { Mutex, type Take } from "../mutex.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readDay, readLimit, readText, readWord } from "../query.ts";
import { OneOf, OptionalText, Text, TextOrNull, Whole } from "../shapes.ts";
import { MANAGER, managedAccount, OPERATOR, Page, pageParameters } from "./managing.ts";

/** What a statement says beside its postings. It stands in the place where a page ends, so that the next one need not add up again. */
interface Frame extends Balances {
  readonly untilMs: number;
  /** After the last posting of the page. */
  readonly balanceMicros: bigint;
}

const PLACE = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.(-?\d{1,18})\.(-?\d{1,18})\.(-?\d{1,18})$/;

function placeOf({ atMs, id, balanceMicros }: StatementLine, frame: Frame): string {
  const { untilMs, openingMicros, closingMicros } = frame;
  return [atMs, id, untilMs, openingMicros, closingMicros, balanceMicros].join(".");
}

function readPlace(text: string | null): { after: PostingPosition; frame: Frame } | null {
  if (text === null) return null;
  const [, atMs, id, untilMs, opening, closing, balance] = PLACE.exec(text) ?? [];
  if (balance === undefined) throw badField("after", "must be what the page before gave as next");
  const frame = { openingMicros: BigInt(opening!), closingMicros: BigInt(closing!), balanceMicros: BigInt(balance) };
  return { after: { atMs: Number(atMs), id: Number(id) }, frame: { untilMs: Number(untilMs), ...frame } };
}

const PostingAnswer = Type.Object({
  id: Type.String(),
  at: Type.String(),
  kind: Text("charge or refund of messages; funds, correction, transfer or writeOff."),
  amount: Type.Number({ description: "What the balance changed by." }),
  balance: Type.Number({ description: "After it." }),
  messageId: TextOrNull("The message that a refund is for."),
  smsCount: Type.Union([Type.Integer(), Type.Null()], { description: "Parts that a charge is for." }),
  description: TextOrNull("What was said when money was moved."),
});
const StatementAnswer = Type.Object({
  account: Type.String(),
  currency: Type.String(),
  from: Type.String(),
  to: Type.String(),
  openingBalance: Type.Number(),
  closingBalance: Type.Number(),
  ...Page(PostingAnswer).properties,
});
const StatementQuery = Type.Object({
  from: OptionalText(
    "The beginning of the period: a day such as 2026-02-01, or a moment such as 2026-02-01T00:00:00.000+0000. The beginning of the month that ends the period unless given.",
  ),
  to: OptionalText("Its end, a day or a moment, which is no longer in it; now unless given."),
  format: Type.Optional(OneOf(["json", "csv"], "csv gives all of it in one file.")),
  ...pageParameters,
});
const SUMS = {
  currency: Type.String(),
  openingBalance: Type.Number(),
  charged: Type.Number({ description: "What charges changed the balance by: below zero." }),
  refunded: Type.Number(),
  funds: Type.Number({
    description: "What was given, without what was taken back; with corrections, transfers and what was written off.",
  }),
  closingBalance: Type.Number(),
  smsCount: Whole("Parts that were charged."),
  postings: Type.Integer(),
};
const AllStatementAnswer = Type.Object(
  {
    from: Type.String(),
    to: Type.String(),
    totals: Type.Array(Type.Object({ ...SUMS, accounts: Type.Integer() }), {
      description: "Of the accounts on this page, a row for each currency.",
    }),
    ...Page(Type.Object({ account: Type.String(), ...SUMS })).properties,
  },
  { title: "StatementOfAll" },
);
const AllStatementQuery = Type.Object({
  ...StatementQuery.properties,
  reseller: OptionalText("For operators: the accounts of this reseller."),
});
/** The end of the period, so that it stays the same from page to page, and the last account. */
const ALL_PLACE = /^(\d{1,15})\.([A-Za-z0-9-]{1,64})$/;

function readAllPlace(text: string | null): RegExpExecArray | null {
  const place = text === null ? null : ALL_PLACE.exec(text);
  if (text !== null && place === null) throw badField("after", "must be what the page before gave as next");
  return place;
}

function sumsAnswer({ openingMicros, closingMicros, chargedMicros, refundedMicros, fundedMicros, ...counts }: Sums) {
  return {
    ...counts,
    openingBalance: microsToNumber(openingMicros),
    charged: microsToNumber(chargedMicros),
    refunded: microsToNumber(refundedMicros),
    funds: microsToNumber(fundedMicros),
    closingBalance: microsToNumber(closingMicros),
  };
}

const VerifyAnswer = Type.Object({
  right: Type.Boolean(),
  faults: Type.Array(Text("What is wrong, one by one.")),
});

/** Of all accounts on a page together: the account with which they are reached is its last. */
const MAX_POSTINGS = 100_000;

type Accounts = Parameters<typeof statementCsv>[1];
type Span = Pick<Period, "sinceMs" | "untilMs">;

interface Statement {
  readonly path: string;
  readonly who: typeof MANAGER | typeof OWN;
  readonly whose: string;
  /** In the id of its operation. */
  readonly name: string;
  readonly accountIn: (store: ApiParts["store"], request: FastifyRequest) => Promise<StatementAccount>;
}

const OWN = { tag: "Account", auth: "account", scope: "balance" } as const;
const STATEMENTS: readonly Statement[] = [
  {
    path: "/account/1/statement",
    who: OWN,
    whose: "your account's",
    name: "Own",
    accountIn: async (_, request) => accountOf(request),
  },
  {
    path: "/operator/1/accounts/:key/statement",
    who: MANAGER,
    whose: "an account's",
    name: "Account",
    accountIn: managedAccount,
  },
];

export function statementOperations(api: Api, { store, clock }: ApiParts): void {
  // However many statements are asked for, the store has one page of them at a time.
  const mutex = new Mutex();

  /** What every statement is asked for with. Its period stays the same from page to page: `keptUntilMs` is the end that the page before had. */
  function wishOf(query: unknown, keptUntilMs: number | null) {
    const fields = fieldsOf(query);
    const untilMs = keptUntilMs ?? readDay(fields, "to") ?? clock.now();
    // The end of a period is not in it: one that ends with a month is of that month, and not of the next.
    const sinceMs = readDay(fields, "from") ?? monthOf(untilMs - 1);
    checkPeriod({ sinceMs, untilMs });
    return { limit: readLimit(query), format: readWord(fields, "format", ["json", "csv"]), sinceMs, untilMs };
  }

  async function frameOf(period: Period, take: Take): Promise<Frame> {
    const balances = await balancesOf({ store, clock, take }, period);
    return { ...balances, untilMs: period.untilMs, balanceMicros: balances.openingMicros };
  }

  /** The first piece is made before the answer begins: until then what fails can still be told. */
  async function sendCsv(reply: FastifyReply, name: string, accounts: Accounts, period: Span): Promise<FastifyReply> {
    const readerId = accountOf(reply.request).id;
    const leave = mutex.enter(readerId);
    try {
      const source = { store, clock, take: <Page>(look: () => Promise<Page>) => mutex.take(look, readerId) };
      const pieces = statementCsv(source, accounts, period);
      const first = await pieces.next();
      const stream = Readable.from(
        (async function* () {
          yield first.value as string;
          yield* pieces;
        })(),
        { objectMode: false },
      );
      reply.header("content-disposition", `attachment; filename="${name}.csv"`).type("text/csv; charset=utf-8");
      return reply.send(stream.once("close", leave));
    } catch (error) {
      leave();
      throw error;
    }
  }

  for (const { path, who, whose, name, accountIn } of STATEMENTS)
    api.get(
      path,
      operation({
        ...who,
        csv: true,
        withoutHead: true,
        id: `read${name}Statement`,
        summary: `Read ${whose} statement for a period, as JSON in pages or as CSV`,
        query: StatementQuery,
        answer: StatementAnswer,
      }),
      async (request, reply) => {
        const place = readPlace(readText(fieldsOf(request.query), "after"));
        const { limit, format, sinceMs, untilMs } = wishOf(request.query, place?.frame.untilMs ?? null);
        const account = await accountIn(store, request);
        const period = { accountId: account.id, sinceMs, untilMs };
        if (format === "csv") return sendCsv(reply, `statement-${account.key}`, [account], period);
        const { frame, rows } = await mutex.search(accountOf(request).id, async (take) => ({
          frame: place?.frame ?? (await frameOf(period, take)),
          rows: await take(() => store.postings({ ...period, after: place?.after ?? null, limit: limit + 1 })),
        }));
        const lines = withBalances(rows.slice(0, limit), frame.balanceMicros);
        return {
          account: account.key,
          currency: account.currency,
          from: formatDateTime(sinceMs),
          to: formatDateTime(untilMs),
          openingBalance: microsToNumber(frame.openingMicros),
          closingBalance: microsToNumber(frame.closingMicros),
          results: lines.map(lineAnswer),
          next: rows.length > limit ? placeOf(lines.at(-1)!, frame) : null,
        };
      },
    );

  api.get(
    "/operator/1/statement",
    operation({
      ...MANAGER,
      csv: true,
      withoutHead: true,
      id: "readStatement",
      summary:
        "Read a statement over all accounts that you manage for a period: the sums of each, or as CSV every posting",
      query: AllStatementQuery,
      answer: AllStatementAnswer,
    }),
    async (request, reply) => {
      const fields = fieldsOf(request.query);
      const [, untilText, afterKey = null] = readAllPlace(readText(fields, "after")) ?? [];
      const kept = untilText === undefined ? null : Number(untilText);
      const { limit, format, sinceMs, untilMs } = wishOf(request.query, kept);
      const reader = accountOf(request);
      const resellerId = await resellerIn(request, readText(fields, "reseller"));
      if (format === "csv")
        return sendCsv(reply, "statement", allAccounts(store, { resellerId }), { sinceMs, untilMs });
      return mutex.search(reader.id, async (take) => {
        const range = { kind: null, suspended: null, resellerId, afterKey, limit: limit + 1 };
        const accounts = await take(() => store.accounts(range));
        const page: (Sums & StatementAccount)[] = [];
        // What is read of the postings, also of those that are only added up.
        let read = 0;
        const counting: typeof store = {
          ...store,
          postings: async (input) => {
            const postings = await store.postings(input);
            read += postings.length;
            return postings;
          },
          turnover: async (input) => {
            const turnover = await store.turnover(input);
            if (turnover.next !== null) read += input.limit;
            return turnover;
          },
        };
        for (const { id, key, currency } of accounts.slice(0, limit)) {
          const sums = await sumsOf({ store: counting, clock, take }, { accountId: id, sinceMs, untilMs });
          page.push({ id, key, currency, ...sums });
          // The rest is on the next page; and nobody waits for a page whose client has gone.
          if (read >= MAX_POSTINGS || request.raw.socket.destroyed) break;
        }
        const byCurrency = [...Map.groupBy(page, ({ currency }) => currency)].sort(([one], [other]) =>
          one < other ? -1 : 1,
        );
        return {
          from: formatDateTime(sinceMs),
          to: formatDateTime(untilMs),
          totals: byCurrency.map(([currency, all]) => ({
            currency,
            accounts: all.length,
            ...sumsAnswer(totalOf(all)),
          })),
          results: page.map(({ key, currency, ...sums }) => ({ account: key, currency, ...sumsAnswer(sums) })),
          next: accounts.length > page.length ? `${untilMs}.${page.at(-1)!.key}` : null,
        };
      });
    },
  );

  /** Whose accounts are meant: a reseller's are its own, an operator's are all, or those of the reseller that it names. */
  async function resellerIn(request: FastifyRequest, key: string | null): Promise<number | null> {
    const { resellerId } = tenantOf({ account: accountOf(request) });
    if (key === null) return resellerId;
    if (resellerId !== null && key !== accountOf(request).key) throw badField("reseller", "is for operators");
    const reseller = resellerId === null ? await store.account({ resellerId, key }) : accountOf(request);
    if (reseller?.kind !== "reseller") throw badField("reseller", "names no reseller");
    return reseller.id;
  }

  let verifying = false;
  api.get(
    "/operator/1/ledger/verify",
    operation({
      ...OPERATOR,
      id: "verifyLedger",
      summary: "Add up the whole ledger and say whether it is right",
      answer: VerifyAnswer,
    }),
    async () => {
      if (verifying) throw tooMany("The ledger is being verified already.");
      verifying = true;
      try {
        const faults = await store.verifyLedger();
        return { right: faults.length === 0, faults };
      } finally {
        verifying = false;
      }
    },
  );
}

function lineAnswer(line: StatementLine) {
  return {
    ...line,
    id: String(line.id),
    at: formatDateTime(line.atMs),
    amount: microsToNumber(line.amountMicros),
    balance: microsToNumber(line.balanceMicros),
    messageId: line.messageKey,
    smsCount: line.partCount,
  };
}
