/**
 * The connections that requests come on, whose they are, and how much anybody may have of them.
 *
 *   silent ──the head of a request──▶ reading its body ──▶ working ──▶ answering ──▶ idle ──▶ reading …
 *
 * Until a caller has shown who it is, it is a *stranger*. Nobody is kept out by strangers: past a bound the connection that is missed least
 * makes room for the new one (silent ones first, then strangers that are slow, then idle ones), so that whoever watches the service, and every
 * good client, gets in. What is at work for a caller is never cut off for strangers.
 *
 * Each step has a deadline. Node has those of the head and of the whole request; here are the others: an answer that is not taken, a
 * stranger's body, the rest of a body that nobody wants, a connection that was told goodbye and stays. All are enforced by destroying.
 */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Clock, Timer } from "../runtime/clock.ts";
import { onceEach } from "../runtime/lazy.ts";
import { counter, gauge, type Metric } from "../runtime/metrics.ts";
import { siteOf } from "../runtime/networks.ts";
import { ClientConnection, isLate, peerOf, RANKS, Site, SLOW_MS, type Who } from "./client-connection.ts";
import { Lingering } from "./unwanted-bodies.ts";

export interface ConnectionBounds {
  /** Whether the service speaks TLS. */
  readonly tls: boolean;
  readonly maxConnections: number;
  readonly maxRequests: number;
  /** Of one address: an IPv4 address, or the /64 of an IPv6 address. */
  readonly connectionsPerAddress: number;
  readonly requestsPerAddress: number;
  readonly headersTimeoutMs: number;
  /** For a client to take an answer, or 64 KiB more of it. */
  readonly answerTimeoutMs: number;
  /** Proxies bring the requests of many, and may have as many connections as there are. */
  readonly isProxy: (address: string) => boolean;
}

/** Of those that could make room, one in so many does: looking through all of them has to be worth it. */
const EVICTED_SHARE = 8;
/** How often, at most, slow bodies are looked for among all connections when there are too many requests. */
const RELIEF_EVERY_MS = 100;
/** After it was told why it is closed, a client may still write for so long: what is reset while it writes, it cannot read. */
const MAX_LINGER_MS = 5_000;
/** The same at the end of the service, when nobody is told anything but to come again elsewhere. */
const END_LINGER_MS = 1_000;
/** Visitors may have one in so many of the places for requests, so that they never keep out whoever shows who it is. */
const VISITORS_SHARE = 4;

interface SeenIdle {
  /** With TLS another one after the handshake. */
  readonly socket: Socket;
  /** Another one after each request. */
  readonly sinceMs: number;
  readonly octetsRead: number;
  readonly atMs: number;
}

export class ClientConnections {
  readonly #bounds: ConnectionBounds;
  readonly #clock: Clock;
  readonly #all = new Set<ClientConnection>();
  readonly #sites = new Map<string, Site>();
  readonly #siteNamed = onceEach(this.#sites, (name) => new Site(name));
  readonly #bySocket = new WeakMap<Socket, ClientConnection>();
  /** By the other side's address and port: with TLS one socket lies upon another, and both have the same. */
  readonly #byPeer = new Map<string, ClientConnection>();
  /** Stands for all addresses together. */
  readonly everybody = new Site("");
  readonly #sweepEveryMs: number;
  /** Null while there is no connection to look at. */
  #sweeping: Timer | null = null;
  #stopped = false;
  /** Tells the client that its request came too slowly. */
  readonly #tellLate: (connection: ClientConnection) => void;
  readonly #lingering = new Lingering();
  /** Connections that had to make room. */
  #evicted = 0;
  /** What was seen when they were first found idle, at the end of the service. */
  readonly #idle = new WeakMap<ClientConnection, SeenIdle>();

