/**
 * The threads of the service by what they do. Linux knows each thread that the service starts by the name it was given; in states of the code that
 * gave none, they are told apart by the order of their start. A profile does not know the name, but which file the thread began with.
 */
import type { ThreadUsage } from "./usage.ts";

/** In the order in which the service starts them. */
const STARTED = ["store", "delivery", "checkpoint"];
/** There for a moment only. */
const NAMED = new Set([...STARTED, "description"]);
const UNNAMED = "WorkerThread";
/** What V8 and libuv keep for themselves: the compiler, the collector, the pool. */
const OTHERS = "other threads";

/** Each thread with the part of the service that it is. */
export function partsOf(threads: readonly ThreadUsage[]): [part: string, thread: ThreadUsage][] {
  const names = new Set(threads.map(({ name }) => name));
  const unnamed = STARTED.filter((name) => !names.has(name));
  return threads
    .toSorted((a, b) => a.id - b.id)
    .map((thread) => {
      const { name } = thread;
      if (name === "MainThread" || name === "node") return ["edge", thread];
      if (name === UNNAMED) return [unnamed.shift() ?? OTHERS, thread];
      return [NAMED.has(name) ? name : OTHERS, thread];
    });
}

const ENTRY = /\/src\/(?:threads\/(store|delivery|checkpoint)|api\/(description)\/writer)\.ts$/;

/** The thread that a profile with these files is of; `number` is Node's, and 0 the main thread's. */
export function profiledThread(number: number, urls: Iterable<string>): string {
  if (number === 0) return "edge";
  for (const url of urls) {
    const [, started, described] = ENTRY.exec(url) ?? [];
    if (started !== undefined || described !== undefined) return (started ?? described)!;
  }
  return STARTED[number - 1] ?? String(number);
}
