/** Things that are made when they are first needed: a start makes none of what most services never use. */

/** Makes it with the first call, and gives the same from then on. What throws is tried again. */
export function once<Made>(make: () => Made): () => Made {
  let made: { readonly it: Made } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}

/** The same for each key. Nothing is forgotten: there are few keys. */
export function perKey<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const all = new Map<Key, Made>();
  return (key) => {
    let made = all.get(key);
    if (made === undefined) {
      made = make(key);
      all.set(key, made);
    }
    return made;
  };
}

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
