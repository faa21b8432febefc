/** Signatures as providers make them, from their documentation. */
import { createHmac } from "node:crypto";

const sorted = (form: URLSearchParams): [string, string][] =>
  [...form].sort(([one], [other]) => (one < other ? -1 : 1));

/** Twilio: HMAC-SHA1 in base64 over the URL, and each field of the form with its value, in the order of their names. */
export function signTwilio(url: string, form: URLSearchParams, token: string): string {
  return createHmac("sha1", token)
    .update(
      url +
        sorted(form)
          .map(([name, value]) => name + value)
          .join(""),
    )
    .digest("base64");
}

/** Vonage: HMAC-SHA256 in hex over "&name=value" in the order of the names. */
export function signVonage(fields: URLSearchParams, secret: string): string {
  const pairs = sorted(fields).map(([name, value]) => `&${name}=${value.replace(/[&=]/g, "_")}`);
  return hmac(pairs.join(""), secret, "hex");
}

export function hmac(text: string, secret: string, encoding: "hex" | "base64"): string {
  return createHmac("sha256", secret).update(text).digest(encoding);
}
