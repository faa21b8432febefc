/** Vonage's SMS API: messages, delivery receipts and messages from phones. It has no way to ask for a message. */
import { NOT_FOUND, type ProviderApi, type ProviderReply } from "../port.ts";
import { signVonage } from "../signing.ts";
import { formCall, isPhone, messageOf, states } from "./shared.ts";

const stateOf = states("buffered 0", "delivered 0", "failed 5", "rejected 7", "expired 3");

const vonageReply = (messages: readonly object[]): ProviderReply => ({
  status: 200,
  json: { "message-count": String(messages.length), messages },
});

/** Octets of the parts of a long text are not what this simulates; their number is. */
function vonageParts(body: string, isUnicode: boolean): number {
  const [alone, each] = isUnicode ? [70, 67] : [160, 153];
  return body.length <= alone ? 1 : Math.ceil(body.length / each);
}

/** The time and a nonce are signed with the rest. */
function sign(fields: URLSearchParams, secret: string): void {
  if (secret === "") return;
  fields.set("timestamp", "1700000000");
  fields.set("nonce", "n0nce");
  fields.set("sig", signVonage(fields, secret));
}

export const vonage: ProviderApi = {
  take(call, _, nextId, { username, password }) {
    if (call.path !== "/sms/json" || call.method !== "POST") return NOT_FOUND;
    const form = new URLSearchParams(call.body);
    const say = (status: string, error: string) =>
      ({ kind: "reply", reply: vonageReply([{ status, "error-text": error }]) }) as const;
    if (form.get("api_key") !== username || form.get("api_secret") !== password) return say("4", "Bad Credentials");
    const [to, from, body] = ["to", "from", "text"].map((name) => form.get(name) ?? "") as [string, string, string];
    if (to === "" || from === "" || body === "") return say("2", "Missing parameters");
    if (!isPhone(to)) return say("3", "Invalid to");
    const callbackUrl = form.get("callback");
    const reference = form.get("client-ref");
    const parts = vonageParts(body, form.get("type") === "unicode");
    const messages = Array.from({ length: parts }, () =>
      messageOf(nextId().toUpperCase(), [from, to, body], reference, callbackUrl),
    );
    return {
      kind: "taken",
      messages,
      reply: vonageReply(
        messages.map(({ id }) => ({ to, "message-id": id, status: "0", network: "23410", "client-ref": reference })),
      ),
    };
  },
  tooFast: () =>
    vonageReply([{ status: "1", "error-text": "Throughput Rate Exceeded - please wait [ 33 ] and retry" }]),
  broken: () => vonageReply([{ status: "5", "error-text": "Internal Error" }]),
  refusal: (code) => vonageReply([{ status: code, "error-text": "refused" }]),
  receipt(url, { id, to, from, reference }, fate, { username, secret }) {
    const [status, code] = stateOf(fate);
    const about = { msisdn: to, to: from, "network-code": "23410", messageId: id, status, "err-code": code };
    const fields = new URLSearchParams({ ...about, "api-key": username });
    if (reference !== null) fields.set("client-ref", reference);
    sign(fields, secret);
    return formCall(url, fields);
  },
  incoming(url, { id, from, to, text: body }, { secret }) {
    const keyword = (body.split(" ")[0] ?? "").toUpperCase();
    const fields = new URLSearchParams({ msisdn: from, to, messageId: id, text: body, type: "text", keyword });
    sign(fields, secret);
    return formCall(url, fields);
  },
};
