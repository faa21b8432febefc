/** Another Heliograph, or a service of the same API family, as far as the preset speaks with it: advanced sending, reports pushed and fetched, messages from phones. */
import {
  type Known,
  NOT_FOUND,
  type Outcome,
  type ProviderApi,
  type ProviderOutcome,
  type ProviderRequest,
  type TakenMessage,
} from "../port.ts";
import { isPhone, jsonCall, jsonOf, messageOf, replied, textOf, throttled } from "./shared.ts";

const GROUPS: Readonly<Record<Outcome, readonly [group: string, name: string, error: string]>> = {
  held: ["PENDING", "PENDING_WAITING_DELIVERY", "EC_ABSENT_SUBSCRIBER"],
  delivered: ["DELIVERED", "DELIVERED_TO_HANDSET", "NO_ERROR"],
  undeliverable: ["UNDELIVERABLE", "UNDELIVERABLE_NOT_DELIVERED", "EC_UNKNOWN_SUBSCRIBER"],
  rejected: ["UNDELIVERABLE", "UNDELIVERABLE_REJECTED_OPERATOR", "EC_SMS_REJECTED_BY_MOBILE_OPERATOR"],
  expired: ["EXPIRED", "EXPIRED_EXPIRED", "EC_MESSAGE_EXPIRED"],
};

type Json = Readonly<Record<string, unknown>>;

interface Sent {
  readonly json: Json;
  readonly to: string;
  readonly id: string;
}

/** What a request of many messages asks for, a destination each. */
function sentIn(call: ProviderRequest): Sent[] {
  const { messages } = jsonOf(call) as { messages?: readonly Json[] };
  return (messages ?? []).flatMap((json) =>
    ((json.destinations as readonly Json[] | undefined) ?? []).map(({ to, messageId }) => {
      return { json, to: textOf(to), id: textOf(messageId) };
    }),
  );
}

const exception = (messageId: string, text: string) => ({ requestError: { serviceException: { messageId, text } } });

const said = ({ to, id }: Sent, groupName: string, name: string) => {
  return { to, messageId: id, smsCount: 1, status: { groupName, name } };
};

function report({ id, to, from }: TakenMessage, { outcome, code }: ProviderOutcome): object {
  const [groupName, name, error] = GROUPS[outcome];
  return { messageId: id, to, from, smsCount: 1, status: { groupName, name }, error: { name: code ?? error } };
}

export const heliograph: ProviderApi = {
  take(call, state, _, { password }) {
    if (call.headers.authorization !== `App ${password}`)
      return replied(401, exception("UNAUTHORIZED", "Invalid login details"));
    if (call.method === "GET" && call.path === "/sms/1/inbox/reports") return replied(200, { results: [] });
    if (call.method === "GET" && call.path === "/sms/1/logs") {
      const ids = (call.query.get("messageId") ?? "").split(",");
      const known = ids.flatMap((id) => state.find(id) ?? []);
      const fateOf = ({ fate }: Known): ProviderOutcome => fate ?? { outcome: "held", code: null };
      return replied(200, { results: known.map((each) => report(each.message, fateOf(each))) });
    }
    if (call.method !== "POST" || !/^\/sms\/1\/(text|binary)\/advanced$/.test(call.path)) return NOT_FOUND;
    const messages: TakenMessage[] = [];
    const answers = sentIn(call).map((sent) => {
      const { json, to, id } = sent;
      if (!isPhone(to)) return said(sent, "REJECTED", "REJECTED_DESTINATION");
      if (state.find(id) !== undefined) return said(sent, "REJECTED", "REJECTED_DUPLICATE_MESSAGE_ID");
      const binary = json.binary as Json | undefined;
      const text = binary === undefined ? json.text : binary.hex;
      messages.push(messageOf(id, [json.from, to, text], id, json.notifyUrl));
      return said(sent, "PENDING", "PENDING_ENROUTE");
    });
    return { kind: "taken", messages, reply: { status: 200, json: { messages: answers } } };
  },
  tooFast: () => throttled(exception("TOO_MANY_REQUESTS", "Too many requests")),
  broken: () => ({ status: 500, json: exception("GENERAL_ERROR", "Something went wrong") }),
  refusal: (code, call) => ({
    status: 200,
    json: { messages: sentIn(call).map((sent) => said(sent, "REJECTED", code)) },
  }),
  receipt: (url, message, fate) => jsonCall(url, { results: [report(message, fate)] }),
  incoming: (url, { id, from, to, text }) =>
    jsonCall(url, { results: [{ messageId: id, from, to, text, cleanText: text, smsCount: 1 }] }),
};
