/** An account's money: its wallet as the commands see it, and what is looked at before a posting is promised. */
import { MAX_WALLET } from "../money/amounts.ts";
import type { NewPostingRow } from "./schema/posting.ts";

export interface Wallet {
  readonly id: number;
  readonly currency: string;
  readonly balanceMicros: bigint;
  readonly creditLimitMicros: bigint;
  /** Whom to tell when the balance goes below an amount. */
  readonly alert: { readonly accountKey: string; readonly belowMicros: bigint; readonly url: string } | null;
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

export function walletOf({ id, currency, balance, creditLimit, accountKey, alertBelow, alertUrl }: WalletRow): Wallet {
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
export function checkPosting({ amountMicros }: NewPosting, target: Wallet | undefined): void {
  if (amountMicros <= 0n || amountMicros > MAX_WALLET)
    throw new RangeError("a posting must move more than nothing, and no more than a wallet may hold");
  if (target !== undefined && target.balanceMicros + amountMicros > MAX_WALLET)
    throw new RangeError("a posting must not take a wallet beyond what it may hold");
}
