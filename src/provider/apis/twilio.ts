/** Twilio's Programmable Messaging: messages, one by its id, status callbacks and messages from phones. */
import { NOT_FOUND, type ProviderApi } from "../port.ts";
import { signTwilio } from "../signing.ts";
import { formCall, isBasic, isPhone, messageOf, replied, states, throttled, took } from "./shared.ts";

const stateOf = states("sent", "delivered", "undelivered 30005", "failed 30007", "undelivered 30036");

const fault = (code: number, message: string, status: number) => ({ code, message, status });
const refused = (code: number, message: string, status = 400) => replied(status, fault(code, message, status));

export const twilio: ProviderApi = {
  take(call, state, nextId, settings) {
    const [, sid, id] = /^\/2010-04-01\/Accounts\/([^/]+)\/Messages(?:\/([^/]+))?\.json$/.exec(call.path) ?? [];
    if (sid === undefined || call.method !== (id === undefined ? "POST" : "GET")) return NOT_FOUND;
    if (sid !== settings.username || !isBasic(call, settings)) return refused(20003, "Authenticate", 401);
    if (id !== undefined) {
      const known = state.find(id);
      if (known === undefined) return refused(20404, "Not found", 404);
      const [status, code] = known.fate === null ? ["queued", ""] : stateOf(known.fate);
      const error_code = code === "" ? null : Number(code);
      return replied(200, { sid: id, status, to: `+${known.message.to}`, error_code });
    }
    const form = new URLSearchParams(call.body);
    const [to, from, body] = ["To", "From", "Body"].map((name) => form.get(name) ?? "") as [string, string, string];
    if (!isPhone(to)) return refused(21211, "Invalid 'To' Phone Number");
    if (from === "") return refused(21603, "A 'From' phone number is required");
    if (body.length > 1_600) return refused(21617, "The message body is too long");
    const message = messageOf(`SM${nextId()}`, [from, to, body], null, form.get("StatusCallback"));
    return took(message, 201, { sid: message.id, status: "queued", to, from, body, error_code: null });
  },
  tooFast: () => throttled(fault(20429, "Too Many Requests", 429)),
  broken: () => ({ status: 500, json: fault(20500, "Internal Server Error", 500) }),
  refusal: (code) => ({ status: 400, json: fault(Number(code), "refused", 400) }),
  receipt(url, { id, to, from }, fate, { username, secret }) {
    const [status, code] = stateOf(fate);
    const about = { AccountSid: username, MessageSid: id, MessageStatus: status, To: `+${to}`, From: from };
    const form = new URLSearchParams(about);
    if (code !== "") form.set("ErrorCode", code);
    return formCall(url, form, { "x-twilio-signature": signTwilio(url, form, secret) });
  },
  incoming(url, { id, from, to, text: body }, { username, secret }) {
    const phones = { From: `+${from}`, To: `+${to}` };
    const about = { AccountSid: username, MessageSid: `SM${id}`, ...phones, Body: body, NumSegments: "1" };
    const form = new URLSearchParams(about);
    return formCall(url, form, { "x-twilio-signature": signTwilio(url, form, secret) });
  },
};
