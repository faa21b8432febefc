/** The console's page and its files: what is served at "/", how, and that nothing else is. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { readConsoleFiles } from "../../src/api/console/files.ts";
import { PAGE_NAMES } from "../../src/api/console/page-names.ts";
import { operationsOf } from "../support/operations.ts";
import { RawClient, rawCall, rawRequestText } from "../support/raw-http.ts";
import { startTestService, temporaryDirectory } from "../support/service.ts";

const PAGE = "<!doctype html><title>Heliograph</title><script type=module src=/assets/index-x1.js></script>";
const SCRIPT = `console.log(${JSON.stringify("a script of some length. ".repeat(100))});`;
const folder = await temporaryDirectory({ after });
await mkdir(join(folder, "assets"));
await writeFile(join(folder, "index.html"), PAGE);
await writeFile(join(folder, "favicon.svg"), "<svg/>");
await writeFile(join(folder, "assets/index-x1.js"), SCRIPT);
await writeFile(join(folder, "assets/small-x2.css"), "a{}");
const service = await startTestService({ after }, { consoleFolder: folder });
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  service.call(method, path, { authorization: null, headers });

test("the page is served at / and at the path of every page and whatever lies below it", async () => {
  for (const path of ["/", ...PAGE_NAMES.flatMap((name) => [`/${name}`, `/${name}/`, `/${name}/123/x?q=to%3A1`])]) {
    const { status, text, headers } = await get(path);
    assert.deepEqual([status, text], [200, PAGE], path);
    assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(headers.get("cache-control"), "no-cache");
  }
});

test("a path that is no page shows the page to a browser, and an answer of the API to everybody else", async () => {
  const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const page = await get("/mesages", browser);
  assert.deepEqual([page.status, page.text], [404, PAGE]);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(page.headers.get("content-security-policy")!, /^default-src 'none'; script-src 'self';/);
  for (const [path, headers, method] of [
    ["/mesages", {}, "GET"],
    ["/mesages", { accept: "*/*" }, "GET"],
    ["/mesages", browser, "POST"],
    ["/sms/1/text/single", browser, "GET"],
  ] as const) {
    const { status, json } = await get(path, headers, method);
    assert.ok(json.requestError.serviceException.text.length > 0, path);
    assert.equal(status, path === "/mesages" ? 404 : 405);
  }
});

