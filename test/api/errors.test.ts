/** The errors that every operation has in common, each with the whole error object: 401, 404, 405, 406 and 415. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertErrorAt } from "../support/error-bodies.ts";
import { operationsOf } from "../support/operations.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { basic, DEMO, errorObject, startTestService, WHY_UNAUTHORIZED } from "../support/service.ts";

const service = await startTestService({ after });
const operations = await operationsOf(service);
const login = await service.call("POST", "/1/customerProfile/login", {
  authorization: basic("reseller", "reseller-password"),
});
const TOKEN = `IBSSO ${login.json.login.ibAuthCookie}`;

/** Credentials with which each operation may be called. */
function rightsFor(path: string): string {
  if (path.startsWith("/operator/") || path.startsWith("/console/")) return basic("operator", "operator-password");
  return path.startsWith("/1/smsmessaging/") || !takesForms(path) ? DEMO : TOKEN;
}

/** Where the contract leaves the encoding of parameters open. */
const takesForms = (path: string): boolean =>
  ["/1/customerProfile/", "/1/smsmessaging/", "/auth/1/session", "/auth/1/oauth2/", "/account/1/second-factor"].some(
    (start) => path.startsWith(start),
  );

/** Those that speak JSON and nothing else, in both directions. */
const jsonOperations = operations.filter(({ path }) => !["/healthz", "/readyz", "/statusz", "/metrics"].includes(path));
const posts = jsonOperations.filter(({ method }) => method === "POST");

const UNAUTHORIZED = {
  status: 401,
  messageId: "UNAUTHORIZED",
  text: "Unauthorized",
  description: WHY_UNAUTHORIZED.missing,
};
const NOT_FOUND = {
  status: 404,
  messageId: "NOT_FOUND",
  text: "Not found",
  description: /^There is no such path; .{10,300}[.?]$/,
};
const METHOD_NOT_ALLOWED = {
  status: 405,
  messageId: "METHOD_NOT_ALLOWED",
  text: "Method not allowed",
  description: /^This path does not take [A-Z]+, but [A-Z, ]+\.$/,
};
const NOT_ACCEPTABLE = {
  status: 406,
  messageId: "NOT_ACCEPTABLE",
  text: "Not acceptable",
  description: "The answer is application/json, and Accept does not allow it.",
};
const UNSUPPORTED = { status: 415, messageId: "UNSUPPORTED_MEDIA_TYPE", text: "Unsupported media type" };

test("the document names the operations of the contract", () => {
  const named = operations.map(({ method, path }) => `${method} ${path}`);
  for (const operation of [
    "POST /sms/1/text/advanced",
    "POST /sms/1/text/multi",
    "POST /sms/1/text/single",
    "POST /sms/2/text/advanced",
    "GET /account/1/balance",
    "POST /1/customerProfile/login",
    "POST /1/customerProfile/logout",
    "POST /1/customerProfile/payments/funds",
    "POST /auth/1/session",
    "DELETE /auth/1/session",
  ]) {
    assert.ok(named.includes(operation), operation);
  }
});

test("401: every operation that asks who is calling refuses whoever does not say", async () => {
  const guarded = operations.filter((operation) => operation.guarded);
  assert.ok(guarded.length >= 7);
  for (const { method, path } of guarded) {
    const answer = await service.call(method, path, { authorization: null });
    assertErrorAt(path, answer, UNAUTHORIZED);
    assert.match(
      answer.headers.get("www-authenticate") ?? "",
      /^Basic realm="heliograph", charset="UTF-8", App /,
      path,
    );
  }
});

const UNKNOWN_PATHS = [
  "/nothing",
  "/sms",
  "/sms/1/text",
  "/sms/1/text/advanced/more",
  "/sms/3/text/advanced",
  "/SMS/1/text/advanced",
  "/sms//1/text/advanced",
  "/account/1",
  "/1/smsmessaging",
  "/%2e%2e/%2e%2e/etc/passwd",
  "/docs/static/../../../package.json",
  "/nothing?with=a&query",
  `/${"x".repeat(8_000)}`,
];

