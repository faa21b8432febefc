/** The fields of each kind of carrier, for the form in which one is set: read from the schemas by which the catalogue checks them. */
import { CARRIER_KINDS } from "../../catalogue/carrier-kinds.ts";
import { isCarrierSecret } from "../../store/port/secrets.ts";

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: FieldSchema;
}

export interface CarrierField {
  readonly name: string;
  /** How it is written: "lines" is a list of texts, and "json" what has fields of its own. */
  readonly input: "text" | "secret" | "number" | "switch" | "choice" | "lines" | "json";
  readonly choices: readonly (string | number)[];
  readonly min: number | null;
  readonly max: number | null;
  readonly isRequired: boolean;
}

/** Only the command line may name a file; id and kind are said elsewhere. */
const LEFT_OUT = new Set(["id", "kind", "tlsCa"]);

function inputOf(name: string, { type, enum: choices, items }: FieldSchema): CarrierField["input"] {
  if (isCarrierSecret(name)) return "secret";
  if (choices !== undefined) return "choice";
  if (type === "boolean") return "switch";
  if (type === "integer" || type === "number") return "number";
  if (type === "array") return items?.type === "string" ? "lines" : "json";
  return type === "string" ? "text" : "json";
}

export function carrierFields(): { kind: string; fields: CarrierField[] }[] {
  return Object.entries(CARRIER_KINDS).map(
    ([
      kind,
      {
        schema: { properties, required },
      },
    ]) => ({
      kind,
      fields: Object.entries(properties as Readonly<Record<string, FieldSchema>>)
        .filter(([name]) => !LEFT_OUT.has(name))
        .map(([name, schema]) => ({
          name,
          input: inputOf(name, schema),
          choices: schema.enum ?? [],
          min: schema.minimum ?? null,
          max: schema.maximum ?? schema.maxLength ?? null,
          isRequired: (required as readonly string[]).includes(name),
        })),
    }),
  );
}
