/** Reads the CPU profiles that `node --cpu-prof` leaves, one for each thread, and says where the time of the measured rounds went. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { profiledThread } from "./threads.ts";

export interface Share {
  readonly name: string;
  readonly ms: number;
}

export interface ThreadProfile {
  readonly thread: string;
  readonly busyMs: number;
  readonly idleMs: number;
  /** By folder or package. */
  readonly areas: readonly Share[];
  readonly functions: readonly Share[];
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** As V8 writes it: samples of which node of the call tree was on top, and the time between them. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  /** Microseconds on the machine's monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

type CallFrame = CpuProfile["nodes"][number]["callFrame"];

const SHOWN = 25;

export function readProfiles(directory: string, spans: readonly Span[]): ThreadProfile[] {
  return readdirSync(directory)
    .flatMap((file) => {
      const match = /^CPU\.\d+\.\d+\.(\d+)\.(\d+)\.\d+\.cpuprofile$/.exec(file);
      return match === null ? [] : [{ file, pid: Number(match[1]), thread: Number(match[2]) }];
    })
    .toSorted((a, b) => a.pid - b.pid || a.thread - b.thread)
    .map(({ file, thread }) => {
      const profile = JSON.parse(readFileSync(join(directory, file), "utf8")) as CpuProfile;
      const urls = profile.nodes.map(({ callFrame }) => callFrame.url);
      return summarize(profiledThread(thread, urls), profile, spans);
    });
}

function summarize(thread: string, profile: CpuProfile, spans: readonly Span[]): ThreadProfile {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  /** The nearest caller that has a file: what a native function works for. */
  const callerOf = (id: number): CallFrame | null => {
    for (let at = parents.get(id); at !== undefined; at = parents.get(at)) {
      if (frames.get(at)!.url !== "") return frames.get(at)!;
    }
    return null;
  };
  const areas = new Map<string, number>();
  const functions = new Map<string, number>();
  let busyMs = 0;
  let idleMs = 0;
  let atMs = profile.startTime / 1000;
  for (const [index, id] of profile.samples.entries()) {
    const ms = profile.timeDeltas[index]! / 1000;
    atMs += ms;
    if (!spans.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs)) continue;
    const frame = frames.get(id)!;
    if (frame.functionName === "(idle)") {
      idleMs += ms;
      continue;
    }
    busyMs += ms;
    const [area, name] = namesOf(frame, frame.url === "" ? callerOf(id) : null);
    areas.set(area, (areas.get(area) ?? 0) + ms);
    functions.set(name, (functions.get(name) ?? 0) + ms);
  }
  return { thread, busyMs, idleMs, areas: largest(areas), functions: largest(functions) };
}

function namesOf(frame: CallFrame, caller: CallFrame | null): [area: string, name: string] {
  const name = frame.functionName || "(anonymous)";
  if (frame.url !== "") return [areaOf(frame.url), `${name}  ${placeOf(frame)}`];
  if (caller === null || name.startsWith("(")) return [name, name];
  return [`native, for ${areaOf(caller.url)}`, `${name} (native)  for ${caller.functionName} ${placeOf(caller)}`];
}

function shortened(url: string): string {
  const dependency = url.lastIndexOf("/node_modules/");
  if (dependency >= 0) return url.slice(dependency + 1);
  // Of whichever checkout.
  const source = url.lastIndexOf("/src/");
  return source >= 0 ? url.slice(source + 1) : url;
}

function placeOf({ url, lineNumber }: CallFrame): string {
  return `${shortened(url)}:${lineNumber + 1}`;
}

/** The folder of ours, the package, or the module of Node's. */
function areaOf(url: string): string {
  const path = shortened(url);
  if (path.startsWith("node:")) return "node:";
  const parts = path.split("/");
  if (parts[0] === "node_modules") return parts.slice(0, parts[1]!.startsWith("@") ? 3 : 2).join("/");
  return parts.slice(0, -1).join("/");
}

function largest(table: ReadonlyMap<string, number>): Share[] {
  return [...table]
    .map(([name, ms]) => ({ name, ms }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SHOWN);
}
