/**
 * Views that follow the service. All views of the page come over one stream of server-sent events, read with fetch because an EventSource can send
 * no header. The stream is opened again when it breaks, when the views change, and when a page that was hidden is looked at again.
 */
import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { fetchAs, Problem, type Query, signedOut, withQuery } from "./api.ts";

export interface ViewState<Answer> {
  readonly data: Answer | null;
  readonly problem: Problem | null;
  /** What is shown may be old: the stream is broken. */
  readonly stale: boolean;
}

interface Watched {
  readonly state: Signal<ViewState<unknown>>;
  watchers: number;
}

const NOTHING: ViewState<unknown> = { data: null, problem: null, stale: false };
/** Views that are kept after their page was left, so that going back shows them at once. */
const KEPT_VIEWS = 24;
/** A page that is not looked at keeps its stream for so long: whoever only looks at another tab for a moment comes back to a live one. */
const HIDDEN_MS = 5_000;
/** How often a page is read that can have no stream, because there are too many. */
const POLL_MS = 5_000;
const FIRST_RETRY_MS = 300;
const MAX_RETRY_MS = 5_000;
/** A stream that stands says something every five seconds, if only that it stands. */
const SILENT_MS = 12_000;
/** Views that one stream may have. */
const STREAM_VIEWS = 8;

const watched = new Map<string, Watched>();
/** Whether the stream stands, for the sign in the frame. */
export const connected = signal(true);

let stream: AbortController | null = null;
let streamOf = "";
let changing: ReturnType<typeof setTimeout> | null = null;
let retryMs = FIRST_RETRY_MS;
let hidden: ReturnType<typeof setTimeout> | null = null;
let silence: ReturnType<typeof setTimeout> | null = null;

const active = (): string[] =>
  [...watched]
    .filter(([, { watchers }]) => watchers > 0)
    .map(([name]) => name)
    .slice(-STREAM_VIEWS);

function forget(): void {
  for (const [name, { watchers }] of watched) {
    if (watched.size <= KEPT_VIEWS) return;
    if (watchers === 0) watched.delete(name);
  }
}

function later(delayMs: number): void {
  if (changing !== null) clearTimeout(changing);
  changing = setTimeout(() => {
    changing = null;
    open();
  }, delayMs);
}

function open(): void {
  const names = active();
  const key = names.join("\n");
  if (stream !== null && key === streamOf) return;
  stream?.abort();
  stream = null;
  streamOf = key;
  if (names.length === 0) return;
  const own = new AbortController();
  stream = own;
  heard();
  if (document.visibilityState === "hidden") {
    // Browsers have six connections for a host: pages in the background take none of them for long.
    void readOnce(names, own);
    return;
  }
  follow(names, own).then(
    () => {
      // A stream ends after a while, and another takes its place: nothing is lost yet.
      if (stream !== own) return;
      stream = null;
      later(FIRST_RETRY_MS);
    },
    (error: unknown) => {
      if (own.signal.aborted) return;
      if (error instanceof Problem && error.status === 401) return;
      if (error instanceof Problem && TOO_MANY.includes(error.status)) {
        void readOnce(names, own).then(() => {
          if (stream !== own) return;
          stream = null;
          later(POLL_MS);
        });
        return;
      }
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      ended(own, retryMs * (0.75 + Math.random() / 2));
    },
  );
}

/** A connection that was cut without a word looks like one on which nothing happens: it is given up when even that is not said. */
function heard(): void {
  if (silence !== null) clearTimeout(silence);
  const own = stream;
  silence = setTimeout(() => {
    if (own === null || stream !== own || document.visibilityState === "hidden") return;
    own.abort();
    ended(own, FIRST_RETRY_MS);
  }, SILENT_MS);
}

function ended(own: AbortController, delayMs: number): void {
  if (stream !== own) return;
  stream = null;
  connected.value = false;
  for (const { state } of watched.values()) state.value = { ...state.value, stale: true };
  later(delayMs);
}

