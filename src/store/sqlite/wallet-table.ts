/** Wallets in memory as their postings move them. The postings are written behind. */
import type { ServiceWallet } from "../../money/postings.ts";
import type { WalletTable } from "../tables.ts";
import { type NewPosting, ReadWallets, type Wallet } from "../wallet.ts";
import type { BehindTables } from "./behind-tables.ts";

export class SqliteWallets implements WalletTable {
  readonly #behind: BehindTables;
  readonly #wallets = new ReadWallets();
  readonly #ofService = new Map<string, number>();
  #lastPostingId = 0;

  constructor(behind: BehindTables) {
    this.#behind = behind;
    behind.onPostingsAside(() => this.#wallets.clear());
  }

  /** Memory was dropped. */
  reset(): void {
    this.#lastPostingId = this.#behind.wallets.lastPostingId();
  }

  dropRead(): void {
    this.#wallets.clear();
    this.#ofService.clear();
  }

  ofAccount(accountId: number): Wallet {
    if (!this.#wallets.has(accountId)) {
      // What is on its way to or from it has to be in its balance.
      this.#behind.flushPostings();
      const row = this.#behind.wallets.ofAccount(accountId);
      if (row !== undefined) this.#wallets.keep(accountId, row);
    }
    return this.#wallets.ofAccount(accountId);
  }

  ofService(name: ServiceWallet, currency: string): number {
    const id = this.#ofService.get(`${name} ${currency}`) ?? this.#behind.wallets.ofService(name, currency);
    this.#ofService.set(`${name} ${currency}`, id);
    return id;
  }

  /** Nobody else changes it before the end. */
  relyOn(): void {}

  post(posting: NewPosting): number {
    const row = this.#wallets.post(posting, ++this.#lastPostingId);
    this.#behind.post(row);
    return row.id;
  }

  postNumbered(posting: NewPosting): number {
    return this.post(posting);
  }
}
