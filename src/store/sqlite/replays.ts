/** Answers kept so that a request that comes again is answered as the first time. */
import type { ReplayGuard } from "../port.ts";
import type { Db } from "./database.ts";

export class Replays {
  readonly #find;
  readonly #findOther;
  readonly #insert;

  constructor(db: Db) {
    this.#find = db.prepare<[number, string, string, string], { answer: string }>(
      "SELECT answer FROM replay WHERE account_id = ? AND kind = ? AND token = ? AND body_hash = ?",
    );
    this.#findOther = db.prepare<[number, string, string], { body_hash: string }>(
      "SELECT body_hash FROM replay WHERE account_id = ? AND kind = 'key' AND token = ? AND body_hash <> ? LIMIT 1",
    );
    this.#insert = db.prepare(
      "INSERT INTO replay (account_id, kind, token, body_hash, answer, at_ms) VALUES (?, ?, ?, ?, ?, ?)",
    );
  }

  /** What was answered before, null if nothing was, "conflict" if the key belongs to another request. */
  find<Answer>(
    accountId: number,
    guard: ReplayGuard | null,
    bulkId: string | null,
    atMs: number,
  ): Answer | "conflict" | null {
    if (guard === null) return null;
    if (guard.key !== null) {
      const kept = this.#find.get(accountId, "key", guard.key, guard.bodyHash);
      if (kept !== undefined) return JSON.parse(kept.answer) as Answer;
      if (this.#findOther.get(accountId, guard.key, guard.bodyHash) !== undefined) return "conflict";
    }
    if (guard.bulk && bulkId !== null) {
      const kept = this.#find.get(accountId, "bulk", bulkId, guard.bodyHash);
      // The key belongs to this request from now on, even though the bulkId answered it.
      if (kept !== undefined && guard.key !== null)
        this.#insert.run(accountId, "key", guard.key, guard.bodyHash, kept.answer, atMs);
      if (kept !== undefined) return JSON.parse(kept.answer) as Answer;
    }
    return null;
  }

  keep(accountId: number, guard: ReplayGuard | null, bulkId: string | null, answer: unknown, atMs: number): void {
    if (guard === null) return;
    const text = JSON.stringify(answer);
    if (guard.key !== null) this.#insert.run(accountId, "key", guard.key, guard.bodyHash, text, atMs);
    if (guard.bulk && bulkId !== null) this.#insert.run(accountId, "bulk", bulkId, guard.bodyHash, text, atMs);
  }
}
