/** `heliograph carrier try`: one message through a carrier, with what was asked, what was answered, and the receipt. Nobody is charged for it. */
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { itemNamed } from "../admin/catalogue.ts";
import { fieldsOf } from "../admin/items.ts";
import { callbackUrls } from "../carriers/http/callbacks.ts";
import { HttpCarrier, transportOf } from "../carriers/http/carrier.ts";
import type { HttpProfile } from "../carriers/http/profile.ts";
import type { Carrier, OutgoingMessage, Submission } from "../carriers/port.ts";
import { SmppCarrier } from "../carriers/smpp/carrier.ts";
import type { CarrierProfile } from "../catalogue/carrier-kinds.ts";
import type { Answer, Post, Transport } from "../http/transport.ts";
import type { Receipt } from "../message/receipt.ts";
import { Lease } from "../node/lease.ts";
import { systemClock } from "../runtime/clock.ts";
import { IdSource, TOOL_NODE } from "../runtime/ids.ts";
import { silentLog } from "../runtime/log.ts";
import { systemRandom } from "../runtime/random.ts";
import type { Settings } from "../settings/settings.ts";
import { isDestination, isSender, plainPhone } from "../sms/addresses.ts";
import { errorById } from "../sms/errors.ts";
import { prepareText } from "../sms/text.ts";
import { CARRIER_SECRETS } from "../store/port/secrets.ts";
import type { Store } from "../store/port/store.ts";
import { printable } from "./show.ts";
import { CommandFault, type CommonOptions, onStore, say, storeCommand, UsageFault } from "./support.ts";

interface TryOptions extends CommonOptions {
  readonly to: string;
  readonly from: string;
  readonly text: string;
  readonly wait: string;
}

const MASK = "***";
const HOUR_MS = 3_600_000;
const UP_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 250;
const LOOK_AT = 1_000;
const MAX_WAIT_SECONDS = 3_600;

export function carrierTryCommand(): Command {
  return storeCommand(
    "try",
    "Send one message through a carrier, past routes and prices, and show the request, the answer and the receipt. It costs what the carrier asks for it, and no account is charged.",
    "heliograph carrier try upstream --to 41793026727",
  )
    .argument("<id>", "the carrier's")
    .requiredOption("--to <number>", "the phone, with its country's code")
    .option("--from <sender>", "the sender", "Heliograph")
    .option("--text <text>", "the text", "Hello from Heliograph")
    .option("--wait <seconds>", "how long to wait for the receipt", "30")
    .action(tryCarrier);
}

async function tryCarrier(id: string, options: TryOptions): Promise<void> {
  const to = plainPhone(options.to);
  if (!isDestination(to)) throw new UsageFault(`--to must be a number with its country's code, not "${options.to}"`);
  if (!isSender(options.from))
    throw new UsageFault(`--from must be 3 to 15 digits, or a name of 1 to 11 characters, not "${options.from}"`);
  const wait = Number(options.wait);
  if (!/^\d+$/.test(options.wait) || wait > MAX_WAIT_SECONDS)
    throw new UsageFault(`--wait must be a whole number of 0 to ${MAX_WAIT_SECONDS}, not "${options.wait}"`);
  await onStore(options, async (store, settings) => {
    const profile = fieldsOf<CarrierProfile>(await itemNamed(store, { kind: "carrier", id }));
    const receipts: Told[] = [];
    const carrier = makeCarrier(profile, settings, (told) => receipts.push(told));
    const { text, encoding } = prepareText(options.text, {});
    const message: OutgoingMessage = {
      key: new IdSource(systemClock, TOOL_NODE).take(1),
      from: options.from,
      to,
      text,
      encoding,
      intermediateReport: false,
      expiresAtMs: systemClock.now() + HOUR_MS,
      reference: 1,
    };
    try {
      await submitAndWait(store, carrier, message, receipts, wait);
    } finally {
      await carrier.stop();
    }
  });
}

type Told = Pick<Receipt, "carrierMessageId" | "outcome" | "errorId">;

