/** The service's OpenAPI document with every reference replaced by what it names: for tests that look into schemas. */

export function dereferenced<Document>(document: object): Document {
  const named = (reference: string): unknown =>
    reference
      .slice("#/".length)
      .split("/")
      .reduce<unknown>((place, name) => (place as Record<string, unknown>)[name], document);
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole);
    if (typeof value !== "object" || value === null) return value;
    if ("$ref" in value) return whole(named(value.$ref as string));
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, whole(inner)]));
  };
  return whole(document) as Document;
}
