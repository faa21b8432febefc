/** What the tests of the sending operations share: the statuses of the contract, whole, and answers with their ids taken out. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { metricOf } from "./exposition.ts";
import { PATIENT_MS } from "./patience.ts";
import type { Answer, TestService } from "./service.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export const ADVANCED = "/sms/1/text/advanced";
export const ADVANCED_V2 = "/sms/2/text/advanced";
export const MULTI = "/sms/1/text/multi";
export const SINGLE = "/sms/1/text/single";

const pending = { groupId: 1, groupName: "PENDING" };
const rejected = { groupId: 5, groupName: "REJECTED" };

export const ENROUTE = { ...pending, id: 7, name: "PENDING_ENROUTE", description: "Message sent to next instance" };
export const ACCEPTED = { ...pending, id: 26, name: "PENDING_ACCEPTED", description: "Pending Accepted" };

/** The words are those of the public table of the API family. */
export const REJECTED = {
  source: { ...rejected, id: 11, name: "REJECTED_SOURCE", description: "Invalid Source address" },
  credits: { ...rejected, id: 12, name: "REJECTED_NOT_ENOUGH_CREDITS", description: "Not enough credits" },
  optedOut: { ...rejected, id: 14, name: "REJECTED_DESTINATION_BLOCKLISTED", description: "By Destination" },
  route: { ...rejected, id: 19, name: "REJECTED_ROUTE_NOT_AVAILABLE", description: "Route not available" },
  duplicate: {
    ...rejected,
    id: 23,
    name: "REJECTED_DUPLICATE_MESSAGE_ID",
    description: "Rejected duplicate message ID",
  },
  tooLong: { ...rejected, id: 25, name: "REJECTED_MESSAGE_TOO_LONG", description: "Rejected message too long" },
  destination: { ...rejected, id: 52, name: "REJECTED_DESTINATION", description: "Invalid destination address." },
};

/** Stands in a compared answer for an id that the service made. */
export const ID = "(an id of 19 digits)";
/** The same for a trackingProcessKey. */
export const TRACKING = "(a tracking key)";

interface SendingBody {
  bulkId?: string;
  trackingProcessKey?: string;
  messages: { messageId?: string }[];
}

/** The body of a 200, with the ids of the service's making replaced, so that it can be compared whole. */
export function accepted({ status, text, json }: Answer): SendingBody {
  assert.equal(status, 200, text);
  const body: SendingBody = structuredClone(json);
  if (body.bulkId !== undefined) body.bulkId = nameless(body.bulkId);
  if (/^[0-9a-f]{32}$/.test(body.trackingProcessKey ?? "")) body.trackingProcessKey = TRACKING;
  for (const message of body.messages) {
    if (message.messageId !== undefined) message.messageId = nameless(message.messageId);
  }
  return body;
}

function nameless(id: string): string {
  return /^[0-9]{19}$/.test(id) ? ID : id;
}

export async function balanceOf(service: TestService): Promise<number> {
  const { status, json } = await service.call("GET", "/account/1/balance");
  assert.equal(status, 200);
  return json.balance;
}

/** How many messages carriers have taken since the service started. */
export async function submittedCount(service: TestService): Promise<number> {
  const { text } = await service.call("GET", "/metrics");
  return metricOf(text, "heliograph_carrier_submits_total", { outcome: "accepted" });
}

/** Writes a request to a bare socket and returns all that comes back until the service closes: the request must ask for that. */
export async function rawRequest(url: string, request: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.setTimeout(PATIENT_MS, () => socket.destroy(new Error("the service neither answered nor closed")));
  socket.write(request);
  await once(socket, "close");
  const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), body };
}

/** Lets virtual time pass, step by step, until `check` gives something; between the steps real sockets get their turn. */
export async function passUntil<Result>(
  clock: VirtualClock,
  check: () => Promise<Result | null | undefined | false> | Result | null | undefined | false,
  stepMs = 100,
): Promise<Result> {
  const deadline = performance.now() + PATIENT_MS;
  for (;;) {
    const result = await check();
    if (result !== null && result !== undefined && result !== false) return result;
    if (performance.now() > deadline) throw new Error("what was waited for did not come");
    await clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
