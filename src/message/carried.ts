/**
 * What a client says of a message only to hear it again. Each is kept with the message and told in its reports and logs. To add one, name it here and
 * its column in a migration of each engine, and describe it in the API's schemas (api/schemas.ts, api/tracking-schemas.ts).
 */
export const CARRIED = {
  callbackData: { column: "callback_data" },
  campaignReferenceId: { column: "campaign_reference_id" },
} as const;

export type CarriedName = keyof typeof CARRIED;
export type Carried = { readonly [Name in CarriedName]: string | null };

export const CARRIED_NAMES = Object.keys(CARRIED) as readonly CarriedName[];

/** Those that a client has given, as they are read and told. */
export type CarriedFields = { readonly [Name in CarriedName]?: string };

export function carriedFields(from: Carried): CarriedFields {
  const told: Partial<Record<CarriedName, string>> = {};
  for (const name of CARRIED_NAMES) if (from[name] !== null) told[name] = from[name];
  return told;
}

/** All of them, and nothing else. */
export function carriedOf(from: Carried | CarriedFields): Carried {
  const carried: Partial<Record<CarriedName, string | null>> = {};
  for (const name of CARRIED_NAMES) carried[name] = from[name] ?? null;
  return carried as Carried;
}