test("404: an unknown path is not found, whatever the method and the credentials", async () => {
  for (const path of UNKNOWN_PATHS) {
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"]) {
      for (const authorization of [null, DEMO]) {
        const answer = await service.call(method, path, { authorization });
        assertErrorAt(path, answer, NOT_FOUND, `${method} ${path.slice(0, 50)}`);
      }
    }
  }
});

test("404: a path that is not there is told what there is near it, and nothing of what the caller wrote", async () => {
  const near = async (path: string): Promise<string> => {
    const { status, json } = await service.call("POST", path);
    assert.equal(status, 404, path);
    return json.description ?? json.requestError.serviceException.additionalDescription;
  };
  for (const [path, meant] of [
    ["/sms/1/text/singel", "POST /sms/1/text/single"],
    ["/sms/1/text/Single", "POST /sms/1/text/single"],
    ["/SMS/1/text/advanced", "POST /sms/1/text/advanced"],
    ["/sms/3/message", "POST /sms/3/messages"],
    ["/operator/1/account/DEMO0001", "DELETE, GET, HEAD, PATCH /operator/1/accounts/{key}"],
  ] as const)
    assert.equal(await near(path), `There is no such path; did you mean ${meant}?`);
  assert.match(await near("/sms/1/text"), /; below \/sms\/1\/text\/ there is advanced, multi, query, single\.$/);
  assert.match(await near("/sms/1/text/s3cret-words"), /; below \/sms\/1\/text\/ there is advanced, multi/);
  assert.match(await near("/operator/1/accounts/s3cret/words"), /; below \/operator\/1\/accounts\/\{key\}\/ there is /);
  assert.match(await near("/nothing"), /GET \/docs has all that there are\.$/);
  assert.match(await near(`/sms${"/x".repeat(500)}`), /; below \/sms\/ there is 1, 2, 3\.$/);
});

test("404: of a request to an unknown path the body does not matter", async () => {
  for (const type of ["application/json", "text/plain", "nonsense"]) {
    for (const body of ["{{{", "", '{"a": 1}', Buffer.from([0xff])]) {
      const answer = await service.call("POST", "/nothing", { body, headers: { "content-type": type, accept: "x/y" } });
      assertErrorAt("/nothing", answer, NOT_FOUND, type);
    }
  }
});

test("404: a path that is no URL is not found either", async () => {
  for (const path of ["/sms/%", "/sms/%E0%A4%A", "/%zz", "/sms/%ff"]) {
    const { status, body, headers } = await rawCall(service.url, rawRequestText("GET", path, {}));
    const object = errorObject("NOT_FOUND", "Not found", null, "The path is not a valid URL.");
    assert.deepEqual([status, JSON.parse(body)], [404, object], path);
    assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  }
});

/** A GET of these gives each thing out once, or sends: a HEAD would do it unseen. */
const WITHOUT_HEAD = new Set([
  "/sms/1/text/query",
  "/sms/3/text/query",
  "/sms/1/inbox/reports",
  "/sms/1/reports",
  "/1/smsmessaging/outbound/requests/deliveryReports",
  "/1/smsmessaging/outbound/requests/{correlator}/deliveryReports",
  "/1/smsmessaging/inbound/registrations/{registration}/messages",
  "/sms/3/reports",
  "/account/1/statement",
  "/operator/1/accounts/{key}/statement",
  "/operator/1/statement",
]);

test("405: a known path under another method says which ones there are", async () => {
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const there = operations.filter((operation) => operation.path === path).map(({ method }) => method);
    if (there.includes("GET") && !WITHOUT_HEAD.has(path)) there.push("HEAD");
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      if (there.includes(method)) continue;
      for (const ending of ["", "/", "?x=1"]) {
        const answer = await service.call(method, `${path}${ending}`, { authorization: null });
        assertErrorAt(path, answer, METHOD_NOT_ALLOWED, `${method} ${path}${ending}`);
        assert.equal(answer.headers.get("allow"), there.sort().join(", "), path);
      }
    }
  }
});

