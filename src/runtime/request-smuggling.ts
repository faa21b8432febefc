/** What two readers of one HTTP request could take for two different requests; all that Node's parser lets through of it. */
import type { IncomingMessage } from "node:http";

/** RFC 9112 §3.2: a request with more than one is answered 400. Node shows the first of them. */
export function hasSeveralHosts({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === "host") hosts++;
  return hosts > 1;
}

/** RFC 9112 §6.1: a body is to be taken out of its chunks and of nothing else; a request with another coding is answered 501. */
export function hasOtherCoding({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const coding = headers["transfer-encoding"];
  return coding !== undefined && coding.trim().toLowerCase() !== "chunked";
}
