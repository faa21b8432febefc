/**
 * What a client says of a message only to hear it again. Each is kept with the message and told in its reports and logs. To add one, name it here and
 * its column in a migration of each engine, and describe it in the API's schemas (api/schemas.ts, api/tracking-schemas.ts). `seldom` is the set of
 * columns with which it is inserted (store/schema/table.ts): what many clients say does not bring along what few do.
 */
export const CARRIED_FIELDS = {
  callbackData: { column: "callback_data", seldom: "callback" },
  campaignReferenceId: { column: "campaign_reference_id", seldom: "carried" },
  entityId: { column: "entity_id", seldom: "carried" },
  applicationId: { column: "application_id", seldom: "carried" },
} as const;

export type CarriedName = keyof typeof CARRIED_FIELDS;
export type Carried = { readonly [Name in CarriedName]: string | null };

export const CARRIED_NAMES = Object.keys(CARRIED_FIELDS) as readonly CarriedName[];

/** Those that a client has given, as they are read and told. */
export type CarriedFields = { readonly [Name in CarriedName]?: string };

export function carriedFields(from: Carried): CarriedFields {
  const told: Partial<Record<CarriedName, string>> = {};
  for (const name of CARRIED_NAMES) if (from[name] !== null) told[name] = from[name];
  return told;
}

/** All of them, and nothing else. Written out, because it is done for every report: one that is not named here does not compile. */
export function carriedOf(from: Carried | CarriedFields): Carried {
  const { callbackData = null, campaignReferenceId = null, entityId = null, applicationId = null } = from;
  return { callbackData, campaignReferenceId, entityId, applicationId };
}

/** The same for JSON, which leaves out what is undefined. */
export type ToldCarried = { readonly [Name in CarriedName]: string | undefined };

/** Their lines in the literal of an object that is made from `facts`, for `compiled`: with a spread in its place it takes twice as long to make and to write. */
export const TOLD_CARRIED = CARRIED_NAMES.map((name) => `${name}: facts.${name} ?? undefined`).join(", ");
