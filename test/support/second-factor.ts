/** What tests of second factors share: a calendar that the test turns, enrolment, and logins with a code. */
import assert from "node:assert/strict";
import { codeAt, stepAt } from "../../src/auth/second-factor.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { type Answer, basic, type TestService } from "./service.ts";

export const FACTOR = "/account/1/second-factor";
export const LOGIN = "/1/customerProfile/login";

/** Its timers are the system's; its time stands still until a test moves it, so that codes and waits do not run out by themselves. */
export class Calendar implements Clock {
  #nowMs = Date.UTC(2026, 0, 5, 12);
  readonly after = systemClock.after;

  monotonic(): number {
    return this.#nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }
}

/** The code that the user's app shows, now or some steps of thirty seconds later. */
export function codeOf(secret: string, clock: Clock, later = 0): string {
  return codeAt(secret, stepAt(clock.now()) + later);
}

/** Another code than those that are right now. */
export function wrongCode(secret: string, clock: Clock): string {
  const right = new Set([-1, 0, 1].map((later) => codeOf(secret, clock, later)));
  return ["000000", "111111", "222222", "333333"].find((code) => !right.has(code))!;
}

export interface Enrolled {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Puts a second factor in force, with the code of just now. */
export async function enrol(
  service: TestService,
  clock: Clock,
  username: string,
  password = "password",
): Promise<Enrolled> {
  const authorization = basic(username, password);
  const begun = await service.call("POST", FACTOR, { authorization });
  assert.equal(begun.status, 200, begun.text);
  const { secret } = begun.json;
  const body = { code: codeOf(secret, clock) };
  const confirmed = await service.call("POST", `${FACTOR}/confirm`, { authorization, body });
  assert.equal(confirmed.status, 200, confirmed.text);
  return { secret, recoveryCodes: confirmed.json.recoveryCodes };
}

export function logIn(service: TestService, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return service.call("POST", LOGIN, { authorization: null, body, headers });
}

/** The Authorization header of a session that was opened. */
export function tokenOf(answer: Answer): string {
  assert.equal(answer.status, 200, answer.text);
  return `IBSSO ${answer.json.login.ibAuthCookie}`;
}
