/** Money: an account's statement for a period, as JSON in pages or as CSV in one stream; and whether the ledger is right. */
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import {
  type Balances,
  balancesOf,
  checkPeriod,
  type Period,
  type StatementLine,
  statementCsv,
  withBalances,
} from "../../admin/statements.ts";
import { microsToNumber } from "../../money/amounts.ts";
import type { Clock } from "../../runtime/clock.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { ManagedAccount } from "../../store/port/accounts.ts";
import type { PostingPosition } from "../../store/port/money.ts";
import type { Store } from "../../store/port/store.ts";
import { ApiError, badField } from "../errors.ts";
import { Mutex, type Take } from "../mutex.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { fieldsOf, readLimit, readMoment, readText, readWord } from "../query.ts";
import { TextOrNull } from "../schemas.ts";
import { MANAGER, managedAccount, OPERATOR, Page, pageParameters } from "./managing.ts";

export interface StatementParts {
  readonly store: Pick<Store, "account" | "balance" | "postings" | "turnover" | "verifyLedger">;
  readonly clock: Clock;
}

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
  kind: Type.String({ description: "charge, refund or funds." }),
  amount: Type.Number({ description: "What the balance changed by." }),
  balance: Type.Number({ description: "After it." }),
  messageId: TextOrNull("The message that a refund is for."),
  smsCount: Type.Union([Type.Integer(), Type.Null()], { description: "Parts that a charge is for." }),
  description: TextOrNull("What was said when funds were added."),
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
  from: Type.String({ description: "The beginning of the period, such as 2026-02-01T00:00:00.000+0000." }),
  to: Type.Optional(Type.String({ description: "Its end, which is no longer in it; now unless given." })),
  format: Type.Optional(
    Type.Unsafe<"json" | "csv">({
      type: "string",
      enum: ["json", "csv"],
      description: "csv gives all of it in one file.",
    }),
  ),
  ...pageParameters,
});
const VerifyAnswer = Type.Object({
  right: Type.Boolean(),
  faults: Type.Array(Type.String({ description: "What is wrong, one by one." })),
});

export function statementOperations(api: Api, { store, clock }: StatementParts): void {
  // However many statements are asked for, the store has one page of them at a time.
  const mutex = new Mutex();

  async function frameOf(period: Period, take: Take): Promise<Frame> {
    const balances = await balancesOf({ store, clock, take }, period);
    return { ...balances, untilMs: period.untilMs, balanceMicros: balances.openingMicros };
  }

  /** The first piece is made before the answer begins: until then what fails can still be told. */
  async function csvStream(account: ManagedAccount, period: Period, readerId: number): Promise<Readable> {
    const leave = mutex.enter(readerId);
    try {
      const source = { store, clock, take: <Page>(look: () => Promise<Page>) => mutex.take(look, readerId) };
      const pieces = statementCsv(source, account, period);
      const first = await pieces.next();
      const stream = Readable.from(
        (async function* () {
          yield first.value as string;
          yield* pieces;
        })(),
        { objectMode: false },
      );
      return stream.once("close", leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  api.get(
    "/operator/1/accounts/:key/statement",
    {
      ...operation({
        ...MANAGER,
        csv: true,
        summary: "Read an account's statement for a period, as JSON in pages or as CSV",
        query: StatementQuery,
        answer: StatementAnswer,
      }),
      // HEAD would read all of it for nobody.
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const fields = fieldsOf(request.query);
      const limit = readLimit(request.query);
      const format = readWord(fields, "format", ["json", "csv"]);
      const sinceMs = readMoment(fields, "from");
      if (sinceMs === null) throw badField("from", "is required");
      const place = readPlace(readText(fields, "after"));
      const untilMs = place?.frame.untilMs ?? readMoment(fields, "to") ?? clock.now();
      checkPeriod({ sinceMs, untilMs });
      const account = await managedAccount(store, request);
      const period = { accountId: account.id, sinceMs, untilMs };
      const readerId = accountOf(request).id;
      if (format === "csv") {
        const stream = await csvStream(account, period, readerId);
        reply.header("content-disposition", `attachment; filename="statement-${account.key}.csv"`);
        return (reply as FastifyReply).type("text/csv; charset=utf-8").send(stream);
      }
      const { frame, rows } = await mutex.search(readerId, async (take) => ({
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

  let verifying = false;
  api.get(
    "/operator/1/ledger/verify",
    operation({
      ...OPERATOR,
      summary: "Add up the whole ledger and say whether it is right",
      answer: VerifyAnswer,
    }),
    async () => {
      if (verifying)
        throw new ApiError("tooManyRequests", {
          description: "The ledger is being verified already.",
          headers: { "retry-after": "1" },
        });
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
  const { id, atMs, kind, amountMicros, balanceMicros, messageKey, partCount, description } = line;
  return {
    id: String(id),
    at: formatDateTime(atMs),
    kind,
    amount: microsToNumber(amountMicros),
    balance: microsToNumber(balanceMicros),
    messageId: messageKey,
    smsCount: partCount,
    description,
  };
}
