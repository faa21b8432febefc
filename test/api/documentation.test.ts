/** The API describes itself: an OpenAPI document that is whole, and a page that shows it without asking anybody else. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const open = (path: string) => service.call("GET", path, { authorization: null });

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly $ref?: string;
}

interface Content {
  readonly content?: Record<string, { readonly schema?: Schema }>;
}

interface Described {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, unknown>[];
  readonly requestBody?: Content;
  readonly responses: Record<string, Content & { readonly description?: string }>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly securitySchemes: Record<string, { readonly type: string }> };
}

const document: Document = (await open("/openapi.json")).json;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ name: `${method.toUpperCase()} ${path}`, path, described })),
);

/** The schema of a JSON body. */
function schemaOf(content: Content | undefined): Schema {
  const schema = content?.content?.["application/json"]?.schema;
  assert.ok(schema !== undefined);
  return schema;
}

const described = (name: string): Described => {
  const found = operations.find((operation) => operation.name === name);
  assert.ok(found !== undefined, name);
  return found.described;
};

test("the document is OpenAPI 3.1 and names every operation of the contract", async () => {
  const { status, headers } = await open("/openapi.json");
  assert.equal(status, 200);
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.match(document.openapi, /^3\.1\.\d+$/);
  assert.deepEqual([typeof document.info.title, typeof document.info.version], ["string", "string"]);
  const names = operations.map(({ name }) => name);
  for (const name of [
    "POST /sms/1/text/advanced",
    "POST /sms/1/text/multi",
    "POST /sms/1/text/single",
    "POST /sms/2/text/advanced",
    "POST /sms/1/preview",
    "GET /account/1/balance",
    "POST /1/customerProfile/login",
    "POST /1/customerProfile/logout",
    "POST /1/customerProfile/payments/funds",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
  ]) {
    assert.ok(names.includes(name), name);
  }
});

test("every operation says what it is, who may call it, what it answers and how it fails", () => {
  for (const { name, path, described } of operations) {
    assert.ok((described.summary ?? "").length > 5, name);
    assert.equal(described.tags?.length, 1, name);
    for (const scheme of (described.security ?? []).flatMap((choice) => Object.keys(choice))) {
      assert.ok(scheme in document.components.securitySchemes, `${name}: ${scheme}`);
    }
    const [good, ...more] = Object.entries(described.responses).filter(([status]) => status.startsWith("2"));
    assert.ok(good !== undefined && more.length === 0, `${name} has one good answer`);
    const [status, answer] = good;
    assert.ok((answer.description ?? "").length > 0, name);
    if (status !== "204") {
      const [content] = Object.values(answer.content ?? {});
      assert.ok(content?.schema !== undefined, `${name} says what its answer looks like`);
    }
    const failures = path.endsWith("z") || path === "/metrics" ? ["5XX"] : ["4XX", "5XX"];
    for (const failure of failures) {
      const { properties } = schemaOf(described.responses[failure]);
      const error = properties?.requestError;
      assert.deepEqual(error?.required, ["clientCorrelator", "serviceException", "variables"], `${name} ${failure}`);
      assert.deepEqual(error?.properties?.serviceException?.required, [
        "messageId",
        "text",
        "variables",
        "additionalDescription",
      ]);
    }
  }
});

test("every schema is one: a type, or a choice of schemas, down to the last field", () => {
  const look = (schema: Schema, place: string): void => {
    if (schema.anyOf !== undefined) {
      schema.anyOf.forEach((choice, index) => {
        look(choice, `${place}|${index}`);
      });
      return;
    }
    assert.ok(schema.type !== undefined, `${place} has no type`);
    if (schema.properties !== undefined) {
      for (const [name, property] of Object.entries(schema.properties)) look(property, `${place}.${name}`);
      for (const name of schema.required ?? []) assert.ok(name in schema.properties, `${place} requires ${name}`);
    }
    if (schema.type === "array") assert.ok(schema.items !== undefined, `${place} has items`);
    if (schema.items !== undefined) look(schema.items, `${place}[]`);
  };
  for (const { name, described } of operations) {
    const contents = [described.requestBody, ...Object.values(described.responses)];
    for (const content of contents.flatMap((one) => Object.values(one?.content ?? {})))
      look(content.schema ?? {}, name);
  }
});

