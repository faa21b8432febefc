/**
 * Passwords: scrypt with a salt of its own for each, at a cost that is written beside the hash so that it can be raised later.
 * Checking one takes tens of milliseconds and 32 MB on purpose; so few are checked at once, and past a bound of waiting ones the
 * answer is "busy" and not a queue.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

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
const WAITING = 64;

export class TooManyLogins extends Error {}

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
  /** Of no password: to check against it takes as long as against another. */
  readonly #decoy = stored(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** Takes the same time whether there is a stored hash (a known user) or not. */
  async check(password: string, kept: string | null): Promise<boolean> {
    // Nobody has it, whoever the user is.
    if (isTooLong(password)) return false;
    await this.#enter();
    try {
      const right = await matches(password, kept ?? this.#decoy);
      return right && kept !== null;
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < AT_ONCE) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= WAITING) throw new TooManyLogins();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place goes straight to whoever waits longest, so that nobody slips in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next();
  }
}