/** There is no room for another stream; the service itself answers. */
const TOO_MANY: readonly number[] = [429, 503];

/** Shows the views as they are now, one after the other. */
async function readOnce(names: readonly string[], own: AbortController): Promise<void> {
  for (const name of names) {
    const state = watched.get(name)?.state;
    if (state === undefined || own.signal.aborted) continue;
    try {
      const response = await fetchAs(`/console/1/${name}`, { signal: own.signal });
      state.value = { data: await response.json(), problem: null, stale: false };
      connected.value = true;
    } catch (error) {
      if (own.signal.aborted) return;
      const problem = error instanceof Problem ? error : new Problem(String(error));
      state.value = { ...state.value, problem };
      // The service has no room for a stream, and answers. Who does not answer here is not there.
      if (problem.status === 0 || problem.status >= 500) connected.value = false;
    }
  }
}

async function follow(names: readonly string[], own: AbortController): Promise<void> {
  const path = `/console/1/live?${names.map((name) => `view=${encodeURIComponent(name)}`).join("&")}`;
  const response = await fetchAs(path, { signal: own.signal, headers: { accept: "text/event-stream" } });
  connected.value = true;
  retryMs = FIRST_RETRY_MS;
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    rest += value;
    let end = rest.indexOf("\n\n");
    while (end >= 0) {
      take(names, rest.slice(0, end));
      rest = rest.slice(end + 2);
      end = rest.indexOf("\n\n");
    }
  }
}

interface ViewEvent {
  readonly view: number;
  readonly answer?: unknown;
  readonly problem?: string;
  readonly status?: number;
}

function take(names: readonly string[], text: string): void {
  let kind = "message";
  let data = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  if (kind === "signed-out") signedOut();
  if (kind !== "view" && kind !== "problem") return;
  const { view, answer, problem, status } = JSON.parse(data) as ViewEvent;
  const state = watched.get(names[view] ?? "")?.state;
  if (state === undefined) return;
  state.value =
    kind === "view"
      ? { data: answer, problem: null, stale: false }
      : { ...state.value, problem: new Problem(problem ?? "It cannot be shown now.", status ?? 0), stale: false };
}

/** Shows all anew, as after somebody else signed in. */
export function forgetViews(): void {
  stream?.abort();
  stream = null;
  streamOf = "";
  for (const [name, { watchers, state }] of watched) {
    if (watchers === 0) watched.delete(name);
    else state.value = NOTHING;
  }
  later(0);
}

/** What a view answers, live. With null as its name nothing is watched. */
export function useView<Answer>(name: string | null, query: Query = {}): ViewState<Answer> {
  const key = name === null ? null : withQuery(name, query);
  const entry = useMemo(() => {
    if (key === null) return null;
    const known = watched.get(key);
    if (known !== undefined) {
      // The newest stands last: the first are forgotten first.
      watched.delete(key);
      watched.set(key, known);
      return known;
    }
    const made: Watched = { state: signal(NOTHING), watchers: 0 };
    watched.set(key, made);
    return made;
  }, [key]);
  useEffect(() => {
    if (key === null || entry === null) return;
    // It may have been forgotten between the drawing and this.
    if (watched.get(key) !== entry) watched.set(key, entry);
    entry.watchers++;
    forget();
    later(10);
    return () => {
      entry.watchers--;
      later(10);
    };
  }, [key, entry]);
  return (entry?.state.value ?? NOTHING) as ViewState<Answer>;
}

/** A page that nobody looks at holds no connection: browsers have few, and the service reads for each. */
document.addEventListener("visibilitychange", () => {
  if (hidden !== null) clearTimeout(hidden);
  hidden = null;
  if (document.visibilityState === "visible") {
    streamOf = "";
    later(0);
    return;
  }
  hidden = setTimeout(() => {
    stream?.abort();
    stream = null;
    streamOf = "";
  }, HIDDEN_MS);
});
