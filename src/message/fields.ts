/**
 * The fields of a message that find their own way: from the request to its row, and from there to the carrier (`used`), back to the client in reports and
 * logs (`told`), or both. To add one, name it here and its column in a migration of each engine, and describe it in the API's schemas
 * (api/schemas.ts, and api/tracking-schemas.ts if it is told); whoever uses it finds it in the message. A switch is false unless it is given, anything
 * else null. `seldom` is the set of columns with which it is inserted (store/schema/table.ts): what many clients say does not bring along what few do.
 */
interface Way {
  readonly is: "text" | "number" | "switch";
  readonly column: string;
  readonly seldom: string;
  readonly used?: true;
  /** Not of a switch: a report leaves out what was not given. */
  readonly told?: true;
}

export const MESSAGE_FIELDS = {
  flash: { is: "switch", column: "flash", seldom: "other", used: true },
  callbackData: { is: "text", column: "callback_data", seldom: "callback", told: true },
  campaignReferenceId: { is: "text", column: "campaign_reference_id", seldom: "carried", told: true },
  entityId: { is: "text", column: "entity_id", seldom: "carried", told: true },
  applicationId: { is: "text", column: "application_id", seldom: "carried", told: true },
} as const satisfies Readonly<Record<string, Way>>;

type Fields = typeof MESSAGE_FIELDS;
type FieldName = keyof Fields;
type Marked<Mark extends "used" | "told"> = {
  [Name in FieldName]: Fields[Name] extends Readonly<Record<Mark, true>> ? Name : never;
}[FieldName];
type ValueOf<Name extends FieldName> = {
  readonly text: string | null;
  readonly number: number | null;
  readonly switch: boolean;
}[Fields[Name]["is"]];
export type GivenOf<Names extends FieldName> = { readonly [Name in Names]?: NonNullable<ValueOf<Name>> };

/** As a client gives them. */
export type GivenFields = GivenOf<FieldName>;

export type CarriedName = Marked<"told">;
/** What the client hears again. */
export type Carried = { readonly [Name in CarriedName]: ValueOf<Name> };
/** What the carrier gets. */
export type Used = { readonly [Name in Marked<"used">]: ValueOf<Name> };
/** As rows have them: a switch is 0 or 1. */
type FieldColumns = {
  readonly [Name in FieldName]: Fields[Name]["is"] extends "switch" ? number : ValueOf<Name>;
};

function namesOf<Mark extends "used" | "told">(mark: Mark): readonly Marked<Mark>[] {
  return Object.entries<Way>(MESSAGE_FIELDS).flatMap(([name, way]) => (way[mark] ? [name as Marked<Mark>] : []));
}

export const CARRIED_NAMES = namesOf("told");
export const USED_NAMES = namesOf("used");

/** All that the client hears again, and nothing else. Written out, because it is done for every report: one that is not named here does not compile. */
export function carriedOf(from: Carried | GivenOf<CarriedName>): Carried {
  const { callbackData = null, campaignReferenceId = null, entityId = null, applicationId = null } = from;
  return { callbackData, campaignReferenceId, entityId, applicationId };
}

/** The same of what the carrier gets. */
export function usedOf({ flash = false }: Used | GivenOf<Marked<"used">>): Used {
  return { flash };
}

/** The columns of a new row. */
export function columnsOf(from: Carried & Used): FieldColumns {
  return { ...carriedOf(from), flash: Number(from.flash) };
}

/** Those that a client has given, for people. */
export function carriedFields(from: Carried): Record<string, string> {
  return Object.fromEntries(CARRIED_NAMES.flatMap((name) => (from[name] === null ? [] : [[name, String(from[name])]])));
}

/** The same for JSON, which leaves out what is undefined. */
export type ToldCarried = { readonly [Name in CarriedName]: NonNullable<ValueOf<Name>> | undefined };

/** Their lines in the literal of an object that is made from `facts`, for `compiled`: with a spread in its place it takes twice as long to make and to write. */
export const TOLD_CARRIED = CARRIED_NAMES.map((name) => `${name}: facts.${name} ?? undefined`).join(", ");
/** How what the carrier gets is read of a row. */
export const USED_OF_ROW = Object.fromEntries(
  USED_NAMES.map((name) => {
    const { is }: Way = MESSAGE_FIELDS[name];
    return [name, `row.${name}${is === "switch" ? " === 1" : ""}`];
  }),
) as { readonly [Name in keyof Used]: string };
