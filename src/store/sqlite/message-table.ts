/** Messages, which are written behind, with the names that clients gave them and the lanes in which they wait. */
import type { Db } from "../../drivers/sqlite/database.ts";
import type { MessageKey } from "../../message/message.ts";
import type { LaneName } from "../port/delivery.ts";
import { IS_NOT_HELD } from "../quarantine.ts";
import { compareKeys, IS_NOT_REJECTED, isRejected } from "../rows.ts";
import { MESSAGE, type MessageChange, type MessageRow, type NewMessageRow, STATE_NUMBER } from "../schema/message.ts";
import type { MessageTable } from "../tables.ts";
import type { BehindTables } from "./behind-tables.ts";
import { WaitingLanes } from "./waiting-lanes.ts";
import type { WriteBehind } from "./write-behind.ts";

const clientName = (accountId: number, clientMessageId: string): string => `${accountId} ${clientMessageId}`;

export class SqliteMessages implements MessageTable {
  readonly #rows: WriteBehind<typeof MESSAGE>;
  readonly #finished: Set<MessageKey>;
  /** Names of new messages in memory that no other may have. */
  readonly #names = new Map<string, MessageKey>();
  readonly #lanes = new WaitingLanes();
  readonly #waiting;
  readonly #anyHeld;
  readonly #held;
  readonly #named;

  constructor(db: Db, behind: BehindTables) {
    this.#finished = behind.finished;
    this.#rows = behind.table(MESSAGE, (row) => {
      this.#finished.delete(row.key);
      this.#lanes.written(row);
      this.#freeName(row);
    });
    this.#waiting = this.#rows.statements.select<[string, number, string, number]>(
      `state = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? AND message.key > CAST(? AS INTEGER) AND ${IS_NOT_HELD}
       ORDER BY message.key LIMIT ?`,
    );
    this.#anyHeld = db.prepare<[], unknown>("SELECT 1 FROM quarantine WHERE held_key IS NOT NULL LIMIT 1");
    this.#held = db.prepare<[string], unknown>("SELECT 1 FROM quarantine WHERE held_key = CAST(? AS INTEGER)");
    this.#named = db
      .prepare<[number, string], string>(
        `SELECT CAST(key AS TEXT) FROM message WHERE account_id = ? AND client_message_id = ? AND ${IS_NOT_REJECTED}`,
      )
      .pluck();
  }

  /** Memory was dropped. */
  reset(): void {
    this.#names.clear();
    this.#lanes.clear();
  }

  /** A statement of SQL may have made others wait in the table. */
  dropRead(): void {
    this.#lanes.forgetClaimed();
  }

  get(key: MessageKey): MessageRow | undefined {
    return this.#rows.get(key);
  }

  insert(fresh: NewMessageRow): void {
    const row = MESSAGE.create(fresh);
    const { key, account_id, client_message_id } = row;
    this.#rows.insert(row);
    this.#lanes.changed(undefined, row);
    if (row.state === STATE_NUMBER.done) this.#finished.add(key);
    if (client_message_id !== null && !isRejected(row.status_id))
      this.#names.set(clientName(account_id, client_message_id), key);
  }

  change(known: MessageRow, change: MessageChange): MessageRow {
    const before = this.#rows.kept(known.key);
    const row = this.#rows.change(known, change);
    this.#lanes.changed(before, row);
    if (row.state === STATE_NUMBER.done) this.#finished.add(row.key);
    if (isRejected(row.status_id)) this.#freeName(row);
    return row;
  }

  #freeName({ key, account_id, client_message_id }: MessageRow): void {
    if (client_message_id === null) return;
    const name = clientName(account_id, client_message_id);
    if (this.#names.get(name) === key) this.#names.delete(name);
  }

  /** Whoever has read rows by SQL has had all written before: they are as they are. */
  cache(rows: readonly MessageRow[]): MessageRow[] {
    return [...rows];
  }

  isNamed(accountId: number, clientMessageId: string): boolean {
    if (this.#names.has(clientName(accountId, clientMessageId))) return true;
    const key = this.#named.get(accountId, clientMessageId);
    if (key === undefined) return false;
    const kept = this.#rows.kept(key);
    return kept === undefined || !isRejected(kept.status_id);
  }

  nextWaiting(lane: LaneName, count: number): MessageRow[] {
    const kept = this.#keptWaiting(lane, count);
    const rows = [...this.#writtenWaiting(lane, count), ...kept];
    // Those in memory are the newer ones, nearly always.
    rows.sort((a, b) => compareKeys(a.key, b.key));
    const next = rows.slice(0, count);
    if (next.length > 0) this.#lanes.claim(lane, next.at(-1)!.key);
    return next;
  }

  #keptWaiting(lane: LaneName, count: number): MessageRow[] {
    const mayBeHeld = this.#anyHeld.get() !== undefined;
    const rows: MessageRow[] = [];
    for (const key of this.#lanes.keysOf(lane)) {
      if (rows.length === count) break;
      if (mayBeHeld && this.#held.get(key) !== undefined) continue;
      rows.push(this.#rows.kept(key)!);
    }
    return rows;
  }

  /** Those that are in the table alone. */
  #writtenWaiting({ carrierId, accountId }: LaneName, count: number): MessageRow[] {
    const rows: MessageRow[] = [];
    let last = this.#lanes.lastClaimed({ carrierId, accountId });
    let isMore = true;
    while (isMore && rows.length < count) {
      const page = this.#waiting.all(carrierId, accountId, last, count);
      rows.push(...page.filter(({ key }) => this.#rows.kept(key) === undefined));
      isMore = page.length === count;
      last = page.at(-1)?.key ?? last;
    }
    return rows;
  }
}
