/** The server of the SMS gateway app for Android phones: messages, one by its id, and messages from phones. */
import { type Known, NOT_FOUND, type ProviderApi } from "../port.ts";
import { hmac } from "../signing.ts";
import { isBasic, isPhone, jsonCall, jsonOf, messageOf, replied, states, textOf, throttled, took } from "./shared.ts";

const stateOf = states("Sent", "Delivered", "Failed", "Failed", "Failed");

export const android: ProviderApi = {
  take(call, state, _, settings) {
    const [, id] = /^\/messages(?:\/([^/]+))?$/.exec(call.path) ?? [null];
    if (id === null) return NOT_FOUND;
    if (!isBasic(call, settings)) return replied(401, { message: "Unauthorized" });
    const shown = ({ message, fate }: Known) => {
      const phone = { phoneNumber: `+${message.to}`, state: fate === null ? "Pending" : stateOf(fate)[0] };
      return { id: message.id, state: phone.state, recipients: [phone] };
    };
    if (id !== undefined) {
      const known = state.find(decodeURIComponent(id));
      return known === undefined ? replied(404, { message: "Not found" }) : replied(200, shown(known));
    }
    const json = jsonOf(call);
    const to = textOf((json.phoneNumbers as unknown[] | undefined)?.[0]);
    if (!isPhone(to)) return replied(400, { message: "Invalid phone number" });
    if (json.simNumber !== undefined && !Number.isSafeInteger(json.simNumber))
      return replied(400, { message: "simNumber: a number is expected" });
    if (state.find(textOf(json.id)) !== undefined)
      return replied(409, { message: "Message with this ID already exists" });
    const message = messageOf(textOf(json.id), ["", to, json.message], json.id);
    return took(message, 202, shown({ message, fate: null }));
  },
  tooFast: () => throttled({ message: "Too many requests" }),
  broken: () => ({ status: 500, json: { message: "Internal error" } }),
  refusal: (code) => ({ status: 400, json: { message: code } }),
  incoming(url, { id, from, to, text: message }, { secret }) {
    const payload = { messageId: id, message, sender: `+${from}`, recipient: to || null, simNumber: 1 };
    const timestamp = "1700000000";
    return jsonCall(url, { deviceId: "phone", event: "sms:received", id, payload, webhookId: "1" }, (body) =>
      secret === "" ? {} : { "x-signature": hmac(body + timestamp, secret, "hex"), "x-timestamp": timestamp },
    );
  },
};
