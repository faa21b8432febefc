import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_URL_LENGTH, urlProblem } from "../../src/runtime/urls.ts";

test("a URL that can be called is absolute, of http or https, and not too long", () => {
  const NO_URL = "is not an absolute http or https URL";
  const long = `http://a/${"x".repeat(MAX_URL_LENGTH)}`;
  for (const [text, problem] of [
    ["http://a", null],
    ["HTTPS://a.example:8443/in?x=1#y", null],
    ["http://user:password@[::1]/", null],
    [long.slice(0, MAX_URL_LENGTH), null],
    [long.slice(0, MAX_URL_LENGTH + 1), "is longer than 2048 characters"],
    ["", NO_URL],
    ["/in", NO_URL],
    ["http:a", NO_URL],
    [" http://a", NO_URL],
    ["http://a b/", NO_URL],
    ["ftp://a/", NO_URL],
  ] as const)
    assert.equal(urlProblem(text), problem, text);
});
