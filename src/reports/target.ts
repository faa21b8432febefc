/** Where a report goes: the client's URL, taken apart for the request. */
import { parseHttpUrl } from "../runtime/urls.ts";

export interface Target {
  /** Scheme, host and port: what one pool of connections serves. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** For a URL with a name and a password in it. */
  readonly authorization: string | null;
}

/** Null when it is no URL that can be called. */
export function readTarget(url: string): Target | null {
  const parsed = parseHttpUrl(url);
  if (parsed === null) return null;
  return {
    origin: parsed.origin,
    path: parsed.pathname + parsed.search,
    authorization: parsed.username === "" ? null : basic(parsed.username, parsed.password),
  };
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

/** A stray percent sign stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
