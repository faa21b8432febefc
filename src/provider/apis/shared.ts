/** What the APIs of several providers have in common. */
import type { ProviderReply, ProviderRequest, ProviderSettings } from "../port.ts";

export const JSON_TYPE = { "content-type": "application/json" };
export const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

export const plain = (phone: string): string => phone.replace(/^\+/, "");
export const isPhone = (phone: string): boolean => /^\+?[1-9]\d{6,14}$/.test(phone);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function jsonOf(call: ProviderRequest): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(call.body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function isBasic({ headers }: ProviderRequest, { username, password }: ProviderSettings): boolean {
  return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** An answer, and no message taken. */
export function replied(status: number, json: unknown): { kind: "reply"; reply: ProviderReply } {
  return { kind: "reply", reply: { status, json } };
}
