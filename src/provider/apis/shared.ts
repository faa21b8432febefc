/** What the APIs of several providers have in common. */
import type { Call, ProviderSettings, Reply } from "../port.ts";

export const JSON_TYPE = { "content-type": "application/json" };
export const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

export const plain = (phone: string): string => phone.replace(/^\+/, "");
export const isPhone = (phone: string): boolean => /^\+?[1-9]\d{6,14}$/.test(phone);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function jsonOf(call: Call): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(call.body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function isBasic({ headers }: Call, { username, password }: ProviderSettings): boolean {
  return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** An answer, and no message taken. */
export function replied(status: number, json: unknown): { kind: "reply"; reply: Reply } {
  return { kind: "reply", reply: { status, json } };
}
