/** The parts that the network took last, by their arrival and by their ids; the oldest make room for the newest. */
import { type IdStyle, idsOf, numbersSpelled } from "./ids.ts";
import type { TakenPart } from "./part.ts";

export class Parts {
  /** A part's id is this and its arrival. */
  readonly #base: number;
  readonly #size: number;
  readonly #ring: TakenPart[] = [];
  #arrivals = 0;
  /** An id may be that of several parts. */
  #isReused = false;

  /** `startedAtMs` sets the ids apart from those that an earlier process gave; with a thousand for each millisecond there is room. */
  constructor(size: number, startedAtMs: number) {
    this.#size = size;
    this.#base = startedAtMs * 1000;
  }

  /** How many have come in all. */
  get arrivals(): number {
    return this.#arrivals;
  }

  /** The ids of the part that comes next; they begin anew after so many, if that is given. */
  nextIds(style: IdStyle, every: number | null = null): TakenPart["ids"] {
    if (every === null) return idsOf(this.#base + this.#arrivals + 1, style);
    this.#isReused = true;
    return idsOf(this.#base + (this.#arrivals % every) + 1, style);
  }

  nextArrival(): number {
    return ++this.#arrivals;
  }

  add(part: TakenPart): void {
    this.#ring[part.arrival % this.#size] = part;
  }

  /** By its id as it was in the answer; of several the newest. */
  find(id: string): TakenPart | null {
    if (this.#isReused) return this.all().findLast((part) => part.ids.inAnswer === id) ?? null;
    for (const number of numbersSpelled(id)) {
      const arrival = number - this.#base;
      const part = arrival > 0 ? this.#ring[arrival % this.#size] : undefined;
      if (part?.ids.inAnswer === id) return part;
    }
    return null;
  }

  all(): TakenPart[] {
    return this.latest(this.#size);
  }

  /** The last so many, oldest first. */
  latest(count: number): TakenPart[] {
    const first = Math.max(1, this.#arrivals - Math.min(count, this.#size) + 1);
    const parts: TakenPart[] = [];
    for (let arrival = first; arrival <= this.#arrivals; arrival++) {
      const part = this.#ring[arrival % this.#size];
      if (part?.arrival === arrival) parts.push(part);
    }
    return parts;
  }
}
