/** The parts that a transaction has read, by the names that carriers gave them, with their messages, which are locked. */
import type { Session } from "../../drivers/postgres/link.ts";
import type { MessageKey } from "../../message/message.ts";
import { append } from "../../runtime/lazy.ts";
import { nameKey } from "../part-names.ts";
import type { PartName } from "../port/receipts.ts";
import { type NewPartRow, PART, type PartRow } from "../schema/message.ts";
import type { PartTable } from "../tables.ts";
import { sendRows } from "./columns.ts";
import type { Found } from "./found.ts";
import type { LoadedMessages } from "./loaded-messages.ts";
import { LoadedRows, remove } from "./loaded-rows.ts";
import { FIND, WRITES } from "./statements.ts";

export class LoadedParts implements PartTable {
  readonly #session: () => Session;
  readonly #found: Found;
  readonly #messages: LoadedMessages;
  readonly rows = new LoadedRows(WRITES.part);
  readonly #byName = new Map<string, PartRow[]>();
  /** Parts that the database has not given an id yet have one below 0. */
  #lastId = 0;

  constructor(session: () => Session, found: Found, messages: LoadedMessages) {
    this.#session = session;
    this.#found = found;
    this.#messages = messages;
  }

  clear(): void {
    this.rows.clear();
    this.#byName.clear();
  }

  /** Parts come and go under the lock of their message: so first the messages, locked, and then the parts as they are now. */
  async load(names: readonly PartName[]): Promise<void> {
    const session = this.#session();
    const fresh = this.#found.fresh(FIND.parts, names);
    const [, parts] = await Promise.all([
      this.#messages.loadOfParts(fresh),
      sendRows<PartRow>(session, FIND.parts, fresh),
    ]);
    const found = await this.#withMessages(fresh, parts.rows);
    for (const part of found) {
      const kept = this.rows.keep(part);
      if (kept !== undefined) append(this.#byName, nameKey(kept), kept);
    }
  }

  /** A part that was written between the two statements has no message here yet. One whose message has left the store has none for good. */
  async #withMessages(
    names: readonly PartName[],
    parts: readonly PartRow[],
    tried = new Set<MessageKey>(),
  ): Promise<readonly PartRow[]> {
    const isMissing = (key: MessageKey): boolean => this.#messages.get(key) === undefined && !tried.has(key);
    const missing = parts.map(({ key }) => key).filter(isMissing);
    if (missing.length === 0) return parts;
    for (const key of missing) tried.add(key);
    const [, again] = await Promise.all([
      this.#messages.load(missing),
      sendRows<PartRow>(this.#session(), FIND.parts, names),
    ]);
    return this.#withMessages(names, again.rows, tried);
  }

  named(name: PartName): readonly PartRow[] {
    return this.#byName.get(nameKey(name)) ?? [];
  }

  insert(fresh: NewPartRow): void {
    const part = PART.create({ ...fresh, id: --this.#lastId });
    this.rows.insert(part);
    append(this.#byName, nameKey(part), part);
  }

  delete(part: PartRow): void {
    remove(this.#byName, nameKey(part), part);
    this.rows.delete(part);
  }
}
