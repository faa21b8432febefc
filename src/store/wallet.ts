/** An account's money: its wallet as the commands see it, and what is looked at before a posting is promised. */
import { MAX_WALLET } from "../money/amounts.ts";
import { type NewPostingRow, POSTING, type PostingRow } from "./schema/posting.ts";

export interface Wallet {
  readonly id: number;
  readonly currency: string;
  readonly balanceMicros: bigint;
  readonly creditLimitMicros: bigint;
  /** Whom to tell when the balance goes below an amount. */
  readonly alert: { readonly accountKey: string; readonly belowMicros: bigint; readonly url: string } | null;
}

/** Balances from one to another, both with them. */
export interface BalanceRange {
  readonly least?: bigint;
  readonly most?: bigint;
}

export interface WalletRow {
  readonly id: number;
  readonly balance: string;
  readonly creditLimit: string;
  readonly currency: string;
  readonly accountKey: string;
  readonly alertBelow: string | null;
  readonly alertUrl: string | null;
}

function walletOf({ id, currency, balance, creditLimit, accountKey, alertBelow, alertUrl }: WalletRow): Wallet {
  return {
    id,
    currency,
    balanceMicros: BigInt(balance),
    creditLimitMicros: BigInt(creditLimit),
    alert:
      alertBelow === null || alertUrl === null ? null : { accountKey, belowMicros: BigInt(alertBelow), url: alertUrl },
  };
}

export type NewPosting = Omit<NewPostingRow, "id" | "amountMicros"> & { readonly amountMicros: bigint };

/**
 * The last look at a posting before it is promised. The commands have refused what does not fit by then, each in words of its own; what comes
 * here all the same fails with its command, and the others of the group go on. `target` is the wallet that gets the money, where it is an account's.
 */
function checkPosting({ amountMicros }: NewPosting, target: Wallet | undefined): void {
  if (amountMicros <= 0n || amountMicros > MAX_WALLET)
    throw new RangeError("a posting must move more than nothing, and no more than a wallet may hold");
  if (target !== undefined && target.balanceMicros + amountMicros > MAX_WALLET)
    throw new RangeError("a posting must not take a wallet beyond what it may hold");
}

interface WorkingWallet extends Wallet {
  balanceMicros: bigint;
}

/** Wallets of accounts that were read, as the postings since then have moved them. */
export class ReadWallets {
  readonly #byAccount = new Map<number, WorkingWallet>();
  readonly #byId = new Map<number, WorkingWallet>();

  clear(): void {
    this.#byAccount.clear();
    this.#byId.clear();
  }

  has(accountId: number): boolean {
    return this.#byAccount.has(accountId);
  }

  keep(accountId: number, row: WalletRow): void {
    const wallet: WorkingWallet = walletOf(row);
    this.#byAccount.set(accountId, wallet);
    this.#byId.set(wallet.id, wallet);
  }

  /** As it is now. */
  ofAccount(accountId: number): Wallet {
    const wallet = this.#byAccount.get(accountId);
    if (wallet === undefined) throw new Error(`account ${accountId} has no wallet`);
    return { ...wallet };
  }

  /** Moves what a posting says between those that are here, and gives its row. */
  post(posting: NewPosting, id: number): PostingRow {
    const { from, to, amountMicros } = posting;
    const source = this.#byId.get(from);
    const target = this.#byId.get(to);
    checkPosting(posting, target);
    const row = POSTING.create({ ...posting, id, amountMicros: amountMicros.toString() });
    if (source !== undefined) source.balanceMicros -= amountMicros;
    if (target !== undefined) target.balanceMicros += amountMicros;
    return row;
  }
}
