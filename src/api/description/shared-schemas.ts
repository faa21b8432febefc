/**
 * Schemas that several operations share stand once in the document, under `components`. A schema with a `title` is such a one: its title is its name
 * there, and the type's name in a generated client. Inside the service schemas stay as they are, whole: validators and serializers are made from those, and a
 * title costs them nothing.
 */
import type { Schema } from "./document.ts";

export class SharedSchemas {
  readonly #schemas = new Map<string, { readonly schema: Schema; readonly text: string }>();

  /** The schema with everything that has a title taken out of it; what stands for the schema itself, where it has one. */
  share(schema: Schema): Schema {
    const shared = this.#inside(schema);
    const { title } = schema;
    if (title === undefined) return shared;
    this.#add(title, shared);
    return { $ref: `#/components/schemas/${title}` };
  }

  /** The same for the body of an operation, which gets the name where the schema has none of its own. */
  shareBody(schema: Schema, name: string): Schema {
    const isPlain = schema.type !== "object" && schema.anyOf === undefined;
    return this.share(schema.title !== undefined || isPlain ? schema : { title: name, ...schema });
  }

  /** All of them, by name. */
  all(): Record<string, Schema> {
    const names = [...this.#schemas.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, this.#schemas.get(name)!.schema]));
  }

  #inside(schema: Schema): Schema {
    const { title: _, properties, items, anyOf, ...rest } = schema;
    return {
      ...rest,
      ...(properties === undefined
        ? {}
        : {
            properties: Object.fromEntries(
              Object.entries(properties).map(([name, property]) => [name, this.share(property)]),
            ),
          }),
      ...(items === undefined ? {} : { items: this.share(items) }),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map((choice) => this.share(choice)) }),
    };
  }

  #add(title: string, schema: Schema): void {
    const text = JSON.stringify(schema);
    const known = this.#schemas.get(title);
    if (known === undefined) this.#schemas.set(title, { schema, text });
    else if (known.text !== text)
      throw new Error(`two schemas have the title ${title}, and they are not the same: ${known.text} and ${text}`);
  }
}
