/**
 * The wallets that a transaction has read, and the postings that move money between them. A group does not lock what it reads, for an account may be
 * charged by many nodes at once: with the money goes what the balance has to be for the decisions to hold, and where it is not, the transaction
 * fails and is tried again. So a wallet is locked from the last statement to the end of the commit, and no longer.
 */
import type { Session } from "../../drivers/postgres/link.ts";
import type { ServiceWallet } from "../../money/postings.ts";
import type { WalletTable } from "../tables.ts";
import { type BalanceRange, type NewPosting, ReadWallets, type Wallet, type WalletRow } from "../wallet.ts";
import { sendRows } from "./columns.ts";
import type { Found } from "./found.ts";
import { LoadedRows } from "./loaded-rows.ts";
import type { ServiceWallets } from "./service-wallets.ts";
import { FIND, WRITE, WRITES } from "./statements.ts";

/** SQLSTATE numeric_value_out_of_range. */
const OUT_OF_RANGE = "22003";

/** What a wallet was when it was read without a lock, and from what to what its balance may be at the end. */
interface Guard {
  readonly balanceMicros: bigint;
  readonly revision: number;
  least: bigint;
  most: bigint;
}

/** As far as a balance can be from nothing. */
const FURTHEST = 2n ** 63n - 1n;

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

export class LoadedWallets implements WalletTable {
  readonly #session: () => Session;
  readonly #serviceWallets: ServiceWallets;
  readonly #found: Found;
  readonly #rows = new LoadedRows(WRITES.posting);
  readonly #wallets = new ReadWallets();
  /** By their ids, those that are not locked. */
  readonly #guards = new Map<number, Guard>();
  /** Whether what is read is locked. */
  locks = true;
  #postings: NewPosting[] = [];
  /** Postings that the database has not given an id yet have one below 0. */
  #lastId = 0;

  constructor(session: () => Session, found: Found, serviceWallets: ServiceWallets) {
    this.#session = session;
    this.#found = found;
    this.#serviceWallets = serviceWallets;
  }

  clear(): void {
    for (const known of [this.#rows, this.#wallets, this.#guards]) known.clear();
    this.#postings = [];
  }

  async load(accountIds: readonly number[] = [], services?: readonly ServiceWallet[]): Promise<void> {
    const rows = await this.#found.find<WalletRow & { accountId: number; revision: number }>(
      this.locks ? FIND.lockedWallets : FIND.wallets,
      accountIds.map((key) => ({ key })),
    );
    for (const row of rows) {
      this.#wallets.keep(row.accountId, row);
      const { id, balance, revision } = row;
      const balanceMicros = BigInt(balance);
      if (!this.locks) this.#guards.set(id, { balanceMicros, revision, least: -FURTHEST, most: FURTHEST });
    }
    await this.#serviceWallets.ensure(
      rows.map(({ currency }) => currency),
      services,
    );
  }

  ofAccount(accountId: number): Wallet {
    return this.#wallets.ofAccount(accountId);
  }

  relyOn({ id, balanceMicros }: Wallet, { least = -FURTHEST, most = FURTHEST }: BalanceRange): void {
    const guard = this.#guards.get(id);
    if (guard === undefined) return;
    // What this transaction has moved by then it moves in any case.
    const moved = balanceMicros - guard.balanceMicros;
    guard.least = larger(guard.least, least - moved);
    guard.most = smaller(guard.most, most - moved);
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
    const moved = inOrder.map(([id, amount]) => {
      const { least = -FURTHEST, most = FURTHEST, revision = null } = this.#guards.get(id) ?? {};
      // From now on this transaction has it locked.
      this.#guards.delete(id);
      return { id, amount, least, most, revision };
    });
    try {
      await sendRows(session, WRITE.move, moved);
    } catch (error) {
      if ((error as { code?: string }).code === OUT_OF_RANGE) serviceWallets.doubt();
      throw error;
    }
  }
}
