/** The lists of numbers that want no messages: the service's own, and one of each account. */
import { selecting } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { MAX_OPT_OUT_NUMBERS } from "../store/port/opt-outs.ts";
import { ACCOUNT } from "../store/schema/account.ts";
import type { Sql } from "../store/sql.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";

/** The service's own list, in place of an account's id. */
const SERVICE_LIST = 0;

/** E.164: the longest number. */
const MAX_DIGITS = 15;

/** The lists on which a number may have opted out of an account's messages: the service's and its own. */
export function optOutLists(accountId: number): number[] {
  return [SERVICE_LIST, accountId];
}

/** Puts a number on a list and takes it off; both say whether that changed anything. */
export function optOutStatements(sql: Sql) {
  return {
    add: sql.prepare<[number, string, number]>(
      "INSERT INTO opt_out (account_id, number, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    remove: sql.prepare<[number, string]>("DELETE FROM opt_out WHERE account_id = ? AND number = ?"),
  };
}

export function optOutCommands(parts: CommandParts) {
  const { sql } = parts;
  const { note } = auditWriter(parts);
  const { add, remove } = optOutStatements(sql);
  const byKey = selecting(sql, ACCOUNT, ["id", "parentId"], ["key"]);
  const optedOut = sql.prepare<[number, string, number], { number: string; atMs: number }>(
    `SELECT number, at_ms AS "atMs" FROM opt_out WHERE account_id = ? AND number > ? ORDER BY number LIMIT ?`,
  );

  const among = sql.prepare<[number, number, ...string[]], { number: string; listId: number }>(
    `SELECT number, account_id AS "listId" FROM opt_out
     WHERE account_id IN (?, ?) AND number IN (${Array(MAX_OPT_OUT_NUMBERS).fill("?").join(", ")})
     ORDER BY number, account_id`,
  );
  const beginning = sql.prepare<[number, string, string, string, number], { number: string; atMs: number }>(
    `SELECT number, at_ms AS "atMs" FROM opt_out WHERE account_id = ? AND number > ? AND number >= ? AND number <= ? ORDER BY number LIMIT ?`,
  );

  /** A list: whose it is, and the reseller who may hear of it; undefined for an account that does not exist. */
  const listOf = async (accountKey: string | null) =>
    accountKey === null ? { id: SERVICE_LIST, parentId: null } : byKey.get(accountKey);

  const about = (accountKey: string | null, number: string, resellerId: number | null) => ({
    kind: "optOut" as const,
    subject: `${accountKey ?? "service"} ${number}`,
    resellerId,
  });

  return commands({
    async optOut({ accountKey, number, by, atMs }) {
      const list = await listOf(accountKey);
      if (list === undefined) return "unknown account";
      const entry = { by, atMs, ...about(accountKey, number, list.parentId) };
      if ((await add.run(list.id, number, atMs)) > 0) await note({ ...entry, action: "create", after: { number } });
      return "added";
    },

    async optIn({ accountKey, number, by, atMs = 0 }) {
      const list = await listOf(accountKey);
      if (list === undefined) return "unknown account";
      const entry = { by, atMs, ...about(accountKey, number, list.parentId) };
      if ((await remove.run(list.id, number)) > 0) await note({ ...entry, action: "delete", before: { number } });
      return "removed";
    },

    async optedOut({ accountId, numbers }) {
      if (numbers.length > MAX_OPT_OUT_NUMBERS)
        throw new RangeError(`${numbers.length} numbers, at most ${MAX_OPT_OUT_NUMBERS}`);
      const [serviceList, ownList] = optOutLists(accountId) as [number, number];
      const wanted = Array.from({ length: MAX_OPT_OUT_NUMBERS }, (_, index) => numbers[index] ?? "");
      const rows = await among.all(serviceList, ownList, ...wanted);
      return rows.map(({ number, listId }) => ({ number, list: listId === serviceList ? "service" : "account" }));
    },

    async optOuts({ accountKey, after, prefix, limit }) {
      const list = await listOf(accountKey);
      if (list === undefined) return "unknown account";
      if (prefix === undefined) return optedOut.all(list.id, after, limit);
      // Both engines put digits in the same order, whatever else they think of texts.
      return beginning.all(list.id, after, prefix, prefix.padEnd(MAX_DIGITS, "9"), limit);
    },
  });
}
