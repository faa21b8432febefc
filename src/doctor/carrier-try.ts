/** One message through a carrier, past routes and prices, with what was asked, what was answered, and the receipt. Nobody is charged for it. */
import { setTimeout as pause } from "node:timers/promises";
import { itemNamed } from "../admin/catalogue.ts";
import { fieldsOf } from "../admin/items.ts";
import type { SignedBy } from "../admin/manager.ts";
import { conflict, invalid } from "../admin/refusal.ts";
import { callbackUrls, tokenOf } from "../carriers/http/callbacks.ts";
import { HttpCarrier, transportOf } from "../carriers/http/carrier.ts";
import { formText } from "../carriers/http/template.ts";
import type { Carrier, CarrierListener, OutgoingMessage, Submission } from "../carriers/port.ts";
import { SmppCarrier } from "../carriers/smpp/carrier.ts";
import type { CarrierProfile } from "../catalogue/carrier-kinds.ts";
import type { Transport } from "../http/transport.ts";
import { Lease } from "../node/lease.ts";
import { systemClock } from "../runtime/clock.ts";
import { IdSource, TOOL_NODE } from "../runtime/ids.ts";
import { silentLog } from "../runtime/log.ts";
import { systemRandom } from "../runtime/random.ts";
import { visibleLine } from "../runtime/visible.ts";
import type { Settings } from "../settings/settings.ts";
import { isDestination, isSender, NUMBER_FORM, plainPhone, SENDER_FORM } from "../sms/addresses.ts";
import { errorById } from "../sms/errors.ts";
import { prepareText } from "../sms/text.ts";
import { CARRIER_SECRETS } from "../store/port/secrets.ts";
import type { Store } from "../store/port/store.ts";

export interface CarrierTry extends SignedBy {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly text: string;
  /** How long the carrier may take until it has the whole message, and its receipt to come after that. */
  readonly answerMs: number;
  readonly waitMs: number;
}

/** Shows a line. */
type Say = (line: string) => void;

const MASK = "***";
const HOUR_MS = 3_600_000;
const STOP_MS = 5_000;
const LOOK_EVERY_MS = 250;
const LOOK_AT = 1_000;

/** Why the carrier did not take the message, or null. The audit has who tried. */
export async function tryCarrier(
  store: Store,
  settings: Settings,
  wanted: CarrierTry,
  print: Say,
): Promise<string | null> {
  const { id, from, by, atMs } = wanted;
  const to = plainPhone(wanted.to);
  if (!isDestination(to)) throw invalid("to", `must be ${NUMBER_FORM}`, wanted.to);
  if (!isSender(from)) throw invalid("from", `must be ${SENDER_FORM}`, from);
  const profile = fieldsOf<CarrierProfile>(await itemNamed(store, { kind: "carrier", id }));
  const masked = maskOf(profile);
  const say: Say = (line) => print(masked(line));
  const receipts: Told[] = [];
  const carrier = makeCarrier(profile, settings, (told) => receipts.push(told), say);
  await store.noteCarrierTry({ id, to, from, by, atMs });
  const { text, encoding } = prepareText(wanted.text, {});
  const message: OutgoingMessage = {
    key: new IdSource(systemClock, TOOL_NODE).take(1),
    from,
    to,
    text,
    encoding,
    intermediateReport: false,
    expiresAtMs: systemClock.now() + HOUR_MS,
    reference: 1,
  };
  try {
    const problem = await submitAndWait(store, carrier, message, receipts, wanted, say);
    return problem === null ? null : masked(problem);
  } finally {
    await Promise.race([carrier.stop(), pause(STOP_MS, null, { ref: false })]);
  }
}

/** A receipt. */
type Told = Parameters<CarrierListener["onReceipt"]>[0];

function makeCarrier(profile: CarrierProfile, settings: Settings, hear: (told: Told) => void, say: Say): Carrier {
  switch (profile.kind) {
    case "http": {
      const callbacks = callbackUrls(profile, settings.server.publicUrl);
      const transport = showing(transportOf(profile, systemClock), say);
      const carrier = new HttpCarrier(profile, { clock: systemClock, log: silentLog, callbacks, transport });
      carrier.listen({ onReceipt: async (receipt) => hear(receipt) });
      return carrier;
    }
    case "smpp": {
      const lease = Lease.endless();
      return new SmppCarrier(profile, { clock: systemClock, random: systemRandom, log: silentLog, lease });
    }
    case "simulator":
      throw conflict("no phone rings behind a simulated carrier: the sandbox shows its phones");
  }
}

