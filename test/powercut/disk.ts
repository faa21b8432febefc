/**
 * A disk behind the cache of an operating system, told of every write and every flush, so that it can say what a power cut might leave.
 *
 * The cache works by pages. A page that was written since the last flush is *dirty*: on disk is what was flushed, or any of the states that the page
 * has had since, and after a cut in mid-write some of its sectors from one state and some from another. Pages reach the disk in any order. A flush
 * that has returned makes what was written before it began durable. A flush that fails cleans the pages all the same, as Linux does: what they
 * held is on disk or not, and no later flush writes it, unless the page is written to again. Names of files are durable when their directory is
 * flushed; until then they are a journal, of which the beginning is there.
 */
import type { Random } from "../../src/runtime/random.ts";
import type { Entry } from "./trace.ts";

const PAGE_BYTES = 4_096;
const SECTOR_BYTES = 512;

/** How what was not flushed looks after a cut. */
export const MANNERS = ["none", "all", "pages", "sectors", "first", "last"] as const;
export type Manner = (typeof MANNERS)[number];

interface State<Value> {
  /** The number of the entry that made it. */
  readonly entry: number;
  readonly value: Value;
}

/** Octets that grow as they are written to; what was never written is zero. */
class Content {
  #octets = Buffer.alloc(16 * PAGE_BYTES);
  size = 0;

  write(data: Uint8Array, offset: number): void {
    const end = offset + data.length;
    if (end > this.#octets.length) {
      const larger = Buffer.alloc(Math.max(end, 2 * this.#octets.length));
      this.#octets.copy(larger);
      this.#octets = larger;
    }
    this.#octets.set(data, offset);
    this.size = Math.max(this.size, end);
  }

  resize(size: number): void {
    if (size > this.size) this.write(new Uint8Array(1), size - 1);
    this.#octets.fill(0, size);
    this.size = size;
  }

  /** A copy of one page, whole. */
  page(number: number): Buffer {
    const page = Buffer.alloc(PAGE_BYTES);
    this.#octets.copy(page, 0, number * PAGE_BYTES, (number + 1) * PAGE_BYTES);
    return page;
  }

  octets(): Buffer {
    return this.#octets.subarray(0, this.size);
  }

  copy(): Content {
    const copy = new Content();
    copy.write(this.octets(), 0);
    return copy;
  }
}

class DiskFile {
  readonly cache = new Content();
  readonly #durable = new Content();
  /** The states of each page since it was last clean, oldest first; and of the size. */
  readonly #dirty = new Map<number, State<Buffer>[]>();
  #sizes: State<number>[] = [];

  write(entry: number, data: Buffer, offset: number): void {
    this.cache.write(data, offset);
    this.#touch(entry, offset, offset + data.length);
  }

  truncate(entry: number, size: number): void {
    const end = Math.max(size, this.cache.size);
    this.cache.resize(size);
    this.#touch(entry, size, end);
  }

  #touch(entry: number, begin: number, end: number): void {
    for (let page = Math.floor(begin / PAGE_BYTES); page * PAGE_BYTES < end; page++) {
      const states = this.#dirty.get(page) ?? [];
      states.push({ entry, value: this.cache.page(page) });
      this.#dirty.set(page, states);
    }
    this.#sizes.push({ entry, value: this.cache.size });
  }

  /** What was written before this entry is durable. */
  flush(begun: number): void {
    this.#clean(begun, (states) => states.at(-1));
  }

  /** What was written before this entry is durable or lost, as chance has it. */
  failToFlush(begun: number, random: Random, keepsSome: boolean): void {
    this.#clean(begun, (states) => (keepsSome && random.next() < 0.5 ? oneOf(states, random) : undefined));
  }

  #clean(begun: number, choose: <Value>(states: State<Value>[]) => State<Value> | undefined): void {
    const isOlder = ({ entry }: State<unknown>): boolean => entry < begun;
    for (const [page, states] of this.#dirty) {
      const chosen = choose(states.filter(isOlder));
      if (chosen !== undefined) put(this.#durable, chosen.value, page * PAGE_BYTES);
      const newer = states.filter((state) => !isOlder(state));
      if (newer.length === 0) this.#dirty.delete(page);
      else this.#dirty.set(page, newer);
    }
    // The size is the file system's own, and reaches the disk by its journal.
    const size = this.#sizes.findLast(isOlder);
    if (size !== undefined) this.#durable.resize(size.value);
    this.#sizes = this.#sizes.filter((state) => !isOlder(state));
  }

  afterCut(manner: Manner, random: Random): Buffer {
    const left = this.#durable.copy();
    const newest = (states: State<unknown>[]): number => states.at(-1)!.entry;
    const pages = [...this.#dirty].sort(([, one], [, other]) => newest(one) - newest(other));
    const share = random.next() * pages.length;
    const size = manner === "none" ? undefined : manner === "all" ? this.#sizes.at(-1) : oneOf(this.#sizes, random);
    if (size !== undefined) left.resize(size.value);
    for (const [index, [page, states]] of pages.entries()) {
      const offset = page * PAGE_BYTES;
      const whole = {
        none: () => undefined,
        all: () => states.at(-1),
        pages: () => (random.next() < 0.5 ? oneOf(states, random) : undefined),
        sectors: () => undefined,
        first: () => (index < share ? states.at(-1) : undefined),
        last: () => (index >= share ? states.at(-1) : undefined),
      }[manner]();
      // A page that is there has its place in the file, also where the size was still to follow.
      const end = Math.min(offset + PAGE_BYTES, this.cache.size);
      if (whole !== undefined) put(left, whole.value.subarray(0, Math.max(0, end - offset)), offset);
      for (let sector = 0; manner === "sectors" && sector < PAGE_BYTES; sector += SECTOR_BYTES) {
        if (random.next() < 0.5) continue;
        const torn = oneOf(states, random)!.value.subarray(
          sector,
          Math.min(sector + SECTOR_BYTES, Math.max(0, end - offset)),
        );
        put(left, torn, offset + sector);
      }
    }
    return Buffer.from(left.octets());
  }
}

function put(content: Content, data: Buffer, offset: number): void {
  if (data.length > 0) content.write(data, offset);
}

function oneOf<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[Math.floor(random.next() * items.length)];
}

type Names = ReadonlyMap<string, DiskFile>;

export class Disk {
  readonly #files = new Map<bigint, DiskFile>();
  #names: Names = new Map();
  #durableNames: Names = new Map();
  /** All states of the directory since it was last flushed. */
  #states: State<Names>[] = [];
  readonly #flushes = new Map<number, number>();
  readonly #random: Random;
  readonly #keepsSome: boolean;
  #entries = 0;