test("the fully featured request is described with every field of the contract and its limits", () => {
  const request = schemaOf(described("POST /sms/1/text/advanced").requestBody);
  assert.deepEqual(Object.keys(request.properties ?? {}), ["bulkId", "messages"]);
  const message = request.properties?.messages?.items;
  const fields = message?.properties ?? {};
  for (const name of [
    "from",
    "destinations",
    "text",
    "flash",
    "language",
    "transliteration",
    "intermediateReport",
    "notifyUrl",
    "notifyContentType",
    "callbackData",
    "campaignReferenceId",
    "validityPeriod",
    "sendAt",
    "deliveryTimeWindow",
  ]) {
    assert.ok(name in fields, name);
  }
  assert.deepEqual(fields.language?.properties?.languageCode?.enum, ["TR", "ES", "PT"]);
  assert.deepEqual(fields.transliteration?.enum, ["TURKISH", "GREEK", "CYRILLIC", "CENTRAL_EUROPEAN", "NON_UNICODE"]);
  assert.deepEqual(fields.notifyContentType?.enum, ["application/json", "application/xml"]);
  assert.equal(fields.callbackData?.maxLength, 200);
  assert.equal(fields.validityPeriod?.minimum, 1);
  assert.equal(fields.deliveryTimeWindow?.properties?.days?.minItems, 1);
  assert.equal(fields.deliveryTimeWindow?.properties?.days?.items?.enum?.length, 7);
  assert.deepEqual(Object.keys(fields.destinations?.items?.properties ?? {}), ["to", "messageId"]);
});

test("the parameters of login and funds are described, as JSON and as a form", () => {
  const bodies: Readonly<Record<string, readonly string[]>> = {
    "POST /1/customerProfile/login": ["username", "password", "code"],
    "POST /1/customerProfile/payments/funds": ["accountKey", "ammount", "currencycode", "description"],
  };
  for (const [name, parameters] of Object.entries(bodies)) {
    const { requestBody } = described(name);
    for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
      const schema = requestBody?.content?.[type]?.schema;
      assert.deepEqual(Object.keys(schema?.properties ?? {}), parameters, `${name} ${type}`);
    }
  }
});

test("the page at /docs shows the document, and all that it loads comes from the service itself", async () => {
  const home = await open("/");
  assert.deepEqual([home.status, home.headers.get("location")], [302, "/docs"]);
  const page = await open("/docs");
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(page.text, /<title>Heliograph API<\/title>/);
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
  assert.ok(assets.some((address) => address.endsWith(".js")) && assets.some((address) => address.endsWith(".css")));
  for (const address of assets) {
    assert.match(address, /^\/docs\//);
    const asset = await open(address);
    assert.equal(asset.status, 200, address);
    assert.ok(asset.text.length > 100, address);
  }
  const start = await open("/docs/static/swagger-initializer.js");
  assert.match(start.text, /"validatorUrl":null/, "nobody else is told where this service is");
  assert.deepEqual((await open("/docs/json")).json, document);
});

test("what is not there under /docs is not found, and nothing outside of it can be had", async () => {
  for (const path of ["/docs/static/nothing.js", "/docs/static/../../package.json", "/docs/nothing"]) {
    const { status, json } = await open(path);
    assert.deepEqual([status, json.requestError.serviceException.messageId], [404, "NOT_FOUND"], path);
  }
  for (const path of [
    "/docs/static/%2e%2e/%2e%2e/package.json",
    "/docs/static/..%2f..%2fpackage.json",
    "/docs/static/%00",
  ]) {
    const { status, json } = await open(path);
    assert.ok(status === 400 || status === 404, path);
    assert.match(json.requestError.serviceException.messageId, /^(BAD_REQUEST|NOT_FOUND)$/);
  }
});
