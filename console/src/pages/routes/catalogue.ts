/** Reads the catalogue page by page, and again after each change. */
import { useEffect, useState } from "preact/hooks";
import { api, Problem } from "../../api.ts";

interface PageOf<Item> {
  readonly results: readonly Item[];
  readonly next: string | null;
}

/** More than any installation has; a list that goes on is shown as far as this. */
const MAX_ITEMS = 200_000;
const PAGE_ITEMS = 1_000;

async function readAll<Item>(path: string): Promise<Item[]> {
  const items: Item[] = [];
  let after: string | null = null;
  do {
    const page: PageOf<Item> = await api.get<PageOf<Item>>(path, { limit: PAGE_ITEMS, after });
    items.push(...page.results);
    after = page.next;
  } while (after !== null && items.length < MAX_ITEMS);
  return items;
}

export interface Listed<Item> {
  /** Null until they are read. */
  readonly items: readonly Item[] | null;
  readonly problem: Problem | null;
  readonly again: () => void;
}

export function useItems<Item>(path: string): Listed<Item> {
  const [items, setItems] = useState<readonly Item[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let gone = false;
    readAll<Item>(path).then(
      (read) => {
        if (gone) return;
        setItems(read);
        setProblem(null);
      },
      (error: unknown) => {
        if (!gone) setProblem(error instanceof Problem ? error : new Problem((error as Error).message));
      },
    );
    return () => {
      gone = true;
    };
  }, [path, turn]);
  return { items, problem, again: () => setTurn((before) => before + 1) };
}
