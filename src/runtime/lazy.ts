/** Things that are made when they are first needed: a start makes none of what most services never use. */
import { createRequire } from "node:module";

/** Makes it with the first call, and gives the same from then on. What throws is tried again. */
export function once<Made>(make: () => Made): () => Made {
  let made: { readonly it: Made } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}

const require = createRequire(import.meta.url);

/** A package that is loaded when its first call comes: `library<typeof import("undici")>("undici")`. */
export const library = <Module>(name: string): (() => Module) => once(() => require(name) as Module);

/** Makes it for each key when it is first asked for, and gives the same from then on, as long as it is kept. */
export function onceEach<Key, Made>(
  kept: { get(key: Key): Made | undefined; set(key: Key, made: NoInfer<Made>): unknown },
  make: (key: Key) => Made,
): (key: Key) => Made {
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    kept.set(key, made);
    return made;
  };
}

/** The same, and nothing is forgotten: there are few keys. */
export const perKey = <Key, Made>(make: (key: Key) => Made): ((key: Key) => Made) => onceEach(new Map(), make);

/** Adds to the list of a key. */
export function append<Key, Item>(
  lists: { get(key: Key): Item[] | undefined; set(key: Key, list: Item[]): unknown },
  key: Key,
  item: Item,
): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
