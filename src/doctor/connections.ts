/** The doctor on carriers, each of which is bound to for a moment, and how others are connected to. */
import type { Socket } from "node:net";
import { Calls } from "../carriers/http/calls.ts";
import { transportOf } from "../carriers/http/carrier.ts";
import { describe } from "../carriers/http/presets.ts";
import type { HttpProfile } from "../carriers/http/profile.ts";
import { carrierValues } from "../carriers/http/values.ts";
import { authorityName, tlsOf } from "../carriers/smpp/authority.ts";
import { COMMAND_STATUSES, statusName } from "../carriers/smpp/codec/statuses.ts";
import type { SmppProfile } from "../carriers/smpp/profile.ts";
import { connectSocket, type TlsSettings } from "../carriers/smpp/session/connect.ts";
import { SmppSession } from "../carriers/smpp/session/session.ts";
import type { CarrierProfile } from "../catalogue/carrier-kinds.ts";
import { systemClock } from "../runtime/clock.ts";
import { given } from "../runtime/given.ts";
import { type Finding, Findings } from "./finding.ts";

const PATIENCE_MS = 4_000;

export async function lookAtCarriers(carriers: readonly CarrierProfile[], connect: boolean): Promise<Finding[]> {
  const all = await Promise.all(
    carriers.map(async (carrier) => {
      const found = new Findings("carriers");
      if (carrier.kind === "simulator") found.ok(carrier.id, "simulated: no phone rings");
      else if (!connect) found.ok(carrier.id, "not connected to, as you wish");
      else if (carrier.kind === "http") await lookAtUrl(carrier, found);
      else await Promise.all(carrier.hosts.map((host) => lookAtHost(carrier, host, found)));
      return found.all;
    }),
  );
  return all.flat();
}

/** Whether it can be reached and, where the provider has something to be asked that costs nothing, whether it takes who we are. */
async function lookAtUrl(profile: HttpProfile, found: Findings): Promise<void> {
  const url = new URL(profile.proxy ?? describe(profile).url);
  const about = `${profile.id} ${url.host}`;
  const { tlsCaPem } = profile;
  const problem = await problemOf(url, () => tlsOf(given({ tlsCaPem })));
  if (problem !== null) found.wrong(about, `no connection: ${problem}`, "check url, proxy and the firewall");
  else {
    const status = await loginStatus(profile);
    if (status === 401 || status === 403)
      found.wrong(about, `the login was refused: HTTP ${status}`, loginRemedy(profile.id));
    else if (status !== null && status < 300) found.ok(about, "can be reached, and takes the login");
    else found.ok(about, 'can be reached; whether it takes messages, "heliograph carrier try" tells');
  }
}

/** What the provider answers to nothing but our login; null where there is no such question, or no answer. */
async function loginStatus(profile: HttpProfile): Promise<number | null> {
  const { url, description } = describe(profile);
  const { auth, login } = description;
  if (login === undefined) return null;
  const clock = systemClock;
  const transport = transportOf({ ...profile, answerSeconds: PATIENCE_MS / 1_000 }, clock);
  try {
    const calls = new Calls({ url, auth, transport, clock, values: carrierValues(profile) });
    const called = await calls.call({ method: "GET", ...login }, {});
    return called.kind === "answered" ? called.status : null;
  } finally {
    await transport.close();
  }
}

/** What to do about a carrier over HTTP that does not take who we are. */
export function loginRemedy(id: string): string {
  return `messages wait, or take another carrier of their route: "heliograph carrier set ${id} username=… --password-stdin" (or "--api-key-stdin") corrects what the provider gave you, and it is tried at once`;
}

type Tls = TlsSettings | Promise<TlsSettings>;

/** Why a URL's host cannot be connected to; null if it can. */
export async function problemOf(url: URL, tlsSettings: () => Tls): Promise<string | null> {
  const isTls = url.protocol === "https:";
  const place = `${url.hostname}:${url.port === "" ? (isTls ? 443 : 80) : url.port}`;
  const connection = await connected(place, () => (isTls ? tlsSettings() : null));
  if ("problem" in connection) return connection.problem;
  connection.socket.destroy();
  return null;
}

/** Connects for a moment, or says why that fails. */
async function connected(
  place: string,
  tlsSettings: () => Tls | null,
): Promise<{ socket: Socket } | { problem: string }> {
  try {
    const tls = await tlsSettings();
    const target = { place, timeoutMs: PATIENCE_MS, ...(tls === null ? {} : { tls }) };
    const connection = await connectSocket(target, systemClock);
    return connection.kind === "connected" ? { socket: connection.socket } : { problem: connection.error.message };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** As a transmitter: whoever binds as a receiver may be given receipts, and this is not the one to keep them. */
async function lookAtHost(profile: SmppProfile, place: string, found: Findings): Promise<void> {
  const about = `${profile.id} ${place}`;
  const connection = await connected(place, () => (profile.tls === true ? tlsOf(profile) : null));
  if ("problem" in connection) {
    const way = profile.tls === true ? `TLS, the certificate (${wayOf(profile)})` : "whether the carrier wants TLS";
    found.wrong(about, `no connection: ${connection.problem}`, `check hosts, the firewall on both sides, and ${way}`);
    return;
  }
  const session = new SmppSession(connection.socket, {
    role: "esme",
    clock: systemClock,
    requestTimeoutMs: PATIENCE_MS,
    bindTimeoutMs: PATIENCE_MS,
    unbindTimeoutMs: 1_000,
  });
  const { systemId, password, systemType = "" } = profile;
  const answer = await session.bind("transmitter", { systemId, password, systemType });
  if (answer.kind === "answered" && answer.pdu.status === 0) {
    found.ok(
      about,
      `bound as ${systemId}${profile.tls === true ? `, over TLS, trusting ${authorityName(profile)}` : ""}`,
    );
    await session.unbind();
    return;
  }
  await session.close();
  if (answer.kind === "answered") toldRefusal(about, answer.pdu.status, profile, found);
  else
    found.wrong(
      about,
      "connected, but the bind was not answered",
      "check that this port speaks SMPP, and whether it wants TLS",
    );
}

function wayOf(profile: SmppProfile): string {
  return `trusted are ${authorityName(profile)}: tlsCa, tlsName`;
}

const { ESME_RINVPASWD, ESME_RINVSYSID, ESME_RALYBND, ESME_RTHROTTLED } = COMMAND_STATUSES;
const REFUSED: Readonly<Record<number, string>> = {
  [ESME_RALYBND.code]: "the carrier allows no more binds: while the service has all of them this is as it should be",
  [ESME_RTHROTTLED.code]:
    "the carrier throttles: it is sent, or bound to, more often than it allows; it is tried again by itself",
};
const ASK = "ask the carrier; while the service has all the binds that it allows, this is as it should be";

function toldRefusal(about: string, status: number, { id }: SmppProfile, found: Findings): void {
  const says = `the bind was refused: ${statusName(status)}`;
  if (status !== ESME_RINVPASWD.code && status !== ESME_RINVSYSID.code) found.warn(about, says, REFUSED[status] ?? ASK);
  else
    found.wrong(
      about,
      says,
      `"heliograph carrier set ${id} systemId=… --password-stdin" corrects what the carrier gave you`,
    );
}
