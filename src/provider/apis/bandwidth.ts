/** Bandwidth's messaging API, version 2: messages, found by their ids, and the events that its application is told of. */
import { NOT_FOUND, type ProviderApi } from "../port.ts";
import { isBasic, isPhone, jsonCall, jsonOf, messageOf, replied, states, textOf, throttled, took } from "./shared.ts";

const stateOf = states("SENDING", "DELIVERED", "FAILED 4750", "FAILED 4770", "FAILED 4360");
const refused = (type: string) => ({ type, description: "refused" });

export const bandwidth: ProviderApi = {
  take(call, state, nextId, settings) {
    if (call.path !== "/messages") return NOT_FOUND;
    if (!isBasic(call, settings)) return replied(401, refused("unauthorized"));
    if (call.method === "GET") {
      const known = state.find(call.query.get("messageId") ?? "");
      if (known === undefined) return replied(200, { totalCount: 0, messages: [] });
      const { message, fate } = known;
      const [messageStatus, errorCode] = fate === null ? ["QUEUED", ""] : stateOf(fate);
      const about = { messageId: message.id, destinationTn: `+${message.to}` };
      const messages = [{ ...about, messageStatus, errorCode: Number(errorCode) }];
      return replied(200, { totalCount: 1, messages });
    }
    const { from, to, text } = jsonOf(call);
    const phone = textOf((to as unknown[] | undefined)?.[0]);
    if (!isPhone(phone)) return replied(400, refused("request-validation"));
    const message = messageOf(nextId(), [from, phone, text]);
    return took(message, 202, { id: message.id, direction: "out", to: [phone] });
  },
  tooFast: () => throttled(refused("rate-limit-exceeded")),
  broken: () => ({ status: 500, json: refused("internal-server-error") }),
  refusal: (code) => ({ status: 400, json: refused(code) }),
  receipt(url, { id, to }, fate) {
    const [status, code] = stateOf(fate);
    const type = `message-${status.toLowerCase()}`;
    return jsonCall(url, [{ type, to: `+${to}`, errorCode: Number(code) || undefined, message: { id } }]);
  },
  incoming: (url, { id, from, to, text }) =>
    jsonCall(url, [
      { type: "message-received", to: `+${to}`, message: { id, from: `+${from}`, to: [`+${to}`], text } },
    ]),
};
