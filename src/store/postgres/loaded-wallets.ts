/** The wallets that a transaction has read and locked, and the postings that move money between them. */
import type { Session } from "../../drivers/postgres/link.ts";
import type { ServiceWallet } from "../../money/postings.ts";
import type { WalletTable } from "../tables.ts";
import { type NewPosting, ReadWallets, type Wallet, type WalletRow } from "../wallet.ts";
import { sendRows } from "./columns.ts";
import type { Found } from "./found.ts";
import { LoadedRows } from "./loaded-rows.ts";
import type { ServiceWallets } from "./service-wallets.ts";
import { FIND, WRITE, WRITES } from "./statements.ts";

/** SQLSTATE numeric_value_out_of_range. */
const OUT_OF_RANGE = "22003";

export class LoadedWallets implements WalletTable {
  readonly #session: () => Session;
  readonly #serviceWallets: ServiceWallets;
  readonly #found: Found;
  readonly #rows = new LoadedRows(WRITES.posting);
  readonly #wallets = new ReadWallets();
  #postings: NewPosting[] = [];
  /** Postings that the database has not given an id yet have one below 0. */
  #lastId = 0;

  constructor(session: () => Session, found: Found, serviceWallets: ServiceWallets) {
    this.#session = session;
    this.#found = found;
    this.#serviceWallets = serviceWallets;
  }

  clear(): void {
    for (const known of [this.#rows, this.#wallets]) known.clear();
    this.#postings = [];
  }

  async load(accountIds: readonly number[] = [], services?: readonly ServiceWallet[]): Promise<void> {
    const rows = await this.#found.find<WalletRow & { accountId: number }>(
      FIND.wallets,
      accountIds.map((key) => ({ key })),
    );
    for (const row of rows) this.#wallets.keep(row.accountId, row);
    await this.#serviceWallets.ensure(
      rows.map(({ currency }) => currency),
      services,
    );
  }

  ofAccount(accountId: number): Wallet {
    return this.#wallets.ofAccount(accountId);
  }

  ofService(name: ServiceWallet, currency: string): number {
    return this.#serviceWallets.idOf(name, currency);
  }

  post(posting: NewPosting): void {
    this.#rows.insert(this.#wallets.post(posting, --this.#lastId));
    this.#postings.push(posting);
  }

  async postNumbered(posting: NewPosting): Promise<number> {
    const row = this.#wallets.post(posting, --this.#lastId);
    const session = this.#session();
    const { rows } = await sendRows<{ id: number }>(session, WRITE.postNumbered, [row]);
    await this.#move(session, [posting]);
    return rows[0]!.id;
  }

  /** Sends what is to be written. */
  flush(session: Session): Promise<unknown>[] {
    const postings = this.#postings;
    this.#postings = [];
    return postings.length === 0 ? [] : [...this.#rows.flush(session), this.#move(session, postings)];
  }

  /** Moves what the postings come to for each wallet, by its id: all nodes move money in one order, and none waits for another in a ring. */
  async #move(session: Session, postings: readonly NewPosting[]): Promise<void> {
    const serviceWallets = this.#serviceWallets;
    const moves = new Map<number, bigint>();
    for (const { from, to, amountMicros } of postings) {
      moves.set(from, (moves.get(from) ?? 0n) - amountMicros);
      moves.set(to, (moves.get(to) ?? 0n) + amountMicros);
    }
    const inOrder = [...moves].sort(([first], [second]) => first - second);
    for (const [id, amount] of inOrder) serviceWallets.moves(id, amount);
    try {
      await session.query(WRITE.move, [inOrder.map(([id]) => id), inOrder.map(([, amount]) => amount.toString())]);
    } catch (error) {
      if ((error as { code?: string }).code === OUT_OF_RANGE) serviceWallets.doubt();
      throw error;
    }
  }
}
