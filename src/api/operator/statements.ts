/** Money: an account's statement for a period, as JSON in pages or as CSV in one stream; and whether the ledger is right. */
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { formatMicros, microsToNumber } from "../../money/amounts.ts";
import { type CsvValue, csvLine } from "../../money/csv.ts";
import type { Clock } from "../../runtime/clock.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { ManagedAccount, Posting, PostingPosition, PostingRange, Store } from "../../store/port.ts";
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

/** Postings from one command: other commands wait for it. */
const PAGE_POSTINGS = 500;
/** A posting is in the store this soon after its time; what is older can be added up at leisure. */
const SETTLED_MS = 3_000;
const SETTLING_POSTINGS = 5_000;
const MAX_TRIES = 20;
const TRIES_AGREE = 3;

interface Period {
  readonly accountId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What a statement says beside its postings. It stands in the place where a page ends, so that the next one need not add up again. */
interface Frame {
  readonly untilMs: number;
  readonly openingMicros: bigint;
  readonly closingMicros: bigint;
  /** After the last posting of the page. */
  readonly balanceMicros: bigint;
}

const PLACE = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.(-?\d{1,18})\.(-?\d{1,18})\.(-?\d{1,18})$/;

function placeOf(
  { atMs, id }: PostingPosition,
  { untilMs, openingMicros, closingMicros, balanceMicros }: Frame,
): string {
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

  const atOnce: Take = (look) => look();

  async function turnover(period: Period, take: Take, limit = PAGE_POSTINGS): Promise<bigint> {
    let sum = 0n;
    let after: PostingPosition | null = null;
    do {
      const range: PostingRange = { ...period, after, limit };
      const page: Awaited<ReturnType<typeof store.turnover>> = await take(() => store.turnover(range));
      sum += page.amountMicros;
      after = page.next;
    } while (after !== null);
    return sum;
  }

  /**
   * The balance as it was at a time: that of now, without what has been posted since. Money may move between the two looks. The
   * embedded store answers both out of one transaction; on others it is right if the balance is the same before and after. And as
   * the past does not change, a figure that comes again and again is right too.
   */
  async function balanceAt(accountId: number, atMs: number, take: Take): Promise<bigint> {
    const settledMs = Math.max(atMs, clock.now() - SETTLED_MS);
    const settled = await turnover({ accountId, sinceMs: atMs, untilMs: settledMs }, take);
    const since = { accountId, sinceMs: settledMs, untilMs: Number.MAX_SAFE_INTEGER };
    const balance = async (): Promise<bigint> => (await store.balance({ accountId })).balanceMicros;
    let last: bigint | null = null;
    let same = 0;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await balance();
      const [unsettled, now] = await Promise.all([turnover(since, atOnce, SETTLING_POSTINGS), balance()]);
      const figure = now - unsettled - settled;
      same = figure === last ? same + 1 : 1;
      if (same >= TRIES_AGREE || (before === now && before === (await balance()))) return figure;
      last = figure;
    }
    throw new ApiError("unavailable", {
      description: "The balance changes too fast to be told.",
      headers: { "retry-after": "1" },
    });
  }

  async function frameOf(period: Period, take: Take): Promise<Frame> {
    const closingMicros = await balanceAt(period.accountId, period.untilMs, take);
    const openingMicros = closingMicros - (await turnover(period, take));
    return { untilMs: period.untilMs, openingMicros, closingMicros, balanceMicros: openingMicros };
  }

  /** All of it, a page in memory at a time: the next one is read when the client has taken this one. */
  async function* csv(account: ManagedAccount, period: Period, take: Take): AsyncGenerator<string> {
    let { openingMicros: balance } = await frameOf(period, take);
    const line = (kind: string, atMs: number, cells: readonly CsvValue[]): string =>
      `${csvLine([formatDateTime(atMs), kind, ...cells])}\r\n`;
    yield "date,kind,amount,balance,currency,messageId,smsCount,description\r\n";
    yield line("opening", period.sinceMs, ["", formatMicros(balance), account.currency, "", "", ""]);
    let after: PostingPosition | null = null;
    do {
      const range: PostingRange = { ...period, after, limit: PAGE_POSTINGS };
      const postings: Posting[] = await take(() => store.postings(range));
      let text = "";
      for (const { atMs, kind, amountMicros, messageKey, partCount, description } of postings) {
        balance += amountMicros;
        const amounts = [formatMicros(amountMicros), formatMicros(balance), account.currency];
        text += line(kind, atMs, [...amounts, messageKey, partCount, description]);
      }
      if (text !== "") yield text;
      after = postings.length === PAGE_POSTINGS ? postings.at(-1)! : null;
    } while (after !== null);
    yield line("closing", period.untilMs, ["", formatMicros(balance), account.currency, "", "", ""]);
  }

  /** The first piece is made before the answer begins: until then what fails can still be told. */
  async function csvStream(account: ManagedAccount, period: Period, readerId: number): Promise<Readable> {
    const leave = mutex.enter(readerId);
    try {
      const pieces = csv(account, period, (look) => mutex.take(look, readerId));
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
      if (untilMs < sinceMs) throw badField("to", "must not be before from");
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
      let balance = frame.balanceMicros;
      const results = rows.slice(0, limit).map((posting) => {
        balance += posting.amountMicros;
        return postingAnswer(posting, balance);
      });
      return {
        account: account.key,
        currency: account.currency,
        from: formatDateTime(sinceMs),
        to: formatDateTime(untilMs),
        openingBalance: microsToNumber(frame.openingMicros),
        closingBalance: microsToNumber(frame.closingMicros),
        results,
        next: rows.length > limit ? placeOf(rows[limit - 1]!, { ...frame, balanceMicros: balance }) : null,
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

function postingAnswer({ id, atMs, kind, amountMicros, messageKey, partCount, description }: Posting, balance: bigint) {
  return {
    id: String(id),
    at: formatDateTime(atMs),
    kind,
    amount: microsToNumber(amountMicros),
    balance: microsToNumber(balance),
    messageId: messageKey,
    smsCount: partCount,
    description,
  };
}
