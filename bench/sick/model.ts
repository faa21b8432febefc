/**
 * A route of two groups whose first carrier is bound and falls sick, over simulated time: dispatch and both SMPP carriers are the real ones, over real
 * sockets, and the store is a memory that says yes. Time stands still while anything is on the wire, so the figures are the same everywhere.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { SmppCarrier } from "../../src/carriers/smpp/carrier.ts";
import type { Pdu } from "../../src/carriers/smpp/codec/pdu.ts";
import { type CommandStatus, statusCode } from "../../src/carriers/smpp/codec/statuses.ts";
import type { SmppProfile } from "../../src/carriers/smpp/profile.ts";
import type { Reply } from "../../src/carriers/smpp/session/contract.ts";
import { SmppSession } from "../../src/carriers/smpp/session/session.ts";
import { Dispatcher } from "../../src/dispatch/dispatcher.ts";
import { usedOf } from "../../src/message/fields.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { prepareText } from "../../src/sms/text.ts";
import type { Postponed } from "../../src/store/port/delivery.ts";
import type { Store } from "../../src/store/port/store.ts";
import { until } from "../../test/support/patience.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";

/** How a carrier is sick: what it says to every submit, or nothing. */
export type Sickness = "silent" | Extract<CommandStatus, "ESME_RSYSERR" | "ESME_RTHROTTLED" | "ESME_RMSGQFUL">;

export const SICKNESSES: readonly Sickness[] = ["silent", "ESME_RSYSERR", "ESME_RTHROTTLED", "ESME_RMSGQFUL"];

export interface Story {
  readonly sickness: Sickness;
  /** New messages, each to a phone of its own. */
  readonly perSecond: number;
  /** It is well for so long, then sick, then well again. */
  readonly wellSeconds: number;
  readonly sickSeconds: number;
  readonly thenSeconds: number;
}

export interface Told {
  /** Messages by the second in which they came, counted from when the carrier fell sick: how many of them the first and the second carrier took. */
  readonly first: ReadonlyMap<number, number>;
  readonly second: ReadonlyMap<number, number>;
  /** Messages that the first was handed and did not answer. */
  readonly inDoubt: number;
  /** Messages that nobody has taken when the story ends. */
  readonly missing: number;
  /** How dispatch saw the first carrier, by second. */
  readonly states: ReadonlyMap<number, string>;
}

const SECOND_MS = 1_000;
const ROUND_TRIP_MS = 20;
const ANSWER_SECONDS = 30;
const FIRST_PHONE = 41_790_000_000;

/** A network that answers every submit alike. */
class Network {
  readonly #clock: VirtualClock;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#take(socket));
  /** When the submits came that have no answer yet, as far as somebody waits for it. */
  #openMs: number[] = [];
  #isClosed = false;
  sickness: Sickness | null = null;
  readonly taken: string[] = [];
  readonly unanswered = new Set<string>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  /** Whether so many requests without an answer are all that there are here. One whose time is over just now may be given up already, or not yet. */
  hasAll(inFlight: number): boolean {
    if (this.#isClosed) return true;
    const oldestMs = this.#clock.now() - ANSWER_SECONDS * SECOND_MS;
    this.#openMs = this.#openMs.filter((cameMs) => cameMs >= oldestMs);
    const sure = this.#openMs.filter((cameMs) => cameMs > oldestMs).length;
    return inFlight >= sure && inFlight <= this.#openMs.length;
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    new SmppSession(socket, {
      role: "smsc",
      clock: this.#clock,
      window: 1_000,
      maxHandling: 10_000,
      onBind: () => ({ kind: "accept", systemId: "network" }),
      onRequest: (pdu) => this.#answer(pdu as Pdu<"submit_sm">),
    });
  }

  #answer({ destinationAddr }: Pdu<"submit_sm">): Reply | Promise<Reply> {
    const cameMs = this.#clock.now();
    this.#openMs.push(cameMs);
    const { sickness } = this;
    if (sickness === "silent") {
      this.unanswered.add(destinationAddr);
      return null;
    }
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#clock.after(ROUND_TRIP_MS, () => {
      this.#openMs.splice(this.#openMs.indexOf(cameMs), 1);
      if (sickness !== null) {
        resolve({ command: "submit_sm_resp", status: statusCode(sickness) });
        return;
      }
      const messageId = String(this.taken.push(destinationAddr));
      resolve({ command: "submit_sm_resp", status: 0, messageId });
    });
    return promise;
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** A store that keeps nothing but what was put off, which comes back when it is due. */
function memoryStore(clock: VirtualClock, messages: Map<string, QueuedMessage>, due: (message: QueuedMessage) => void) {
  const done = async () => ({});
  const commands: Record<string, (args: never) => Promise<unknown>> = {
    reroute: async ({ messages: moved }: { messages: { key: string; carrierId: string }[] }) => {
      for (const { key, carrierId } of moved) messages.set(key, { ...messages.get(key)!, carrierId });
    },
    postpone: async ({ messages: put }: { messages: Postponed[] }) => {
      for (const { key, dueAtMs } of put) clock.after(dueAtMs - clock.now(), () => due(messages.get(key)!));
    },
    claimDue: async () => ({ more: false, nextDueAtMs: null }),
    handBack: async () => ({ more: false }),
  };
  return new Proxy({}, { get: (_, name) => commands[String(name)] ?? done }) as Store;
}

