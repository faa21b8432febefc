/**
 * Messages from phones, in SQLite. A part is kept in the transaction that takes it in; with the last part of a long message, or when
 * the others have been waited for long enough, its parts become a message:
 *
 *   part ──alone──────────────────────────────────▶ message ──▶ opt-out list, push batch or inbox
 *     └──one of several──▶ set ──whole, or late──────▲
 *                           └──then remembered for a while, and forgotten
 *
 * A network sends a part again when our answer was lost, and some phones give all their messages one reference. So a part that a
 * finished set has, to the letter, starts an *echo*: a set that comes to nothing unless a part joins it that is new.
 */
import type { IncomingPart } from "../../carriers/port.ts";
import { type Concatenation, joinTexts, type NumberRule, placeOf, readKeyword } from "../../message/incoming.ts";
import type { IncomingFacts } from "../../message/message.ts";
import type { IdSource } from "../../runtime/ids.ts";
import type { CommandHandlers, UnmatchedIncoming } from "../port.ts";
import type { Db } from "./database.ts";
import type { Unit } from "./unit.ts";

/** Of the sets with one name, how many are looked at: phones that number all their messages alike must not slow down the rest. */
const NEWEST_SETS = 8;
/** How far the messages that wait to be fetched are counted. */
const MOST_COUNTED = 10_000;

interface SetRow {
  readonly id: number;
  readonly carrierId: string;
  readonly from: string;
  readonly to: string;
  readonly state: "echo" | "open" | "done";
}

/** Whatever there is of a message, ready to become one. */
interface Gathered {
  readonly carrierId: string;
  readonly from: string;
  readonly to: string;
  readonly texts: readonly string[];
  readonly receivedAtMs: number;
}

export interface IncomingParts {
  readonly db: Db;
  readonly ids: IdSource;
  readonly unit: () => Unit;
}

type IncomingCommand = "incoming" | "sweepIncoming" | "fetchIncoming" | "confirmIncoming" | "unmatchedIncoming";

