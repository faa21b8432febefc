/**
 * A map for values that come and go by the thousand a second. V8's own keeps what it held: when a Map grows or has many deleted entries it takes
 * another table, the old one still names all values that it had, and once it has grown old itself only a collection of the whole heap sees
 * that it is dead. Here the map holds numbers of places, and a value's place is cleared when it goes.
 */
export class SlotMap<Key, Value> {
  readonly #places = new Map<Key, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  set(key: Key, value: Value): void {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#free.pop() ?? this.#values.length;
      this.#places.set(key, place);
    }
    this.#values[place] = value;
  }

  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    this.#values[place] = undefined;
    this.#free.push(place);
    return true;
  }

  clear(): void {
    this.#places.clear();
    this.#values.length = 0;
    this.#free.length = 0;
  }

  /** In the order in which they came. */
  *entries(): IterableIterator<[Key, Value]> {
    for (const [key, place] of this.#places) yield [key, this.#values[place]!];
  }

  *values(): IterableIterator<Value> {
    for (const place of this.#places.values()) yield this.#values[place]!;
  }
}
