/** Twilio's Programmable Messaging: messages, one by its id, status callbacks and messages from phones. */
import { NOT_FOUND, type Outcome, type ProviderApi, type ProviderOutcome, type TakenMessage } from "../port.ts";
import { signTwilio } from "../signing.ts";
import { FORM_TYPE, isBasic, isPhone, plain, replied } from "./shared.ts";

const TWILIO_STATES: Readonly<Record<Outcome, readonly [status: string, code: string]>> = {
  held: ["sent", ""],
  delivered: ["delivered", ""],
  undeliverable: ["undelivered", "30005"],
  rejected: ["failed", "30007"],
  expired: ["undelivered", "30036"],
};

function stateOf({ outcome, code }: ProviderOutcome): readonly [status: string, code: string] {
  const [status, usual] = TWILIO_STATES[outcome];
  return [status, code ?? usual];
}

export const twilio: ProviderApi = {
  take(call, state, nextId, settings) {
    const [, sid, id] = /^\/2010-04-01\/Accounts\/([^/]+)\/Messages(?:\/([^/]+))?\.json$/.exec(call.path) ?? [];
    if (sid === undefined || call.method !== (id === undefined ? "POST" : "GET")) return NOT_FOUND;
    if (sid !== settings.username || !isBasic(call, settings))
      return replied(401, { code: 20003, message: "Authenticate", status: 401 });
    if (id !== undefined) {
      const known = state.find(id);
      if (known === undefined) return replied(404, { code: 20404, message: "Not found", status: 404 });
      const [status, code] = known.fate === null ? ["queued", ""] : stateOf(known.fate);
      return replied(200, {
        sid: id,
        status,
        to: `+${known.message.to}`,
        error_code: code === "" ? null : Number(code),
      });
    }
    const form = new URLSearchParams(call.body);
    const [to, from, body] = ["To", "From", "Body"].map((name) => form.get(name) ?? "") as [string, string, string];
    if (!isPhone(to)) return replied(400, { code: 21211, message: "Invalid 'To' Phone Number", status: 400 });
    if (from === "") return replied(400, { code: 21603, message: "A 'From' phone number is required", status: 400 });
    if (body.length > 1_600) return replied(400, { code: 21617, message: "The message body is too long", status: 400 });
    const message: TakenMessage = {
      id: `SM${nextId()}`,
      from,
      to: plain(to),
      text: body,
      reference: null,
      callbackUrl: form.get("StatusCallback"),
    };
    return {
      kind: "taken",
      messages: [message],
      reply: { status: 201, json: { sid: message.id, status: "queued", to, from, body, error_code: null } },
    };
  },
  tooFast: () => ({
    status: 429,
    headers: { "retry-after": "0" },
    json: { code: 20429, message: "Too Many Requests", status: 429 },
  }),
  broken: () => ({ status: 500, json: { code: 20500, message: "Internal Server Error", status: 500 } }),
  refusal: (code) => ({ status: 400, json: { code: Number(code), message: "refused", status: 400 } }),
  receipt({ id, to, from, callbackUrl }, fate, { username, secret }) {
    if (callbackUrl === null) return null;
    const [status, code] = stateOf(fate);
    const form = new URLSearchParams({
      AccountSid: username,
      MessageSid: id,
      MessageStatus: status,
      To: `+${to}`,
      From: from,
    });
    if (code !== "") form.set("ErrorCode", code);
    const headers = { ...FORM_TYPE, "x-twilio-signature": signTwilio(callbackUrl, form, secret) };
    return { method: "POST", url: callbackUrl, headers, body: form.toString() };
  },
  incoming(url, { id, from, to, text: body }, { username, secret }) {
    const form = new URLSearchParams({
      AccountSid: username,
      MessageSid: `SM${id}`,
      From: `+${from}`,
      To: `+${to}`,
      Body: body,
      NumSegments: "1",
    });
    return {
      method: "POST",
      url,
      headers: { ...FORM_TYPE, "x-twilio-signature": signTwilio(url, form, secret) },
      body: form.toString(),
    };
  },
};
