/** Telnyx's messaging API, version 2: messages, one by its id, webhooks, and messages from phones. */
import { NOT_FOUND, type ProviderApi, type ProviderOutcome, type TakenMessage } from "../port.ts";
import { isPhone, jsonCall, jsonOf, messageOf, replied, states, textOf, throttled, took } from "./shared.ts";

const stateOf = states("sent", "delivered", "delivery_failed 40008", "sending_failed 40004", "delivery_failed 40005");
const errors = (code: string) => ({ errors: [{ code, title: "refused" }] });

function payload({ id, to, text }: TakenMessage, fate: ProviderOutcome | null): object {
  const [status, code] = fate === null ? ["queued", ""] : stateOf(fate);
  return { id, text, to: [{ phone_number: `+${to}`, status }], ...(code === "" ? { errors: [] } : errors(code)) };
}

const event = (url: string, event_type: string, about: object) =>
  jsonCall(url, { data: { record_type: "event", event_type, payload: about } });

export const telnyx: ProviderApi = {
  take(call, state, nextId, { password }) {
    const [path, id] = /^\/v2\/messages(?:\/([^/]+))?$/.exec(call.path) ?? [];
    if (path === undefined) return NOT_FOUND;
    if (call.headers.authorization !== `Bearer ${password}`) return replied(401, errors("10009"));
    if (id !== undefined) {
      const known = state.find(id);
      if (known === undefined) return replied(404, errors("10005"));
      return replied(200, { data: payload(known.message, known.fate) });
    }
    const { from, to, text, webhook_url } = jsonOf(call);
    if (!isPhone(textOf(to))) return replied(400, errors("40310"));
    const message = messageOf(nextId(), [from, to, text], null, webhook_url);
    return took(message, 200, { data: payload(message, null) });
  },
  tooFast: () => throttled(errors("10011")),
  broken: () => ({ status: 500, json: errors("10007") }),
  refusal: (code) => ({ status: 422, json: errors(code) }),
  receipt: (url, message, fate) =>
    event(url, fate.outcome === "held" ? "message.sent" : "message.finalized", payload(message, fate)),
  incoming(url, { id, from, to, text }) {
    const phones = { from: { phone_number: `+${from}` }, to: [{ phone_number: `+${to}` }] };
    return event(url, "message.received", { id, text, ...phones });
  },
};
