/**
 * The names of the fields that an operation takes, from its own schema: a tree, because a body has objects within objects. A request is compared with
 * it (near-misses.ts).
 */

/** An object of a request: the names of its fields, and what those have that are objects themselves, or lists of such. */
export interface KnownFields {
  readonly names: ReadonlySet<string>;
  readonly inside: ReadonlyMap<string, KnownFields>;
  /** What is meant by an unknown name; null where nothing is. Remembered, because a client sends the same names again and again. */
  readonly meant: Map<string, string | null>;
}

export interface KnownRequest {
  readonly body: KnownFields | null;
  readonly query: KnownFields | null;
}

/** As much of JSON Schema as the operations use. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: object;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export interface RouteSchema {
  readonly body?: unknown;
  readonly querystring?: unknown;
  /** The operation reads its parameters wherever they stand: in the body or in the query. */
  readonly consumes?: unknown;
}

/** The fields of all objects that a schema allows in one place; null where there are none, or where a client may choose their names. */
function fieldsIn(schema: Schema, also: readonly string[] = []): KnownFields | null {
  const names = new Set<string>();
  const inside = new Map<string, KnownFields>();
  let isFree = false;
  const add = (each: Schema): void => {
    for (const choice of [...(each.anyOf ?? []), ...(each.allOf ?? [])]) add(choice);
    if (each.items !== undefined) add(each.items);
    isFree ||= each.patternProperties !== undefined || typeof each.additionalProperties === "object";
    for (const [name, value] of Object.entries(each.properties ?? {})) {
      names.add(name);
      const fields = fieldsIn(value);
      if (fields !== null) inside.set(name, fields);
    }
  };
  add(schema);
  if (isFree || names.size === 0) return null;
  for (const name of also) names.add(name);
  return { names, inside, meant: new Map() };
}

/** `also` are other spellings that the operation takes of its own fields. Null where there is nothing to compare with. */
export function knownRequest(schema: RouteSchema, also: readonly string[]): KnownRequest | null {
  const body = fieldsIn((schema.body ?? {}) as Schema, also);
  const query = fieldsIn((schema.querystring ?? {}) as Schema, also) ?? (schema.consumes === undefined ? null : body);
  return body === null && query === null ? null : { body, query };
}

/** All names that a body may have in it, wherever; null where a client may choose some of them. */
export function namesIn(schema: unknown, also: readonly string[] = []): ReadonlySet<string> | null {
  const body = fieldsIn((schema ?? {}) as Schema, also);
  if (body === null) return null;
  const names = new Set<string>();
  const add = (fields: KnownFields): void => {
    for (const name of fields.names) names.add(name);
    for (const inner of fields.inside.values()) add(inner);
  };
  add(body);
  return names;
}