  constructor(bounds: ConnectionBounds, clock: Clock, tellLate: (connection: ClientConnection) => void) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#tellLate = tellLate;
    this.#sweepEveryMs = Math.max(50, Math.min(1_000, bounds.headersTimeoutMs / 10));
  }

  nowMs(): number {
    return this.#clock.monotonic();
  }

  metrics(): Metric[] {
    const { visitor, stranger, caller, stream } = this.everybody.requests;
    return [
      gauge("heliograph_http_connections", "Connections", this.#all.size),
      gauge("heliograph_http_strangers", "Requests in progress whose caller is not known", visitor + stranger),
      gauge("heliograph_http_callers", "Requests in progress whose caller is known", caller),
      gauge("heliograph_http_streams", "Streams on which the console watches", stream),
      counter("heliograph_http_evicted_total", "Connections that had to make room for others", this.#evicted),
    ];
  }

  /** A new connection. Where there are too many, others make room for it; if none can, it is closed. */
  open(socket: Socket): void {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || !this.#makeRoom(remoteAddress)) {
      socket.destroy();
      return;
    }
    const site = this.siteAt(remoteAddress);
    const connection = new ClientConnection(socket, site, this.nowMs());
    this.#all.add(connection);
    this.#sweepLater();
    site.connections.add(connection);
    this.#byPeer.set(connection.peer, connection);
    this.#attach(connection, socket);
  }

  /** False where everybody is at work. */
  #makeRoom(address: string): boolean {
    const { maxConnections, connectionsPerAddress, isProxy } = this.#bounds;
    const own = this.#sites.get(siteOf(address))?.connections;
    if (own !== undefined && own.size >= connectionsPerAddress && !isProxy(address) && !this.#evict(own)) return false;
    return this.#all.size < maxConnections || this.#evict(this.#all);
  }

  /** The handshake of TLS is done: requests come on this socket. */
  secured(socket: Socket): void {
    const connection = this.#byPeer.get(peerOf(socket));
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    connection.socket = socket;
    // As those without TLS.
    socket.allowHalfOpen = true;
    this.#attach(connection, socket);
  }

  #attach(connection: ClientConnection, socket: Socket): void {
    this.#bySocket.set(socket, connection);
    socket.once("close", () => {
      if (connection.socket === socket) this.#remove(connection);
    });
    // Whoever says that it asks for nothing more gets its answers; one that has no end would go on for nobody.
    socket.once("end", () => {
      if (connection.underWay.some(({ isStream }) => isStream)) socket.destroySoon();
    });
  }

  #remove(connection: ClientConnection): void {
    if (!this.#all.delete(connection)) return;
    const { site } = connection;
    site.connections.delete(connection);
    if (this.#byPeer.get(connection.peer) === connection) this.#byPeer.delete(connection.peer);
    // An answer that waits behind another is not told when its connection breaks.
    for (const progress of [...connection.underWay]) progress.end();
    this.tidy(site);
  }

  find(socket: Socket): ClientConnection | undefined {
    return this.#bySocket.get(socket);
  }

  /** The connection of a request; null where no more is heard of it. */
  of(socket: Socket): ClientConnection | null {
    if (socket.destroyed) return null;
    if (!this.#bySocket.has(socket)) this.open(socket);
    const connection = this.#bySocket.get(socket);
    return connection === undefined || connection.overrun ? null : connection;
  }

  /** Whose request it is, by its address, which may be other than its connection's where proxies are trusted. */
  siteAt(address: string): Site {
    return this.#siteNamed(siteOf(address));
  }

  /** Forgets an address that has nothing here. */
  tidy(site: Site): void {
    const { watcher, visitor, stranger, caller, stream, refused } = site.requests;
    const isIdle = watcher + visitor + stranger + caller + stream + refused + site.connections.size === 0;
    if (isIdle && this.#sites.get(site.name) === site) this.#sites.delete(site.name);
  }

  /** Whether there are more requests of that kind than may be, of an address or of all, and none of them can make room. */
  isCrowded(site: Site | null, who: Exclude<Who, "watcher" | "stream" | "refused">): boolean {
    const { maxRequests, requestsPerAddress } = this.#bounds;
    const most = site === null ? maxRequests : requestsPerAddress;
    const { requests } = site ?? this.everybody;
    // An address has so many in all; over all addresses callers have all places to themselves, and strangers as many of their own.
    const known = site === null ? requests[who] : requests.stranger + requests.caller;
    const crowded = who === "visitor" ? requests.visitor * VISITORS_SHARE > most : known > most;
    return crowded && !this.#relieve(site, who);
  }

  /** Lets the slowest bodies, of an address or of all, make room: for strangers those of strangers, for callers those of all. */
  #relieve(site: Site | null, who: Who): boolean {
    const nowMs = this.nowMs();
    // Behind a proxy an address has no connections of its own, and all have to be looked through.
    const own = site === null || site.connections.size === 0 ? null : site.connections;
    const asked = site ?? this.everybody;
    if (own === null && nowMs - asked.relievedAtMs < RELIEF_EVERY_MS) return false;
    asked.relievedAtMs = nowMs;
    const slow = [...(own ?? this.#all)]
      .flatMap(({ underWay }) => underWay)
      .filter((progress) => (site === null || progress.site === site) && progress.isSlow(nowMs))
      .filter(({ isCaller }) => who === "caller" || !isCaller)
      .sort((one, other) => one.startedMs - other.startedMs);
    for (const { connection } of slow.slice(0, Math.ceil(slow.length / EVICTED_SHARE))) this.dismiss(connection);
    return slow.length > 0;
  }

  /** What has not come whole on it makes room. When the requests before that are answered, it is told that it is late, if it listens, and closed. */
  dismiss(connection: ClientConnection): void {
    this.#evicted++;
    for (const progress of connection.underWay.filter(({ response }) => !response.req.complete)) progress.end();
    connection.onceAnswered(() => {
      this.#tellLate(connection);
      for (const progress of [...connection.underWay]) progress.end();
      connection.socket.destroySoon();
      this.doom(connection, 0);
    });
  }

  /** False when none of them can make room. */
  #evict(connections: Iterable<ClientConnection>): boolean {
    const candidates: { readonly rank: number; readonly connection: ClientConnection }[] = [];
    for (const connection of connections) {
      const rank = connection.rank();
      if (rank !== null) candidates.push({ rank: RANKS.indexOf(rank), connection });
    }
    candidates.sort((one, other) => one.rank - other.rank || one.connection.sinceMs - other.connection.sinceMs);
    for (const { connection } of candidates.slice(0, Math.ceil(candidates.length / EVICTED_SHARE))) {
      this.#evicted++;
      connection.socket.destroy();
      this.#remove(connection);
    }
    return candidates.length > 0;
  }

  /** Whatever is still said on it, it ends. */
  doom(connection: ClientConnection, lingerMs = Math.min(MAX_LINGER_MS, this.#bounds.headersTimeoutMs)): void {
    connection.doomedAtMs = Math.min(connection.doomedAtMs, this.nowMs() + lingerMs);
  }

  #sweepLater(): void {
    if (this.#stopped || this.#all.size === 0) return;
    this.#sweeping ??= this.#clock.after(this.#sweepEveryMs, () => {
      this.#sweeping = null;
      this.#sweep();
      this.#sweepLater();
    });
  }

  #sweep(): void {
    const nowMs = this.nowMs();
    const { headersTimeoutMs, answerTimeoutMs } = this.#bounds;
    // Node says its own word to whoever is silent, at its time-out; this is for those to whom it cannot.
    const silentMs = headersTimeoutMs + MAX_LINGER_MS;
    for (const connection of this.#all) {
      const { socket, doomedAtMs, newest, sinceMs, underWay, awaited } = connection;
      const over =
        doomedAtMs <= nowMs ||
        (newest === null && nowMs - sinceMs > silentMs) ||
        (this.#isHandshaking(connection) && nowMs - sinceMs > headersTimeoutMs) ||
        connection.isStalled(nowMs, answerTimeoutMs);
      if (over) socket.destroy();
      else if (awaited !== null && nowMs - awaited.sinceMs >= SLOW_MS) awaited.giveUp();
      if (socket.destroyed) this.#remove(connection);
      else if (underWay.some((progress) => isLate(progress, nowMs, headersTimeoutMs))) this.dismiss(connection);
    }
  }

  #isHandshaking({ socket }: ClientConnection): boolean {
    return this.#bounds.tls && !(socket instanceof TLSSocket);
  }

  /**
   * Ends the connections that have nothing under way, and on which nothing has come for so long, as far as looks like this one have seen. Where
   * something has, a request is on its way.
   */
  endIdle(idleMs: number): void {
    const nowMs = this.nowMs();
    for (const connection of this.#all) {
      const { socket, sinceMs, underWay, overrun } = connection;
      if (underWay.length > 0 || overrun) continue;
      let seen = this.#idle.get(connection);
      if (seen?.socket !== socket || seen.sinceMs !== sinceMs) {
        seen = { socket, sinceMs, octetsRead: socket.bytesRead, atMs: nowMs };
        this.#idle.set(connection, seen);
      }
      if (nowMs - seen.atMs < idleMs) continue;
      if (this.#isHandshaking(connection)) socket.destroy();
      else if (socket.bytesRead === seen.octetsRead) {
        connection.overran();
        this.#endSoftly(connection);
      }
    }
  }

  /** The answer that is being sent is the last one on this connection: whatever follows is dropped. Its client may still be writing a body. */
  lastAnswer(connection: ClientConnection, isWriting = false): void {
    connection.overran();
    // What Node calls when such an answer is written; its own would destroy the connection at once.
    connection.socket.destroySoon = () => {
      this.#endSoftly(connection);
      if (isWriting) this.linger(connection);
    };
  }

  /** Our side ends, whatever theirs still says: a little of that is read. */
  linger(connection: ClientConnection): void {
    this.doom(connection);
    this.#lingering.read(connection);
  }

  /** Our side ends, and theirs is read until it does too, or for a moment: what is destroyed while they write resets them. */
  #endSoftly(connection: ClientConnection): void {
    connection.socket.end();
    this.doom(connection, Math.min(END_LINGER_MS, this.#bounds.headersTimeoutMs));
  }

  destroyAll(): void {
    for (const { socket } of this.#all) socket.destroy();
  }

  stop(): void {
    this.#stopped = true;
    this.#sweeping?.cancel();
  }
}
