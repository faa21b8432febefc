/**
 * Money that comes in and goes out: funds that a reseller or an operator moves, and the balance of an account that is retired. Each is one posting,
 * decided on the balance as it is in the transaction, and has an entry in the audit in the same transaction.
 */
import { exchange, formatMicros, MAX_AMOUNT, money } from "../money/amounts.ts";
import { type ServiceWallet, type Settlement, WALLET_OF_MOVE } from "../money/postings.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { AccountChangeOutcome, Actor, ManagedAccount } from "../store/port/accounts.ts";
import type { ReplayGuard } from "../store/port/messages.ts";
import type { FundsMove } from "../store/port/money.ts";
import type { Wallet } from "../store/wallet.ts";
import { auditWriter, type FundsAction } from "./audit.ts";
import { commands } from "./entry.ts";
import { alertBelow } from "./ledger.ts";
import { findReplay, keepReplay, replayNames } from "./replays.ts";

/** An account whose money moves. */
type Holder = Pick<ManagedAccount, "id" | "key" | "currency" | "parentId" | "retiredAtMs">;

interface Moved {
  readonly by: Actor | undefined;
  readonly atMs: number;
  readonly action: FundsAction;
  /** What the balance changes by. */
  readonly amountMicros: bigint;
  readonly reason: string | null;
  /** What it was before it was exchanged. */
  readonly paid?: { readonly amountMicros: bigint; readonly currency: string; readonly rateMicros: bigint } | null;
  readonly transactionId?: number;
}

/** What a posting says of itself. The rate of today is another one than that of then, so both go with it: "invoice 17 (27.5 USD at 0.92)". */
function describedBy({ reason, paid = null }: Pick<Moved, "reason" | "paid">): string | null {
  if (paid === null) return reason;
  const original = `${money(paid.amountMicros, paid.currency)} at ${formatMicros(paid.rateMicros)}`;
  return reason === null ? original : `${reason} (${original})`;
}

/** Notes in the audit what was moved, with amounts as people read them. `wallet` is as it was before. */
export function fundsAudit(parts: CommandParts) {
  const { note } = auditWriter(parts);
  return async ({ key, parentId }: Holder, wallet: Wallet, moved: Moved): Promise<void> => {
    const { by, atMs, action, amountMicros, reason, paid = null, transactionId } = moved;
    const { balanceMicros, currency } = wallet;
    const before = { balance: money(balanceMicros, currency) };
    const after = {
      balance: money(balanceMicros + amountMicros, currency),
      amount: money(amountMicros, currency),
      ...(paid === null ? {} : { paid: money(paid.amountMicros, paid.currency), rate: formatMicros(paid.rateMicros) }),
      ...(reason === null ? {} : { reason }),
      ...(transactionId === undefined ? {} : { transactionId }),
    };
    await note({ by, atMs, action, kind: "funds", subject: key, resellerId: parentId, before, after });
  };
}

/** The command line is nobody's account: its keys are those of the account whose money moves, and never one that the account itself can give. */
function guardOf({ operatorId, replay }: Pick<FundsMove, "operatorId" | "replay">): ReplayGuard | null {
  if (operatorId !== null || replay === null || replay.key === null) return replay;
  return { ...replay, key: `\ncommand line ${replay.key}` };
}

const isTooLarge = ({ balanceMicros }: Wallet, amountMicros: bigint): boolean =>
  amountMicros > 0n && balanceMicros + amountMicros > MAX_AMOUNT;

/** What a posting says that changes a wallet's balance by so much: the rest is the other's. */
function between({ id }: Wallet, other: number, amountMicros: bigint) {
  return amountMicros > 0n
    ? { from: other, to: id, amountMicros }
    : { from: id, to: other, amountMicros: -amountMicros };
}