test("the page runs its own scripts alone, in no frame, and tells nobody where its reader came from", async () => {
  const { headers } = await get("/messages");
  assert.equal(
    headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
      "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  );
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
  assert.match(headers.get("permissions-policy")!, /geolocation=\(\)/);
});

test("a file with a hash in its name is kept for ever, others are asked for again", async () => {
  const script = await get("/assets/index-x1.js");
  assert.deepEqual([script.status, script.text], [200, SCRIPT]);
  assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal(script.headers.get("cache-control"), "public, max-age=31536000, immutable");
  const icon = await get("/favicon.svg");
  assert.equal(icon.headers.get("content-type"), "image/svg+xml");
  assert.equal(icon.headers.get("cache-control"), "no-cache");
});

/** As it comes, not as fetch unpacks it. */
async function raw(path: string, headers: Record<string, string>, method = "GET") {
  const { hostname, port } = new URL(service.url);
  const client = await RawClient.connect(service.url);
  await client.write(rawRequestText(method, path, { host: `${hostname}:${port}`, ...headers }));
  const answer = await client.answer({ head: method === "HEAD" });
  client.destroy();
  return answer;
}

test("files come compressed to whoever takes them so, and are the same unpacked", async () => {
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync } as const;
  for (const [accepted, encoding] of [
    ["gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
  ] as const) {
    const response = await fetch(`${service.url}/assets/index-x1.js`, { headers: { "accept-encoding": accepted } });
    assert.equal(response.headers.get("content-encoding"), encoding, accepted);
    assert.equal(await response.text(), SCRIPT, "fetch unpacks it");
    const file = (await readConsoleFiles(folder))!.get("/assets/index-x1.js")!;
    const octets = await file.compressed(encoding);
    assert.ok(octets.length < SCRIPT.length / 2);
    assert.equal(unpack[encoding](octets).toString(), SCRIPT);
  }
  for (const accepted of ["identity", "br;q=0", "gzip;q=0.0", "zstd", ";;;,,,=", "br".repeat(5_000)])
    assert.equal(
      (await raw("/assets/index-x1.js", { "accept-encoding": accepted })).headers.get("content-encoding"),
      undefined,
    );
  const small = await raw("/assets/small-x2.css", { "accept-encoding": "br" });
  assert.equal(small.headers.get("content-encoding"), undefined, "it would not be smaller");
  assert.equal(small.headers.get("vary"), "accept-encoding");
});

test("whoever has a file is told that it is the same, and HEAD has its headers alone", async () => {
  const first = await get("/assets/index-x1.js");
  const etag = first.headers.get("etag")!;
  for (const known of [etag, etag.slice(2), `"other", ${etag}`]) {
    const again = await get("/assets/index-x1.js", { "if-none-match": known });
    assert.deepEqual([again.status, again.text], [304, ""], known);
    assert.equal(again.headers.get("etag"), etag);
  }
  for (const other of ['"other"', "", ",,,", 'W/""'])
    assert.equal((await get("/assets/index-x1.js", { "if-none-match": other })).status, 200, other);
  const head = await get("/", {}, "HEAD");
  assert.deepEqual([head.status, head.text, head.headers.get("content-length")], [200, "", String(PAGE.length)]);
});

test("no path leads out of the folder, or to a file that was not in it at the start", async () => {
  await writeFile(join(folder, "assets/later.js"), "later");
  for (const path of [
    "/assets/later.js",
    "/assets/",
    "/assets",
    "/index.html.bak",
    "/assets/../index.html.bak",
    "/assets/..%2f..%2f..%2fetc%2fpasswd",
    "/assets/%2e%2e/%2e%2e/package.json",
    "/..%5c..%5cpackage.json",
    "/assets/index-x1.js%00",
    "//etc/passwd",
    "/messagesx",
    "/nothing",
    "/nothing/messages",
    "/assets/__proto__",
    "/constructor",
  ]) {
    const answer = await rawCall(service.url, rawRequestText("GET", path, {}));
    assert.equal(answer.status, 404, path);
    assert.equal(JSON.parse(answer.body).requestError.serviceException.messageId, "NOT_FOUND", path);
  }
  for (const path of ["/messages", "/assets/index-x1.js"]) {
    const refused = await get(path, {}, "POST");
    assert.deepEqual([refused.status, refused.headers.get("allow")], [405, "GET, HEAD"], path);
  }
});

test("no page has the first step of its path from an operation of the API", async () => {
  const pages = new Set<string>([...PAGE_NAMES, "assets"]);
  for (const { path } of await operationsOf(service)) assert.ok(!pages.has(path.split("/")[1]!), path);
});

test("where the console was not built, / says how to build it, and the API is served", async (t) => {
  const empty = await startTestService(t, { consoleFolder: join(folder, "nothing") });
  const home = await empty.call("GET", "/", { authorization: null });
  assert.equal(home.status, 200);
  assert.match(home.headers.get("content-type")!, /^text\/plain/);
  assert.match(home.text, /npm run build:console/);
  assert.equal((await empty.call("GET", "/messages", { authorization: null })).status, 404);
  assert.equal((await empty.call("GET", "/account/1/balance")).status, 200);
});

test("where the console is switched off, / leads to the documentation", async (t) => {
  const settings = { console: { enabled: false } };
  const without = await startTestService(t, { settings, consoleFolder: folder });
  const home = await without.call("GET", "/", { authorization: null });
  assert.deepEqual([home.status, home.headers.get("location")], [302, "/docs"]);
  assert.equal((await without.call("GET", "/messages", { authorization: null })).status, 404);
});
