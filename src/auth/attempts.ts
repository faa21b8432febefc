/**
 * Wrong logins are slowed down: after a few of them the next one has to wait, twice as long each time, and whoever comes earlier is
 * told so without a look at what he brings. What is wrong is counted
 *
 *   for a user from one address     strictly: a few guesses
 *   from one address                whoever the user is
 *   for a user from anywhere        but only from addresses that this user has never logged in from: somebody who guesses at a
 *                                   name from all over the world does not lock its owner out at home
 *
 * and, apart from these, wrong API keys and tokens from one address: they cannot be guessed, and a check is cheap, but not for nothing.
 *
 * A secret that was right from the same address before is not held up by what others do there (an office, a proxy that we were not told
 * of, a forgotten job with an old password). To compare it is a way to guess, so there is a bound on that too.
 *
 * All of this is one node's, in memory, and bounded; the names and secrets in it are hashes under a key that ends with the process.
 */
import { hash, randomBytes } from "node:crypto";
import { type Backoff, backoffMs } from "../runtime/backoff.ts";
import { type BoundedCache, boundedCache, expiringCache } from "../runtime/cache.ts";
import type { Clock } from "../runtime/clock.ts";
import { siteOf } from "../runtime/networks.ts";

/** How many more wrong ones are free for what several users or several addresses share. */
const FREE_FACTORS = { pair: 1, address: 4, user: 4, secrets: 20 };
export type TallyKind = keyof typeof FREE_FACTORS;

const WAITS: Backoff = { firstMs: 1_000, maxMs: 5 * 60_000, jitter: 0 };
/** Quiet for so long, and what was wrong is forgotten. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;
/** For so long after its last use an address is known to be a user's own. */
const KNOWN_FOR_MS = 30 * 24 * 60 * 60_000;
/** Of each kind; the one used longest ago makes room. */
const MAX_TALLIES = 10_000;
const MAX_KNOWN = 10_000;
/** Wrong passwords that are compared with the known one while the user has to wait. */
const MAX_COMPARED = 1_000;

/** How long an attempt waits for others that count in the same. */
const MAX_TURN_MS = 10_000;

export interface LoginAttemptsSettings {
  /** Wrong ones for a user from an address before the first wait. */
  readonly loginAttempts: number;
}

/** Too many were wrong; nothing was checked. */
export class TooManyAttempts extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super("too many wrong logins");
    this.waitMs = waitMs;
  }
}

type Outcome = "right" | "wrong" | "unknown";

/** What was wrong, and is being checked, under one name. */
class Tally {
  readonly kind: TallyKind;
  readonly #free: number;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #wrong = 0;
  #checking = 0;
  #untilMs = 0;
  #seenAtMs: number;
  /** How many were compared with the known secret while it waited. */
  compared = 0;

  constructor(kind: TallyKind, loginAttempts: number, clock: Clock) {
    this.kind = kind;
    this.#free = loginAttempts * FREE_FACTORS[kind];
    this.#clock = clock;
    this.#seenAtMs = clock.monotonic();
  }

  get isForgotten(): boolean {
    return this.#checking === 0 && this.#clock.monotonic() - this.#seenAtMs >= FORGOTTEN_AFTER_MS;
  }

  /** Nothing is under way, and nothing was wrong. */
  get isIdle(): boolean {
    return this.#checking === 0 && this.#wrong === 0;
  }

  /** How long it is until somebody may try again. */
  get waitMs(): number {
    return this.#wrong < this.#free ? 0 : Math.max(0, this.#untilMs - this.#clock.monotonic());
  }

  /** No more are checked at a time than may be wrong: of a thousand at once the first few decide about the rest. */
  get isFull(): boolean {
    return this.#checking >= Math.max(1, this.#free - this.#wrong);
  }

  /** Until a check under this name has ended. */
  change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  begin(): void {
    this.#checking++;
  }