export function fundsCommands(parts: CommandParts) {
  const { sql, tables } = parts;
  const audit = fundsAudit(parts);
  const holder = `SELECT id, key, currency, parent_id AS "parentId", retired_at_ms AS "retiredAtMs" FROM account WHERE key = ?`;
  // Locked, and before its wallet: an account that is being retired is retired before anything is put into it.
  const lock = sql.dialect.lock();
  const clientOf = sql.prepare<[string, number], Holder>(`${holder} AND parent_id = ? AND kind = 'client' ${lock}`);
  // A charge may still be given back to a retired account: that can be taken out of it, and nothing can be put in.
  const isShut = ({ retiredAtMs }: Holder, amountMicros: bigint): boolean => retiredAtMs !== null && amountMicros > 0n;
  const anyone = sql.prepare<[string], Holder>(`${holder} ${lock}`);

  /** Posts between an account and a wallet of the service's, and says under which number. */
  const post = async (to: Holder, service: ServiceWallet, moved: Moved & { actorId: number | null }) => {
    const { atMs, amountMicros, actorId } = moved;
    const description = describedBy(moved);
    const wallet = tables.wallets.ofAccount(to.id);
    const other = tables.wallets.ofService(service, wallet.currency);
    const posting = { atMs, kind: "funds", ...between(wallet, other, amountMicros), description, actorId } as const;
    const transactionId = await tables.wallets.postNumbered(posting);
    alertBelow(parts, to.id, wallet, -amountMicros, atMs);
    await audit(to, wallet, { ...moved, transactionId });
    return transactionId;
  };

  return commands({
    async fund(input) {
      const names = replayNames(input.resellerId, input.replay, null);
      await tables.load({ replays: names });
      const earlier = findReplay<{ transactionId: number }>(tables, names, input.atMs);
      if (earlier === "conflict") return { kind: "conflict" };
      if (earlier !== null) return { kind: "posted", transactionId: earlier.transactionId };

      const client = await clientOf.get(input.accountKey, input.resellerId);
      if (client === undefined || isShut(client, input.amountMicros)) return { kind: "unknown account" };
      let amountMicros = input.amountMicros;
      let paid: Moved["paid"] = null;
      if (input.currency !== null && input.currency !== client.currency) {
        const rate = input.ratesMicros[client.currency];
        if (rate === undefined) return { kind: "no rate", currency: client.currency };
        amountMicros = exchange(amountMicros, rate);
        paid = { amountMicros: input.amountMicros, currency: input.currency, rateMicros: rate };
      }
      if (amountMicros === 0n) return { kind: "nothing left" };
      await tables.load({ wallets: [client.id] });
      const wallet = tables.wallets.ofAccount(client.id);
      if (amountMicros < 0n && wallet.balanceMicros + amountMicros < 0n) return { kind: "below zero" };
      if (isTooLarge(wallet, amountMicros)) return { kind: "too large" };
      const { by, atMs, description: reason, resellerId: actorId } = input;
      const action = amountMicros > 0n ? "topUp" : "takeBack";
      const transactionId = await post(client, "payments", { by, atMs, action, amountMicros, reason, paid, actorId });
      keepReplay(tables, names, { transactionId }, atMs);
      return { kind: "posted", transactionId };
    },

    async moveFunds(input) {
      const { accountKey, kind, amountMicros, operatorId, by, atMs, reason } = input;
      const account = await anyone.get(accountKey);
      if (account === undefined) return { kind: "unknown account" };
      const names = replayNames(operatorId ?? account.id, guardOf(input), null);
      await tables.load({ replays: names });
      const earlier = findReplay<{ transactionId: number; balance: string; currency: string }>(tables, names, atMs);
      if (earlier === "conflict") return { kind: "conflict" };
      if (earlier !== null) {
        const after = { balanceMicros: BigInt(earlier.balance), currency: earlier.currency };
        return { kind: "moved", transactionId: earlier.transactionId, after, isRepeat: true };
      }

      if (isShut(account, amountMicros)) return { kind: "retired" };
      const service = WALLET_OF_MOVE[kind];
      await tables.load({ wallets: [account.id], serviceWallets: [service] });
      const wallet = tables.wallets.ofAccount(account.id);
      const { balanceMicros, creditLimitMicros, currency } = wallet;
      const now = { balanceMicros, currency };
      const after = { balanceMicros: balanceMicros + amountMicros, currency };
      // A retired account has no credit: nobody could make its debt good.
      const limitMicros = account.retiredAtMs === null ? creditLimitMicros : 0n;
      if (amountMicros < 0n && after.balanceMicros < -limitMicros)
        return { kind: "below limit", now, creditLimitMicros: limitMicros };
      if (isTooLarge(wallet, amountMicros)) return { kind: "too large", now };
      const moved = { by, atMs, action: kind, amountMicros, reason, actorId: operatorId };
      const transactionId = await post(account, service, moved);
      keepReplay(tables, names, { transactionId, balance: after.balanceMicros.toString(), currency }, atMs);
      return { kind: "moved", transactionId, after };
    },
  });
}

