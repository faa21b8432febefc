/** What the session's tests stand on: real sockets on the loopback, two sessions bound to each other, and a peer that does as it is told. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, connect as netConnect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { PduName } from "../../../src/carriers/smpp/codec/commands.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import type { Pdu, PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { StreamDecoder } from "../../../src/carriers/smpp/codec/stream.ts";
import type { SessionOptions } from "../../../src/carriers/smpp/session/contract.ts";
import { SmppSession } from "../../../src/carriers/smpp/session/session.ts";
import type { BindKind } from "../../../src/carriers/smpp/session/states.ts";
import { until } from "../../support/patience.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

/** A server on a free port that the test's end takes down, connections and all. */
export async function listen(t: TestContext, onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return (server.address() as AddressInfo).port;
}

/** The two ends of one TCP connection: the one that connected, and the one that was connected to. */
export async function socketPair(t: TestContext): Promise<[Socket, Socket]> {
  const accepted = Promise.withResolvers<Socket>();
  const port = await listen(t, accepted.resolve);
  const socket = netConnect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  return [socket, await accepted.promise];
}

/** An end of a connection that a test writes and reads by hand. */
export class Peer {
  readonly socket: Socket;
  /** What has come and was not taken yet. */
  readonly received: Pdu[] = [];
  ended = false;
  readonly #decoder = new StreamDecoder();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      this.#decoder.push(chunk);
      for (let next = this.#decoder.next(); next !== null; next = this.#decoder.next()) {
        assert.equal(next.kind, "pdu");
        this.received.push((next as { pdu: Pdu }).pdu);
      }
    });
    socket.on("end", () => {
      this.ended = true;
    });
    socket.on("close", () => {
      this.ended = true;
    });
  }

  /** Several are glued into one write. */
  send(...drafts: PduDraft[]): void {
    this.socket.write(Buffer.concat(drafts.map((draft) => encodePdu(draft))));
  }

  /** The next PDU, which must be of that command. */
  async take<Name extends PduName>(command: Name): Promise<Pdu<Name>> {
    await until(() => this.received.length > 0);
    const pdu = this.received.shift()!;
    assert.equal(pdu.command, command);
    return pdu as Pdu<Name>;
  }

  async takeMany<Name extends PduName>(count: number, command: Name): Promise<Pdu<Name>[]> {
    const taken: Pdu<Name>[] = [];
    while (taken.length < count) taken.push(await this.take(command));
    return taken;
  }
}

export type Options = Partial<Omit<SessionOptions, "role" | "clock">>;

/** What has come to a session over its socket, and how often it stopped reading. */
interface Heard {
  octets: number;
  pdus: number;
  stops: number;
}

const heard = new WeakMap<SmppSession, Heard>();

export function heardBy(session: SmppSession): Heard {
  return heard.get(session)!;
}

function listenTo(socket: Socket): Heard {
  const all: Heard = { octets: 0, pdus: 0, stops: 0 };
  const decoder = new StreamDecoder();
  socket.on("data", (chunk) => {
    all.octets += chunk.length;
    decoder.push(chunk);
    for (let next = decoder.next(); next !== null && next.kind !== "lost"; next = decoder.next()) all.pdus++;
  });
  socket.on("pause", () => all.stops++);
  return all;
}

/** Every session that a test makes is closed in the end, and must then have let go of its timers. */
export function makeSession(t: TestContext, socket: Socket, options: SessionOptions): SmppSession {
  const hears = listenTo(socket);
  const session = new SmppSession(socket, options);
  heard.set(session, hears);
  t.after(async () => {
    await session.close();
    const { clock } = options;
    if (clock instanceof VirtualClock && ++closedOf(clock).count === closedOf(clock).made) {
      assert.equal(clock.timersPending, 0, "a closed session left a timer behind");
    }
  });
  if (options.clock instanceof VirtualClock) closedOf(options.clock).made++;
  return session;
}

const tallies = new WeakMap<VirtualClock, { made: number; count: number }>();
function closedOf(clock: VirtualClock): { made: number; count: number } {
  const tally = tallies.get(clock) ?? { made: 0, count: 0 };
  tallies.set(clock, tally);
  return tally;
}

export interface Against {
  readonly session: SmppSession;
  readonly peer: Peer;
  readonly clock: VirtualClock;
}

/** Our ESME, bound to a peer by hand. */
export async function esmeAgainstPeer(
  t: TestContext,
  options: Options = {},
  kind: BindKind = "transceiver",
): Promise<Against> {
  const clock = new VirtualClock();
  const [ours, theirs] = await socketPair(t);
  const session = makeSession(t, ours, { role: "esme", clock, ...options });
  const peer = new Peer(theirs);
  const binding = session.bind(kind, { systemId: "us", password: "secret" });
  const { sequence } = await peer.take(`bind_${kind}`);
  peer.send({ command: `bind_${kind}_resp`, sequence, systemId: "smsc" });
  const answer = await binding;
  assert.ok(answer.kind === "answered" && answer.pdu.status === 0);
  return { session, peer, clock };
}

/** Our SMSC, to which a peer by hand is bound. */
export async function smscAgainstPeer(
  t: TestContext,
  options: Options = {},
  kind: BindKind = "transceiver",
): Promise<Against> {
  const clock = new VirtualClock();
  const [theirs, ours] = await socketPair(t);
  const session = makeSession(t, ours, { role: "smsc", clock, onBind: ACCEPT, ...options });
  const peer = new Peer(theirs);
  peer.send({ command: `bind_${kind}`, sequence: 1, systemId: "them", interfaceVersion: 0x34 });
  assert.equal((await peer.take(`bind_${kind}_resp`)).status, 0);
  return { session, peer, clock };
}

export const ACCEPT = () => ({ kind: "accept", systemId: "smsc" }) as const;

export interface Both {
  readonly esme: SmppSession;
  readonly smsc: SmppSession;
  readonly clock: VirtualClock;
}

/** Our own two ends, bound to each other. */
export async function bothEnds(
  t: TestContext,
  options: { esme?: Options; smsc?: Options; kind?: BindKind } = {},
): Promise<Both> {
  const clock = new VirtualClock();
  const [client, server] = await socketPair(t);
  const smsc = makeSession(t, server, { role: "smsc", clock, onBind: ACCEPT, ...options.smsc });
  const esme = makeSession(t, client, { role: "esme", clock, ...options.esme });
  const answer = await esme.bind(options.kind ?? "transceiver", { systemId: "us", password: "secret" });
  assert.ok(answer.kind === "answered" && answer.pdu.status === 0);
  return { esme, smsc, clock };
}
