/**
 * Messages from phones. A part is kept in the transaction that takes it in; with the last part of a long message, or when
 * the others have been waited for long enough, its parts become a message:
 *
 *   part ──alone──────────────────────────────────▶ message ──▶ opt-out list, push batch or inbox
 *     └──one of several──▶ set ──whole, or late──────▲
 *                           └──then remembered for a while, and forgotten
 *
 * A network sends a part again when our answer was lost, and some phones give all their messages one reference. So a part that a
 * finished set has, to the letter, starts an *echo*: a set that comes to nothing unless a part joins it that is new. And a part whose
 * place in a set has another text begins a set of its own.
 */

import { carriedOf } from "../message/fields.ts";
import type { IncomingPart } from "../message/incoming.ts";
import {
  joinParts,
  type KeywordFound,
  type NumberRule,
  type PartContent,
  type PlacedPart,
  placeOf,
  readKeyword,
} from "../message/incoming.ts";
import type { IncomingFacts } from "../message/message.ts";
import { type Subscription, subscriptionFor } from "../message/subscription.ts";
import { boundedText } from "../runtime/text.ts";
import type { OctetEncoding } from "../sms/body.ts";
import type { Concatenation } from "../sms/header.ts";
import { counting, selecting } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { ListedIncoming, UnmatchedIncoming } from "../store/port/incoming.ts";
import { LAST_KEY, parseEncoding, serializeEncoding } from "../store/rows.ts";
import { ACCOUNT, type AccountRow } from "../store/schema/account.ts";
import type { Value } from "../store/sql.ts";
import type { ReportTarget } from "../store/unit.ts";
import { commands } from "./entry.ts";
import type { LiveNews } from "./live-news.ts";
import { optOutStatements } from "./opt-outs.ts";
import { PLATFORM_FILTER, platformValues } from "./platform-filter.ts";

/** Of the sets with one name, how many are looked at: phones that number all their messages alike must not slow down the rest. */
const NEWEST_SETS = 8;
/** The parts of a message come within seconds: where several sets lack a part, one that has waited so long has lost it. */
const STALE_SET_MS = 30_000;
/** A provider that does not hear our answer tells a message again for up to two days: so long its id is known, and some hours more. */
export const INCOMING_ID_MS = 72 * 3_600_000;
/** How far the messages that wait to be fetched are counted. */
const MAX_COUNTED = 10_000;

interface SetRow {
  readonly id: number;
  readonly carrierId: string;
  readonly from: string;
  readonly to: string;
  readonly state: "echo" | "open" | "done";
  /** When its newest part came, or when it was done. */
  readonly touchedAtMs: number;
}

/** Whatever there is of a message, ready to become one. */
interface Gathered {
  readonly carrierId: string;
  readonly from: string;
  readonly to: string;
  readonly parts: readonly PlacedPart[];
  readonly receivedAtMs: number;
}

/** A message as its row has it: the encoding is null for a text. */
type FactsRow<Facts> = Omit<Facts, "binary"> & { readonly encoding: string | null };

function factsOf<Facts>({ encoding, ...facts }: FactsRow<Facts>): Facts {
  return (encoding === null ? facts : { ...facts, binary: parseEncoding(encoding) as OctetEncoding }) as Facts;
}

/** Octets have no first word. */
const NO_KEYWORD: KeywordFound = { keyword: null, wish: null };