export function incomingCommands({ db, ids, unit }: IncomingParts): Pick<CommandHandlers, IncomingCommand> {
  const setColumns = `id, carrier_id AS carrierId, sender AS "from", recipient AS "to", state`;
  const setsNamed = db.prepare<[string, string, string, number, number, number], SetRow>(
    `SELECT ${setColumns} FROM incoming_set
     WHERE carrier_id = ? AND sender = ? AND recipient = ? AND reference = ? AND total = ? ORDER BY id DESC LIMIT ?`,
  );
  const insertSet = db.prepare<[string, string, string, number, number, string, number]>(
    `INSERT INTO incoming_set (carrier_id, sender, recipient, reference, total, state, touched_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const touchSet = db.prepare<[string, number, number]>(
    "UPDATE incoming_set SET state = ?, touched_at_ms = ? WHERE id = ?",
  );
  const setsBefore = db.prepare<[number, number], SetRow>(
    `SELECT ${setColumns} FROM incoming_set WHERE touched_at_ms <= ? ORDER BY touched_at_ms, id LIMIT ?`,
  );
  const forgetSet = db.prepare<[number]>("DELETE FROM incoming_set WHERE id = ?");
  const partAt = db.prepare<[number, number], { body: string }>(
    "SELECT body FROM incoming_part WHERE set_id = ? AND sequence = ?",
  );
  const partsOf = db.prepare<[number], { body: string; atMs: number }>(
    "SELECT body, at_ms AS atMs FROM incoming_part WHERE set_id = ? ORDER BY sequence",
  );
  const countParts = db.prepare<[number], { count: number }>(
    "SELECT count(*) AS count FROM incoming_part WHERE set_id = ?",
  );
  const insertPart = db.prepare<[number, number, string, number]>(
    "INSERT INTO incoming_part (set_id, sequence, body, at_ms) VALUES (?, ?, ?, ?)",
  );
  const ruleOf = db.prepare<[string], { body: string }>(
    "SELECT body FROM catalogue_item WHERE kind = 'number' AND id = ?",
  );
  const accountNamed = db.prepare<[string], { id: number; currency: string }>(
    "SELECT id, currency FROM account WHERE key = ?",
  );
  const insertMessage = db.prepare(
    `INSERT INTO incoming_message (key, carrier_id, account_id, sender, recipient, body, keyword, part_count, received_at_ms, to_fetch)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const optOut = db.prepare<[number, string, number]>(
    "INSERT OR IGNORE INTO opt_out (account_id, number, at_ms) VALUES (?, ?, ?)",
  );
  const optIn = db.prepare<[number, string]>("DELETE FROM opt_out WHERE account_id = ? AND number = ?");
  const factColumns = `CAST(message.key AS TEXT) AS messageId, message.sender AS "from", message.recipient AS "to", message.body AS text,
    message.keyword, message.received_at_ms AS receivedAtMs, message.part_count AS smsCount`;
  const toFetch = db.prepare<[number, number, number], IncomingFacts>(
    `SELECT ${factColumns}, account.currency FROM incoming_message AS message JOIN account ON account.id = message.account_id
     WHERE message.account_id = ? AND message.to_fetch = 1 AND message.fetch_after_ms <= ? ORDER BY message.key LIMIT ?`,
  );
  const handOut = db.prepare<[number, bigint]>("UPDATE incoming_message SET fetch_after_ms = ? WHERE key = ?");
  const fetched = db.prepare<[bigint]>("UPDATE incoming_message SET to_fetch = 0 WHERE key = ?");
  const countToFetch = db.prepare<[number, number, number], { count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM incoming_message WHERE account_id = ? AND to_fetch = 1 AND fetch_after_ms <= ? LIMIT ?)`,
  );
  const newestUnmatched = db.prepare<[number], UnmatchedIncoming>(
    `SELECT message.carrier_id AS carrierId, ${factColumns} FROM incoming_message AS message
     WHERE message.account_id IS NULL ORDER BY message.key DESC LIMIT ?`,
  );
  const countUnmatched = db.prepare<[], { count: number }>(
    "SELECT count(*) AS count FROM incoming_message WHERE account_id IS NULL",
  );

  /** Keeps one part of several, and gives the message if it is whole with it. */
  function keepPart(carrierId: string, part: IncomingPart, place: Concatenation, nowMs: number): Gathered | null {
    const { from, to } = part;
    const { reference, total, sequence } = place;
    const body = JSON.stringify(part.text);
    const sets = setsNamed
      .all(carrierId, from, to, reference, total, NEWEST_SETS)
      .reverse()
      .map((set) => ({ ...set, here: partAt.get(set.id, sequence)?.body }));
    if (sets.some((set) => set.state !== "done" && set.here === body)) return null;
    const again = sets.some((set) => set.here === body);
    // Another text at the same place is of another message, so a part goes where its place is free: the oldest first.
    const lacking = (state: SetRow["state"]) => sets.find((set) => set.state === state && set.here === undefined);
    const home = lacking("open") ?? lacking("echo");
    const state = again && home?.state !== "open" ? "echo" : "open";
    const id = home?.id ?? Number(insertSet.run(carrierId, from, to, reference, total, state, nowMs).lastInsertRowid);
    touchSet.run(state, nowMs, id);
    insertPart.run(id, sequence, body, part.atMs);
    if (countParts.get(id)!.count < total) return null;
    return finishSet({ id, carrierId, from, to, state }, nowMs);
  }

  /** What there is of a set, to be a message; null for an echo, which is forgotten. */
  function finishSet({ id, carrierId, from, to, state }: SetRow, nowMs: number): Gathered | null {
    if (state === "echo") {
      forgetSet.run(id);
      return null;
    }
    touchSet.run("done", nowMs, id);
    const parts = partsOf.all(id);
    return {
      carrierId,
      from,
      to,
      texts: parts.map(({ body }) => JSON.parse(body) as string),
      receivedAtMs: Math.max(...parts.map(({ atMs }) => atMs)),
    };
  }

  /** Makes the message, does what its keyword asks for, and hands it on. Returns how many messages are nobody's: one or none. */
  function deliver(gathered: Gathered | null): number {
    if (gathered === null) return 0;
    const { carrierId, from, to, texts, receivedAtMs } = gathered;
    const row = ruleOf.get(to);
    const rule = row === undefined ? null : (JSON.parse(row.body) as NumberRule);
    const account = rule === null ? undefined : accountNamed.get(rule.account);
    const text = joinTexts(texts);
    const { keyword, wish } = rule === null ? { keyword: null, wish: null } : readKeyword(text, rule);
    const key = ids.take(1);
    const waits = account !== undefined && rule?.forwardUrl === undefined;
    insertMessage.run(
      BigInt(key),
      carrierId,
      account?.id ?? null,
      from,
      to,
      text,
      keyword,
      texts.length,
      receivedAtMs,
      waits ? 1 : 0,
    );
    if (account === undefined) return 1;
    if (wish === "stop") optOut.run(account.id, from, receivedAtMs);
    if (wish === "start") optIn.run(account.id, from);
    if (rule?.forwardUrl !== undefined) {
      const { forwardUrl: url, contentType = "application/json" } = rule;
      const facts = { messageId: key, from, to, text, keyword, receivedAtMs, smsCount: texts.length };
      unit().forward({ accountId: account.id, url, contentType }, { ...facts, currency: account.currency });
    }
    return 0;
  }

  return {
    incoming({ carrierId, parts, nowMs }) {
      let unmatched = 0;
      for (const part of parts) {
        const { from, to, text, atMs: receivedAtMs } = part;
        const place = placeOf(part.concatenation);
        unmatched += deliver(
          place === null
            ? { carrierId, from, to, texts: [text], receivedAtMs }
            : keepPart(carrierId, part, place, nowMs),
        );
      }
      return { unmatched };
    },

    sweepIncoming({ nowMs, waitMs, limit }) {
      let unmatched = 0;
      const sets = setsBefore.all(nowMs - waitMs, limit);
      for (const set of sets) {
        if (set.state === "done") forgetSet.run(set.id);
        else unmatched += deliver(finishSet(set, nowMs));
      }
      return { unmatched, more: sets.length === limit };
    },

    fetchIncoming({ accountId, limit, nowMs, againAtMs }) {
      const messages = toFetch.all(accountId, nowMs, limit);
      for (const { messageId } of messages) handOut.run(againAtMs, BigInt(messageId));
      const pending = messages.length < limit ? 0 : countToFetch.get(accountId, nowMs, MOST_COUNTED)!.count;
      return { messages, pending };
    },

    confirmIncoming({ keys }) {
      for (const key of keys) fetched.run(BigInt(key));
    },

    unmatchedIncoming: ({ limit }) => ({ count: countUnmatched.get()!.count, messages: newestUnmatched.all(limit) }),
  };
}