export async function play(story: Story): Promise<Told> {
  const { sickness, perSecond, wellSeconds, sickSeconds, thenSeconds } = story;
  const clock = new VirtualClock();
  const networks = { first: new Network(clock), second: new Network(clock) };
  const messages = new Map<string, QueuedMessage>();
  const take = (message: QueuedMessage) =>
    dispatcher.take({ messages: [message], reports: [], overflowed: [], earliestDueAtMs: null });
  const dispatcher = new Dispatcher({
    store: memoryStore(clock, messages, take),
    clock,
    log: silentLog,
    settings: { claimMessages: 500, laneMessages: 5_000, sweepEveryMs: 10_000 },
    lease: Lease.endless(),
    route: (_, usable) => ["first", "second"].find(usable) ?? null,
    knows: () => true,
    lookAgain: async () => undefined,
  });
  for (const [id, network] of Object.entries(networks)) {
    const hosts = [`127.0.0.1:${await network.listen()}`];
    const profile: SmppProfile = {
      id,
      kind: "smpp",
      hosts,
      systemId: "me",
      password: "x",
      answerSeconds: ANSWER_SECONDS,
    };
    const carrier = new SmppCarrier(profile, {
      clock,
      random: seededRandom(1),
      log: silentLog,
      lease: Lease.endless(),
    });
    await dispatcher.addCarrier(carrier);
    await until(() => carrier.isUp());
    clock.waitFor(() => carrier.connections().links.every(({ inFlight }) => network.hasAll(inFlight)));
  }

  const states = new Map<number, string>();
  const total = (wellSeconds + sickSeconds + thenSeconds) * perSecond;
  for (let index = 0; index < total; index++) {
    const second = Math.floor(index / perSecond) - wellSeconds;
    networks.first.sickness = second >= 0 && second < sickSeconds ? sickness : null;
    const message = messageTo(String(FIRST_PHONE + index), clock.now());
    messages.set(message.key, message);
    take(message);
    await clock.advance(SECOND_MS / perSecond);
    states.set(second, dispatcher.facts().find(({ id }) => id === "first")!.health.state);
  }
  // What the first did not answer is handed to it again when its time is over.
  networks.first.sickness = null;
  await clock.advance(ANSWER_SECONDS * SECOND_MS + 2 * SECOND_MS);
  for (const network of Object.values(networks)) network.close();
  await clock.passWhile(dispatcher.stop());

  const bySecond = (phones: readonly string[]): Map<number, number> => {
    const counts = new Map<number, number>();
    for (const phone of new Set(phones)) {
      const second = Math.floor((Number(phone) - FIRST_PHONE) / perSecond) - wellSeconds;
      counts.set(second, (counts.get(second) ?? 0) + 1);
    }
    return counts;
  };
  const taken = new Set([...networks.first.taken, ...networks.second.taken]);
  return {
    first: bySecond(networks.first.taken),
    second: bySecond(networks.second.taken),
    inDoubt: networks.first.unanswered.size,
    missing: total - taken.size,
    states,
  };
}

function messageTo(to: string, nowMs: number): QueuedMessage {
  return {
    key: `account ${to}`,
    accountId: 1,
    carrierId: "first",
    from: "Sender",
    to,
    ...prepareText("Hello", {}),
    partCount: 1,
    ...usedOf({}),
    intermediateReport: false,
    window: null,
    dueAtMs: nowMs,
    expiresAtMs: nowMs + 48 * 3_600 * SECOND_MS,
    slotUntilMs: null,
    unknownCount: 0,
    taken: null,
    regional: null,
    reference: null,
  };
}
