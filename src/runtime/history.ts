/** Numbers that were looked at again and again, the newest so many of them: a history that takes the same room however long it is. Pure. */

export class History<Name extends string> {
  readonly #capacity: number;
  readonly #names: readonly Name[];
  readonly #times: Float64Array;
  readonly #values: Record<Name, Float64Array>;
  #count = 0;

  constructor(capacity: number, names: readonly Name[]) {
    this.#capacity = capacity;
    this.#names = names;
    this.#times = new Float64Array(capacity);
    this.#values = Object.fromEntries(names.map((name) => [name, new Float64Array(capacity)])) as Record<
      Name,
      Float64Array
    >;
  }

  /** What is null was not known then. */
  add(atMs: number, values: Readonly<Record<Name, number | null>>): void {
    const place = this.#count++ % this.#capacity;
    this.#times[place] = atMs;
    for (const name of this.#names) this.#values[name][place] = values[name] ?? Number.NaN;
  }

  /** The newest `count` of them, oldest first, in groups of `each`, of which the mean stands there and the time of the last. */
  history(count: number, each = 1): { atMs: number[] } & Record<Name, (number | null)[]> {
    const all: number[][] = [];
    for (let index = Math.max(0, this.#count - Math.min(count, this.#capacity)); index < this.#count; index++) {
      // Groups are counted from the start, so that what is in one stays in it when another sample comes.
      if (all.length === 0 || index % each === 0) all.push([]);
      all.at(-1)!.push(index % this.#capacity);
    }
    const lists = this.#names.map((name) => [name, all.map((group) => meanOf(this.#values[name], group))] as const);
    return { atMs: all.map((group) => this.#times[group.at(-1)!]!), ...Object.fromEntries(lists) } as {
      atMs: number[];
    } & Record<Name, (number | null)[]>;
  }
}

/** To three places: what is shown is a line. */
function meanOf(values: Float64Array, places: readonly number[]): number | null {
  const known = places.map((place) => values[place]!).filter((value) => !Number.isNaN(value));
  if (known.length === 0) return null;
  return Math.round((known.reduce((sum, value) => sum + value, 0) / known.length) * 1_000) / 1_000;
}
