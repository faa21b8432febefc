/** Choices that a seed repeats. */
import { type Random, seededRandom } from "../../../src/runtime/random.ts";

export class Chance {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** A whole number below `bound`. */
  below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  /** True so many times out of a hundred. */
  percent(share: number): boolean {
    return this.below(100) < share;
  }
}
