/** The service's own purses of this node, by their ids, which never change: made once, in a transaction of their own, and then known. */
import type { Pool } from "./connection.ts";

const NAMES = ["payments", "revenue"] as const;
type Name = (typeof NAMES)[number];

export class ServicePurses {
  readonly #pool: Pool;
  /** The node's number: purses that all nodes change at every turn would have them wait for each other. */
  readonly #shard: number;
  readonly #ids = new Map<string, number>();

  constructor(pool: Pool, shard: number) {
    this.#pool = pool;
    this.#shard = shard;
  }

  async ensure(currencies: readonly string[]): Promise<void> {
    for (const currency of new Set(currencies)) {
      if (this.#ids.has(`${NAMES[0]} ${currency}`)) continue;
      for (const name of NAMES) await this.#open(name, currency);
    }
  }

  async #open(name: Name, currency: string): Promise<void> {
    await this.#pool.use(async (session) => {
      const values = [name, currency, this.#shard];
      await session.query(
        "INSERT INTO purse (name, currency, shard) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        values,
      );
      const { rows } = await session.query<{ id: number }>(
        "SELECT id FROM purse WHERE account_id IS NULL AND name = $1 AND currency = $2 AND shard = $3",
        values,
      );
      this.#ids.set(`${name} ${currency}`, rows[0]!.id);
    });
  }

  idOf(name: Name, currency: string): number {
    const id = this.#ids.get(`${name} ${currency}`);
    if (id === undefined) throw new Error(`there is no purse for ${name} in ${currency}`);
    return id;
  }
}
