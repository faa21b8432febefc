/** What can go wrong at a provider, set while it runs. Each fault strikes always, in a share of the cases, or so many times. */
import type { Random } from "../runtime/random.ts";

const FAULT_NAMES = [
  "tooFast", // 429, or what the API says in its place
  "broken", // 5xx
  "noAnswer", // it takes the message, and the connection ends without an answer
  "lostRequest", // the connection ends, and the message was not taken
  "halfAnswer", // the answer ends in its middle
  "wrongJson", // the answer is none that can be read
  "slowAnswer", // it takes the message, and answers after `ms`
  "refused", // it refuses the message, with its own `code`
  "receiptsLost",
  "receiptsTwice",
  "receiptsLate", // after `ms` more
  "receiptsReordered", // the last word comes before the others
  "receiptsFailed", // the phone did not take it, for the reason that the provider calls `code`
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

export interface Fault {
  readonly probability?: number;
  readonly count?: number;
  readonly ms?: number;
  readonly code?: string;
}

export type Faults = { readonly [Name in FaultName]?: Fault };

export class BadFaults extends Error {}

const FIELDS = ["probability", "count", "ms", "code"];
const MAX_CODE = 100;

/** `true` is a fault that strikes always. */
export function readFaults(value: unknown): Faults {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadFaults("faults must be an object");
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, fault]) => {
      if (!(FAULT_NAMES as readonly string[]).includes(name))
        throw new BadFaults(`${name} is no fault: there are ${FAULT_NAMES.join(", ")}`);
      if (fault === false) return [];
      return [[name, fault === true ? {} : readFault(name, fault)]];
    }),
  );
}

function readFault(name: string, fault: unknown): Fault {
  if (typeof fault === "number") return { probability: share(name, fault) };
  if (typeof fault !== "object" || fault === null)
    throw new BadFaults(`${name} must be true, a share from 0 to 1, or an object with ${FIELDS.join(", ")}`);
  for (const [field, each] of Object.entries(fault)) {
    if (!FIELDS.includes(field)) throw new BadFaults(`${name} has no ${field}: there are ${FIELDS.join(", ")}`);
    if (field === "probability") share(name, each);
    else if (field === "code") {
      if (typeof each !== "string" || each.length > MAX_CODE)
        throw new BadFaults(`${name}.code must be a text of at most ${MAX_CODE} characters`);
    } else if (!Number.isSafeInteger(each) || (each as number) < 0)
      throw new BadFaults(`${name}.${field} must be a whole number`);
  }
  return fault;
}

function share(name: string, value: unknown): number {
  if (typeof value !== "number" || !(value >= 0 && value <= 1))
    throw new BadFaults(`${name} must be a share from 0 to 1`);
  return value;
}

export class ActiveFaults {
  readonly #random: Random;
  #faults: Faults = {};
  readonly #struck = new Map<FaultName, number>();

  constructor(random: Random, faults: Faults) {
    this.#random = random;
    this.#faults = faults;
  }

  get all(): Faults {
    return this.#faults;
  }

  set all(faults: Faults) {
    this.#faults = faults;
    this.#struck.clear();
  }

  /** The fault if it strikes now. */
  strikes(name: FaultName): Fault | null {
    const fault = this.#faults[name];
    if (fault === undefined) return null;
    const before = this.#struck.get(name) ?? 0;
    if (fault.count !== undefined && before >= fault.count) return null;
    if (fault.probability !== undefined && this.#random.next() >= fault.probability) return null;
    this.#struck.set(name, before + 1);
    return fault;
  }
}
