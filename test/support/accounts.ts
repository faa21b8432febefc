/** What tests of accounts share: more accounts, changes to them that no command makes yet, and how often a password was worked on. */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import type { TestContext } from "node:test";
import Database from "better-sqlite3";
import { hashPassword } from "../../src/accounts/passwords.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Account, AccountKind, Store } from "../../src/store/port.ts";

export interface TestAccount {
  readonly key: string;
  readonly kind?: AccountKind;
  readonly parentKey?: string | null;
  readonly currency?: string;
  readonly creditLimitMicros?: bigint;
  readonly balanceMicros?: bigint;
  readonly username?: string;
  readonly password?: string;
  readonly retryMinutes?: readonly number[];
}

/** A client of the demo reseller, with no money, unless it is said otherwise. */
export async function addAccount(store: Store, account: TestAccount): Promise<Account> {
  const { key, kind = "client", username = key } = account;
  const made = await store.createAccount({
    key,
    kind,
    parentKey: account.parentKey === undefined ? (kind === "client" ? "RESELLER1" : null) : account.parentKey,
    currency: account.currency ?? "EUR",
    ratePlanId: "standard",
    defaultSender: null,
    creditLimitMicros: account.creditLimitMicros ?? 0n,
    openingBalanceMicros: account.balanceMicros ?? 0n,
    callbackSecret: "whsec_AAAA",
    ...(account.retryMinutes === undefined ? {} : { retryMinutes: account.retryMinutes }),
    username,
    passwordHash: await hashOf(account.password ?? "password"),
    atMs: systemClock.now(),
  });
  if (made.kind !== "created") throw new Error(made.kind);
  return made.account;
}

const hashes = new Map<string, Promise<string>>();

/** A hash is made once for each password: it takes long on purpose, and tests have many accounts. */
function hashOf(password: string): Promise<string> {
  const hash = hashes.get(password) ?? hashPassword(password);
  hashes.set(password, hash);
  return hash;
}

/** Changes rows of a running service's store from outside, and says that accounts have changed, as a command would. */
export function changeAccounts(directory: string, sql: string, ...values: unknown[]): void {
  const db = openData(directory);
  try {
    db.transaction(() => {
      if (db.prepare(sql).run(...values).changes === 0) throw new Error(`nothing was changed by ${sql}`);
      db.exec("UPDATE counter SET changes = changes + 1");
    }).immediate();
  } finally {
    db.close();
  }
}

/** The store's file, beside the service that runs on it. */
export function openData(directory: string): Database.Database {
  return new Database(join(directory, "heliograph.sqlite"), { fileMustExist: true, timeout: 5_000 });
}

type ScryptCallback = (error: Error | null, key: Buffer) => void;
type Scrypt = (
  password: string,
  salt: Buffer,
  keyLength: number,
  options: crypto.ScryptOptions,
  done: ScryptCallback,
) => void;

export interface ScryptCall {
  readonly password: string;
  readonly keyLength: number;
  readonly options: crypto.ScryptOptions;
}

/** Puts `replacement` in the place of scrypt until the test ends. */
function replaceScrypt(t: TestContext, replacement: Scrypt): void {
  t.mock.method(crypto, "scrypt", replacement);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

/** Every scrypt from now on is noted, and done. */
export function watchScrypt(t: TestContext): readonly ScryptCall[] {
  const calls: ScryptCall[] = [];
  const real = crypto.scrypt;
  replaceScrypt(t, (password, salt, keyLength, options, done) => {
    calls.push({ password, keyLength, options });
    real(password, salt, keyLength, options, done);
  });
  return calls;
}

export class HeldScrypt {
  readonly #held: (() => void)[] = [];
  #released = false;
  mostAtOnce = 0;

  /** Every scrypt from now on waits for `release`, and then finds the password wrong. */
  constructor(t: TestContext) {
    replaceScrypt(t, (_password, _salt, keyLength, _options, done) => {
      const finish = (): void => done(null, Buffer.alloc(keyLength));
      if (this.#released) {
        setImmediate(finish);
        return;
      }
      this.#held.push(finish);
      this.mostAtOnce = Math.max(this.mostAtOnce, this.#held.length);
    });
  }

  release(): void {
    this.#released = true;
    for (const finish of this.#held.splice(0)) finish();
  }
}
