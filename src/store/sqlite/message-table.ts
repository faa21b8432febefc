/** Messages, which are written behind, with the names that clients gave them and the lanes whose backlog is claimed. */
import type { Db } from "../../drivers/sqlite/database.ts";
import type { MessageKey } from "../../message/message.ts";
import type { LaneName } from "../port/delivery.ts";
import { IS_NOT_HELD } from "../quarantine.ts";
import { IS_NOT_REJECTED, isRejected } from "../rows.ts";
import { MESSAGE, type MessageChange, type MessageRow, type NewMessageRow, STATE_NUMBER } from "../schema/message.ts";
import type { MessageTable } from "../tables.ts";
import type { BehindTables } from "./behind-tables.ts";
import { ClaimedLanes, isWaiting } from "./claimed.ts";
import type { WriteBehind } from "./write-behind.ts";

const clientName = (accountId: number, clientMessageId: string): string => `${accountId} ${clientMessageId}`;

export class SqliteMessages implements MessageTable {
  readonly #rows: WriteBehind<typeof MESSAGE>;
  readonly #finished: Set<MessageKey>;
  /** Names of new messages in memory that no other may have. */
  readonly #names = new Map<string, MessageKey>();
  readonly #claimed = new ClaimedLanes();
  readonly #waiting;
  readonly #named;

  constructor(db: Db, behind: BehindTables) {
    this.#finished = behind.finished;
    this.#rows = behind.table(MESSAGE, (row) => {
      this.#finished.delete(row.key);
      this.#claimed.see(row);
      this.#freeName(row);
    });
    this.#waiting = this.#rows.statements.select<[string, number, string, number]>(
      `state = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? AND message.key > CAST(? AS INTEGER) AND ${IS_NOT_HELD}
       ORDER BY message.key LIMIT ?`,
    );
    this.#named = db
      .prepare<[number, string], string>(
        `SELECT CAST(key AS TEXT) FROM message WHERE account_id = ? AND client_message_id = ? AND ${IS_NOT_REJECTED}`,
      )
      .pluck();
  }

  /** Memory was dropped. */
  reset(): void {
    this.#names.clear();
  }

  dropRead(): void {
    this.#claimed.clear();
  }

  get(key: MessageKey): MessageRow | undefined {
    return this.#rows.get(key);
  }

  insert(fresh: NewMessageRow): void {
    const row = MESSAGE.create(fresh);
    const { key, account_id, client_message_id } = row;
    this.#rows.insert(row);
    if (row.state === STATE_NUMBER.done) this.#finished.add(key);
    if (client_message_id !== null && !isRejected(row.status_id))
      this.#names.set(clientName(account_id, client_message_id), key);
  }

  change(known: MessageRow, change: MessageChange): MessageRow {
    const row = this.#rows.change(known, change);
    this.#claimed.see(row);
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

  nextWaiting(lane: LaneName, count: number): MessageRow[] | null {
    const last = this.#claimed.lastOf(lane);
    if (last === undefined) return null;
    const written = this.#waiting.all(lane.carrierId, lane.accountId, last, count);
    const rows = written.map((row) => this.#rows.kept(row.key) ?? row);
    return rows.length > 0 && rows.every(isWaiting) ? rows : null;
  }

  claimedUpTo(lane: LaneName, key: MessageKey): void {
    this.#claimed.claimedUpTo(lane, key);
  }
}
