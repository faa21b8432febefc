/** A program that takes a POST for each message, as the preset webhook has it. */
import { NOT_FOUND, type ProviderApi } from "../port.ts";
import { isPhone, jsonCall, jsonOf, messageOf, replied, textOf, throttled, took } from "./shared.ts";

export const webhook: ProviderApi = {
  take(call, state, _, { password }) {
    if (call.method !== "POST") return NOT_FOUND;
    if (password !== "" && call.headers.authorization !== `Bearer ${password}`)
      return replied(401, { error: "unauthorized" });
    const json = jsonOf(call);
    const id = textOf(json.id);
    // The same again is no second message.
    if (state.find(id) !== undefined) return replied(200, { id });
    if (!isPhone(textOf(json.to))) return replied(400, { error: "EC_INVALID_DESTINATION_ADDRESS" });
    const message = messageOf(id, [json.from, json.to, json.text], id, json.receiptsUrl);
    return took(message, 200, { id });
  },
  tooFast: () => throttled({ error: "too many" }),
  broken: () => ({ status: 500, json: { error: "broken" } }),
  refusal: (code) => ({ status: 400, json: { error: code } }),
  receipt(url, { id, to }, { outcome, code }) {
    const error = code ?? (outcome === "undeliverable" ? "EC_UNKNOWN_SUBSCRIBER" : undefined);
    return jsonCall(url, { receipts: [{ id, to, status: outcome, error }] });
  },
  incoming: (url, { from, to, text }) => jsonCall(url, { messages: [{ from, to, text }] }),
};
