/**
 * The table `wallet` and its postings. A posting and the two moves of it are written together or not at all.
 *
 * A wallet of the service's own takes what all accounts pay, so no bound on accounts keeps it within 64 bits. One that is full is left as it is,
 * in a shard of its own, and postings to it go to a new one. That is decided here, when a posting is written: whoever promised it need not know.
 */
import type { Db } from "../../drivers/sqlite/database.ts";
import { MAX_WALLET } from "../../money/amounts.ts";
import { POSTING, type PostingRow } from "../schema/posting.ts";
import type { WalletRow } from "../wallet.ts";
import type { Aside } from "./aside.ts";
import { TableStatements } from "./table-statements.ts";

interface Wallet {
  readonly id: number;
  readonly isService: boolean;
  readonly name: string;
  readonly currency: string;
  balanceMicros: bigint;
  movedMicros: bigint;
}

const MAX_STORED = 2n ** 63n - 1n;

const isStorable = (micros: bigint): boolean => micros <= MAX_STORED && micros >= -MAX_STORED;
/** `more`: what may still come to it, or go from it. */
const isFull = ({ balanceMicros }: Wallet, more = 0n): boolean =>
  balanceMicros + more >= MAX_WALLET || balanceMicros - more <= -MAX_WALLET;

function move(amount: bigint, from: Wallet, to: Wallet): void {
  from.balanceMicros -= amount;
  from.movedMicros -= amount;
  to.balanceMicros += amount;
  to.movedMicros += amount;
}

export class Wallets {
  readonly #aside: Aside;
  readonly #postings: TableStatements<typeof POSTING>;
  readonly #statements;

  constructor(db: Db, aside: Aside) {
    this.#aside = aside;
    this.#postings = new TableStatements(db, POSTING, { once: true });
    this.#statements = {
      ofAccount: db.prepare<[number], WalletRow>(
        `SELECT wallet.id, CAST(balance_micros AS TEXT) AS balance, CAST(credit_limit_micros AS TEXT) AS creditLimit, wallet.currency,
           account.key AS accountKey, CAST(alert_below_micros AS TEXT) AS alertBelow, alert_url AS alertUrl
         FROM wallet JOIN account ON account.id = account_id WHERE account_id = ?`,
      ),
      ofService: db
        .prepare<[string, string], number>(
          "SELECT id FROM wallet WHERE account_id IS NULL AND name = ? AND currency = ? AND shard = 0",
        )
        .pluck(),
      open: db.prepare<[string, string]>("INSERT INTO wallet (name, currency) VALUES (?, ?)"),
      leave: db.prepare<[number]>("UPDATE wallet SET shard = -id WHERE id = ?"),
      byId: db.prepare<[number], { isService: number; name: string; currency: string; balance: string }>(
        `SELECT account_id IS NULL AS isService, name, currency, CAST(balance_micros AS TEXT) AS balance FROM wallet WHERE id = ?`,
      ),
      isPosted: db.prepare<[number], unknown>("SELECT 1 FROM posting WHERE id = ?"),
      move: db.prepare<[bigint, number]>("UPDATE wallet SET balance_micros = balance_micros + ? WHERE id = ?"),
    };
  }

  lastPostingId(): number {
    return this.#postings.lastId();
  }

  ofAccount(accountId: number): WalletRow | undefined {
    return this.#statements.ofAccount.get(accountId);
  }

  ofService(name: string, currency: string): number {
    const { ofService, open } = this.#statements;
    return ofService.get(name, currency) ?? Number(open.run(name, currency).lastInsertRowid);
  }

  /** `promised`: their commands were answered long ago, and what is refused is set aside. Says whether all were posted. */
  post(postings: readonly PostingRow[], promised: boolean): boolean {
    const wallets = new Map<number, Wallet>();
    let all = true;
    for (const posting of promised ? this.#postTogether(postings, wallets) : postings) {
      const write = (): void => this.#post(posting, wallets);
      if (!promised) write();
      else if (!this.#aside.promised("posting", posting.id, posting, write)) all = false;
    }
    for (const { id, movedMicros } of wallets.values())
      if (movedMicros !== 0n) this.#statements.move.run(movedMicros, id);
    return all;
  }

  /** Returns those that are to be posted one by one: all of them, where a wallet is missing, or full, or might be by then. */
  #postTogether(postings: readonly PostingRow[], wallets: Map<number, Wallet>): readonly PostingRow[] {
    const total = postings.reduce((sum, { amountMicros }) => sum + BigInt(amountMicros), 0n);
    const isRoomy = (id: number): boolean => {
      const wallet = this.#find(id, wallets);
      return wallet !== undefined && !isFull(wallet, total);
    };
    if (![...new Set(postings.flatMap(({ from, to }) => [from, to]))].every(isRoomy)) return postings;
    const left = new Set(this.#postings.insertTogether(postings));
    for (const posting of postings) {
      if (!left.has(posting)) move(BigInt(posting.amountMicros), wallets.get(posting.from)!, wallets.get(posting.to)!);
    }
    return [...left];
  }

  /** Money moves with its posting: one that is there already has moved it. */
  #post(posting: PostingRow, wallets: Map<number, Wallet>): void {
    const { id } = posting;
    const amount = BigInt(posting.amountMicros);
    const from = this.#placeOf(posting.from, wallets);
    const to = this.#placeOf(posting.to, wallets);
    if (!isStorable(from.balanceMicros - amount) || !isStorable(to.balanceMicros + amount)) {
      if (this.#statements.isPosted.get(id) !== undefined) return;
      throw new RangeError(`it would take the wallet ${from.id} or ${to.id} beyond what the store can hold`);
    }
    const { changes } = this.#postings.insert({ ...posting, from: from.id, to: to.id });
    if (changes === 0) return;
    move(amount, from, to);
  }

  /** The wallet of this id, or the one that has come in its place since it is full. */
  #placeOf(id: number, wallets: Map<number, Wallet>): Wallet {
    const wallet = this.#read(id, wallets);
    if (!wallet.isService || !isFull(wallet)) return wallet;
    const { name, currency } = wallet;
    const current = this.#read(this.ofService(name, currency), wallets);
    if (!isFull(current)) return current;
    this.#statements.leave.run(current.id);
    return this.#read(this.ofService(name, currency), wallets);
  }

  #read(id: number, wallets: Map<number, Wallet>): Wallet {
    const wallet = this.#find(id, wallets);
    if (wallet === undefined) throw new RangeError(`there is no wallet ${id}`);
    return wallet;
  }

  #find(id: number, wallets: Map<number, Wallet>): Wallet | undefined {
    const known = wallets.get(id);
    if (known !== undefined) return known;
    const row = this.#statements.byId.get(id);
    if (row === undefined) return undefined;
    const { isService, name, currency, balance } = row;
    const wallet = { id, isService: isService === 1, name, currency, balanceMicros: BigInt(balance), movedMicros: 0n };
    wallets.set(id, wallet);
    return wallet;
  }
}
