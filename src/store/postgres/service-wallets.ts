/**
 * The service's own wallets of this node, by their ids: made once, in a transaction of their own, and then known. They take what all accounts
 * pay, so no bound on accounts keeps them within 64 bits: one that is full is left as it is, in a shard of its own, and another takes its place.
 */
import type { PostgresPool } from "../../drivers/postgres/pool.ts";
import { MAX_WALLET } from "../../money/amounts.ts";
import type { ServiceWallet } from "../../money/postings.ts";

const NAMES: readonly ServiceWallet[] = ["payments", "revenue"];

export class ServiceWallets {
  readonly #pool: PostgresPool;
  /** The node's number: wallets that all nodes change at every turn would have them wait for each other. */
  readonly #shard: number;
  readonly #ids = new Map<string, number>();
  /** How far from nothing each may be by now: its balance when that was read, and all that was to be moved since, either way. */
  readonly #reaches = new Map<number, bigint>();

  constructor(pool: PostgresPool, shard: number) {
    this.#pool = pool;
    this.#shard = shard;
  }

  async ensure(currencies: readonly string[], names = NAMES): Promise<void> {
    for (const currency of new Set(currencies))
      for (const name of names) {
        const id = this.#ids.get(`${name} ${currency}`);
        if (id === undefined || this.#reaches.get(id)! >= MAX_WALLET) await this.#open(name, currency);
      }
  }

  async #open(name: ServiceWallet, currency: string): Promise<void> {
    await this.#pool.use(async (session) => {
      const values = [name, currency, this.#shard];
      const isOurs = "account_id IS NULL AND name = $1 AND currency = $2 AND shard = $3";
      // One that somebody moves money of at this moment waits for the next time: it could be the transaction that asks.
      await session.query(
        `UPDATE wallet SET shard = -id WHERE id IN
           (SELECT id FROM wallet WHERE ${isOurs} AND abs(balance_micros) >= ${MAX_WALLET} FOR UPDATE SKIP LOCKED)`,
        values,
      );
      await session.query(
        "INSERT INTO wallet (name, currency, shard) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        values,
      );
      const { rows } = await session.query<{ id: number; reach: string }>(
        `SELECT id, CAST(abs(balance_micros) AS text) AS reach FROM wallet WHERE ${isOurs}`,
        values,
      );
      const { id, reach } = rows[0]!;
      this.#ids.set(`${name} ${currency}`, id);
      this.#reaches.set(id, BigInt(reach));
    });
  }

  idOf(name: ServiceWallet, currency: string): number {
    const id = this.#ids.get(`${name} ${currency}`);
    if (id === undefined) throw new Error(`there is no wallet for ${name} in ${currency}`);
    return id;
  }

  /** One of them did not take what was moved: what is known of them is wrong, and they are looked at before the next posting. */
  doubt(): void {
    for (const id of this.#reaches.keys()) this.#reaches.set(id, MAX_WALLET);
  }

  /** So much is moved to this wallet or from it, if it is one of ours. */
  moves(id: number, amountMicros: bigint): void {
    const reach = this.#reaches.get(id);
    if (reach !== undefined) this.#reaches.set(id, reach + (amountMicros < 0n ? -amountMicros : amountMicros));
  }
}
