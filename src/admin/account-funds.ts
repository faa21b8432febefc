/** An operator moves the money of an account: tops it up, takes back, corrects for a reason; and says where the rest goes when it is retired. */
import { MAX_AMOUNT, money, parseMicros } from "../money/amounts.ts";
import { FUNDS_MOVES, type FundsMoveKind, type Settlement } from "../money/postings.ts";
import { ACCOUNT_KEY_SAYS, isAccountKey } from "../store/names.ts";
import type { AccountChangeOutcome, ManagedAccount } from "../store/port/accounts.ts";
import type { ReplayGuard } from "../store/port/messages.ts";
import type { FundsMoveOutcome } from "../store/port/money.ts";
import type { Store } from "../store/port/store.ts";
import { checkText, type Manager, retired, signed } from "./manager.ts";
import { conflict, invalid, type Refused, unknownAccount } from "./refusal.ts";

/** Characters of a reason: as many as the description of a reseller's funds has. */
export const MAX_REASON = 255;

export interface FundsOrder {
  readonly kind: FundsMoveKind;
  /** More than zero; what a correction changes the balance by may be below. */
  readonly amount: number | string;
  /** A correction has one. */
  readonly reason?: string;
}

export interface MovedFunds {
  readonly transactionId: number;
  /** What the balance has changed by. */
  readonly amountMicros: bigint;
  /** What it was right after that. */
  readonly balanceMicros: bigint;
  readonly currency: string;
  /** It was done before, with the same key, and nothing was moved now. */
  readonly isRepeat: boolean;
}

/** "key reused" means that the idempotency key came with another request before. */
export async function moveFunds(
  store: Pick<Store, "moveFunds">,
  manager: Manager,
  accountKey: string,
  order: FundsOrder,
  replay: ReplayGuard | null = null,
): Promise<MovedFunds | "key reused"> {
  const { kind } = order;
  const amountMicros = checkedAmount(order);
  const reason = checkedReason(order);
  const operatorId = manager.account?.id ?? null;
  const move = { operatorId, accountKey, kind, amountMicros, reason, replay, ...signed(manager) };
  const outcome = await store.moveFunds(move);
  if (outcome.kind === "conflict") return "key reused";
  if (outcome.kind !== "moved") throw moveRefused(outcome, accountKey, amountMicros);
  const { transactionId, after, isRepeat = false } = outcome;
  return { transactionId, amountMicros, ...after, isRepeat };
}

/** What the balance is to change by. */
function checkedAmount({ kind, amount }: FundsOrder): bigint {
  if (!FUNDS_MOVES.includes(kind)) throw invalid("kind", `must be one of ${FUNDS_MOVES.join(", ")}`);
  const text = String(amount);
  const micros = parseMicros(text);
  const isCorrection = kind === "correction";
  if (micros === null || micros === 0n || (micros < 0n && !isCorrection)) {
    const which = isCorrection ? "other than 0" : "above 0";
    throw invalid("amount", `must be a decimal number ${which} with at most 6 places`, text);
  }
  if (micros > MAX_AMOUNT || micros < -MAX_AMOUNT) throw invalid("amount", "is too large");
  return kind === "takeBack" ? -micros : micros;
}

function checkedReason({ kind, reason }: FundsOrder): string | null {
  if (reason !== undefined) return checkedText("reason", reason);
  if (kind === "correction") throw invalid("reason", "is required: say why the balance is corrected");
  return null;
}

function checkedText(field: string, text: string): string {
  checkText(field, text);
  if (text.trim() === "" || [...text].length > MAX_REASON)
    throw invalid(field, `must be 1 to ${MAX_REASON} characters long, and not blank`);
  return text;
}

type Unmoved = Exclude<FundsMoveOutcome, { kind: "moved" }>;

function moveRefused(outcome: Unmoved, accountKey: string, amountMicros: bigint): Refused {
  switch (outcome.kind) {
    case "below limit": {
      const { now, creditLimitMicros } = outcome;
      const has = money(now.balanceMicros, now.currency);
      const most = money(now.balanceMicros + creditLimitMicros, now.currency);
      const limit = creditLimitMicros === 0n ? "" : ` and a credit limit of ${money(creditLimitMicros, now.currency)}`;
      return conflict(`the account has ${has}${limit}: no more than ${most} can be taken from it`, "amount");
    }
    case "too large": {
      const { balanceMicros, currency } = outcome.now;
      const would = money(balanceMicros + amountMicros, currency);
      return conflict(`the balance would be ${would}, and ${money(MAX_AMOUNT, currency)} is the most`, "amount");
    }
    case "retired":
      return retired();
    default:
      return unknownAccount(accountKey);
  }
}

// --- Where the balance of a retired account goes --------------------------------------------------------------------------------

/** At most one of them. */
export interface RetireOrder {
  /** The key of the account that has it from then on. */
  readonly balanceTo?: string;
  /** It was given back outside of the service. */
  readonly paidOut?: boolean;
  /** It is given up: why. */
  readonly writeOff?: string;
}

export function checkedSettlement({ balanceTo, paidOut, writeOff }: RetireOrder): Settlement | null {
  const given: [field: string, settlement: () => Settlement][] = [];
  if (balanceTo !== undefined) given.push(["balanceTo", () => ({ kind: "transfer", toKey: checkedKey(balanceTo) })]);
  if (paidOut === true) given.push(["paidOut", () => ({ kind: "paidOut" })]);
  if (writeOff !== undefined)
    given.push(["writeOff", () => ({ kind: "writeOff", reason: checkedText("writeOff", writeOff) })]);
  const [first, second] = given;
  if (first === undefined) return null;
  if (second !== undefined) throw invalid(second[0], "goes with no other: the balance goes to one place");
  return first[1]();
}

function checkedKey(key: string): string {
  if (!isAccountKey(key)) throw invalid("balanceTo", ACCOUNT_KEY_SAYS);
  return key;
}

type Unsettled = Extract<AccountChangeOutcome, { kind: "holds money" } | { kind: "no heir" }>;

export function settlementRefused(
  outcome: Unsettled,
  settlement: Settlement | null,
  { currency }: Pick<ManagedAccount, "currency">,
): Refused {
  if (outcome.kind === "no heir") {
    const key = settlement?.kind === "transfer" ? settlement.toKey : "";
    switch (outcome.why) {
      case "unknown":
        return invalid("balanceTo", `names no account: there is no "${key}"`);
      case "retired":
        return invalid("balanceTo", `names no account that can have it: "${key}" is retired`);
      case "itself":
        return invalid("balanceTo", "must be another account than the one that is retired");
      case "other currency":
        return invalid("balanceTo", `names an account in another currency: this one is in ${currency}`);
      case "too large":
        return conflict(`the balance of ${key} would be beyond ${money(MAX_AMOUNT, currency)}`, "balanceTo");
    }
  }
  const { balanceMicros } = outcome;
  if (balanceMicros < 0n) {
    const owes = money(-balanceMicros, currency);
    return conflict(
      `the account owes ${owes}: top it up with what was paid, or write that off for a reason`,
      "writeOff",
    );
  }
  const has = money(balanceMicros, currency);
  const ways = "to another account, paid out, or written off for a reason";
  return conflict(`the account has ${has}: say where that goes, ${ways}`, "balanceTo");
}
