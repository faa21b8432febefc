/**
 * HEAD is answered by the route of GET, and Node writes no body to it. The router would want a route of its own for each, which took a good part of every
 * start: so it is shown a GET, and everybody after it the HEAD that it is.
 */
import type { IncomingMessage } from "node:http";

const shownAsGet = new WeakSet<IncomingMessage>();

/** Before it is routed. */
export function showAsGet(request: IncomingMessage): void {
  if (request.method !== "HEAD") return;
  request.method = "GET";
  shownAsGet.add(request);
}

/** As soon as it is routed. */
export function showAsHead(request: IncomingMessage): void {
  if (shownAsGet.has(request)) request.method = "HEAD";
}
