/** What a request's target and Host say, before anybody asks who is calling: paths that lead nowhere, hosts that are none, and the body of their errors. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { maskAddress } from "../../src/api/console/masks.ts";
import { rawCall, rawRequestText } from "../support/raw-http.ts";
import { basic, DEMO, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const LONG = "x".repeat(1_100);
const get = (target: string, headers: Record<string, string> = {}) =>
  rawCall(service.url, rawRequestText("GET", target, { authorization: DEMO, ...headers }));

test("no path goes round the checks: one that cannot be decoded, or has a step that is too long", async () => {
  for (const target of [
    "/a;%zz",
    "/%zz",
    `/operator/1/accounts/${LONG}`,
    `/1/smsmessaging/outbound/${LONG}/requests`,
  ]) {
    const { status, headers } = await get(target);
    assert.equal(status, 404, target);
    assert.equal(headers.get("x-content-type-options"), "nosniff", target);
    assert.equal(headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'", target);
    assert.equal((await get(target, { host: "evil.example" })).status, 403, target);
  }
});

test("an error has the body of its family, however the path is written", async () => {
  for (const target of ["/sms/3/%zz", "/sms/3", "/sms/3?x", "/%73ms/3/nothing", "http://localhost/sms/3/nothing"]) {
    const { status, body } = await get(target);
    assert.equal(status, 404, target);
    assert.equal(JSON.parse(body).errorCode, "E404", target);
  }
  const { status, body } = await get("/%73ms/3/logs", { authorization: basic("demo", "wrong") });
  assert.deepEqual([status, JSON.parse(body).errorCode], [401, "E401"]);
  assert.ok("requestError" in JSON.parse((await get("/sms/30/x")).body));
});

test("a Host that is no host, or two of them, is 400", async () => {
  for (const host of ["a@evil/x?", 'a"b', "a b", "a/b", "\u00e9", "x".repeat(256), "[::1", "localhost:123456"])
    assert.equal((await get("/account/1/balance", { host })).status, 400, host);
  for (const target of ["/account/1/balance", "/nothing", "/healthz"])
    assert.equal((await get(target, { Host: "localhost" })).status, 400, target);
  for (const host of ["localhost", "a_b:80", "[::1]:80"])
    assert.equal((await get("/account/1/balance", { host })).status, 200, host);
});

test("the host of an absolute target counts", async () => {
  assert.equal((await get("http://evil.example/account/1/balance")).status, 403);
  assert.equal((await get("http://localhost/account/1/balance", { host: "evil.example" })).status, 200);
  assert.equal((await get("http://a@evil/account/1/balance")).status, 400);
});

test("an id with a comma is found by itself, and a list by its pieces", async () => {
  const body = { messages: [{ from: "InfoSMS", destinations: [{ to: "41793026727" }], text: "x" }] };
  for (const bulkId of ["x,y", "z"])
    assert.equal((await service.call("POST", "/sms/1/text/advanced", { body: { bulkId, ...body } })).status, 200);
  const found = async (query: string) =>
    (await service.call("GET", `/sms/1/logs?bulkId=${query}`)).json.results
      .map((each: { bulkId: string }) => each.bulkId)
      .sort();
  assert.deepEqual(await found("x%2Cy"), ["x,y"]);
  assert.deepEqual(await found("x,y&bulkId=z"), ["x,y", "z"]);
  assert.deepEqual(await found("y,z"), ["z"]);
});

test("OneAPI: names that would be steps, senders with control characters, and a URL given twice are 400", async () => {
  const path = "/1/smsmessaging/outbound";
  const message = { address: "41793026727", message: "x" };
  for (const clientCorrelator of [".", ".."]) {
    const { status } = await service.call("POST", `${path}/a1/requests`, { body: { ...message, clientCorrelator } });
    assert.equal(status, 400, clientCorrelator);
  }
  for (const sender of ["a%00b", "a%0Ab", "%7F"]) {
    assert.equal((await service.call("POST", `${path}/${sender}/requests`, { body: message })).status, 400, sender);
    assert.equal((await service.call("GET", `${path}/${sender}/subscriptions`)).status, 400, sender);
  }
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const form = "notifyURL=http://127.0.0.1:1/a&notifyURL=http://127.0.0.1:1/b";
  assert.equal((await service.call("POST", `${path}/subscriptions`, { body: form, headers })).status, 400);
  const token = "client_id=demo&client_secret=demo-password&grant_type=client_credentials";
  for (const [query, body] of [
    ["", `${token}&grant_type=x`],
    [`?${token}&client_id=x`, ""],
  ])
    assert.equal(
      (await service.call("POST", `/auth/1/oauth2/token${query}`, { body, headers, authorization: null })).status,
      400,
    );
});

test("OneAPI: a request that comes again gets its first answer whole, with prices", async () => {
  const body = { address: ["41793026727", "nobody"], message: "x", clientCorrelator: "again" };
  const [first, again] = [
    await service.call("POST", "/1/smsmessaging/outbound/a1/requests", { body }),
    await service.call("POST", "/1/smsmessaging/outbound/a1/requests", { body }),
  ];
  assert.equal(first.json.sendMessageResults[0].price, 0.01, first.text);
  assert.deepEqual(again.json, first.json);
});

test("a URL for clicks is checked even where no link is shortened", async () => {
  const messages = [{ sender: "Shop", destinations: [{ to: "41793026727" }], content: { text: "Hello" } }];
  const options = { tracking: { shortenUrl: false, trackingUrl: "nonsense" } };
  const { status, json } = await service.call("POST", "/sms/3/messages", { body: { messages, options } });
  assert.deepEqual([status, json.violations?.[0]?.property], [400, "options.tracking.trackingUrl"]);
});

test("the log of requests shows no password of a URL within a path", () => {
  const path = "/1/smsmessaging/outbound/subscriptions/";
  for (const url of ["http://u:SECRET@h/1/x", encodeURIComponent("http://u:SECRET@h/1/x")])
    for (const query of ["", "?a=1"]) {
      const shown = maskAddress(`${path}${url}${query}`, true);
      assert.ok(shown.startsWith(path) && !shown.includes("SECRET") && shown.endsWith(query), shown);
    }
  assert.equal(maskAddress("/sms/1/x%20y?a=1", true), "/sms/1/x%20y?a=1");
});