function makeCarrier(profile: CarrierProfile, settings: Settings, hear: (told: Told) => void): Carrier {
  switch (profile.kind) {
    case "http": {
      const callbacks = callbackUrls(profile, settings.server.publicUrl);
      const transport = new ShowingTransport(transportOf(profile, systemClock), profile);
      const carrier = new HttpCarrier(profile, { clock: systemClock, log: silentLog, callbacks, transport });
      carrier.listen({ onReceipt: async (receipt) => hear(receipt) });
      return carrier;
    }
    case "smpp": {
      const lease = Lease.endless();
      return new SmppCarrier(profile, { clock: systemClock, random: systemRandom, log: silentLog, lease });
    }
    case "simulator":
      throw new CommandFault("no phone rings behind a simulated carrier: the sandbox shows its phones");
  }
}

async function submitAndWait(
  store: Store,
  carrier: Carrier,
  message: OutgoingMessage,
  receipts: readonly Told[],
  wait: number,
): Promise<void> {
  // What would fetch the receipts of others is left to the service; each message of its own it may ask for.
  if (carrier.resume !== undefined || carrier instanceof SmppCarrier) await carrier.start();
  await isUp(carrier);
  const ids: string[] = [];
  for (const part of carrier.partsOf(message)) {
    const fromMs = systemClock.monotonic();
    const answer = await carrier.submit(part);
    say(printable(`${wordsOf(answer)}, after ${Math.round(systemClock.monotonic() - fromMs)} ms`));
    if (answer.kind !== "accepted") throw new CommandFault("the carrier did not take the message");
    ids.push(answer.carrierMessageId, ...(answer.others ?? []));
  }
  const untilMs = systemClock.monotonic() + wait * 1_000;
  const open = new Set(ids);
  while (open.size > 0 && systemClock.monotonic() < untilMs) {
    await pause(LOOK_EVERY_MS);
    // A receipt that comes to the service fits no message there, and is parked.
    const parked = await store.parkedReceipts({ carrierId: carrier.id, limit: LOOK_AT });
    for (const { carrierMessageId: id, outcome, errorId } of [...receipts, ...parked.receipts]) {
      if (!open.has(id) || outcome === "held") continue;
      open.delete(id);
      const error = errorId === 0 ? "" : `, ${errorById(errorId).name}`;
      say(printable(`receipt of ${id}: ${outcome}${error}`));
    }
  }
  if (open.size > 0)
    say(
      wait === 0
        ? "Nobody waits for its receipt."
        : `No receipt within ${wait} s. A provider that calls back needs [server] publicUrl, and a service that runs.`,
    );
}

async function isUp(carrier: Carrier): Promise<void> {
  const untilMs = systemClock.monotonic() + UP_WITHIN_MS;
  while (!carrier.isUp()) {
    if (systemClock.monotonic() > untilMs) {
      const problem = carrier.connections?.().links[0]?.problem;
      throw new CommandFault(`the carrier cannot be reached${problem ? `: ${problem}` : ""}`);
    }
    await pause(LOOK_EVERY_MS);
  }
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

/** Prints what goes and comes, with the secrets of the profile masked. */
class ShowingTransport implements Transport {
  readonly #transport: Transport;
  readonly #secrets: readonly string[];

  constructor(transport: Transport, profile: HttpProfile) {
    this.#transport = transport;
    const secrets = CARRIER_SECRETS.flatMap((field) => profile[field] ?? []);
    this.#secrets = secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]);
  }

  async post(post: Post): Promise<Answer> {
    const { method, origin, path, headers, body } = post;
    say(this.#masked(`${method} ${origin}${path}`));
    for (const [name, value] of Object.entries(headers))
      say(this.#masked(`  ${name}: ${name === "authorization" ? MASK : value}`));
    if (body !== "") say(this.#masked(`  ${body}`));
    const answer = await this.#transport.post(post);
    if (answer.kind !== "answered") say(`→ ${answer.reason}`);
    else {
      say(`→ HTTP ${answer.status}${answer.isWhole ? "" : ", and the answer ended in its middle"}`);
      if (answer.excerpt !== "") say(this.#masked(`  ${answer.excerpt}`));
    }
    return answer;
  }

  forget(origin: string): void {
    this.#transport.forget(origin);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #masked(text: string): string {
    const shown = this.#secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
    // A token is as good as the secret that it was had for.
    return printable(shown.replace(/("access_token"\s{0,9}:\s{0,9}")[^"]*/g, `$1${MASK}`));
  }
}
