/** Things that are made when they are first needed: a start makes none of what most services never use. */

/** Makes it with the first call, and gives the same from then on. What throws is tried again. */
export function once<Made>(make: () => Made): () => Made {
  let made: { readonly it: Made } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
