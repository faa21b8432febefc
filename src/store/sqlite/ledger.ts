/** Money in SQLite: purses, postings between them, and the check that they agree. */
import { exchange, LARGEST_AMOUNT } from "../../ledger/money.ts";
import type { Balance, Funding, FundingOutcome, LedgerFault } from "../port.ts";
import type { Db } from "./database.ts";
import type { Replays } from "./replays.ts";

interface PurseRow {
  id: number;
  balance: string;
  creditLimit: string;
  currency: string;
}

export interface Purse {
  readonly id: number;
  readonly currency: string;
  readonly balanceMicros: bigint;
  readonly creditLimitMicros: bigint;
}

export interface NewPosting {
  readonly atMs: number;
  readonly kind: "charge" | "refund" | "funds";
  readonly from: number;
  readonly to: number;
  readonly amountMicros: bigint;
  readonly messageKey?: string;
  readonly partCount?: number;
  readonly description?: string;
  readonly actorId?: number;
}

export class Ledger {
  readonly #db: Db;
  readonly #purseOfAccount;
  readonly #purseOfService;
  readonly #openPurse;
  readonly #insertPosting;
  readonly #move;

  constructor(db: Db) {
    this.#db = db;
    this.#purseOfAccount = db.prepare<[number], PurseRow>(
      `SELECT purse.id, CAST(balance_micros AS TEXT) AS balance, CAST(credit_limit_micros AS TEXT) AS creditLimit, purse.currency
       FROM purse JOIN account ON account.id = purse.account_id WHERE purse.account_id = ?`,
    );
    this.#purseOfService = db.prepare<[string, string], { id: number }>(
      "SELECT id FROM purse WHERE account_id IS NULL AND name = ? AND currency = ?",
    );
    this.#openPurse = db.prepare<[number | null, string, string]>(
      "INSERT INTO purse (account_id, name, currency) VALUES (?, ?, ?)",
    );
    this.#insertPosting = db.prepare(
      `INSERT INTO posting (at_ms, kind, from_purse, to_purse, amount_micros, message_key, part_count, description, actor_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#move = db.prepare<[bigint, number]>("UPDATE purse SET balance_micros = balance_micros + ? WHERE id = ?");
  }

  openPurse(accountId: number, accountKey: string, currency: string): void {
    this.#openPurse.run(accountId, accountKey, currency);
  }

  purseOf(accountId: number): Purse {
    const row = this.#purseOfAccount.get(accountId);
    if (row === undefined) throw new Error(`account ${accountId} has no purse`);
    return {
      id: row.id,
      currency: row.currency,
      balanceMicros: BigInt(row.balance),
      creditLimitMicros: BigInt(row.creditLimit),
    };
  }

  servicePurse(name: "payments" | "revenue", currency: string): number {
    const row = this.#purseOfService.get(name, currency);
    return row?.id ?? Number(this.#openPurse.run(null, name, currency).lastInsertRowid);
  }

  /** Moves money. What may be moved is the caller's decision, inside the same transaction. */
  post(posting: NewPosting): number {
    const id = this.#insertPosting.run(
      posting.atMs,
      posting.kind,
      posting.from,
      posting.to,
      posting.amountMicros,
      posting.messageKey === undefined ? null : BigInt(posting.messageKey),
      posting.partCount ?? null,
      posting.description ?? null,
      posting.actorId ?? null,
    ).lastInsertRowid;
    this.#move.run(-posting.amountMicros, posting.from);
    this.#move.run(posting.amountMicros, posting.to);
    return Number(id);
  }

  /** Gives a message's charge back to its account. */
  refund(accountId: number, messageKey: string, amountMicros: bigint, partCount: number, atMs: number): void {
    if (amountMicros === 0n) return;
    const purse = this.purseOf(accountId);
    const from = this.servicePurse("revenue", purse.currency);
    this.post({ atMs, kind: "refund", from, to: purse.id, amountMicros, messageKey, partCount });
  }

  commands(replays: Replays) {
    const clientOf = this.#db.prepare<[string, number], { id: number; currency: string }>(
      "SELECT id, currency FROM account WHERE key = ? AND parent_id = ? AND kind = 'client'",
    );
    return {
      balance: ({ accountId }: { accountId: number }): Balance => this.purseOf(accountId),

      fund: (input: Funding): FundingOutcome => {
        const earlier = replays.find<{ transactionId: number }>(input.resellerId, input.replay, null, input.atMs);
        if (earlier === "conflict") return { kind: "conflict" };
        if (earlier !== null) return { kind: "posted", transactionId: earlier.transactionId };

        const client = clientOf.get(input.accountKey, input.resellerId);
        if (client === undefined) return { kind: "unknown account" };
        let amountMicros = input.amountMicros;
        if (input.currency !== null && input.currency !== client.currency) {
          const rate = input.ratesMicros[client.currency];
          if (rate === undefined) return { kind: "no rate", currency: client.currency };
          amountMicros = exchange(amountMicros, rate);
        }
        if (amountMicros === 0n) return { kind: "nothing left" };
        const purse = this.purseOf(client.id);
        const balanceAfter = purse.balanceMicros + amountMicros;
        if (amountMicros < 0n && balanceAfter < 0n) return { kind: "below zero" };
        if (balanceAfter > LARGEST_AMOUNT) return { kind: "too large" };
        const outside = this.servicePurse("payments", client.currency);
        const transactionId = this.post({
          atMs: input.atMs,
          kind: "funds",
          from: amountMicros > 0n ? outside : purse.id,
          to: amountMicros > 0n ? purse.id : outside,
          amountMicros: amountMicros > 0n ? amountMicros : -amountMicros,
          description: input.description,
          actorId: input.resellerId,
        });
        replays.keep(input.resellerId, input.replay, null, { transactionId }, input.atMs);
        return { kind: "posted", transactionId };
      },

      verifyLedger: (): LedgerFault[] => {
        const rows = (sql: string) => this.#db.prepare<[], { fault: string }>(sql).all();
        return [
          ...rows(
            `SELECT 'purse ' || id || ' holds ' || balance_micros || ' but its postings sum to ' || posted AS fault FROM (
               SELECT id, balance_micros,
                 (SELECT coalesce(sum(amount_micros), 0) FROM posting WHERE to_purse = purse.id)
                 - (SELECT coalesce(sum(amount_micros), 0) FROM posting WHERE from_purse = purse.id) AS posted
               FROM purse) WHERE balance_micros <> posted`,
          ),
          ...rows(
            `SELECT 'account ' || account.key || ' is below its credit limit' AS fault
             FROM purse JOIN account ON account.id = purse.account_id WHERE balance_micros < -credit_limit_micros`,
          ),
          // Status 12, 14 and the like never cost anything; everything else was charged once and given back at most once.
          ...rows(
            `SELECT 'account ' || account_id || ' paid ' || paid || ' for messages that cost ' || cost AS fault FROM (
               SELECT account.id AS account_id,
                 (SELECT coalesce(sum(CASE kind WHEN 'charge' THEN amount_micros ELSE -amount_micros END), 0) FROM posting
                  WHERE (kind = 'charge' AND from_purse = purse.id) OR (kind = 'refund' AND to_purse = purse.id)) AS paid,
                 (SELECT coalesce(sum(charged_micros), 0) FROM message WHERE account_id = account.id) AS cost
               FROM account JOIN purse ON purse.account_id = account.id) WHERE paid <> cost`,
          ),
        ].map((row) => row.fault);
      },
    };
  }
}
