/** Success answers of /sms and pushes have no null: strict clients die of one. Every call and every push of the tests is looked at by this. */

/** Where the first null is, such as ".results[0].mccMnc"; null if there is none. */
export function nullIn(value: unknown): string | null {
  if (value === null) return "";
  if (typeof value !== "object") return null;
  for (const [name, inner] of Object.entries(value)) {
    const path = nullIn(inner);
    if (path !== null) return (Array.isArray(value) ? `[${name}]` : `.${name}`) + path;
  }
  return null;
}

const JSON_PATH = /^\/sms\//;

export function refuseNulls(path: string, status: number, json: unknown): void {
  if (status >= 300 || json === undefined || !JSON_PATH.test(path)) return;
  const found = nullIn(json);
  if (found !== null) throw new Error(`the answer of ${path} has a null at ${found}`);
}

/** The oldest family's own bodies have nulls, and its clients read them. */
const ONEAPI = /^(?:\{"|.{0,50}<)(?:deliveryInfoNotification|inboundSMSMessage)/;

/** What is wrong with a pushed body; null if nothing is. In XML an element without an end of its own is one that was made of a null. */
export function nullInPush(contentType: string, body: string): string | null {
  if (ONEAPI.test(body)) return null;
  if (contentType.startsWith("application/xml")) return /<[^<>]*\/>/.exec(body)?.[0] ?? null;
  if (!contentType.startsWith("application/json")) return null;
  try {
    return nullIn(JSON.parse(body));
  } catch {
    return null;
  }
}
