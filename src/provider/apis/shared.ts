/** What the APIs of several providers have in common. */
import { orElse } from "../../runtime/or-else.ts";
import type {
  OutCall,
  Outcome,
  ProviderOutcome,
  ProviderReply,
  ProviderRequest,
  ProviderSettings,
  Taken,
  TakenMessage,
} from "../port.ts";

type Headers = Readonly<Record<string, string>>;

/** A callback with JSON. */
export function jsonCall(url: string, json: unknown, sign: (body: string) => Headers = () => ({})): OutCall {
  const body = JSON.stringify(json);
  return { url, headers: { "content-type": "application/json", ...sign(body) }, body };
}

/** The same with a form. */
export function formCall(url: string, form: URLSearchParams, signature: Headers = {}): OutCall {
  const headers = { "content-type": "application/x-www-form-urlencoded", ...signature };
  return { url, headers, body: form.toString() };
}

const ORDER: readonly Outcome[] = ["held", "delivered", "undeliverable", "rejected", "expired"];
type FiveWords = readonly [held: string, delivered: string, undeliverable: string, rejected: string, expired: string];

/** The provider's word for what became of a message, and its code: what a fault says, or the usual one, which stands behind the word and a blank. */
export function states(...words: FiveWords): (fate: ProviderOutcome) => readonly [status: string, code: string] {
  return ({ outcome, code }) => {
    const [status = "", usual = ""] = words[ORDER.indexOf(outcome)]!.split(" ");
    return [status, code ?? usual];
  };
}

/** A message that is taken, out of what was given for it. */
export function messageOf(
  id: string,
  [from, to, text]: readonly unknown[],
  reference: unknown = null,
  callbackUrl: unknown = null,
): TakenMessage {
  const [phone, said] = [plain(textOf(to)), textOf(text)];
  const known = { reference: textOf(reference) || null, callbackUrl: textOf(callbackUrl) || null };
  return { id, from: textOf(from), to: phone, text: said, ...known };
}

const plain = (phone: string): string => phone.replace(/^\+/, "");
export const isPhone = (phone: string): boolean => /^\+?[1-9]\d{6,14}$/.test(phone);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function jsonOf(call: ProviderRequest): Record<string, unknown> {
  const value = orElse((): unknown => JSON.parse(call.body), null);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

export function isBasic({ headers }: ProviderRequest, { username, password }: ProviderSettings): boolean {
  return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** It is asked too much. */
export function throttled(json: unknown): ProviderReply {
  return { status: 429, headers: { "retry-after": "0" }, json };
}

/** A message that was taken, and the answer. */
export function took(message: TakenMessage, status: number, json: unknown): Taken {
  return { kind: "taken", messages: [message], reply: { status, json } };
}

/** An answer, and no message taken. */
export function replied(status: number, json: unknown): { kind: "reply"; reply: ProviderReply } {
  return { kind: "reply", reply: { status, json } };
}
