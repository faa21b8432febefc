/** The OpenAPI document, as far as its description is written here. */

export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly $ref?: string;
}

export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

export type MediaTypes = Record<string, Media>;

export interface HeaderObject {
  readonly description: string;
  readonly schema: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required?: boolean;
  description?: string;
  readonly schema: Schema;
  example?: unknown;
}

export interface Reference {
  readonly $ref: string;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject | Reference>>;
  readonly content?: MediaTypes;
}

export interface OperationObject {
  operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { readonly description?: string; required?: boolean; readonly content: MediaTypes };
  responses: Record<string, ResponseObject | Reference>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, OperationObject>>;
  webhooks?: Record<string, { readonly post: OperationObject }>;
  tags?: readonly { readonly name: string; readonly description: string }[];
  readonly components: {
    schemas?: Record<string, Schema>;
    responses?: Record<string, ResponseObject>;
    parameters?: Record<string, Parameter>;
    headers?: Record<string, HeaderObject>;
    readonly securitySchemes?: unknown;
  };
}

/** The examples of an operation, where those made from its schema would not do. */
export interface OperationExamples {
  /** A line more for people, where the example needs another one before it. */
  readonly note?: string;
  readonly body?: unknown;
  /** In place of `body`: several, by name; the first is the one that the page sends. */
  readonly bodies?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  /** Parameters of the path and the query. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly answer?: unknown;
}
