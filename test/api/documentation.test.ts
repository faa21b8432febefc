/** The API describes itself: an OpenAPI document that is whole, and a page that shows it without asking anybody else. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { dereferenced } from "../support/openapi.ts";
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
  readonly operationId?: string;
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

const published = (await open("/openapi.json")).json;
const document = dereferenced<Document>(published);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ name: `${method.toUpperCase()} ${path}`, path, described })),
);

/** The schema of a JSON body. */
function schemaOf(content: Content | undefined): Schema {
  const schema = content?.content?.["application/json"]?.schema;
  assert.ok(schema !== undefined);
  return schema;
}

const methodOf = (described: Described): string =>
  operations
    .find((operation) => operation.described === described)!
    .name.split(" ")[0]!
    .toLowerCase();

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
    "GET /statusz",
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
    const failures = Object.keys(described.responses).filter((status) => /^[45]\d\d$/.test(status));
    const guarded = (described.security ?? []).length > 0;
    for (const needed of [...(guarded ? ["401", "403", "429"] : []), "500", "503"])
      assert.ok(failures.includes(needed), `${name} ${needed}`);
    if (path.includes("{")) assert.ok(failures.includes("404"), `${name} 404`);
    if (described.requestBody !== undefined)
      for (const needed of ["400", "413", "415"]) assert.ok(failures.includes(needed), `${name} ${needed}`);
    for (const failure of failures) {
      const schema = schemaOf(described.responses[failure]);
      const fields = errorFieldsOf(path);
      const error = fields.reduce((place, [name, required]) => {
        assert.deepEqual(place.required, required, `${name} ${failure}`);
        return place.properties?.[name] ?? {};
      }, schema);
      assert.ok(error.type !== undefined, `${name} ${failure}`);
    }
  }
});

/** What an error must have, level by level, by the family of its path. */
function errorFieldsOf(path: string): readonly (readonly [name: string, required: readonly string[]])[] {
  if (path.startsWith("/sms/3/"))
    return [["errorCode", ["errorCode", "description", "action", "violations", "resources"]]];
  if (/^\/(2fa|ct|auth\/1\/oauth2)\//.test(path))
    return [
      ["requestError", ["requestError"]],
      ["serviceException", ["serviceException"]],
      ["messageId", ["messageId", "text"]],
    ];
  return [
    ["requestError", ["requestError"]],
    ["serviceException", ["clientCorrelator", "serviceException", "variables"]],
    ["messageId", ["messageId", "text", "variables", "additionalDescription"]],
  ];
}

test("every operation has an id, and no two have the same", () => {
  const missing = operations.filter(({ described }) => described.operationId === undefined).map(({ name }) => name);
  assert.deepEqual(missing, [], "these operations have no id: give each one in operation({ id: … })");
  const ids = operations.map(({ described }) => described.operationId!);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index || !/^[a-z][A-Za-z0-9]*$/.test(id)),
    [],
    "ids are words in camelCase, each of one operation",
  );
});

test("what operations share stands once, and everything that stands there is used", () => {
  const text = JSON.stringify(published);
  for (const room of ["schemas", "responses", "parameters"]) {
    const names = Object.keys(published.components[room]);
    assert.ok(names.length > 0, room);
    const unused = names.filter((name) => !text.includes(`"#/components/${room}/${name}"`));
    assert.deepEqual(unused, [], room);
  }
  for (const name of ["Status", "DeliveryTimeWindow", "Destination", "Report", "Log", "Account", "ErrorResponse"])
    assert.ok(name in published.components.schemas, name);
  const bodies = operations.flatMap(({ path, described }) =>
    Object.keys(described.requestBody?.content ?? {}).map((type) => {
      const { requestBody } = published.paths[path][described.operationId === undefined ? "" : methodOf(described)];
      return requestBody.content[type].schema;
    }),
  );
  for (const schema of bodies) assert.match(schema.$ref ?? "", /^#\/components\/schemas\//);
});

test("what the service pushes is described: reports, messages from phones, the alert of a balance", () => {
  const { webhooks } = published;
  for (const name of ["deliveryReports", "incomingMessages", "balanceAlert"]) {
    const { post } = webhooks[name];
    assert.deepEqual(
      post.parameters.map((parameter: { name: string }) => parameter.name),
      ["webhook-id", "webhook-timestamp", "webhook-signature"],
    );
    assert.ok("application/json" in post.requestBody.content, name);
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
  assert.deepEqual(Object.keys(request.properties ?? {}), [
    "bulkId",
    "tracking",
    "messages",
    "urlOptions",
    "sendingSpeedLimit",
  ]);
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
  assert.deepEqual(fields.language?.properties?.languageCode?.enum, ["TR", "ES", "PT", "AUTODETECT", "NONE"]);
  assert.deepEqual(fields.transliteration?.enum, [
    "TURKISH",
    "GREEK",
    "CYRILLIC",
    "SERBIAN_CYRILLIC",
    "BULGARIAN_CYRILLIC",
    "CENTRAL_EUROPEAN",
    "BALTIC",
    "PORTUGUESE",
    "COLOMBIAN",
    "NON_UNICODE",
    "ALL",
    "NONE",
  ]);
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
    "POST /1/customerProfile/payments/funds": ["accountKey", "ammount", "currencycode", "currencyCode", "description"],
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
  assert.deepEqual((await open("/docs/json")).json, published);
});

test("what is not there under /docs is not found, and nothing outside of it can be had", async () => {
  for (const path of [
    "/docs/static/nothing.js",
    "/docs/static//swagger-ui.css",
    "/docs/static/../../package.json",
    "/docs/nothing",
  ]) {
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
