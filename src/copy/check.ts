/** Whether both sides of a copy hold the same: as many rows of everything, and the same money in every place. */
import { COPIED } from "./copied-tables.ts";
import type { CopySource } from "./copy-source.ts";
import type { PostgresReader } from "./postgres-reader.ts";

/** Null where a side does not have it at all. */
export interface Comparison {
  readonly what: string;
  /** Of amounts, which are in micros; null where rows are counted. */
  readonly currency: string | null;
  readonly source: bigint | null;
  readonly target: bigint | null;
}

/**
 * The words are both engines'. A sum of amounts may be beyond 64 bits, for which SQLite's sum() fails: so it is read as two, of the upper and of the
 * lower 32 bits.
 */
const HALF = 4_294_967_296n;
const sumOf = (column: string): string =>
  `CAST(sum(${column} >> 32) AS TEXT) || ' ' || CAST(sum(${column} & ${HALF - 1n}) AS TEXT)`;

function wholeOf(halves: string | undefined): bigint | null {
  if (halves === undefined) return null;
  const [high, low] = halves.split(" ") as [string, string];
  return BigInt(high) * HALF + BigInt(low);
}

/** Each has names that end with the currency. */
const SUMS: readonly { readonly what: string; readonly text: string }[] = [
  {
    what: "balances of",
    text: `SELECT CASE WHEN account_id IS NULL THEN name ELSE 'accounts' END || ', ' || currency AS name, ${sumOf("balance_micros")} AS value
      FROM wallet GROUP BY 1 ORDER BY 1`,
  },
  {
    what: "postings:",
    text: `SELECT kind || ', ' || currency AS name, ${sumOf("amount_micros")} AS value
      FROM posting JOIN wallet ON wallet.id = from_wallet GROUP BY 1 ORDER BY 1`,
  },
  {
    what: "charged to account",
    text: `SELECT account.key || ', ' || account.currency AS name, ${sumOf("charged_micros")} AS value
      FROM message JOIN account ON account.id = account_id GROUP BY 1 ORDER BY 1`,
  },
];

/** Accounts have random secrets: two stores in which these agree have one origin. */
const ORIGIN = "SELECT CAST(id AS TEXT) AS name, key || ' ' || callback_secret AS value FROM account ORDER BY id";

export async function compare(source: CopySource, target: PostgresReader): Promise<Comparison[]> {
  const found: Comparison[] = [];
  const rows = (what: string, here: number, there: number): void => {
    found.push({ what, currency: null, source: BigInt(here), target: BigInt(there) });
  };
  for (const { name } of COPIED) rows(name, source.count(name), await target.count(name));
  rows("message_name", source.countNames(), await target.count("message_name"));
  for (const { what, text } of SUMS) {
    const here = new Map(source.pairs(text));
    const there = new Map(await target.pairs(text));
    for (const name of new Set([...here.keys(), ...there.keys()])) {
      const [one, other] = [wholeOf(here.get(name)), wholeOf(there.get(name))];
      const [whose, currency] = name.split(", ") as [string, string];
      found.push({ what: `${what} ${whose}`, currency, source: one, target: other });
    }
  }
  return found;
}

export function isDifferent({ source, target }: Comparison): boolean {
  return source !== target;
}

/** Whether the target was once made from this source, whatever has happened since. */
export async function sameOrigin(source: CopySource, target: PostgresReader): Promise<boolean> {
  const here = source.pairs(ORIGIN);
  const there = new Map(await target.pairs(ORIGIN));
  return here.length > 0 && here.every(([id, account]) => there.get(id) === account);
}
