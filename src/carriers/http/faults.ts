/** What is wrong with the profile of a carrier over HTTP, beyond the shape of its fields: names that templates do not know, errors that there are not. */
import { faultsIn } from "../../runtime/check.ts";
import { didYouMean } from "../../runtime/near.ts";
import { errorRows } from "../../sms/errors.ts";
import { Description, type RequestDescription } from "./description.ts";
import { describe } from "./presets.ts";
import type { HttpProfile } from "./profile.ts";
import { type JsonTemplate, namesIn } from "./template.ts";
import { CARRIER_VALUES, MESSAGE_VALUES } from "./values.ts";

interface Fault {
  readonly field: string;
  readonly says: string;
}

const OF_CARRIER: readonly string[] = CARRIER_VALUES;
const OF_MESSAGE: readonly string[] = [...CARRIER_VALUES, ...MESSAGE_VALUES];
const ERRORS = new Set(errorRows.map(({ name }) => name));

export function httpFaults(profile: HttpProfile): Fault[] {
  const { url, description } = describe(profile);
  const faults: Fault[] = [];
  if (url === "") faults.push({ field: "url", says: "must be given: where the provider's API is" });
  if (description.send === undefined) faults.push({ field: "send", says: "must be given, or a preset that has it" });
  return [
    ...faults,
    ...missing(description),
    ...templateFaults(profile),
    ...errorFaults(profile),
    ...bodyFaults(profile),
  ];
}

/** What neither the profile nor its preset says. */
function missing(description: Description): Fault[] {
  return faultsIn(Description, description).flatMap(({ instancePath, keyword, params }) => {
    const [, field = "", ...within] = instancePath.split("/");
    const { requiredProperties = [] } = params as { requiredProperties?: readonly string[] };
    return keyword === "required"
      ? [{ field, says: `must have ${[...within, requiredProperties.join(", ")].join(".")}, or a preset that has it` }]
      : [];
  });
}

function templatesIn(request: RequestDescription | undefined): JsonTemplate {
  const { path, query = {}, headers = {}, form = {}, json = {} } = request ?? { path: "" };
  return [path, query, headers, form, json];
}

/** Only what the profile says itself: presets are right. */
function templateFaults({ auth, login, send, sendOctets, lookup, receipts, incoming }: Description): Fault[] {
  const places: readonly (readonly [field: string, template: JsonTemplate, known: readonly string[]])[] = [
    ["auth", [auth?.username ?? "", auth?.secret ?? ""], OF_CARRIER],
    ["send", [templatesIn(send), send?.many?.item ?? {}], OF_MESSAGE],
    ["sendOctets", [templatesIn(sendOctets), sendOctets?.many?.item ?? {}], OF_MESSAGE],
    ["login", templatesIn(login), OF_CARRIER],
    ["lookup", templatesIn(lookup), OF_MESSAGE],
    ["receipts", templatesIn(receipts?.poll), [...OF_CARRIER, "id", "count", "cursor"]],
    ["incoming", templatesIn(incoming?.poll), [...OF_CARRIER, "cursor"]],
  ];
  return places.flatMap(([field, template, known]) => {
    const stranger = namesIn(template).find((name) => !known.includes(name));
    return stranger === undefined
      ? []
      : [{ field, says: `has a place for {${stranger}}, and the values are ${known.join(", ")}` }];
  });
}

function errorFaults({ send, sendOctets, lookup, receipts }: Description): Fault[] {
  const named = [
    ...Object.entries({ send, sendOctets, lookup }).flatMap(([field, answer]) => [
      ...Object.values(answer?.errors ?? {}).map((name) => [field, name] as const),
      ...(answer?.rules ?? []).flatMap(({ error }) => (error === undefined ? [] : [[field, error] as const])),
    ]),
    ...Object.values(receipts?.errors ?? {}).map((name) => ["receipts", name] as const),
  ];
  return named
    .filter(([, name]) => !ERRORS.has(name))
    .map(([field, name]) => ({ field, says: `names the error "${name}", which is none${didYouMean(name, ERRORS)}` }));
}

function bodyFaults({ send, sendOctets, lookup }: Description): Fault[] {
  return Object.entries({ send, sendOctets, lookup })
    .filter(([, request]) => request?.form !== undefined && request.json !== undefined)
    .map(([field]) => ({ field, says: "has form and json, and a request has one body" }));
}
