/** Plivo's Message API: messages, one by its id, status callbacks and messages from phones. */
import { NOT_FOUND, type ProviderApi } from "../port.ts";
import { hmac } from "../signing.ts";
import { formCall, isBasic, isPhone, jsonOf, messageOf, replied, states, textOf, throttled, took } from "./shared.ts";

const stateOf = states("sent 000", "delivered 000", "undelivered 80", "failed 70", "undelivered 80");

/** Version 2: HMAC-SHA256 in base64 over the URL and a nonce. */
function signature(url: string, token: string): Record<string, string> {
  const nonce = "12345";
  return {
    "x-plivo-signature-v2": hmac(url + nonce, token, "base64"),
    "x-plivo-signature-v2-nonce": nonce,
  };
}

export const plivo: ProviderApi = {
  take(call, state, nextId, settings) {
    const [, account, id] = /^\/v1\/Account\/([^/]+)\/Message\/(?:([^/]+)\/)?$/.exec(call.path) ?? [];
    if (account === undefined) return NOT_FOUND;
    if (account !== settings.username || !isBasic(call, settings))
      return replied(401, { error: "could not verify your access" });
    if (call.method === "GET") {
      const known = state.find(id ?? "");
      if (known === undefined) return replied(404, { error: "not found" });
      const [status, code] = known.fate === null ? ["queued", "000"] : stateOf(known.fate);
      return replied(200, { message_uuid: id, message_state: status, error_code: code, to_number: known.message.to });
    }
    const json = jsonOf(call);
    if (!isPhone(textOf(json.dst))) return replied(400, { error: "dst is not a valid phone number" });
    if (textOf(json.src) === "" || textOf(json.text) === "")
      return replied(400, { error: "src and text are required" });
    const message = messageOf(nextId(), [json.src, json.dst, json.text], null, json.url);
    return took(message, 202, { api_id: nextId(), message: "message(s) queued", message_uuid: [message.id] });
  },
  tooFast: () => throttled({ error: "Rate limit exceeded" }),
  broken: () => ({ status: 500, json: { error: "internal server error" } }),
  refusal: (code) => ({ status: 400, json: { error: code } }),
  receipt(url, { id, to, from }, fate, { secret }) {
    const [status, code] = stateOf(fate);
    const form = new URLSearchParams({
      MessageUUID: id,
      To: to,
      From: from,
      Status: status,
      ErrorCode: code,
      Units: "1",
    });
    return formCall(url, form, signature(url, secret));
  },
  incoming(url, { id, from, to, text: body }, { secret }) {
    const form = new URLSearchParams({ MessageUUID: id, From: from, To: to, Text: body, Type: "sms" });
    return formCall(url, form, signature(url, secret));
  },
};
