/** Jasmin's HTTP API: messages as a form, receipts, and messages from phones. Its answers are text. */
import { NOT_FOUND, type ProviderApi, type ProviderReply } from "../port.ts";
import { formCall, isPhone, messageOf, states } from "./shared.ts";

const stateOf = states("ESME_ROK", "DELIVRD 000", "UNDELIV 001", "REJECTD 002", "EXPIRED 003");
const error = (status: number, what: string): ProviderReply => ({ status, text: `Error "${what}"` });

export const jasmin: ProviderApi = {
  take({ path, body }, _, nextId, { username, password }) {
    if (path !== "/send") return NOT_FOUND;
    const form = new URLSearchParams(body);
    const of = (name: string): string => form.get(name) ?? "";
    if (of("username") !== username || of("password") !== password)
      return { kind: "reply", reply: error(403, `Authentication failure for username:${of("username")}`) };
    if (!isPhone(of("to"))) return { kind: "reply", reply: error(400, "Argument [to] has an invalid value.") };
    const hex = Buffer.from(of("hex-content"), "hex");
    const text =
      of("coding") === "8"
        ? hex
            .subarray(0, hex.length & ~1)
            .swap16()
            .toString("utf16le")
        : of("content");
    const message = messageOf(nextId(), [of("from"), of("to"), text], null, of("dlr-url"));
    return { kind: "taken", messages: [message], reply: { status: 200, text: `Success "${message.id}"` } };
  },
  tooFast: () => ({ ...error(429, "Throughput limit exceeded"), headers: { "retry-after": "0" } }),
  broken: () => error(500, "Cannot send submit_sm, check SMPPClientManagerPB log file for details"),
  refusal: (code) => error(code === "No route found" ? 412 : 400, code),
  receipt(url, { id }, fate) {
    const [status, err] = stateOf(fate);
    return formCall(url, new URLSearchParams({ id, level: "3", message_status: status, connector: "demo", err }));
  },
  incoming: (url, { id, from, to, text }) =>
    formCall(url, new URLSearchParams({ id, from, to, "origin-connector": "demo", coding: "0", content: text })),
};
