/** The HTTP side of each provider, as its documentation has it (docs/carriers-http.md names the pages). */

import {
  type Call,
  NOT_FOUND,
  type Outcome,
  type ProviderApi,
  type ProviderSettings,
  type Reply,
  type TakenMessage,
} from "./port.ts";
import { hmac, signPlivo, signTwilio, signVonage } from "./signing.ts";

const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };
const plain = (phone: string): string => phone.replace(/^\+/, "");
const isPhone = (phone: string): boolean => /^\+?[1-9]\d{6,14}$/.test(phone);

function jsonOf(call: Call): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(call.body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function isBasic({ headers }: Call, { username, password }: ProviderSettings): boolean {
  return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function refused(status: number, json: unknown): { kind: "reply"; reply: Reply } {
  return { kind: "reply", reply: { status, json } };
}

const TWILIO_STATES: Readonly<Record<Outcome, readonly [status: string, code: string]>> = {
  held: ["sent", ""],
  delivered: ["delivered", ""],
  undeliverable: ["undelivered", "30005"],
  rejected: ["failed", "30007"],
  expired: ["undelivered", "30036"],
};

const twilio: ProviderApi = {
  take(call, _, nextId, settings) {
    const sid = /^\/2010-04-01\/Accounts\/([^/]+)\/Messages\.json$/.exec(call.path)?.[1];
    if (sid === undefined || call.method !== "POST") return NOT_FOUND;
    if (sid !== settings.username || !isBasic(call, settings))
      return refused(401, { code: 20003, message: "Authenticate", status: 401 });
    const form = new URLSearchParams(call.body);
    const [to, from, body] = ["To", "From", "Body"].map((name) => form.get(name) ?? "") as [string, string, string];
    if (!isPhone(to)) return refused(400, { code: 21211, message: "Invalid 'To' Phone Number", status: 400 });
    if (from === "") return refused(400, { code: 21603, message: "A 'From' phone number is required", status: 400 });
    if (body.length > 1_600) return refused(400, { code: 21617, message: "The message body is too long", status: 400 });
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
  receipt({ id, to, from, callbackUrl }, outcome, { username, secret }) {
    if (callbackUrl === null) return null;
    const [status, code] = TWILIO_STATES[outcome];
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

const VONAGE_STATES: Readonly<Record<Outcome, readonly [status: string, code: string]>> = {
  held: ["buffered", "0"],
  delivered: ["delivered", "0"],
  undeliverable: ["failed", "5"],
  rejected: ["rejected", "7"],
  expired: ["expired", "3"],
};

const vonageReply = (messages: readonly object[]): Reply => ({
  status: 200,
  json: { "message-count": String(messages.length), messages },
});

/** Octets of the parts of a long text are not what this simulates; their number is. */
function vonageParts(body: string, isUnicode: boolean): number {
  const [alone, each] = isUnicode ? [70, 67] : [160, 153];
  return body.length <= alone ? 1 : Math.ceil(body.length / each);
}

const vonage: ProviderApi = {
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
    const messages = Array.from({ length: parts }, () => ({
      id: nextId().toUpperCase(),
      from,
      to,
      text: body,
      reference,
      callbackUrl,
    }));
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
  receipt({ id, to, from, reference, callbackUrl }, outcome, { secret }) {
    if (callbackUrl === null) return null;
    const [status, code] = VONAGE_STATES[outcome];
    const fields = new URLSearchParams({
      msisdn: to,
      to: from,
      "network-code": "23410",
      messageId: id,
      status,
      "err-code": code,
      ...(reference === null ? {} : { "client-ref": reference }),
    });
    if (secret !== "") fields.set("sig", signVonage(fields, secret));
    return { method: "POST", url: callbackUrl, headers: FORM_TYPE, body: fields.toString() };
  },
  incoming(url, { id, from, to, text: body }, { secret }) {
    const fields = new URLSearchParams({
      msisdn: from,
      to,
      messageId: id,
      text: body,
      type: "text",
      keyword: (body.split(" ")[0] ?? "").toUpperCase(),
    });
    if (secret !== "") fields.set("sig", signVonage(fields, secret));
    return { method: "POST", url, headers: FORM_TYPE, body: fields.toString() };
  },
};

const SINCH_STATES: Readonly<Record<Outcome, readonly [status: string, code: number]>> = {
  held: ["Dispatched", 401],
  delivered: ["Delivered", 0],
  undeliverable: ["Failed", 404],
  rejected: ["Rejected", 410],
  expired: ["Expired", 406],
};

function sinchReport({ id, to, reference }: TakenMessage, outcome: Outcome): object {
  const [status, code] = SINCH_STATES[outcome];
  return {
    type: "recipient_delivery_report_sms",
    batch_id: id,
    recipient: to,
    status,
    code,
    client_reference: reference ?? undefined,
  };
}

function sinchHeaders(body: string, secret: string): Record<string, string> {
  if (secret === "") return JSON_TYPE;
  const [nonce, timestamp] = ["n0nce", "1700000000"];
  return {
    ...JSON_TYPE,
    "x-sinch-webhook-signature": hmac(`${body}.${nonce}.${timestamp}`, secret, "base64"),
    "x-sinch-webhook-signature-nonce": nonce,
    "x-sinch-webhook-signature-timestamp": timestamp,
  };
}

const sinch: ProviderApi = {
  take(call, state, nextId, { username, password }) {
    const [, plan, what] = /^\/xms\/v1\/([^/]+)\/(batches|delivery_reports)$/.exec(call.path) ?? [];
    if (plan === undefined) return NOT_FOUND;
    if (plan !== username || call.headers.authorization !== `Bearer ${password}`)
      return refused(401, { code: "unauthorized", text: "unauthorized" });
    if (what === "delivery_reports") {
      const reports = state
        .ended()
        .slice(-100)
        .map(({ message, outcome }) => sinchReport(message, outcome!));
      return refused(200, { count: reports.length, page: 0, delivery_reports: reports });
    }
    if (call.method === "GET") {
      const known = state.findByReference(call.query.get("client_reference") ?? "");
      return refused(200, {
        count: known === undefined ? 0 : 1,
        page: 0,
        batches: known === undefined ? [] : [{ id: known.message.id }],
      });
    }
    const json = jsonOf(call);
    const to = text((json.to as unknown[] | undefined)?.[0]);
    if (!isPhone(to) || text(json.body) === "")
      return refused(400, { code: "syntax_invalid_parameter_format", text: "Invalid parameter" });
    const message: TakenMessage = {
      id: nextId(),
      from: text(json.from),
      to: plain(to),
      text: text(json.body),
      reference: text(json.client_reference) || null,
      callbackUrl: text(json.callback_url) || null,
    };
    return {
      kind: "taken",
      messages: [message],
      reply: { status: 201, json: { id: message.id, to: [to], canceled: false } },
    };
  },
  tooFast: () => ({
    status: 429,
    headers: { "retry-after": "0" },
    json: { code: "too_many_requests", text: "Too many requests" },
  }),
  broken: () => ({ status: 500, json: { code: "internal", text: "Internal error" } }),
  receipt(message, outcome, { secret }) {
    if (message.callbackUrl === null) return null;
    const body = JSON.stringify(sinchReport(message, outcome));
    return { method: "POST", url: message.callbackUrl, headers: sinchHeaders(body, secret), body };
  },
  incoming(url, { id, from, to, text: body }, { secret }) {
    const json = JSON.stringify({ type: "mo_text", id, from, to, body, received_at: "2026-01-01T00:00:00.000Z" });
    return { method: "POST", url, headers: sinchHeaders(json, secret), body: json };
  },
};

const PLIVO_STATES: Readonly<Record<Outcome, readonly [status: string, code: string]>> = {
  held: ["sent", "000"],
  delivered: ["delivered", "000"],
  undeliverable: ["undelivered", "80"],
  rejected: ["failed", "70"],
  expired: ["undelivered", "80"],
};

function plivoHeaders(url: string, token: string): Record<string, string> {
  const nonce = "12345";
  return { ...FORM_TYPE, "x-plivo-signature-v2": signPlivo(url, nonce, token), "x-plivo-signature-v2-nonce": nonce };
}

const plivo: ProviderApi = {
  take(call, state, nextId, settings) {
    const [, account, id] = /^\/v1\/Account\/([^/]+)\/Message\/(?:([^/]+)\/)?$/.exec(call.path) ?? [];
    if (account === undefined) return NOT_FOUND;
    if (account !== settings.username || !isBasic(call, settings))
      return refused(401, { error: "could not verify your access" });
    if (call.method === "GET") {
      const known = state.find(id ?? "");
      if (known === undefined) return refused(404, { error: "not found" });
      const [status, code] = PLIVO_STATES[known.outcome ?? "held"];
      return refused(200, { message_uuid: id, message_state: status, error_code: code, to_number: known.message.to });
    }
    const json = jsonOf(call);
    if (!isPhone(text(json.dst))) return refused(400, { error: "dst is not a valid phone number" });
    if (text(json.src) === "" || text(json.text) === "") return refused(400, { error: "src and text are required" });
    const message: TakenMessage = {
      id: nextId(),
      from: text(json.src),
      to: plain(text(json.dst)),
      text: text(json.text),
      reference: null,
      callbackUrl: text(json.url) || null,
    };
    return {
      kind: "taken",
      messages: [message],
      reply: { status: 202, json: { api_id: nextId(), message: "message(s) queued", message_uuid: [message.id] } },
    };
  },
  tooFast: () => ({ status: 429, headers: { "retry-after": "0" }, json: { error: "Rate limit exceeded" } }),
  broken: () => ({ status: 500, json: { error: "internal server error" } }),
  receipt({ id, to, from, callbackUrl }, outcome, { secret }) {
    if (callbackUrl === null) return null;
    const [status, code] = PLIVO_STATES[outcome];
    const form = new URLSearchParams({
      MessageUUID: id,
      To: to,
      From: from,
      Status: status,
      ErrorCode: code,
      Units: "1",
    });
    return { method: "POST", url: callbackUrl, headers: plivoHeaders(callbackUrl, secret), body: form.toString() };
  },
  incoming(url, { id, from, to, text: body }, { secret }) {
    const form = new URLSearchParams({ MessageUUID: id, From: from, To: to, Text: body, Type: "sms" });
    return { method: "POST", url, headers: plivoHeaders(url, secret), body: form.toString() };
  },
};

const ANDROID_STATES: Readonly<Record<Outcome, string>> = {
  held: "Sent",
  delivered: "Delivered",
  undeliverable: "Failed",
  rejected: "Failed",
  expired: "Failed",
};

const android: ProviderApi = {
  take(call, state, _, settings) {
    const [, id] = /^\/message(?:\/([^/]+))?$/.exec(call.path) ?? [null];
    if (id === null) return NOT_FOUND;
    if (!isBasic(call, settings)) return refused(401, { message: "Unauthorized" });
    const shown = ({ message, outcome }: { message: TakenMessage; outcome: Outcome | null }) => {
      const phone = { phoneNumber: `+${message.to}`, state: outcome === null ? "Pending" : ANDROID_STATES[outcome] };
      return { id: message.id, state: phone.state, recipients: [phone] };
    };
    if (id !== undefined) {
      const known = state.find(decodeURIComponent(id));
      return known === undefined ? refused(404, { message: "Not found" }) : refused(200, shown(known));
    }
    const json = jsonOf(call);
    const to = text((json.phoneNumbers as unknown[] | undefined)?.[0]);
    if (!isPhone(to)) return refused(400, { message: "Invalid phone number" });
    if (state.find(text(json.id)) !== undefined)
      return refused(409, { message: "Message with this ID already exists" });
    const message: TakenMessage = {
      id: text(json.id),
      from: "",
      to: plain(to),
      text: text(json.message),
      reference: text(json.id),
      callbackUrl: null,
    };
    return { kind: "taken", messages: [message], reply: { status: 202, json: shown({ message, outcome: null }) } };
  },
  tooFast: () => ({ status: 429, headers: { "retry-after": "0" }, json: { message: "Too many requests" } }),
  broken: () => ({ status: 500, json: { message: "Internal error" } }),
  receipt: () => null,
  incoming(url, { id, from, to, text: message }, { secret }) {
    const payload = { messageId: id, message, phoneNumber: `+${from}`, recipient: to, simNumber: 1 };
    const body = JSON.stringify({ deviceId: "phone", event: "sms:received", id, payload, webhookId: "1" });
    const timestamp = "1700000000";
    const signed =
      secret === "" ? {} : { "x-signature": hmac(body + timestamp, secret, "hex"), "x-timestamp": timestamp };
    return { method: "POST", url, headers: { ...JSON_TYPE, ...signed }, body };
  },
};

const webhook: ProviderApi = {
  take(call, state, _, { password }) {
    if (call.method !== "POST") return NOT_FOUND;
    if (password !== "" && call.headers.authorization !== `Bearer ${password}`)
      return refused(401, { error: "unauthorized" });
    const json = jsonOf(call);
    const id = text(json.id);
    // The same again is no second message.
    if (state.find(id) !== undefined) return refused(200, { id });
    if (!isPhone(text(json.to))) return refused(400, { error: "EC_INVALID_DESTINATION_ADDRESS" });
    const message: TakenMessage = {
      id,
      from: text(json.from),
      to: plain(text(json.to)),
      text: text(json.text),
      reference: id,
      callbackUrl: text(json.receiptsUrl) || null,
    };
    return { kind: "taken", messages: [message], reply: { status: 200, json: { id } } };
  },
  tooFast: () => ({ status: 429, headers: { "retry-after": "0" }, json: { error: "too many" } }),
  broken: () => ({ status: 500, json: { error: "broken" } }),
  receipt({ id, to, callbackUrl }, outcome) {
    if (callbackUrl === null) return null;
    const error = outcome === "undeliverable" ? "EC_UNKNOWN_SUBSCRIBER" : undefined;
    return {
      method: "POST",
      url: callbackUrl,
      headers: JSON_TYPE,
      body: JSON.stringify({ receipts: [{ id, to, status: outcome, error }] }),
    };
  },
  incoming: (url, { from, to, text: body }) => ({
    method: "POST",
    url,
    headers: JSON_TYPE,
    body: JSON.stringify({ messages: [{ from, to, text: body }] }),
  }),
};

export const PROVIDERS: Readonly<Record<string, ProviderApi>> = { twilio, vonage, sinch, plivo, android, webhook };
