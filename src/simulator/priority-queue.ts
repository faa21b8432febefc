/**
 * A priority queue: what is to happen, by its time, and what is to happen at the same time in the order in which it was added. A binary
 * heap, so that a hundred thousand entries cost some seventeen comparisons for each one that comes or goes.
 */
interface Entry<T> {
  readonly dueMs: number;
  readonly place: number;
  readonly item: T;
}

export class PriorityQueue<T> {
  #heap: Entry<T>[] = [];
  #noted = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** When the next entry is due; Infinity when there is none. */
  get nextDueMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  note(dueMs: number, item: T): void {
    const heap = this.#heap;
    const entry: Entry<T> = { dueMs, place: this.#noted++, item };
    let hole = heap.length;
    heap.push(entry);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!comesBefore(entry, heap[parent]!)) break;
      heap[hole] = heap[parent]!;
      hole = parent;
    }
    heap[hole] = entry;
  }

  /** Takes the next entry out. */
  take(): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (heap.length > 0) this.#sinkFromTop(last);
    return first.item;
  }

  clear(): void {
    this.#heap = [];
  }

  #sinkFromTop(entry: Entry<T>): void {
    const heap = this.#heap;
    let hole = 0;
    for (;;) {
      const left = 2 * hole + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && comesBefore(heap[right]!, heap[left]!) ? right : left;
      if (!comesBefore(heap[child]!, entry)) break;
      heap[hole] = heap[child]!;
      hole = child;
    }
    heap[hole] = entry;
  }
}

function comesBefore<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.place < b.place);
}
