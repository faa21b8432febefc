/**
 * Short links: they are written in the transaction that accepts their messages, so that no message goes out with a dead link and no link is there for a
 * message that was rejected. Clicks on them are counted, and the first ones told to the client.
 */
import { type Click, CODE_LENGTH, type LinkInText, MAX_TOLD_CLICKS, type NewLinks } from "../message/links.ts";
import type { Content } from "../message/message.ts";
import { firstIdAt } from "../runtime/ids.ts";
import { randomCodes } from "../runtime/random.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { Awaitable } from "../store/sql.ts";
import { commands } from "./entry.ts";

type NewLinkRow = readonly [code: string, messageKey: string, number: number, target: string];

/** The links of one request, as its messages are accepted. */
export function linkWriter({ sql }: Pick<CommandParts, "sql">) {
  const insert = sql.prepare<[number, string | null, string]>(
    `INSERT INTO link (code, message_key, number, account_id, target, tracking_url)
     SELECT item.value ->> 0, CAST(item.value ->> 1 AS BIGINT), CAST(item.value ->> 2 AS INTEGER),
       CAST(? AS BIGINT), item.value ->> 3, CAST(? AS TEXT)
     FROM ${sql.dialect.items}`,
  );
  return (accountId: number, { contents, trackingUrl }: NewLinks) => {
    const rows: NewLinkRow[] = [];
    const pieces = new Map<number, readonly string[]>();
    return {
      /** The text of one message, with links of its own. */
      textOf(contentNumber: number, content: Content, key: string): string {
        const links = contents.get(contentNumber);
        if (links === undefined) return content.text;
        const around = pieces.get(contentNumber) ?? piecesAround(content.text, links);
        pieces.set(contentNumber, around);
        const codes = randomCodes(links.length, CODE_LENGTH);
        links.forEach(({ target }, number) => {
          rows.push([codes[number]!, key, number, target]);
        });
        return around.map((piece, number) => piece + (codes[number] ?? "")).join("");
      },
      /** Writes the links of all texts that were made. */
      write: (): Awaitable<unknown> =>
        rows.length === 0 ? null : insert.run(accountId, trackingUrl, JSON.stringify(rows)),
    };
  };
}

/** What stands before, between and behind the codes of a text. */
function piecesAround(text: string, links: readonly LinkInText[]): string[] {
  let from = 0;
  const pieces = links.map(({ code }) => {
    const at = text.indexOf(code, from);
    if (at < 0) throw new RangeError("a text lacks the place of a link");
    const piece = text.slice(from, at);
    from = at + code.length;
    return piece;
  });
  return [...pieces, text.slice(from)];
}

interface ClickedRow {
  readonly code: string;
  readonly messageKey: string;
  readonly accountId: number;
  readonly target: string;
  readonly trackingUrl: string | null;
  readonly clicks: number;
}

export function linkCommands({ sql, tables, unit }: CommandParts) {
  const { items } = sql.dialect;
  const targetOf = sql.prepare<[string], { target: string }>("SELECT target FROM link WHERE code = ?");
  const count = sql.prepare<[string], ClickedRow>(
    `UPDATE link SET clicks = clicks + found.count, first_click_at_ms = coalesce(first_click_at_ms, found.first_at), last_click_at_ms = found.last_at
     FROM (SELECT item.value ->> 0 AS code, CAST(item.value ->> 1 AS BIGINT) AS count, CAST(item.value ->> 2 AS BIGINT) AS first_at,
       CAST(item.value ->> 3 AS BIGINT) AS last_at FROM ${items}) AS found
     WHERE link.code = found.code
     RETURNING link.code, CAST(message_key AS TEXT) AS "messageKey", account_id AS "accountId", target,
       tracking_url AS "trackingUrl", clicks`,
  );
  const page = sql.prepare<[bigint, bigint, number], { last: string | null; found: number }>(
    `SELECT CAST(max(message_key) AS TEXT) AS last, count(*) AS found
     FROM (SELECT message_key FROM link WHERE message_key > ? AND message_key < ? ORDER BY message_key LIMIT ?) AS looked`,
  );
  const drop = sql.prepare<[bigint, bigint]>(
    `DELETE FROM link WHERE message_key > ? AND message_key <= ?
       AND NOT EXISTS (SELECT 1 FROM message WHERE message.key = link.message_key)`,
  );

  return commands({
    link: async ({ code }) => (await targetOf.get(code)) ?? null,

    async clicked({ clicks }) {
      const byCode = Map.groupBy(clicks, ({ code }) => code);
      // In one order on all nodes, so that two of them do not wait for each other.
      const counts = [...byCode].sort(([first], [second]) => (first < second ? -1 : 1)).map(countsOf);
      const rows = await count.all(JSON.stringify(counts));
      const told = rows.flatMap(({ trackingUrl, ...row }) => {
        const own = byCode.get(row.code)!;
        const left = Math.max(0, MAX_TOLD_CLICKS - (row.clicks - own.length));
        return trackingUrl === null ? [] : own.slice(0, left).map((click) => ({ ...row, trackingUrl, click }));
      });
      const placeOf = new Map(clicks.map((click, index) => [click, index]));
      told.sort((first, second) => placeOf.get(first.click)! - placeOf.get(second.click)!);
      await tables.load({ messages: [...new Set(told.map(({ messageKey }) => messageKey))] });
      for (const { messageKey, accountId, trackingUrl, target, click } of told) {
        const row = tables.messages.get(messageKey);
        if (row === undefined) continue;
        const { code: _, ...opened } = click;
        const { callbackData, entityId, applicationId } = row;
        const message = { messageId: row.client_message_id ?? row.key, bulkId: row.bulk_id, to: row.recipient };
        const facts = { ...message, url: target, ...opened, callbackData, entityId, applicationId };
        unit().tell("click", { accountId, url: trackingUrl, form: "application/json" }, facts);
      }
    },

    async purgeLinks({ beforeMs, after, limit }) {
      const { last, found } = (await page.get(BigInt(after), firstIdAt(beforeMs), limit))!;
      if (last === null) return { next: null };
      await drop.run(BigInt(after), BigInt(last));
      return { next: found < limit ? null : last };
    },
  });
}

function countsOf([code, clicks]: [string, readonly Click[]]): readonly [string, number, number, number] {
  return [code, clicks.length, clicks[0]!.atMs, clicks.at(-1)!.atMs];
}
