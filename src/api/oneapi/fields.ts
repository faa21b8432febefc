/** How requests of the OneAPI are read, whichever of its clients wrote them: fields of a JSON or form body, addresses, and the URLs of things. */
import type { FastifyRequest } from "fastify";
import { badField } from "../errors.ts";
import { TRACKING } from "../operation.ts";
import type { Fields } from "../parameters.ts";

/** What is to be read of an account's own. */
export const ONE_API = { tag: "OneAPI", ...TRACKING } as const;
/** As the other families have it. */
const MAX_CALLBACK_DATA = 200;
/** What stands in a path, escaped, must not be longer: the router takes no more. */
const MAX_CORRELATOR = 100;

/** A text that stands in the body at most once; undefined where it does not, or is empty. */
export function readField(fields: Fields, name: string, maxLength: number): string | undefined {
  const value = fields[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw badField(name, "must be a text, given once");
  if (value.length > maxLength) throw badField(name, `must be at most ${maxLength} characters long`);
  return value;
}

export function readCallbackData(fields: Fields): string | undefined {
  return readField(fields, "callbackData", MAX_CALLBACK_DATA);
}

/** As one client spells the correlator in forms. */
export const OTHER_CORRELATOR = "client_correlator";

/** The client's own name of its request. */
export function readCorrelator(fields: Fields): string | undefined {
  const name = fields.clientCorrelator === undefined ? OTHER_CORRELATOR : "clientCorrelator";
  const correlator = readField(fields, name, MAX_CORRELATOR);
  if (correlator !== undefined && encodeURIComponent(correlator).length > MAX_CORRELATOR)
    throw badField(name, `must be at most ${MAX_CORRELATOR} characters long as it stands in a URL`);
  // In a URL these are steps to elsewhere.
  if (correlator === "." || correlator === "..") throw badField(name, "must not be one or two dots");
  return correlator;
}

/** A number or a sender without what stands before it: "tel:+41…", "tel:InfoSMS". */
export function bareAddress(address: string): string {
  return address
    .trim()
    .replace(/^tel:/i, "")
    .replace(/^\+(?=\d)/, "");
}

const SENDER_STEP = 4;

/** The sender in the path. Some clients write a space there as %20, and some as in a form, as a plus. */
export function senderInPath({ url }: FastifyRequest): string {
  const step = url.split("?", 1)[0]!.split("/")[SENDER_STEP] ?? "";
  const sender = bareAddress(decodeURIComponent(step.replaceAll("+", " ")));
  if (/\p{Cc}/u.test(sender)) throw badField("senderAddress", "must not have control characters");
  return sender;
}

/** The absolute URL of something, with the scheme and the host that the client used. */
export function resourceUrl(request: FastifyRequest, ...steps: readonly string[]): string {
  const { localAddress = "", localPort = 0 } = request.socket;
  // Old clients name no host: then it is where they have come.
  const here = localAddress.includes(":") ? `[${localAddress}]` : localAddress;
  const host = request.host || `${here}:${localPort}`;
  return `${request.protocol}://${host}/1/smsmessaging/${steps.map(encodeURIComponent).join("/")}`;
}

/** A whole number in the query that says how many; the clients write 0 where their user says nothing. */
export function readCount(query: unknown, name: string, usual: number, most: number): number {
  const value = (query as Fields)[name];
  if (value === undefined || value === "" || value === "0") return usual;
  if (typeof value !== "string" || !/^\d{1,9}$/.test(value)) throw badField(name, "must be a whole number");
  return Math.min(Number(value), most);
}