  end(): void {
    this.#checking--;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Tells whether the first wait begins with it. */
  count(outcome: Outcome): boolean {
    // Whoever knows one user's password has shown nothing about the others.
    if (outcome === "right" && this.kind === "pair") this.#wrong = 0;
    if (outcome !== "wrong") return false;
    this.#wrong++;
    this.#seenAtMs = this.#clock.monotonic();
    const over = this.#wrong - this.#free;
    if (over >= 0) this.#untilMs = this.#seenAtMs + backoffMs(WAITS, over + 1);
    return over === 0;
  }
}

/** What an attempt is made with. */
export type Attempted =
  | { readonly address: string; readonly username: string; readonly password: string }
  | { readonly address: string; readonly secret: string };

export interface LoginAttemptsParts {
  readonly settings: LoginAttemptsSettings;
  readonly clock: Clock;
  /** Told when a first wait begins; with the user, where the wait is for one. */
  readonly onWait?: (kind: TallyKind, address: string, username: string | null) => void;
  /** Told of every password that is wrong, with the user as it was given. */
  readonly onWrong?: (username: string, address: string) => void;
}

/** What an attempt is counted and known by. */
interface Names {
  readonly site: string;
  /** As it was given; null for keys and tokens. */
  readonly username: string | null;
  /** Its hash; null for keys and tokens. */
  readonly user: string | null;
  readonly proof: string;
  /** Under which its secret is known, when it was right. */
  readonly known: string;
}

export class LoginAttempts {
  readonly #parts: LoginAttemptsParts;
  readonly #key = randomBytes(32).toString("base64");
  readonly #tallies: Readonly<Record<TallyKind, BoundedCache<string, Tally>>> = {
    pair: boundedCache(MAX_TALLIES),
    address: boundedCache(MAX_TALLIES),
    user: boundedCache(MAX_TALLIES),
    secrets: boundedCache(MAX_TALLIES),
  };
  /** The secrets that were right, by user and address; of keys and tokens by the secret and the address. */
  readonly #known: BoundedCache<string, string>;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(parts: LoginAttemptsParts) {
    this.#parts = parts;
    this.#known = expiringCache(MAX_KNOWN, KNOWN_FOR_MS, parts.clock);
  }

  /** The result of `check`, where null is wrong; or TooManyAttempts, and it was not called. It is told whether the user was let in there before. */
  async attempt<Result>(
    attempted: Attempted,
    checkAs: (wasLetIn: boolean) => Promise<Result | null>,
  ): Promise<Result | null> {
    const check = () => checkAs(this.#knownProof(names.known) !== null);
    const names = this.#namesOf(attempted);
    const same = `${names.proof} ${names.site}`;
    for (;;) {
      if (this.#isProven(names)) return this.#told(attempted, await this.#checkProven(names, check));
      this.#refuseEarly(names);
      // Of those that are the same and come at once, one is looked at. If it is right, so are the others, and they need no turn.
      const underWay = this.#underWay.get(same);
      if (underWay !== undefined) {
        await underWay.catch(() => undefined);
        continue;
      }
      const attempt = this.#checkInTurn(names, check);
      this.#underWay.set(same, attempt);
      try {
        return this.#told(attempted, await attempt);
      } finally {
        this.#underWay.delete(same);
      }
    }
  }

  /** A name that nobody can have was tried: nothing is looked up for it, and nothing counted. */
  wrong(username: string, address: string): void {
    this.#parts.onWrong?.(username, address);
  }

  #told<Result>(attempted: Attempted, result: Result | null): Result | null {
    if (result === null && "username" in attempted) this.wrong(attempted.username, attempted.address);
    return result;
  }

  /** A secret that was just given out to whoever is at that address is right there: what others do wrong does not hold it up. */
  knows(secret: string, address: string): void {
    const { known, proof } = this.#namesOf({ secret, address });
    this.#known.set(known, proof);
  }

  #namesOf(attempted: Attempted): Names {
    const site = siteOf(attempted.address);
    if ("secret" in attempted) {
      const proof = this.#hash(attempted.secret);
      return { site, username: null, user: null, proof, known: `${proof} ${site}` };
    }
    const { username, password } = attempted;
    const user = this.#hash(username);
    return { site, username, user, proof: this.#hash(`${user}${password}`), known: `${user} ${site}` };
  }

  /** Whether this secret was right before, from the same address. */
  #isProven({ user, site, proof, known }: Names): boolean {
    const proven = this.#knownProof(known);
    if (proven === null) return false;
    const pair = user === null ? undefined : this.#tallies.pair.get(`${user} ${site}`);
    if (pair === undefined || pair.waitMs === 0) return proven === proof;
    if (proven === proof) return pair.compared < MAX_COMPARED;
    pair.compared++;
    return false;
  }

  async #checkProven<Result>(names: Names, check: () => Promise<Result | null>): Promise<Result | null> {
    const result = await check();
    if (result !== null) this.#known.set(names.known, names.proof);
    // What has been changed or has ended is proven no more; the address is still the user's.
    else if (names.user !== null) this.#known.set(names.known, "");
    else this.#known.delete(names.known);
    if (result === null) this.#count(this.#talliesFor(names), "wrong", names);
    return result;
  }

  async #checkInTurn<Result>(names: Names, check: () => Promise<Result | null>): Promise<Result | null> {
    const tallies = await this.#turn(names);
    let outcome: Outcome = "unknown";
    try {
      const result = await check();
      outcome = result === null ? "wrong" : "right";
      if (result !== null) this.#known.set(names.known, names.proof);
      return result;
    } finally {
      for (const [tally] of tallies) tally.end();
      this.#count(tallies, outcome, names);
    }
  }

  /** Waits until it may be checked, and gives what it is then counted in. */
  async #turn(names: Names): Promise<[Tally, string][]> {
    const fromMs = this.#parts.clock.monotonic();
    for (;;) {
      this.#refuseEarly(names);
      if (this.#parts.clock.monotonic() - fromMs > MAX_TURN_MS) throw new TooManyAttempts(WAITS.firstMs);
      const tallies = this.#talliesFor(names);
      const full = tallies.find(([tally]) => tally.isFull)?.[0];
      if (full === undefined) {
        for (const [tally] of tallies) tally.begin();
        return tallies;
      }
      await full.change();
    }
  }

  /** Whoever comes before his time is told so. */
  #refuseEarly(names: Names): void {
    const tallies = this.#talliesFor(names);
    const waitMs = Math.max(...tallies.map(([tally]) => tally.waitMs));
    this.#count(tallies, "unknown", names);
    if (waitMs > 0) throw new TooManyAttempts(waitMs);
  }

  /** Those that an attempt counts in, and has to wait for, by their names. */
  #talliesFor({ site, user, known }: Names): [Tally, string][] {
    if (user === null) return [this.#tally("secrets", site)];
    const pair = this.#tally("pair", `${user} ${site}`);
    return this.#knownProof(known) === null ? [pair, this.#tally("address", site), this.#tally("user", user)] : [pair];
  }

  #tally(kind: TallyKind, name: string): [Tally, string] {
    const tallies = this.#tallies[kind];
    const old = tallies.get(name);
    const { settings, clock } = this.#parts;
    const tally = old === undefined || old.isForgotten ? new Tally(kind, settings.loginAttempts, clock) : old;
    if (tally !== old) tallies.set(name, tally);
    return [tally, name];
  }

  #count(tallies: readonly [Tally, string][], outcome: Outcome, { site, username }: Names): void {
    for (const [tally, name] of tallies) {
      if (tally.count(outcome)) this.#parts.onWait?.(tally.kind, site, isOfUser(tally.kind) ? username : null);
      // What is never wrong takes no room from what is.
      if (tally.isIdle && this.#tallies[tally.kind].get(name) === tally) this.#tallies[tally.kind].delete(name);
    }
  }

  /** Looked at as if by nobody: only a right secret keeps it here. */
  #knownProof(name: string): string | null {
    return this.#known.peek(name) ?? null;
  }

  /** Every request pays for two of these. An HMAC takes twenty times as long, and nothing here is told to anybody who could go on from it. */
  #hash(text: string): string {
    return hash("sha256", `${this.#key}${text}`, "base64");
  }
}

function isOfUser(kind: TallyKind): boolean {
  return kind === "pair" || kind === "user";
}
