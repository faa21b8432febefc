/** Fields that may be left out. */

/** Those that have a value: what is undefined is not there at all. */
export function given<Fields extends object>(
  fields: Fields,
): { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
