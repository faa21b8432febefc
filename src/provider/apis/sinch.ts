/** Sinch's SMS REST API: batches of one number, found by our reference, their delivery reports, and messages from phones. */
import { NOT_FOUND, type ProviderApi, type ProviderOutcome } from "../port.ts";
import { hmac } from "../signing.ts";
import { isPhone, jsonCall, jsonOf, messageOf, replied, states, textOf, throttled, took } from "./shared.ts";

const wordOf = states("Dispatched 401", "Delivered 0", "Failed 404", "Rejected 410", "Expired 406");

function stateOf(fate: ProviderOutcome): { readonly status: string; readonly code: number } {
  const [status, code] = wordOf(fate);
  return { status, code: Number(code) };
}

function sinchHeaders(body: string, secret: string): Record<string, string> {
  if (secret === "") return {};
  const [nonce, timestamp] = ["n0nce", "1700000000"];
  return {
    "x-sinch-webhook-signature": hmac(`${body}.${nonce}.${timestamp}`, secret, "base64"),
    "x-sinch-webhook-signature-nonce": nonce,
    "x-sinch-webhook-signature-timestamp": timestamp,
  };
}

export const sinch: ProviderApi = {
  take(call, state, nextId, { username, password }) {
    const [, plan, id] = /^\/xms\/v1\/([^/]+)\/batches(?:\/([^/]+)\/delivery_report)?$/.exec(call.path) ?? [];
    if (plan === undefined) return NOT_FOUND;
    if (plan !== username || call.headers.authorization !== `Bearer ${password}`)
      return replied(401, { code: "unauthorized", text: "unauthorized" });
    if (id !== undefined) {
      const known = state.find(id);
      if (known === undefined) return replied(404, { code: "resource_not_found", text: "not found" });
      const shown = known.fate === null ? { status: "Queued", code: 400 } : stateOf(known.fate);
      const statuses = [{ ...shown, count: 1, recipients: [known.message.to] }];
      return replied(200, { type: "delivery_report_sms", batch_id: id, total_message_count: 1, statuses });
    }
    if (call.method === "GET") {
      const known = state.findByReference(call.query.get("client_reference") ?? "");
      const batches = known === undefined ? [] : [{ id: known.message.id }];
      return replied(200, { count: batches.length, page: 0, batches });
    }
    const json = jsonOf(call);
    const to = textOf((json.to as unknown[] | undefined)?.[0]);
    if (!isPhone(to) || textOf(json.body) === "")
      return replied(400, { code: "syntax_invalid_parameter_format", text: "Invalid parameter" });
    const message = messageOf(nextId(), [json.from, to, json.body], json.client_reference, json.callback_url);
    return took(message, 201, { id: message.id, to: [to], canceled: false });
  },
  tooFast: () => throttled({ code: "too_many_requests", text: "Too many requests" }),
  broken: () => ({ status: 500, json: { code: "internal", text: "Internal error" } }),
  refusal: (code) => ({ status: 400, json: { code, text: "refused" } }),
  receipt(url, { id, to, reference }, fate, { secret }) {
    const report = { type: "recipient_delivery_report_sms", batch_id: id, recipient: to, ...stateOf(fate) };
    return jsonCall(url, { ...report, client_reference: reference ?? undefined }, (body) => sinchHeaders(body, secret));
  },
  incoming(url, { id, from, to, text: body }, { secret }) {
    const json = { type: "mo_text", id, from, to, body, received_at: "2026-01-01T00:00:00.000Z" };
    return jsonCall(url, json, (written) => sinchHeaders(written, secret));
  },
};
