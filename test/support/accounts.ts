/** What tests of accounts share: more accounts, changes to them that no command makes yet, and how often a password was worked on. */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import type { TestContext } from "node:test";
import Database from "better-sqlite3";
import pg from "pg";
import { hashPassword } from "../../src/auth/passwords.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Account, AccountKind, NewAccount } from "../../src/store/port/accounts.ts";
import type { Store } from "../../src/store/port/store.ts";
import { databases } from "./service.ts";

export interface TestAccount extends Pick<NewAccount, "allowedSenders" | "allowedAddresses" | "limits"> {
  readonly key: string;
  readonly kind?: AccountKind;
  readonly parentKey?: string | null;
  readonly currency?: string;
  readonly defaultSender?: string;
  readonly creditLimitMicros?: bigint;
  readonly balanceMicros?: bigint;
  readonly username?: string;
  readonly password?: string;
  readonly retryMinutes?: readonly number[];
}

/** A client of the demo reseller, with no money, unless it is said otherwise. */
export async function addAccount(store: Store, account: TestAccount): Promise<Account> {
  const { key, kind = "client", username = key, allowedSenders = null, allowedAddresses = null, limits = {} } = account;
  const made = await store.createAccount({
    key,
    kind,
    parentKey: account.parentKey === undefined ? (kind === "client" ? "RESELLER1" : null) : account.parentKey,
    currency: account.currency ?? "EUR",
    ratePlanId: "standard",
    defaultSender: account.defaultSender ?? null,
    allowedSenders,
    allowedAddresses,
    limits,
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
export async function changeAccounts(directory: string, sql: string, ...values: unknown[]): Promise<void> {
  const changed = await onRows(directory, `${sql} RETURNING 1`, ...values);
  if (changed.length === 0) throw new Error(`nothing was changed by ${sql}`);
  await onRows(directory, "UPDATE counter SET changes = changes + 1 RETURNING 1");
}

/** A statement on the store's rows, beside the service that runs on it. It returns something on either engine. */
export async function onRows(
  directory: string,
  sql: string,
  ...values: unknown[]
): Promise<readonly Record<string, unknown>[]> {
  const url = databases.get(directory);
  if (url !== undefined) return onDatabase(url, sql, values);
  const db = openData(directory);
  try {
    return db.prepare<unknown[], Record<string, unknown>>(sql).all(...values);
  } finally {
    db.close();
  }
}

async function onDatabase(url: string, sql: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let count = 0;
    return (
      await client.query(
        sql.replaceAll("?", () => `$${++count}`),
        values,
      )
    ).rows;
  } finally {
    await client.end();
  }
}

/** All that the store holds, as text to look through. */
export async function everythingIn(directory: string): Promise<string> {
  if (databases.has(directory)) {
    const tables = await onRows(directory, "SELECT relname FROM pg_stat_user_tables");
    const rows = tables.map(({ relname }) => onRows(directory, `SELECT row_to_json(t) AS row FROM ${relname} AS t`));
    return JSON.stringify(await Promise.all(rows));
  }
  const db = openData(directory);
  try {
    return db.serialize().toString("latin1");
  } finally {
    db.close();
  }
}

/** The embedded store's file. */
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
