/** What requests about an account's money come to when one comes after the other, and whether some order of them explains what several at once came to. */

export interface Money {
  readonly balance: bigint;
  readonly limit: bigint;
  /** An alert is told when the balance goes below it. */
  readonly mark: bigint | null;
  /** The balances that alerts have told, sorted: several nodes tell them. */
  readonly told: readonly bigint[];
}

export type Request =
  /** Messages of one request, by what each of them costs. */
  | { readonly kind: "send"; readonly costs: readonly bigint[] }
  | { readonly kind: "refund"; readonly cost: bigint }
  /** A reseller's top-up or take-back. */
  | { readonly kind: "fund"; readonly amount: bigint }
  /** An operator's correction, within the credit limit. */
  | { readonly kind: "correct"; readonly amount: bigint }
  | { readonly kind: "limit"; readonly limit: bigint }
  | { readonly kind: "alert"; readonly mark: bigint | null };

/** `answer` is null where nobody has heard one: it was done, or it was not. */
export interface Made {
  readonly request: Request;
  readonly answer: string | null;
}

interface Outcome {
  readonly answer: string;
  readonly after: Money;
}

export const sorted = (balances: readonly bigint[]): bigint[] =>
  balances.toSorted((one, other) => (one < other ? -1 : 1));

function moved(money: Money, amount: bigint): Money {
  const balance = money.balance + amount;
  const { mark } = money;
  const passes = mark !== null && money.balance >= mark && balance < mark;
  return { ...money, balance, told: passes ? sorted([...money.told, balance]) : money.told };
}

export function outcomeOf(money: Money, request: Request): Outcome {
  const { balance, limit } = money;
  switch (request.kind) {
    case "send": {
      let charged = 0n;
      const taken = request.costs.map((cost) => {
        const fits = charged + cost <= balance + limit;
        if (fits) charged += cost;
        return fits;
      });
      return { answer: taken.join(), after: moved(money, -charged) };
    }
    case "refund":
      return { answer: "", after: moved(money, request.cost) };
    case "fund":
      if (request.amount < 0n && balance + request.amount < 0n) return { answer: "below zero", after: money };
      return { answer: "posted", after: moved(money, request.amount) };
    case "correct":
      if (request.amount < 0n && balance + request.amount < -limit) return { answer: "below limit", after: money };
      return { answer: "moved", after: moved(money, request.amount) };
    case "limit":
      if (balance < -request.limit) return { answer: "owes more", after: money };
      return { answer: "changed", after: { ...money, limit: request.limit } };
    case "alert": {
      const { mark } = request;
      // Set on a balance that is below it already, it is told at once.
      const isTold = mark !== money.mark && mark !== null && balance < mark;
      return {
        answer: "changed",
        after: { ...money, mark, told: isTold ? sorted([...money.told, balance]) : money.told },
      };
    }
  }
}

const isSame = (one: Money, other: Money): boolean =>
  one.balance === other.balance &&
  one.limit === other.limit &&
  one.mark === other.mark &&
  `${one.told}` === `${other.told}`;

/** Whether there is an order in which these requests, each after the one before it, are answered so and lead from one state to the other. */
export function isExplained(from: Money, made: readonly Made[], to: Money): boolean {
  if (made.length === 0) return isSame(from, to);
  return made.some(({ request, answer }, index) => {
    const others = made.toSpliced(index, 1);
    const outcome = outcomeOf(from, request);
    if (answer === null && isExplained(from, others, to)) return true;
    return (answer ?? outcome.answer) === outcome.answer && isExplained(outcome.after, others, to);
  });
}
