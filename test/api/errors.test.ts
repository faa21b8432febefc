/** The errors that every operation has in common, each with the whole error object: 401, 404, 405, 406 and 415. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { operationsOf } from "../support/operations.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { type Answer, basic, DEMO, errorObject, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const operations = await operationsOf(service);
const login = await service.call("POST", "/1/customerProfile/login", {
  authorization: basic("reseller", "reseller-password"),
});
const TOKEN = `IBSSO ${login.json.login.ibAuthCookie}`;

/** Credentials with which each operation may be called. */
function rightsFor(path: string): string {
  if (path.startsWith("/operator/")) return basic("operator", "operator-password");
  return takesForms(path) ? TOKEN : DEMO;
}

/** Where the contract leaves the encoding of parameters open. */
const takesForms = (path: string): boolean =>
  ["/1/customerProfile/", "/auth/1/session", "/account/1/second-factor"].some((start) => path.startsWith(start));

/** Those that speak JSON and nothing else, in both directions. */
const jsonOperations = operations.filter(({ path }) => !["/healthz", "/readyz", "/metrics"].includes(path));
const posts = jsonOperations.filter(({ method }) => method === "POST");

function assertError(answer: Answer, status: number, object: ReturnType<typeof errorObject>, about: string): void {
  assert.deepEqual([answer.status, answer.json], [status, object], about);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8", about);
}

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
    assertError(answer, 401, errorObject("UNAUTHORIZED", "Unauthorized"), path);
    assert.match(answer.headers.get("www-authenticate") ?? "", /^(Basic|IBSSO) realm="heliograph"/, path);
  }
});

const UNKNOWN_PATHS = [
  "/nothing",
  "/sms",
  "/sms/1/text",
  "/sms/1/text/advanced/more",
  "/sms/3/text/advanced",
  "/SMS/1/text/advanced",
  "//sms/1/text/advanced",
  "/account/1",
  "/1/customerProfile",
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
        assertError(answer, 404, errorObject("NOT_FOUND", "Not found"), `${method} ${path.slice(0, 50)}`);
      }
    }
  }
});

test("404: of a request to an unknown path the body does not matter", async () => {
  for (const type of ["application/json", "text/plain", "nonsense"]) {
    for (const body of ["{{{", "", '{"a": 1}', Buffer.from([0xff])]) {
      const answer = await service.call("POST", "/nothing", { body, headers: { "content-type": type, accept: "x/y" } });
      assertError(answer, 404, errorObject("NOT_FOUND", "Not found"), type);
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
  "/sms/1/inbox/reports",
  "/sms/1/reports",
  "/operator/1/accounts/{key}/statement",
]);

test("405: a known path under another method says which ones there are", async () => {
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const there = operations.filter((operation) => operation.path === path).map(({ method }) => method);
    if (there.includes("GET") && !WITHOUT_HEAD.has(path)) there.push("HEAD");
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      if (there.includes(method)) continue;
      for (const ending of ["", "/", "?x=1"]) {
        const answer = await service.call(method, `${path}${ending}`, { authorization: null });
        assertError(answer, 405, errorObject("METHOD_NOT_ALLOWED", "Method not allowed"), `${method} ${path}${ending}`);
        assert.equal(answer.headers.get("allow"), there.sort().join(", "), path);
      }
    }
  }
});

test("405: methods that hardly anybody has heard of are methods too", async () => {
  for (const method of ["PROPFIND", "TRACE", "SEARCH", "PURGE"]) {
    const { status, headers, body } = await rawCall(service.url, rawRequestText(method, "/account/1/balance", {}));
    assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"], method);
    assert.deepEqual(JSON.parse(body), errorObject("METHOD_NOT_ALLOWED", "Method not allowed"));
  }
});

const NOT_ACCEPTABLE = errorObject(
  "NOT_ACCEPTABLE",
  "Not acceptable",
  null,
  "The answer is application/json, and Accept does not allow it.",
);

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
      assertError(answer, 406, NOT_ACCEPTABLE, `${path} ${accept}`);
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
      const says = `Content-Type must be ${allowed}.`;
      const object = errorObject("UNSUPPORTED_MEDIA_TYPE", "Unsupported media type", null, says);
      assertError(answer, 415, object, `${path} ${type}`);
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
    const cases: readonly (readonly [body: string | Buffer, says: string])[] = [
      ['{"text": "x"', "The body is not valid JSON."],
      [Buffer.from('{"text": "ü"}', "latin1"), "The body is not valid UTF-8."],
    ];
    for (const [body, says] of cases) {
      const answer = await service.call("POST", path, { authorization, body });
      assertError(answer, 400, errorObject("BAD_REQUEST", "Bad request", null, says), path);
    }
  }
});