test("405: methods that hardly anybody has heard of are methods too", async () => {
  for (const method of ["PROPFIND", "TRACE", "SEARCH", "PURGE"]) {
    const { status, headers, body } = await rawCall(service.url, rawRequestText(method, "/account/1/balance", {}));
    assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"], method);
    const says = `This path does not take ${method}, but GET, HEAD.`;
    assert.deepEqual(JSON.parse(body), errorObject("METHOD_NOT_ALLOWED", "Method not allowed", null, says));
  }
});

test("406: whoever does not accept JSON gets nothing else", async () => {
  for (const { method, path } of jsonOperations) {
    for (const accept of [
      "text/html",
      "application/xml",
      "text/html, application/xml;q=0.9, image/*",
      "application/json;q=0",
      "*/*; q=0.000",
      "application/jsonx",
      "json",
    ]) {
      const answer = await service.call(method, path, { authorization: rightsFor(path), headers: { accept } });
      assertErrorAt(path, answer, NOT_ACCEPTABLE, `${path} ${accept}`);
    }
  }
});

test("anything that JSON satisfies is acceptable, and so is no Accept at all", async () => {
  const ask = (headers: Record<string, string>) =>
    rawCall(service.url, rawRequestText("GET", "/account/1/balance", { authorization: DEMO, ...headers }));
  assert.equal((await ask({})).status, 200);
  for (const accept of [
    "",
    "*/*",
    "application/*",
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "text/html, application/xhtml+xml, */*;q=0.8",
    "application/json;q=0.001",
    "text/html,application/json",
  ]) {
    assert.equal((await ask({ accept })).status, 200, accept);
  }
});

test("415: a body that is no JSON is refused before it is read; forms are taken where the contract leaves it open", async () => {
  const { json: before } = await service.call("GET", "/account/1/balance");
  for (const { path } of posts) {
    const forms = takesForms(path);
    const authorization = rightsFor(path);
    for (const type of [
      "text/plain",
      "application/xml",
      "text/json",
      "application/jsonp",
      "application/vnd.api+json",
      "multipart/form-data; boundary=x",
      "application/octet-stream",
      "json",
      "application/json, application/json",
      ...(forms ? [] : ["application/x-www-form-urlencoded"]),
    ]) {
      const answer = await service.call("POST", path, { authorization, body: "x", headers: { "content-type": type } });
      const allowed = forms ? "application/json or application/x-www-form-urlencoded" : "application/json";
      const description = `Content-Type must be ${allowed}.`;
      assertErrorAt(path, answer, { ...UNSUPPORTED, description }, `${path} ${type}`);
    }
  }
  assert.deepEqual((await service.call("GET", "/account/1/balance")).json, before);
});

test("JSON may name any charset and other parameters; without a Content-Type the body is JSON", async () => {
  const body = '{"text": "x"}';
  for (const type of [
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json ; charset=ISO-8859-1",
    "application/json; version=1; charset=utf-8",
    "application/json;",
    "Application/Json",
  ]) {
    const answer = await service.call("POST", "/sms/1/preview", { body, headers: { "content-type": type } });
    assert.equal(answer.status, 200, type);
  }
  const bare = await rawCall(service.url, rawRequestText("POST", "/sms/1/preview", { authorization: DEMO }, body));
  assert.equal(bare.status, 200);
});

test("400: no operation takes a body that cannot be read", async () => {
  for (const { path, bodies } of posts) {
    if (bodies.length === 0) continue;
    const authorization = rightsFor(path);
    const cutOff = "line 1, column 13 should have a comma or }, and the body ends there";
    const cases: readonly (readonly [body: string | Buffer, says: string])[] = [
      ['{"text": "x"', `The body is not valid JSON: ${cutOff}.`],
      [Buffer.from('{"text": "ü"}', "latin1"), "The body is not valid UTF-8."],
    ];
    for (const [body, says] of cases) {
      const answer = await service.call("POST", path, { authorization, body });
      assertErrorAt(path, answer, { status: 400, messageId: "BAD_REQUEST", text: "Bad request", description: says });
    }
  }
});
