/** Kannel's smsbox: messages by a GET, reports by a GET to the URL that comes with each, and what phones write as an `sms-service` has it told. */
import { NOT_FOUND, type OutCall, type ProviderApi, type ProviderReply } from "../port.ts";
import { isPhone, messageOf, states } from "./shared.ts";

const stateOf = states("4", "1 000", "2 001", "16 002", "34 003");
const says = (status: number, text: string): ProviderReply => ({ status, text });
const get = (url: string): OutCall => ({ method: "GET", url, headers: {}, body: "" });

export const kannel: ProviderApi = {
  isSending: ({ path }) => path === "/cgi-bin/sendsms",
  take({ path, query }, _, nextId, { username, password }) {
    if (path !== "/cgi-bin/sendsms") return NOT_FOUND;
    if (query.get("username") !== username || query.get("password") !== password)
      return { kind: "reply", reply: says(403, "Authorization failed for sendsms") };
    const given = ["from", "to", "text"].map((name) => query.get(name));
    if (!isPhone(given[1] ?? "")) return { kind: "reply", reply: says(400, "Missing receiver number, rejected") };
    const messages = [messageOf(nextId(), given, null, query.get("dlr-url"))];
    return { kind: "taken", messages, reply: says(202, "0: Accepted for delivery") };
  },
  tooFast: () => says(503, "Temporal failure, try again later."),
  broken: () => says(500, "Internal error"),
  refusal: (code) => says(code.startsWith("Not routable") ? 403 : 400, code),
  receipt(url, { to }, fate) {
    const [d, err] = stateOf(fate);
    const values: Readonly<Record<string, string>> = { d, p: to, A: `id:1%20err:${err}` };
    return get(url.replace(/%([dpA])/g, (_, name: string) => values[name]!));
  },
  incoming: (url, message) => get(`${url}?${new URLSearchParams({ ...message })}`),
};