  /** Of a flush that fails, chance says whether nothing was written before it failed, or some. */
  constructor(random: Random) {
    this.#random = random;
    this.#keepsSome = random.next() < 0.5;
  }

  /** What happens next. */
  apply(entry: Entry): void {
    const number = ++this.#entries;
    switch (entry.kind) {
      case "created": {
        // A name that was free before: its inode may have been another file's.
        const file = new DiskFile();
        this.#files.set(entry.file, file);
        this.#name(number, (names) => names.set(entry.name, file));
        break;
      }
      case "unlinked":
        this.#name(number, (names) => names.delete(entry.name));
        break;
      case "renamed":
        this.#name(number, (names) => {
          const file = names.get(entry.name);
          if (file !== undefined) names.set(entry.newName, file);
          names.delete(entry.name);
        });
        break;
      case "written":
        this.#files.get(entry.file)!.write(number, entry.data, entry.offset);
        break;
      case "truncated":
        this.#files.get(entry.file)!.truncate(number, entry.size);
        break;
      case "flush begun":
        this.#flushes.set(entry.number, number);
        break;
      case "flushed":
      case "flush failed": {
        const begun = this.#flushes.get(entry.number)!;
        const failed = entry.kind === "flush failed";
        if (entry.flush === "directory") this.#flushNames(begun, failed);
        else if (failed) this.#files.get(entry.file)!.failToFlush(begun, this.#random, this.#keepsSome);
        else this.#files.get(entry.file)!.flush(begun);
      }
    }
  }

  #name(entry: number, change: (names: Map<string, DiskFile>) => void): void {
    const names = new Map(this.#names);
    change(names);
    this.#names = names;
    this.#states.push({ entry, value: names });
  }

  #flushNames(begun: number, failed: boolean): void {
    const durable = this.#states.findLast(({ entry }) => entry < begun);
    if (failed || durable === undefined) return;
    this.#durableNames = durable.value;
    this.#states = this.#states.filter(({ entry }) => entry > begun);
  }

  /** The files that a cut would leave now. */
  afterCut(manner: Manner, random: Random): Map<string, Buffer> {
    const states = [this.#durableNames, ...this.#states.map(({ value }) => value)];
    const names =
      manner === "none" ? this.#durableNames : manner === "all" ? this.#names : (oneOf(states, random) ?? this.#names);
    return new Map([...names].map(([name, file]) => [name, file.afterCut(manner, random)]));
  }

  /** The files as programs see them while the power is on. */
  files(): Map<string, Buffer> {
    return new Map([...this.#names].map(([name, file]) => [name, file.cache.octets()]));
  }
}
