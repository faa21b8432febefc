/** The body of an error as the family of its path has it, for tests that go through operations of all families. */
import assert from "node:assert/strict";
import { type Answer, errorObject } from "./service.ts";

export interface ExpectedError {
  readonly status: number;
  readonly messageId: string;
  readonly text: string;
  /** Its sentence, or what that is like. */
  readonly description?: string | RegExp;
}

/** Five fields, and no other: strict readers drop a body with more or fewer. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the service has answered
function assertApiError(body: any, { status, text, description = `${text}.` }: ExpectedError, about: string): void {
  assert.deepEqual(Object.keys(body), ["errorCode", "description", "action", "violations", "resources"], about);
  const says = sentence(description, body.description);
  assert.deepEqual([body.errorCode, body.description], [`E${status}`, says], about);
  assert.ok(typeof body.action === "string" && body.action !== "", about);
  assert.ok(Array.isArray(body.violations) && Array.isArray(body.resources), about);
}

/** What is expected where an error says this: of what is like the pattern, just that. */
function sentence(expected: string | RegExp, said: unknown): string {
  if (typeof expected === "string") return expected;
  assert.match(String(said), expected);
  return String(said);
}

/** One that names no field. */
export function assertErrorAt(path: string, answer: Answer, expected: ExpectedError, about = path): void {
  const { status, messageId, text, description } = expected;
  assert.equal(answer.status, status, about);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8", about);
  if (path.startsWith("/sms/3/")) assertApiError(answer.json, expected, about);
  else if (/^\/(2fa|ct|auth\/1\/oauth2)\//.test(path)) {
    const { error, ...body } = answer.json;
    const says = sentence(description ?? text, body.requestError.serviceException.text);
    assert.deepEqual(body, { requestError: { serviceException: { messageId, text: says } } }, about);
    // A word of OAuth, on the path that it belongs to.
    const hasWord = path.startsWith("/auth/") && ![400, 429].includes(status) && status < 500;
    assert.equal(typeof error, hasWord ? "string" : "undefined", about);
  } else {
    const { additionalDescription: said } = answer.json.requestError.serviceException;
    const says = description === undefined ? null : sentence(description, said);
    assert.deepEqual(answer.json, errorObject(messageId, text, null, says), about);
  }
}