export function incomingCommands({ sql, tables, ids, unit }: CommandParts, news: LiveNews) {
  const { dialect } = sql;
  const setColumns = `id, carrier_id AS "carrierId", sender AS "from", recipient AS "to", state, touched_at_ms AS "touchedAtMs"`;
  const setsNamed = sql.prepare<[string, string, string, number, number, number], SetRow>(
    `SELECT ${setColumns} FROM incoming_set
     WHERE carrier_id = ? AND sender = ? AND recipient = ? AND reference = ? AND total = ? ORDER BY id DESC LIMIT ?
     ${dialect.lock()}`,
  );
  const insertSet = sql.prepare<[string, string, string, number, number, string, number], { id: number }>(
    `INSERT INTO incoming_set (carrier_id, sender, recipient, reference, total, state, touched_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  const touchSet = sql.prepare<[string, number, number]>(
    "UPDATE incoming_set SET state = ?, touched_at_ms = ? WHERE id = ?",
  );
  const setsBefore = sql.prepare<[number, number], SetRow>(
    `SELECT ${setColumns} FROM incoming_set WHERE touched_at_ms <= ? ORDER BY touched_at_ms, id LIMIT ? ${dialect.lockFree()}`,
  );
  const anySet = sql.prepare<[], { id: number }>("SELECT id FROM incoming_set LIMIT 1");
  const forgetSet = sql.prepare<[number]>("DELETE FROM incoming_set WHERE id = ?");
  const partAt = sql.prepare<[number, number], { body: string }>(
    "SELECT body FROM incoming_part WHERE set_id = ? AND sequence = ?",
  );
  const partsOf = sql.prepare<[number], { sequence: number; body: string; atMs: number }>(
    'SELECT sequence, body, at_ms AS "atMs" FROM incoming_part WHERE set_id = ? ORDER BY sequence',
  );
  const countParts = counting<[number]>(sql, "incoming_part WHERE set_id = ?");
  const insertPart = sql.prepare<[number, number, string, number]>(
    "INSERT INTO incoming_part (set_id, sequence, body, at_ms) VALUES (?, ?, ?, ?)",
  );
  const ruleOf = sql.prepare<[string], { body: string }>(
    "SELECT body FROM catalogue_item WHERE kind = 'number' AND id = ?",
  );
  const accountNamed = selecting(sql, ACCOUNT, ["id", "currency", "subscriptions"], ["key"]);
  const insertMessage = sql.prepare<Value[]>(
    `INSERT INTO incoming_message (key, carrier_id, account_id, sender, recipient, body, keyword, part_count, received_at_ms, to_fetch, encoding,
       forward_url, wish, callback_data, entity_id, application_id, campaign_reference_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const optOuts = optOutStatements(sql);
  const factColumns = `CAST(message.key AS TEXT) AS "messageId", message.sender AS "from", message.recipient AS "to", message.body AS text,
    message.keyword, message.received_at_ms AS "receivedAtMs", message.part_count AS "smsCount", message.encoding,
    callback_data AS "callbackData", entity_id AS "entityId", application_id AS "applicationId", campaign_reference_id AS "campaignReferenceId"`;
  const fetchWith = (more: string) =>
    sql.prepare<Value[], FactsRow<IncomingFacts>>(
      `SELECT ${factColumns}, account.currency FROM incoming_message AS message JOIN account ON account.id = message.account_id
       WHERE message.account_id = ? AND message.to_fetch = 1 AND message.fetch_after_ms <= ? ${more} ORDER BY message.key LIMIT ?
       ${dialect.lockFree("message")}`,
    );
  const toFetch = fetchWith("");
  // Of those that have waited longest: a filter may match none of a million.
  const toFetchOf = fetchWith(`AND message.key < coalesce((SELECT key FROM incoming_message
     WHERE account_id = ? AND to_fetch = 1 AND fetch_after_ms <= ? ORDER BY key LIMIT 1 OFFSET ${MAX_COUNTED}), ?) ${PLATFORM_FILTER}`);
  const handOut = sql.prepare<[number, bigint]>("UPDATE incoming_message SET fetch_after_ms = ? WHERE key = ?");
  const fetched = sql.prepare<[bigint]>("UPDATE incoming_message SET to_fetch = 0 WHERE key = ?");
  const countToFetch = counting<[number, number, number]>(
    sql,
    "(SELECT 1 FROM incoming_message WHERE account_id = ? AND to_fetch = 1 AND fetch_after_ms <= ? LIMIT ?) AS waiting",
  );
  const listed = sql.prepare<[number, bigint, number], FactsRow<ListedIncoming>>(
    `SELECT ${factColumns}, message.wish, message.forward_url AS "forwardUrl",
       CASE WHEN message.forward_url IS NOT NULL THEN 'forwarded' WHEN message.to_fetch = 1 THEN 'waiting' ELSE 'fetched' END AS state
     FROM incoming_message AS message ${dialect.along("incoming_of_account")}
     WHERE message.account_id = ? AND message.key < ? ORDER BY message.key DESC LIMIT ?`,
  );
  const newestUnmatched = sql.prepare<[number], FactsRow<UnmatchedIncoming>>(
    `SELECT message.carrier_id AS "carrierId", ${factColumns} FROM incoming_message AS message
     WHERE message.account_id IS NULL ORDER BY message.key DESC LIMIT ?`,
  );
  const countUnmatched = counting<[]>(sql, "incoming_message WHERE account_id IS NULL");

  const noteId = sql.prepare<[string, string, number], { id: string }>(
    "INSERT INTO incoming_id (carrier_id, id, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
  );
  // Two parts of one message, or one message twice, may come to two nodes at once: of a carrier's, one node after the other.
  const carrierTurn = sql.prepare<[string], unknown>(
    `SELECT 1 FROM catalogue_item WHERE kind = 'carrier' AND id = ? ${dialect.lock()}`,
  );

  /** Whether the carrier has told it before, by its id. Some give all parts of a message the same. */
  async function isTold(carrierId: string, { carrierMessageId, concatenation }: IncomingPart, nowMs: number) {
    if (carrierMessageId === undefined) return false;
    const id = concatenation === null ? carrierMessageId : `${carrierMessageId} ${concatenation.sequence}`;
    return (await noteId.get(carrierId, id, nowMs)) === undefined;
  }

  /** Keeps one part of several, and gives the message if it is whole with it. */
  async function keepPart(
    carrierId: string,
    part: IncomingPart,
    place: Concatenation,
    nowMs: number,
  ): Promise<Gathered | null> {
    const { from, to } = part;
    const { reference, total, sequence } = place;
    const body = JSON.stringify(contentOf(part));
    // Rows of before parts were kept as octets have the text.
    const isSame = (stored: string | undefined) => stored === body || stored === JSON.stringify(part.text);
    const named = await setsNamed.all(carrierId, from, to, reference, total, NEWEST_SETS);
    const here = await Promise.all(named.map((set) => partAt.get(set.id, sequence)));
    const sets = named.map((set, index) => ({ ...set, here: here[index]?.body })).reverse();
    if (sets.some((set) => set.state !== "done" && isSame(set.here))) return null;
    const again = sets.some((set) => isSame(set.here));
    // Another text at the same place is of another message, so a part goes where its place is free: the oldest first, of those not stale.
    const lacking = (state: SetRow["state"]) => sets.filter((set) => set.state === state && set.here === undefined);
    const free = [...lacking("open"), ...lacking("echo")];
    const fresh = free.find(({ touchedAtMs }) => nowMs - touchedAtMs < STALE_SET_MS);
    // Into a stale one goes only what is new: a part that a finished set has is sent again for that one.
    const home = fresh ?? (again ? undefined : free[0]);
    const state = again && home?.state !== "open" ? "echo" : "open";
    const id = home?.id ?? (await insertSet.get(carrierId, from, to, reference, total, state, nowMs))!.id;
    await touchSet.run(state, nowMs, id);
    await insertPart.run(id, sequence, body, part.atMs);
    if ((await countParts(id)) < total) return null;
    return finishSet({ id, carrierId, from, to, state }, nowMs);
  }

  /** What there is of a set, to be a message; null for an echo, which is forgotten. */
  async function finishSet(set: Omit<SetRow, "touchedAtMs">, nowMs: number): Promise<Gathered | null> {
    const { id, carrierId, from, to, state } = set;
    if (state === "echo") {
      await forgetSet.run(id);
      return null;
    }
    await touchSet.run("done", nowMs, id);
    const parts = await partsOf.all(id);
    return {
      carrierId,
      from,
      to,
      parts: parts.map(({ sequence, body }) => ({ sequence, content: JSON.parse(body) as PartContent })),
      receivedAtMs: Math.max(...parts.map(({ atMs }) => atMs)),
    };
  }

  /** Makes the message, does what its keyword asks for, and hands it on. Returns how many messages are nobody's: one or none. */
  async function deliver(gathered: Gathered | null): Promise<number> {
    if (gathered === null) return 0;
    const { carrierId, from, to, parts, receivedAtMs } = gathered;
    const row = await ruleOf.get(to);
    const rule = row === undefined ? null : (JSON.parse(row.body) as NumberRule);
    const account = rule === null ? undefined : await accountNamed.get(rule.account);
    const joined = joinParts(parts);
    const { binary } = joined;
    const text = boundedText(joined.text);
    const { keyword, wish } = rule === null || binary !== null ? NO_KEYWORD : readKeyword(text, rule);
    const target =
      rule === null || account === undefined ? null : targetOf(rule, account, binary === null ? text : null);
    const key = ids.take(1);
    await tables.load({ newKeys: [key] });
    const waits = account !== undefined && target === null;
    const carried = carriedOf(account === undefined ? {} : (rule ?? {}));
    await insertMessage.run(
      BigInt(key),
      carrierId,
      account?.id ?? null,
      from,
      to,
      text,
      keyword,
      parts.length,
      receivedAtMs,
      waits ? 1 : 0,
      binary === null ? null : serializeEncoding(binary),
      target?.url ?? null,
      account === undefined ? null : wish,
      ...[carried.callbackData, carried.entityId, carried.applicationId, carried.campaignReferenceId],
    );
    if (account === undefined) return 1;
    if (news.isOn) news.incoming(account.id, { messageId: key, from, to, text });
    if (wish === "stop") await optOuts.add.run(account.id, from, receivedAtMs);
    if (wish === "start") await optOuts.remove.run(account.id, from);
    if (target !== null) {
      const { callbackData } = target;
      const { currency } = account;
      const facts = { messageId: key, from, to, text, keyword, receivedAtMs, smsCount: parts.length, currency };
      unit().tell("incoming", target, {
        ...facts,
        ...carried,
        ...(binary === null ? {} : { binary }),
        ...(callbackData === null ? {} : { callbackData }),
      });
    }
    return 0;
  }

  return commands({
    async incoming({ carrierId, parts, nowMs }) {
      let unmatched = 0;
      const isTurn = parts.some((part) => part.concatenation !== null || part.carrierMessageId !== undefined);
      if (isTurn) await carrierTurn.get(carrierId);
      for (const part of parts) {
        if (await isTold(carrierId, part, nowMs)) continue;
        const { from, to, atMs: receivedAtMs } = part;
        const place = placeOf(part.concatenation);
        unmatched += await deliver(
          place === null
            ? { carrierId, from, to, parts: [{ sequence: 1, content: contentOf(part) }], receivedAtMs }
            : await keepPart(carrierId, part, place, nowMs),
        );
      }
      return { unmatched };
    },

    async sweepIncoming({ nowMs, waitMs, limit }) {
      let unmatched = 0;
      const sets = await setsBefore.all(nowMs - waitMs, limit);
      for (const set of sets) {
        if (set.state === "done") await forgetSet.run(set.id);
        else unmatched += await deliver(await finishSet(set, nowMs));
      }
      const more = sets.length === limit;
      return { unmatched, more, waits: more || (await anySet.get()) !== undefined };
    },

    async fetchIncoming({ accountId, limit, nowMs, againAtMs, platform }) {
      const waiting = [accountId, nowMs];
      const messages = await (platform == null
        ? toFetch.all(...waiting, limit)
        : toFetchOf.all(...waiting, ...waiting, LAST_KEY, ...platformValues(platform), limit));
      await Promise.all(messages.map(({ messageId }) => handOut.run(againAtMs, BigInt(messageId))));
      const pending = messages.length < limit ? 0 : await countToFetch(accountId, nowMs, MAX_COUNTED);
      return { messages: messages.map(factsOf), pending };
    },

    async confirmIncoming({ keys }) {
      await Promise.all(keys.map((key) => fetched.run(BigInt(key))));
    },

    listedIncoming: async ({ accountId, beforeKey, limit }) =>
      (await listed.all(accountId, beforeKey === null ? LAST_KEY : BigInt(beforeKey), limit)).map(factsOf),

    unmatchedIncoming: async ({ limit }) => ({
      count: await countUnmatched(),
      messages: (await newestUnmatched.all(limit)).map(factsOf),
    }),
  });
}

/** Where a message goes: to a subscription of the account's own, else where the operator says, and never to both. Null where it waits to be fetched. */
function targetOf(
  { number, forwardUrl, contentType = "application/json" }: NumberRule,
  { id: accountId, subscriptions }: Pick<AccountRow, "id" | "subscriptions">,
  text: string | null,
): (ReportTarget & Pick<Subscription, "callbackData">) | null {
  const own =
    subscriptions === null ? null : subscriptionFor(subscriptions.items, "inbound", { address: number, text });
  if (own !== null) {
    const { notifyUrl: url, format, callbackData } = own;
    return { accountId, url, form: format === "XML" ? "oneapi xml" : "oneapi", callbackData };
  }
  return forwardUrl === undefined ? null : { accountId, url: forwardUrl, form: contentType, callbackData: null };
}

function contentOf({ text, octets }: IncomingPart): PartContent {
  return octets ?? text;
}
