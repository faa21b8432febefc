/**
 * What an account's messages have cost, by country and carrier, and where they went. Only messages that a carrier took are counted, by when they were
 * sent: their charge is not given back any more, and their place in time does not change. So whoever has added up the past once need not look at it again.
 *
 * A page looks at a bounded number of messages, along the index by which the logs are read.
 */
import type { SentCost, SentPosition, SentTraffic } from "../money/postings.ts";
import { countryOf } from "../sms/countries.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { LAST_KEY } from "../store/rows.ts";
import { STATE_NUMBER } from "../store/schema/message.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";

interface SentRow {
  readonly atMs: number;
  readonly key: string;
  readonly state: number;
  readonly recipient: string;
  readonly carrierId: string | null;
  readonly parts: number;
  readonly charged: string;
}

interface TrafficRow extends SentRow {
  readonly price: string;
  readonly currency: string;
  readonly sentAtMs: number | null;
}

interface Sums {
  messages: number;
  parts: number;
  amountMicros: bigint;
}

export function sentCostCommands({ sql }: CommandParts) {
  const walk = <Row extends SentRow>(comes: string, order: string, more = "") =>
    sql.prepare<Value[], Row>(
      `SELECT log_at_ms AS "atMs", CAST(key AS TEXT) AS key, state, recipient, carrier_id AS "carrierId", part_count AS parts,
         CAST(charged_micros AS TEXT) AS charged ${more}
       FROM message ${sql.dialect.along("message_by_time")}
       WHERE account_id = ? AND log_at_ms BETWEEN ? AND ? AND (log_at_ms ${comes} ? OR key ${comes} ?)
       ORDER BY log_at_ms ${order}, message.key ${order} LIMIT ?`,
    );
  const onwards = walk(">", "ASC");
  const back = walk("<", "DESC");
  const traffic = walk<TrafficRow>(
    ">",
    "ASC",
    ', CAST(price_micros AS TEXT) AS price, currency, sent_at_ms AS "sentAtMs"',
  );

  return commands({
    async sentCosts({ accountId, sinceMs, untilMs, after, limit, newestFirst, stepMs }) {
      // A message at the place itself was on the page before; none has the keys at the ends.
      const { atMs, key } = after ?? startOf(sinceMs, untilMs, newestFirst);
      const [low, high] = newestFirst ? [sinceMs, Math.min(untilMs - 1, atMs)] : [Math.max(sinceMs, atMs), untilMs - 1];
      const rows = await (newestFirst ? back : onwards).all(accountId, low, high, atMs, BigInt(key), limit);
      return { costs: costsOf(rows, stepMs), next: nextOf(rows, limit) };
    },

    async sentTraffic({ accountId, sinceMs, untilMs, after, limit, prefix, digits }) {
      const { atMs, key } = after ?? startOf(sinceMs, untilMs, false);
      const rows = await traffic.all(accountId, Math.max(sinceMs, atMs), untilMs - 1, atMs, BigInt(key), limit);
      const wanted = rows.filter(({ recipient }) => recipient.startsWith(prefix));
      return { traffic: trafficOf(wanted, digits), next: nextOf(rows, limit) };
    },
  });
}

function startOf(sinceMs: number, untilMs: number, newestFirst: boolean): SentPosition {
  return newestFirst ? { atMs: untilMs - 1, key: String(LAST_KEY) } : { atMs: sinceMs, key: "0" };
}

/** Where the page after this one begins, if there may be one. */
function nextOf(rows: readonly SentRow[], limit: number): SentPosition | null {
  const last = rows.length === limit ? rows.at(-1)! : null;
  return last === null ? null : { atMs: last.atMs, key: last.key };
}

/** Adds up what is told of the rows, by all that it says of each. */
function addedUp<Row extends SentRow, Told extends object>(rows: readonly Row[], toldOf: (row: Row) => Told | null) {
  const sums = new Map<string, Told & Sums>();
  for (const row of rows) {
    const told = toldOf(row);
    if (told === null) continue;
    const name = Object.values(told).join(" ");
    const sum = sums.get(name) ?? { ...told, messages: 0, parts: 0, amountMicros: 0n };
    sum.messages++;
    sum.parts += row.parts;
    sum.amountMicros += BigInt(row.charged);
    sums.set(name, sum);
  }
  return [...sums.values()];
}

function costsOf(rows: readonly SentRow[], stepMs: number): SentCost[] {
  return addedUp(rows, ({ atMs, state, recipient, carrierId, charged }) => {
    // One that no carrier has yet is counted when one has taken it; one that none took has cost nothing.
    if (state < STATE_NUMBER.submitted || carrierId === null || charged === "0") return null;
    return { startMs: atMs - (atMs % stepMs), country: countryOf(recipient), carrierId };
  });
}

/** One that is sold for nothing has a price with its carrier all the same: it counts if it was sent. */
function wasTaken({ state, carrierId, charged, price, sentAtMs }: TrafficRow): boolean {
  if (state < STATE_NUMBER.submitted || carrierId === null) return false;
  return charged !== "0" || (price === "0" && sentAtMs !== null);
}

function trafficOf(rows: readonly TrafficRow[], digits: number): SentTraffic[] {
  return addedUp(rows, (row) => {
    if (!wasTaken(row)) return null;
    const { recipient, currency } = row;
    return { begins: recipient.slice(0, digits), country: countryOf(recipient), carrierId: row.carrierId!, currency };
  });
}