async function submitAndWait(
  store: Store,
  carrier: Carrier,
  message: OutgoingMessage,
  receipts: readonly Told[],
  { answerMs, waitMs }: CarrierTry,
  say: Say,
): Promise<string | null> {
  const lastMs = systemClock.monotonic() + answerMs;
  // What would fetch the receipts of others is left to the service; each message of its own it may ask for.
  if (carrier.resume !== undefined || carrier instanceof SmppCarrier) await carrier.start();
  while (!carrier.isUp()) {
    if (systemClock.monotonic() > lastMs) {
      const problem = carrier.connections?.().links[0]?.problem;
      return `the carrier cannot be reached${problem ? `: ${problem}` : ""}`;
    }
    await pause(LOOK_EVERY_MS);
  }
  const ids: string[] = [];
  for (const part of carrier.partsOf(message)) {
    const fromMs = systemClock.monotonic();
    const late = pause(Math.max(0, lastMs - fromMs), null, { ref: false });
    const answer = await Promise.race([carrier.submit(part), late]);
    if (answer === null) return `the carrier did not answer within ${Math.round(answerMs / 1_000)} s`;
    say(`${wordsOf(answer)}, after ${Math.round(systemClock.monotonic() - fromMs)} ms`);
    if (answer.kind !== "accepted") return "the carrier did not take the message";
    ids.push(answer.carrierMessageId, ...(answer.others ?? []));
  }
  const untilMs = systemClock.monotonic() + waitMs;
  const open = new Set(ids);
  while (open.size > 0 && systemClock.monotonic() < untilMs) {
    await pause(LOOK_EVERY_MS);
    // A receipt that comes to the service fits no message there, and is parked.
    const parked = await store.parkedReceipts({ carrierId: carrier.id, limit: LOOK_AT });
    for (const { carrierMessageId: id, outcome, errorId } of [...receipts, ...parked.receipts]) {
      if (!open.has(id) || outcome === "held") continue;
      open.delete(id);
      const error = errorId === 0 ? "" : `, ${errorById(errorId).name}`;
      say(`receipt of ${id}: ${outcome}${error}`);
    }
  }
  if (open.size > 0)
    say(
      waitMs === 0
        ? "Nobody waits for its receipt."
        : `No receipt within ${waitMs / 1_000} s. A provider that calls back needs [server] publicUrl, and a service that runs.`,
    );
  return null;
}

function wordsOf(answer: Submission): string {
  const said = "status" in answer && answer.status !== undefined ? ` (it says ${answer.status})` : "";
  switch (answer.kind) {
    case "accepted":
      return `accepted, its id is ${[answer.carrierMessageId, ...(answer.others ?? [])].join(", ")}`;
    case "later":
      return `later${said}: a service would wait ${answer.retryAfterMs} ms with all messages`;
    case "not now":
      return `not now${said}: a service would try this message again after ${answer.retryAfterMs} ms`;
    case "refused":
      return `refused${said}: ${errorById(answer.errorId).name}`;
    case "unknown":
      return "unknown: the answer never came, or could not be read";
  }
}

/**
 * Makes a line that may be shown: without the secrets of the profile, as a request or an answer may spell them, and without the token of the addresses at
 * which the provider calls us, with which anybody could tell receipts.
 */
function maskOf(profile: CarrierProfile): (line: string) => string {
  const fields: Readonly<Record<string, unknown>> = { ...profile };
  const secrets = CARRIER_SECRETS.map((field) => fields[field]).filter((secret) => typeof secret === "string");
  const spelled = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    formText(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(`${fields.username}:${secret}`).toString("base64"),
  ]);
  if (profile.kind === "http") spelled.push(tokenOf(profile) ?? "");
  // The longest first: one may be a part of another.
  const hidden = spelled.filter((text) => text !== "").sort((one, other) => other.length - one.length);
  return (line) => {
    const shown = hidden.reduce((masked, secret) => masked.replaceAll(secret, MASK), line);
    // A token is as good as the secret that it was had for.
    return visibleLine(shown.replace(/("access_token"\s{0,9}:\s{0,9}")[^"]*/g, `$1${MASK}`));
  };
}

/** Prints what goes and comes. */
function showing(transport: Transport, say: Say): Transport {
  return {
    async post(post, onHead) {
      const { method, origin, path, headers, body } = post;
      say(`${method} ${origin}${path}`);
      for (const [name, value] of Object.entries(headers)) say(`  ${name}: ${name === "authorization" ? MASK : value}`);
      if (body !== "") say(`  ${body}`);
      const answer = await transport.post(post, onHead);
      if (answer.kind !== "answered") say(`→ ${answer.reason}`);
      else {
        say(`→ HTTP ${answer.status}${answer.isWhole ? "" : ", and the answer ended in its middle"}`);
        if (answer.excerpt !== "") say(`  ${answer.excerpt}`);
      }
      return answer;
    },
    forget: (origin) => transport.forget(origin),
    close: () => transport.close(),
  };
}
