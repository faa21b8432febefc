/**
 * What a client says of a message only to hear it again. Each is kept with the message and told in its reports and logs. To add one, name it here and
 * its column in a migration of each engine, and take it in where requests are read (api/schemas.ts, intake/content.ts).
 */
export const CARRIED = {
  callbackData: { column: "callback_data" },
} as const;

export type CarriedName = keyof typeof CARRIED;
export type Carried = { readonly [Name in CarriedName]: string | null };

export const CARRIED_NAMES = Object.keys(CARRIED) as readonly CarriedName[];

/** Those of them that are there, for whoever tells what there is. */
export function carriedIn(facts: Carried): Partial<Record<CarriedName, string>> {
  const told: Partial<Record<CarriedName, string>> = {};
  for (const name of CARRIED_NAMES) if (facts[name] !== null) told[name] = facts[name];
  return told;
}

/** Them alone. */
export function carriedOf(from: Carried): Carried {
  const carried: Partial<Record<CarriedName, string | null>> = {};
  for (const name of CARRIED_NAMES) carried[name] = from[name];
  return carried as Carried;
}
