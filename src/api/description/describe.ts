/**
 * The description of the API, from what the operations say of themselves: schemas that are shared stand once, every request and answer has an
 * example, every error of an operation is named, and what the service pushes is there too.
 */
import { HEEDS_KEY } from "../idempotency.ts";
import { WARNINGS_HEADER } from "../near-misses.ts";
import type {
  HeaderObject,
  Media,
  OpenApiDocument,
  OperationExamples,
  OperationObject,
  Parameter,
  Schema,
} from "./document.ts";
import { capital, ErrorAnswers } from "./errors.ts";
import { operationExamples } from "./operation-examples.ts";
import { exampleOf } from "./schema-examples.ts";
import { SharedSchemas } from "./shared-schemas.ts";
import { webhooks } from "./webhooks.ts";

/** The groups of operations, in the order of the page. */
const TAGS: Readonly<Record<string, string>> = {
  Sending: "Send texts and binary messages, and see beforehand how a text would be sent.",
  "Version 3":
    "The newest generation of the API: one operation for texts and binary messages, and errors of its own form.",
  PINs: "PINs that are sent to phones, and compared with what people type.",
  OneAPI: "The oldest generation of the API, for programs that were written for it.",
  Receiving: "Messages from phones.",
  "Scheduled bulks": "When the messages of a request go, and whether they go at all.",
  Tracking: "Delivery reports, and what was sent.",
  Reports: "Pushed reports that were not taken.",
  Account: "Your balance, statement, opt-outs, credentials and sessions.",
  Reseller: "Sessions of resellers, and money for their clients.",
  Sandbox: "Only in the sandbox: phones that write, the faults of their network, the clock.",
  Operating: "Accounts and the service itself, for operators and resellers.",
  Console: "What the pages of the console ask for. Programs use the other operations: these may change with the pages.",
  Health: "For monitoring.",
  Pushes: "What the service posts to your URLs.",
};

const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "The same key with the same body gets the first answer again, for 24 hours. With another body it is a 409.",
  schema: { type: "string", minLength: 1, maxLength: 255 } as Schema,
};

const WARNINGS: HeaderObject = {
  description:
    "There where the request has fields that nobody knows here and that look like one that is known: notifyURL is not known here; did you mean notifyUrl? Such fields are left aside. Also where reports go to an address that is not called, or a number looks like one without its country code. Several warnings are separated by commas.",
  schema: { type: "string", maxLength: 1_000 } as Schema,
};

/** A body that is plain text has no place for the fields of the others. */
function bodyExample(schema: Schema, example: unknown): unknown {
  const isFitting = schema.type !== "string" || typeof example === "string";
  return example !== undefined && isFitting ? example : exampleOf(schema, schema.type === "string" ? "text" : "");
}

class Description {
  readonly #shared = new SharedSchemas();
  readonly #errors = new ErrorAnswers(this.#shared);
  readonly #examples: Readonly<Record<string, OperationExamples>>;

  constructor(nowMs: number) {
    this.#examples = operationExamples(nowMs);
  }

  write(document: OpenApiDocument): OpenApiDocument {
    const paths = Object.entries(document.paths).map(
      ([path, methods]) =>
        [
          path,
          Object.fromEntries(
            Object.entries(methods).map(([method, described]) => [method, this.#operation(path, described)]),
          ),
        ] as const,
    );
    const pushes = webhooks(this.#shared);
    return {
      ...document,
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths: Object.fromEntries(paths),
      webhooks: pushes,
      components: {
        ...document.components,
        schemas: this.#shared.all(),
        responses: this.#errors.all(),
        parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
        headers: { Warnings: WARNINGS },
      },
    };
  }

  #operation(path: string, described: OperationObject): OperationObject {
    const { operationId: id = "", requestBody, parameters = [], responses } = described;
    const examples = this.#examples[id] ?? {};
    const name = capital(id);
    const written = parameters.map((parameter) =>
      "in" in parameter ? this.#parameter(parameter, examples.parameters ?? {}) : parameter,
    );
    if (HEEDS_KEY.has(id)) written.push({ $ref: "#/components/parameters/IdempotencyKey" });
    const description = [described.description, examples.note].filter((line) => line !== undefined).join(" ");
    return {
      ...described,
      ...(description === "" ? {} : { description }),
      ...(written.length === 0 ? {} : { parameters: written }),
      ...(requestBody === undefined ? {} : { requestBody: this.#body(requestBody, examples, `${name}Request`) }),
      responses: {
        ...this.#answers(responses, examples, `${name}Response`, isComparable(described)),
        ...this.#errors.of(path, described),
      },
    };
  }

  /** One that may be left out has an example only where the operation's own table gives it: the page fills in what has one. */
  #parameter(parameter: Parameter, examples: Readonly<Record<string, unknown>>): Parameter {
    const { name, schema, required } = parameter;
    const made = required === true ? (examples[name] ?? exampleOf(schema, name)) : examples[name];
    return { ...parameter, schema: this.#shared.share(schema), ...(made === undefined ? {} : { example: made }) };
  }

  #body(body: NonNullable<OperationObject["requestBody"]>, { body: example, bodies }: OperationExamples, name: string) {
    const written = Object.entries(body.content).map(([type, { schema }]): [string, Media] => [
      type,
      {
        schema: this.#shared.shareBody(schema, name),
        ...(bodies === undefined ? { example: bodyExample(schema, example) } : { examples: bodies }),
      },
    ]);
    return { ...body, content: Object.fromEntries(written) };
  }

  #answers(
    responses: OperationObject["responses"],
    { answer: example }: OperationExamples,
    name: string,
    hasWarnings: boolean,
  ) {
    const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
    const written = good.map(([status, given]) => {
      const answer = hasWarnings
        ? { ...given, headers: { [WARNINGS_HEADER]: { $ref: "#/components/headers/Warnings" } } }
        : given;
      if (!("content" in answer) || answer.content === undefined) return [status, answer];
      const content = Object.entries(answer.content).map(([type, { schema }]): [string, Media] => [
        type,
        { schema: this.#shared.shareBody(schema, name), example: example ?? exampleOf(schema) },
      ]);
      const description = answer.description === "Default Response" ? "Done." : answer.description;
      return [status, { ...answer, description, content: Object.fromEntries(content) }];
    });
    return Object.fromEntries(written) as OperationObject["responses"];
  }
}

/** Whether it takes fields, with which those of a request are compared. */
function isComparable({ requestBody, parameters = [] }: OperationObject): boolean {
  return requestBody !== undefined || parameters.some((parameter) => "in" in parameter && parameter.in === "query");
}

/** The document in full. `nowMs` is the service's time, for examples of what is to be later. */
export function describe(document: object, nowMs: number): OpenApiDocument {
  // A copy without what the schemas have for the code that uses them.
  return new Description(nowMs).write(JSON.parse(JSON.stringify(document)) as OpenApiDocument);
}
