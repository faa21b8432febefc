/**
 * The rows of the list: the newest page, which follows the service, and the older ones behind it that were fetched. Rows that leave the newest page
 * stay behind it, so that nothing is missing in between.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MessageItem, MessageList } from "../../../../src/api/console/message-schemas.ts";
import { api, type Problem } from "../../api.ts";
import { useView, type ViewState } from "../../live.ts";
import { isStepHere, LeftLists, markHere, type Scroll } from "./left.ts";

/** However far one pages: the oldest go first. */
const MAX_ROWS = 20_000;
/** Pages without a row that one press looks through. */
const PAGES_AT_ONCE = 10;

export interface Rows {
  readonly rows: readonly MessageItem[];
  /** They are those of the search before: the new ones are not here yet. */
  readonly isOld: boolean;
  readonly view: ViewState<MessageList>;
  /** How far back the list has looked; null when it has seen the oldest. */
  readonly lookedBackTo: string | null;
  readonly hasMore: boolean;
  readonly isLooking: boolean;
  readonly problem: Problem | null;
  readonly older: () => void;
  /** Rows that came while the reader was further down, and are not shown yet. */
  readonly held: number;
  readonly showHeld: () => void;
}

interface Loaded {
  readonly key: string;
  readonly rows: readonly MessageItem[];
  readonly next: string | null;
  readonly lookedBackTo: string | null;
}

const NOTHING: Loaded = { key: "", rows: [], next: null, lookedBackTo: null };

/** Newer by its time, and by its id where the time is the same. */
function isBehind(row: MessageItem, last: MessageItem): boolean {
  if (row.at !== last.at) return row.at < last.at;
  return row.id.length === last.id.length ? row.id < last.id : row.id.length < last.id.length;
}

/** The newest page over what was there. */
function merged(loaded: Loaded, key: string, page: MessageList): Loaded {
  const fresh: Loaded = { key, rows: page.results, next: page.next, lookedBackTo: page.lookedBackTo };
  const last = page.results.at(-1);
  if (loaded.key !== key || last === undefined || page.next === null) return fresh;
  const ids = new Set(page.results.map(({ id }) => id));
  // So much is new that there may be more between the page and what was there.
  if (!loaded.rows.some(({ id }) => ids.has(id))) return fresh;
  const behind = loaded.rows.filter((row) => !ids.has(row.id) && isBehind(row, last));
  if (behind.length === 0) return fresh;
  return { ...loaded, rows: [...page.results, ...behind].slice(0, MAX_ROWS) };
}

/** Where the list is read, in the page. */
export interface Reading {
  readonly isAway: () => boolean;
  readonly scroll: () => Scroll;
  readonly scrollTo: (scroll: Scroll) => void;
}

const left = new LeftLists<Loaded>();

export function useRows(q: string, zone: number, reading: Reading): Rows {
  const { isAway } = reading;
  const key = `${zone} ${q}`;
  const view = useView<MessageList>("messages", { q, zone });
  const [before] = useState(() => (isStepHere() ? left.get(key) : null));
  const [loaded, setLoaded] = useState<Loaded>(before?.list ?? NOTHING);
  const [waiting, setWaiting] = useState<Loaded | null>(null);
  const [isLooking, setLooking] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const current = useRef(key);
  current.current = key;
  // Another search is another address.
  useLayoutEffect(markHere, [key]);
  const last = useRef(loaded);
  last.current = loaded;
  useLayoutEffect(() => {
    if (before !== null) reading.scrollTo(before.scroll);
    return () => left.keep(last.current.key, last.current, reading.scroll());
  }, [before, reading]);

  useEffect(() => {
    const page = view.data;
    if (page === null) return;
    setLoaded((before) => {
      const after = merged(before, key, page);
      const known = new Set(before.rows.map(({ id }) => id));
      const isNew = after.rows.some(({ id }) => !known.has(id));
      if (before.key !== key || !isNew || !isAway()) {
        setWaiting(null);
        return after;
      }
      // What is known changes in its place; what is new waits above.
      setWaiting(after);
      const changed = new Map(page.results.map((row) => [row.id, row]));
      return { ...before, rows: before.rows.map((row) => changed.get(row.id) ?? row) };
    });
  }, [view.data, key, isAway]);

  const own = loaded.key === key ? loaded : NOTHING;
  const look = useCallback(
    async (from: string) => {
      setLooking(true);
      setProblem(null);
      let next: string | null = from;
      try {
        for (let turn = 0; turn < PAGES_AT_ONCE && next !== null; turn++) {
          const page: MessageList = await api.get<MessageList>("/console/1/messages", {
            q,
            zone,
            after: next,
            limit: 100,
          });
          if (current.current !== key) return;
          next = page.next;
          setLoaded((before) => {
            if (before.key !== key) return before;
            const known = new Set(before.rows.map(({ id }) => id));
            const rows = [...before.rows, ...page.results.filter(({ id }) => !known.has(id))];
            return { key, rows: rows.slice(-MAX_ROWS), next: page.next, lookedBackTo: page.lookedBackTo };
          });
          if (page.results.length > 0) return;
        }
      } catch (error) {
        setProblem(error as Problem);
      } finally {
        setLooking(false);
      }
    },
    [q, zone, key],
  );

  // A search that has found nothing in its first page looks on by itself, for a while.
  const isEmpty = own.rows.length === 0 && own.next !== null;
  const begun = useRef("");
  useEffect(() => {
    if (!isEmpty || begun.current === key) return;
    begun.current = key;
    void look(own.next!);
  }, [isEmpty, key, own.next, look]);

  const isOld = loaded.key !== key && view.data === null && view.problem === null;
  const knownIds = new Set(own.rows.map(({ id }) => id));
  return {
    rows: isOld ? loaded.rows : own.rows,
    isOld,
    view,
    lookedBackTo: own.lookedBackTo,
    hasMore: own.next !== null,
    isLooking,
    problem,
    older: () => own.next !== null && void look(own.next),
    held: waiting === null ? 0 : waiting.rows.filter(({ id }) => !knownIds.has(id)).length,
    showHeld() {
      if (waiting !== null) setLoaded(waiting);
      setWaiting(null);
    },
  };
}
