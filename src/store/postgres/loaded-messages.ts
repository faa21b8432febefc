/** The messages that a transaction has read and locked, the names that clients gave them, and those that it makes. */
import type { Session } from "../../drivers/postgres/link.ts";
import type { MessageKey } from "../../message/message.ts";
import type { PartName } from "../port/receipts.ts";
import { isRejected } from "../rows.ts";
import { MESSAGE, type MessageChange, type MessageRow, type NewMessageRow } from "../schema/message.ts";
import type { MessageTable } from "../tables.ts";
import { type RowsStatement, sendRows } from "./columns.ts";
import type { Found } from "./found.ts";
import { LoadedRows, rowId } from "./loaded-rows.ts";
import type { OwnedMessages } from "./owned-messages.ts";
import { CHANGE_OWNED, FIND, WRITE, WRITES } from "./statements.ts";

const isNaming = ({ client_message_id, status_id }: MessageRow): boolean =>
  client_message_id !== null && !isRejected(status_id);

export class LoadedMessages implements MessageTable {
  readonly #session: () => Session;
  readonly #found: Found;
  readonly #owned: OwnedMessages;
  readonly #rows = new LoadedRows(WRITES.message);
  /** For a message that others have locked this transaction may wait. */
  #waits = true;
  /** It may in any case. */
  isPatient = false;
  readonly #unlocked = new Set<MessageKey>();
  readonly #names = new Set<string>();
  #freedNames: MessageRow[] = [];

  constructor(session: () => Session, found: Found, owned: OwnedMessages) {
    this.#session = session;
    this.#found = found;
    this.#owned = owned;
  }

  clear(): void {
    this.#waits = true;
    this.#rows.clear();
    this.#unlocked.clear();
    this.#names.clear();
    this.#freedNames = [];
  }

  async load(keys: readonly MessageKey[] = []): Promise<void> {
    const fresh = this.#found.fresh(
      FIND.messages,
      keys.map((key) => ({ key })),
    );
    await this.#lock(fresh, FIND.messages, FIND.messagesAtOnce);
  }

  /** Those of parts with these names. */
  async loadOfParts(names: readonly PartName[]): Promise<void> {
    await this.#lock(names, FIND.messagesOfParts, FIND.messagesOfPartsAtOnce);
  }

  /**
   * The first statement of a transaction that locks messages waits for its locks, in the order of their keys. What finds more of them later, when others
   * may wait for what this transaction has, waits for none: where one is locked the transaction begins anew. Else two nodes could wait for each
   * other, which PostgreSQL notices after a second only.
   */
  async #lock(wanted: readonly object[], first: RowsStatement, atOnce: RowsStatement): Promise<void> {
    if (wanted.length === 0) return;
    const statement = this.#waits || this.isPatient ? first : atOnce;
    this.#waits = false;
    this.cache((await sendRows<MessageRow>(this.#session(), statement, wanted)).rows);
  }

  /** This transaction has other locks by now. */
  waitNoMore(): void {
    this.#waits = false;
  }

  /** Those that are this node's need not be read. */
  loadOwn(keys: readonly MessageKey[] = []): Promise<void> {
    return this.load(keys.filter((key) => !this.#takeOwned(key)));
  }

  #takeOwned(key: MessageKey): boolean {
    const row = this.#owned.take(key);
    if (row === undefined) return false;
    this.#rows.keep(row);
    this.#unlocked.add(key);
    return true;
  }

  /** Those that are this node's when the transaction is over. */
  get ownedNow(): readonly MessageRow[] {
    return this.all.filter((row) => this.#owned.owns(row));
  }

  async loadNames(names: readonly { accountId: number; clientMessageId: string }[] = []): Promise<void> {
    const taken = await this.#found.find<{ accountId: number; clientMessageId: string }>(FIND.names, names);
    for (const { accountId, clientMessageId } of taken) this.#names.add(rowId(accountId, clientMessageId));
  }

  get all(): readonly MessageRow[] {
    return [...this.#rows.all];
  }

  get(key: MessageKey): MessageRow | undefined {
    return this.#rows.get(key);
  }

  insert(fresh: NewMessageRow): void {
    const row = MESSAGE.create(fresh);
    this.#rows.insert(row);
    if (isNaming(row)) this.#names.add(rowId(row.account_id, row.client_message_id!));
  }

  change(row: MessageRow, change: MessageChange): MessageRow {
    const changed = this.#rows.change(row, change);
    if (isNaming(row) && !isNaming(changed)) this.#freedNames.push(changed);
    return changed;
  }

  cache(rows: readonly MessageRow[]): MessageRow[] {
    // No command deletes a message.
    return rows.map((row) => this.#rows.keep(row)!);
  }

  isNamed(accountId: number, clientMessageId: string): boolean {
    return this.#names.has(rowId(accountId, clientMessageId));
  }

  /** Other nodes claim and release too: it has to be looked for every time. */
  nextWaiting(): null {
    return null;
  }

  /** Sends what is to be written. */
  flush(session: Session): Promise<unknown>[] {
    const named = this.#rows.inserted.filter(isNaming);
    const freed = this.#freedNames;
    this.#freedNames = [];
    return [
      ...this.#rows.flush(session, {
        isLocked: ({ key }) => !this.#unlocked.has(key),
        send: (rows, isNeeded) => {
          // From now on this transaction has them locked.
          for (const { key } of rows) this.#unlocked.delete(key);
          return sendRows(session, CHANGE_OWNED.with(isNeeded), rows, [this.#owned.epoch, rows.length]);
        },
      }),
      sendRows(session, WRITE.insertNames, named),
      sendRows(session, WRITE.freeNames, freed),
    ];
  }
}
