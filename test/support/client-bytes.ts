/** Requests to the letter as clients of the family write them: their own head and body on a bare socket. */

import { once } from "node:events";
import { connect } from "node:net";
import { PATIENT_MS } from "./patience.ts";
import type { TestService } from "./service.ts";

export interface WrittenAnswer {
  readonly status: number;
  /** As they came, names and all. */
  readonly head: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into by the test that knows its shape
  readonly json: any;
}

/**
 * Writes a request and reads its answer. `{auth}` in a line stands for the Authorization header's value; the length and the end of the connection
 * are written here.
 */
export async function writtenBy(
  service: Pick<TestService, "url">,
  authorization: string,
  lines: readonly string[],
  body = "",
): Promise<WrittenAnswer> {
  const { hostname, port, host } = new URL(service.url);
  const octets = Buffer.from(body);
  const head = [
    ...lines.map((line) => line.replace("{auth}", authorization)),
    `Host: ${host}`,
    ...(octets.length === 0 ? [] : [`Content-Length: ${octets.length}`]),
    "Connection: close",
  ];
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.setTimeout(PATIENT_MS, () => socket.destroy(new Error("the service neither answered nor closed")));
  socket.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), octets]));
  await once(socket, "close");
  const text = Buffer.concat(chunks).toString();
  const end = text.indexOf("\r\n\r\n");
  const answered = text.slice(end + 4);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]),
    head: text.slice(0, end),
    json: answered === "" ? undefined : JSON.parse(answered),
  };
}
