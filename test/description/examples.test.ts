/**
 * The examples of the description work as they stand. Each fits its schema, and those of requests are sent to a sandbox, in the order of the document, with its demo
 * accounts: every one gets the success that is documented, in the shape that is documented.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import Schemas from "typebox/schema";
import { dereferenced } from "../support/openapi.ts";
import { basic, DEMO, startTestService } from "../support/service.ts";

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Answer {
  readonly content?: Readonly<Record<string, Media>>;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: object;
  readonly example?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Described }>>;
}

const catalogue = readFileSync(join(import.meta.dirname, "../../sandbox.catalogue.toml"), "utf8");
const service = await startTestService({ after }, { catalogue, settings: { kannel: { enabled: true } } });
const document = dereferenced<Document>((await service.call("GET", "/openapi.json")).json);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
);

const examplesOf = ({ example, examples }: Media): readonly unknown[] =>
  examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);

/** What is wrong with a value by its schema; nothing where it fits. */
function misfits(schema: object, value: unknown): string[] {
  if (value === undefined) return ["there is no example"];
  const [fits, errors] = Schemas.Errors(schema, value);
  return fits ? [] : errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const contentsOf = ({ requestBody, responses }: Described) =>
  [requestBody, ...Object.values(responses)].flatMap((body) => Object.entries(body?.content ?? {}));

test("every request, every answer, every error and every push has an example that fits its schema", () => {
  const pushes = Object.values(document.webhooks).map(({ post }) => post);
  const wrong: string[] = [];
  let seen = 0;
  for (const described of [...operations.map((operation) => operation.described), ...pushes]) {
    const { operationId, parameters = [] } = described;
    for (const [type, media] of contentsOf(described))
      for (const example of examplesOf(media)) {
        seen++;
        wrong.push(...misfits(media.schema, example).map((says) => `${operationId} ${type}: ${says}`));
      }
    for (const { name, required, schema, example } of parameters) {
      if (example === undefined && required !== true) continue;
      seen++;
      wrong.push(...misfits(schema, example).map((says) => `${operationId} ${name}: ${says}`));
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(seen > 1_000, `${seen} examples`);
});

/** Operations whose examples cannot work without what only their caller has, and why. */
const NOT_SENT: Readonly<Record<string, string>> = {
  confirmSecondFactor: "needs the code of a phone",
  removeSecondFactor: "needs the code of a phone",
  testCallback: "would ask a host outside",
  revokeOwnApiKey: "needs the id of a key",
  revokeAccountApiKey: "needs the id of a key",
  readLaterReceipts: "needs the id of a message",
  trackMessage: "needs the id of a message",
  endConversion: "needs the id of a message with conversion tracking",
  oneApiProfileById: "needs the id of an account",
  oneApiClients: "is for a reseller",
};

/** What an operation makes has an id that only its answer has. It takes the place of the one that the examples show. */
const GIVES: Readonly<Record<string, { readonly shown: string; readonly given: (answer: Answered) => string }>> = {
  makePinApplication: { shown: "0F1E2D3C4B5A69788796A5B4C3D2E1F0", given: ({ applicationId }) => applicationId },
  makePinTemplate: { shown: "A1B2C3D4E5F60718293A4B5C6D7E8F90", given: ({ messageId }) => messageId },
  sendPin: { shown: "9C817C6F8AF3D48F9FE553282AFA2B67", given: ({ pinId }) => pinId },
  oneApiSubscribeToReports: {
    shown: "example-report-subscription",
    given: ({ deliveryReceiptSubscription }) => lastStep(deliveryReceiptSubscription.resourceURL),
  },
  oneApiSubscribeToInbound: {
    shown: "example-inbound-subscription",
    given: ({ resourceReference }) => lastStep(resourceReference.resourceURL),
  },
};
// biome-ignore lint/suspicious/noExplicitAny: whatever the operation has answered
type Answered = any;
const lastStep = (url: string): string => url.split("/").at(-1)!;
const given = new Map<string, string>();
const withGivenIds = (text: string): string =>
  [...given].reduce((changed, [shown, real]) => changed.replaceAll(shown, real), text);
const isConsole = (path: string): boolean => path.startsWith("/console/");

/** What undoes or ends something comes when everything else was tried. */
const LAST = ["deleteRoute", "deleteCarrier", "changeOwnPassword", "setUserPassword", "retireAccount"];
/** What makes something comes before whatever looks at it. */
const FIRST = ["makePinApplication", "makePinTemplate", "sendPin", "oneApiSend", ...Object.keys(GIVES)];
const place = (id: string): number => (FIRST.includes(id) ? FIRST.indexOf(id) - FIRST.length - 1 : LAST.indexOf(id));

async function authorizationFor(path: string, { security = [] }: Described): Promise<string | null> {
  if (security.length === 0) return null;
  if (path.startsWith("/operator/")) return basic("operator", "operator-password");
  if (security.some((choice) => "basic" in choice)) return DEMO;
  const login = document.paths["/1/customerProfile/login"]!.post!.requestBody!.content["application/json"]!;
  const { json } = await service.call("POST", "/1/customerProfile/login", { body: login.example, authorization: null });
  return `IBSSO ${json.login.ibAuthCookie}`;
}

function addressOf(path: string, { parameters = [] }: Described): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { in: where, name, example } of parameters) {
    if (example === undefined) continue;
    if (where === "path") address = address.replace(`{${name}}`, encodeURIComponent(String(example)));
    if (where === "query") for (const value of [example].flat()) query.append(name, String(value));
  }
  return query.size === 0 ? address : `${address}?${query}`;
}

/** The page fills in parameters of the header too. */
function headersOf({ parameters = [] }: Described): Record<string, string> {
  const filled = parameters.filter(({ in: where, example }) => where === "header" && example !== undefined);
  return Object.fromEntries(filled.map(({ name, example }) => [name, String(example)]));
}

const written = (type: string | null, body: unknown): string =>
  type === "application/json" ? JSON.stringify(body) : String(body);

test("Idempotency-Key is named by the operations that send or move money, and each of them looks at it", async () => {
  const named = operations.filter(({ described }) =>
    described.parameters?.some(({ name }) => name === "Idempotency-Key"),
  );
  const ids = named.map(({ described }) => described.operationId);
  for (const id of [
    "sendTextAdvanced",
    "sendBinarySingleV2",
    "sendMessages",
    "oneApiSend",
    "kannelPost",
    "addFunds",
    "moveFunds",
  ])
    assert.ok(ids.includes(id), id);
  assert.equal(ids.length, 20);
  assert.ok(!ids.includes("sendPin"));
  for (const { path, method, described } of named) {
    const [type, media] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
    const body = media === undefined ? undefined : written(type!, examplesOf(media)[0]);
    const got = await service.call(method, addressOf(path, described), {
      authorization: await authorizationFor(path, described),
      ...(body === undefined ? {} : { body }),
      headers: {
        ...headersOf(described),
        ...(type === undefined ? {} : { "content-type": type }),
        "idempotency-key": "x".repeat(256),
      },
    });
    assert.equal(got.status, 400, `${described.operationId}: ${got.text}`);
    // Kannel's words have no place for the name of a field.
    if (!path.startsWith("/cgi-bin/")) assert.match(got.text, /Idempotency-Key/, described.operationId);
  }
});

test("the examples of requests work as they stand in the sandbox, one after the other", async () => {
  const wrong: string[] = [];
  const sent = new Set<string>();
  const inOrder = operations
    .filter(({ path, described }) => !isConsole(path) && NOT_SENT[described.operationId] === undefined)
    .sort((one, other) => place(one.described.operationId) - place(other.described.operationId));
  for (const { path, method, described } of inOrder) {
    const { operationId, requestBody, responses } = described;
    const [status, answer] = Object.entries(responses).find(([code]) => code.startsWith("2"))!;
    const bodies: readonly (readonly [type: string | null, body: unknown])[] =
      requestBody === undefined
        ? [[null, undefined]]
        : Object.entries(requestBody.content).flatMap(([type, media]) =>
            examplesOf(media).map((example) => [type, example] as const),
          );
    for (const [type, body] of bodies) {
      const isForm = type === "application/x-www-form-urlencoded";
      const got = await service.call(method, withGivenIds(addressOf(path, described)), {
        authorization: await authorizationFor(path, described),
        ...(body === undefined
          ? {}
          : {
              body: withGivenIds(
                isForm ? new URLSearchParams(body as Record<string, string>).toString() : written(type, body),
              ),
            }),
        headers: { ...headersOf(described), ...(type === null ? {} : { "content-type": type }) },
      });
      sent.add(operationId);
      const gives = GIVES[operationId];
      if (gives !== undefined && got.status < 300) given.set(gives.shown, gives.given(got.json));
      if (String(got.status) !== status) {
        wrong.push(`${operationId} ${got.status}, not ${status}: ${got.text.slice(0, 300)}`);
        continue;
      }
      const shape = answer.content?.["application/json"]?.schema;
      if (shape !== undefined) wrong.push(...misfits(shape, got.json).map((says) => `${operationId} answer: ${says}`));
    }
  }
  assert.deepEqual(wrong, []);
  for (const id of ["sendTextAdvanced", "fetchReports", "searchLogs", "getBulk", "setBulkStatus", "previewText"])
    assert.ok(sent.has(id), id);
  for (const id of ["kannelSend", "kannelPost"]) assert.ok(sent.has(id), id);
  for (const id of ["getBalance", "fetchInbox", "openSession", "endSession", "loginReseller", "addFunds"])
    assert.ok(sent.has(id), id);
});

test("no row of exceptions is left over", () => {
  const ids = new Set(operations.map(({ described }) => described.operationId));
  assert.deepEqual(
    [...Object.keys(NOT_SENT), ...FIRST, ...LAST].filter((id) => !ids.has(id)),
    [],
  );
});
