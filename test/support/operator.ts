/** What tests of operating share: calls as an operator or a reseller, and what is waited for. */
import assert from "node:assert/strict";
import { addAccount } from "./accounts.ts";
import { type Answer, basic, type CallOptions, type TestService } from "./service.ts";

export const OPERATOR = basic("operator", "operator-password");
export const RESELLER = basic("reseller", "reseller-password");
export const OTHER_RESELLER = basic("OTHERRESELLER", "password");

/** Calls below /operator/1, as the operator unless it is said otherwise. */
export function operating(service: TestService) {
  return (method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> =>
    service.call(method, `/operator/1${path}`, { authorization: OPERATOR, body, ...options });
}

export async function addOtherReseller({ store }: TestService): Promise<void> {
  await addAccount(store, { key: "OTHERRESELLER", kind: "reseller" });
  await addAccount(store, { key: "OTHERCLIENT", parentKey: "OTHERRESELLER" });
}

/** What a good answer says. */
export function good(answer: Answer, status = 200) {
  assert.equal(answer.status, status, answer.text);
  return answer.json;
}

/** The status of a refusal, the fields and the sentence. */
export function refusal({ status, json }: Answer): readonly [number, readonly string[] | null, string | null] {
  const { variables, additionalDescription } = json.requestError.serviceException;
  return [status, variables, additionalDescription];
}
