/**
 * Passwords: scrypt with a salt of its own for each, at a cost that is written beside the hash so that it can be raised later.
 * Checking one takes tens of milliseconds and 32 MB on purpose; so few are checked at once. Of those that wait, whoever was let in before from the same
 * address goes first, and the others by turns of their networks: a thousand guesses from one of them hold up nobody elsewhere. Past a bound of
 * waiting ones, and after a while, the answer is "busy".
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { type Clock, systemClock, type Timer } from "../runtime/clock.ts";
import { FairQueue } from "../runtime/fair-queue.ts";

interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

const COST: Cost = { N: 2 ** 15, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** To bring a text into its normal form takes the square of its length where it has many marks on one letter: no longer one is looked at. */
const MAX_PASSWORD_BYTES = 1_024;
const AT_ONCE = 2;
/** Of one network; of all together, those who were let in before and the others each. */
const WAITING_OF_NETWORK = 64;
const WAITING = 256;
const MAX_WAIT_MS = 10_000;

export class TooManyLogins extends Error {}

/** Who brings a password. */
export interface Asker {
  readonly network: string;
  /** As this user, from the same address, before. */
  readonly wasLetIn: boolean;
}

interface Waiting {
  readonly timer: Timer;
  /** Null once it has waited for too long. */
  begin: (() => void) | null;
}

const ON_THIS_MACHINE: Asker = { network: "", wasLetIn: true };

/** Longer than any password may be. */
export function isTooLong(password: string): boolean {
  // A UTF-16 unit is an octet at least: what is far too long is not even measured.
  return password.length > MAX_PASSWORD_BYTES || Buffer.byteLength(password) > MAX_PASSWORD_BYTES;
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (isTooLong(password)) throw new RangeError(`a password has at most ${MAX_PASSWORD_BYTES} octets`);
    // Node's default ceiling (32 MiB) is just below what N = 2^15 takes.
    const options = { ...cost, maxmem: 256 * cost.N * cost.r };
    scrypt(password.normalize("NFC"), salt, HASH_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return stored(salt, await derive(password, salt, COST));
}

/** The form in which a hash is kept. */
function stored(salt: Buffer, hash: Buffer): string {
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

async function matches(password: string, kept: string): Promise<boolean> {
  const [, N, r, p, salt = "", hash = ""] = kept.split("$");
  const expected = Buffer.from(hash, "base64url");
  const actual = await derive(password, Buffer.from(salt, "base64url"), { N: Number(N), r: Number(r), p: Number(p) });
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

export class PasswordChecker {
  readonly #clock: Clock;
  /** Of no password: to check against it takes as long as against another. */
  readonly #decoy = stored(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  readonly #letIn = new FairQueue<Waiting, string>();
  readonly #others = new FairQueue<Waiting, string>();
  #running = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Takes the same time whether there is a stored hash (a known user) or not. */
  async check(password: string, kept: string | null, asker: Asker = ON_THIS_MACHINE): Promise<boolean> {
    // Nobody has it, whoever the user is.
    if (isTooLong(password)) return false;
    await this.#enter(asker);
    try {
      const right = await matches(password, kept ?? this.#decoy);
      return right && kept !== null;
    } finally {
      this.#leave();
    }
  }

  async #enter({ network, wasLetIn }: Asker): Promise<void> {
    if (this.#running < AT_ONCE) {
      this.#running++;
      return;
    }
    const queue = wasLetIn ? this.#letIn : this.#others;
    if (queue.size >= WAITING || queue.countOf(network) >= WAITING_OF_NETWORK) throw new TooManyLogins();
    await new Promise<void>((resolve, reject) => {
      const timer = this.#clock.after(MAX_WAIT_MS, () => {
        waiting.begin = null;
        reject(new TooManyLogins());
      });
      const waiting: Waiting = { timer, begin: resolve };
      queue.push(network, waiting);
    });
  }

  /** The place goes straight to whoever is next, so that nobody slips in between. */
  #leave(): void {
    for (;;) {
      const next = this.#letIn.shift() ?? this.#others.shift();
      if (next === undefined) {
        this.#running--;
        return;
      }
      next.timer.cancel();
      if (next.begin === null) continue;
      next.begin();
      return;
    }
  }
}
