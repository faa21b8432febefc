/** Examples that are made from a schema: each field has the value that its name stands for in this table, or else one of its type. */
import { STATUS, type StatusName } from "../../sms/statuses.ts";
import type { Schema } from "./document.ts";

/** A status as answers and reports show it. */
export function shownStatus(status: StatusName) {
  const { groupId, groupName, id, name, description } = STATUS[status];
  return { groupId, groupName, id, name, description };
}

const DATE = "2026-02-12T09:58:20.323+0000";

/** By the name of a field or a parameter. One whose type is another one than the field's is not used. */
const FIELDS: Readonly<Record<string, unknown>> = {
  account: "DEMO0001",
  accountKey: "DEMO0001",
  actor: "OPERATOR1",
  alert: { below: 5, url: "https://shop.example/low" },
  allowedAddresses: ["192.0.2.0/24"],
  at: DATE,
  balance: 99.99,
  bulkId: "example-bulk",
  callbackData: "my first message",
  callbackSecret: "whsec_c2l4dGVlbiBsZXR0ZXJzIG9mIGEgc2VjcmV0",
  carrier: "simulator",
  campaignReferenceId: "spring-sale",
  cleanText: "Hello",
  createdAt: DATE,
  currency: "EUR",
  deadAt: DATE,
  doneAt: DATE,
  expiresAt: "2027-02-01T00:00:00.000+0000",
  from: "InfoSMS",
  host: "shop.example",
  key: "DEMO0001",
  kind: "client",
  mccMnc: "22801",
  messageId: "3763870000000000022",
  next: null,
  now: DATE,
  number: "41793026727",
  parent: "RESELLER1",
  pricePerMessage: 0.01,
  ratePlan: "standard",
  receivedAt: DATE,
  rate: "0.92",
  sendAt: DATE,
  sentAt: DATE,
  since: DATE,
  text: "Hello",
  to: "41793026727",
  token: "0f6b1ce7a4f94e0d8a3c5b7e9d2f4a60",
  url: "https://shop.example/reports",
  username: "demo",
  usernames: ["demo"],
};

const BY_TYPE: Readonly<Record<string, (schema: Schema) => unknown>> = {
  string: () => "example",
  integer: ({ minimum = 1 }) => Math.max(minimum, 1),
  number: ({ minimum = 1 }) => Math.max(minimum, 1),
  boolean: () => true,
  null: () => null,
  array: ({ items = {} }) => [exampleOf(items)],
  object: ({ properties = {} }) =>
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, exampleOf(property, name)])),
};

function typesOf({ type }: Schema): readonly string[] {
  return type === undefined ? [] : [type].flat();
}

/** Whether the value has the schema's type, and its fields where it is an object. */
function fits(value: unknown, schema: Schema): boolean {
  if (schema.enum !== undefined) return schema.enum.includes(value);
  if (schema.anyOf !== undefined) return schema.anyOf.some((choice) => fits(value, choice));
  const types = typesOf(schema);
  if (Array.isArray(value)) return types.includes("array") && value.every((item) => fits(item, schema.items ?? {}));
  if (typeof value === "number")
    return types.includes("number") || (types.includes("integer") && Number.isInteger(value));
  if (value === null) return types.includes("null");
  if (typeof value !== "object") return types.includes(typeof value);
  return types.includes("object") && (schema.required ?? []).every((name) => name in value);
}

/** An example with all the fields of the schema, those that may be left out too. */
export function exampleOf(schema: Schema, name = ""): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const named = FIELDS[name];
  if (named !== undefined && fits(named, schema)) return named;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0]!, name);
  return BY_TYPE[typesOf(schema)[0] ?? "null"]?.(schema);
}
