/** What tests of the console share: a browser's way to sign in, and to call with the cookie that it got. */
import assert from "node:assert/strict";
import type { Answer, CallOptions, TestService } from "./service.ts";

export const CONSOLE_HEADERS = { "x-heliograph-console": "1" };
export const SESSION = "/console/1/session";

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieIn({ headers, status, text }: Answer): string {
  assert.equal(status, 200, text);
  return headers.get("set-cookie")!.split(";")[0]!;
}

export async function signIn(service: TestService, username = "demo", password = `${username}-password`) {
  const body = { username, password };
  return cookieIn(await service.call("POST", SESSION, { body, headers: CONSOLE_HEADERS, authorization: null }));
}

/** A call as a page of the console makes it. */
export function consoleCall(
  service: TestService,
  cookie: string | null,
  method: string,
  path: string,
  { headers, ...options }: CallOptions = {},
): Promise<Answer> {
  const own = { ...CONSOLE_HEADERS, ...(cookie === null ? {} : { cookie }), ...headers };
  return service.call(method, path, { authorization: null, headers: own, ...options });
}
