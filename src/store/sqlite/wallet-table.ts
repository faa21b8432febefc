/** Wallets in memory as their postings move them. The postings are written behind. */
import type { ServiceWallet } from "../../money/postings.ts";
import { POSTING } from "../schema/posting.ts";
import type { WalletTable } from "../tables.ts";
import { checkPosting, type NewPosting, type Wallet, walletOf } from "../wallet.ts";
import type { BehindTables } from "./behind-tables.ts";

interface WorkingWallet extends Wallet {
  balanceMicros: bigint;
}

export class SqliteWallets implements WalletTable {
  readonly #behind: BehindTables;
  // What was read and has not changed since.
  readonly #byAccount = new Map<number, WorkingWallet>();
  readonly #byId = new Map<number, WorkingWallet>();
  readonly #ofService = new Map<string, number>();
  #lastPostingId = 0;

  constructor(behind: BehindTables) {
    this.#behind = behind;
    behind.onPostingsAside(() => this.#dropBalances());
  }

  /** Memory was dropped. */
  reset(): void {
    this.#lastPostingId = this.#behind.wallets.lastPostingId();
  }

  dropRead(): void {
    this.#dropBalances();
    this.#ofService.clear();
  }

  #dropBalances(): void {
    this.#byAccount.clear();
    this.#byId.clear();
  }

  ofAccount(accountId: number): Wallet {
    return { ...(this.#byAccount.get(accountId) ?? this.#read(accountId)) };
  }

  #read(accountId: number): WorkingWallet {
    // What is on its way to or from it has to be in its balance.
    this.#behind.flushPostings();
    const row = this.#behind.wallets.ofAccount(accountId);
    if (row === undefined) throw new Error(`account ${accountId} has no wallet`);
    const wallet: WorkingWallet = walletOf(row);
    this.#byAccount.set(accountId, wallet);
    this.#byId.set(wallet.id, wallet);
    return wallet;
  }

  ofService(name: ServiceWallet, currency: string): number {
    const id = this.#ofService.get(`${name} ${currency}`) ?? this.#behind.wallets.ofService(name, currency);
    this.#ofService.set(`${name} ${currency}`, id);
    return id;
  }

  post(posting: NewPosting): number {
    const { from, to, amountMicros } = posting;
    const source = this.#byId.get(from);
    const target = this.#byId.get(to);
    checkPosting(posting, target);
    const row = POSTING.create({ ...posting, id: ++this.#lastPostingId, amountMicros: amountMicros.toString() });
    this.#behind.post(row);
    if (source !== undefined) source.balanceMicros -= amountMicros;
    if (target !== undefined) target.balanceMicros += amountMicros;
    return row.id;
  }

  postNumbered(posting: NewPosting): number {
    return this.post(posting);
  }
}