/** What became of a retired account's balance, or why it could not be moved. */
type Settled = { readonly kind: "settled" } | Extract<AccountChangeOutcome, { kind: "holds money" | "no heir" }>;

const SETTLED: Settled = { kind: "settled" };

/** Empties the wallet of an account that is retired, as it was told; loads the wallets for it. `heir` is whom a transfer names, null for nobody. */
export function settling(parts: CommandParts) {
  const { tables } = parts;
  const audit = fundsAudit(parts);

  return async function settle(
    account: Holder,
    settlement: Settlement | null,
    heir: Holder | null,
    made: { by: Actor; atMs: number },
  ): Promise<Settled> {
    const service = settlement?.kind === "writeOff" ? "writeOffs" : "payments";
    // Both at once, and so in the order in which everybody locks them.
    await tables.load({ wallets: [account.id, ...(heir === null ? [] : [heir.id])], serviceWallets: [service] });
    const wallet = tables.wallets.ofAccount(account.id);
    const { balanceMicros, currency } = wallet;
    if (balanceMicros === 0n) return SETTLED;
    if (settlement === null) return { kind: "holds money", balanceMicros };
    const { atMs } = made;
    const entry = { ...made, amountMicros: -balanceMicros };
    // A debt is nothing that can be paid out or given away.
    if (settlement.kind !== "writeOff" && balanceMicros < 0n) return { kind: "holds money", balanceMicros };
    if (settlement.kind !== "transfer") {
      const other = tables.wallets.ofService(service, currency);
      const [action, reason] =
        settlement.kind === "writeOff"
          ? (["writeOff", settlement.reason] as const)
          : (["takeBack", "paid out: the account is retired"] as const);
      tables.wallets.post({ atMs, kind: "funds", ...between(wallet, other, -balanceMicros), description: reason });
      await audit(account, wallet, { ...entry, action, reason });
      return SETTLED;
    }
    if (heir === null) return { kind: "no heir", why: "unknown" };
    if (heir.id === account.id) return { kind: "no heir", why: "itself" };
    if (heir.retiredAtMs !== null) return { kind: "no heir", why: "retired" };
    if (heir.currency !== currency) return { kind: "no heir", why: "other currency" };
    const target = tables.wallets.ofAccount(heir.id);
    if (isTooLarge(target, balanceMicros)) return { kind: "no heir", why: "too large" };
    // Whoever reads the statement or the audit of one of them may not know that there is the other.
    const isOneTenant = account.parentId === heir.parentId;
    const named = `balance of ${account.key}, which is retired, to ${heir.key}`;
    const description = isOneTenant ? named : "balance of a retired account";
    tables.wallets.post({ atMs, kind: "funds", ...between(wallet, target.id, -balanceMicros), description });
    await audit(account, wallet, { ...entry, action: "transfer", reason: description });
    await audit(heir, target, { ...entry, amountMicros: balanceMicros, action: "transfer", reason: description });
    return SETTLED;
  };
}
