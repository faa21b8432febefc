/** One connection, the requests on it that are under way, and the address that both belong to. Who makes room for whom is in client-connections.ts. */
import type { Socket } from "node:net";
import type { Account } from "../store/port/accounts.ts";
import type { SeenCaller } from "./auth.ts";

/** Requests on one connection that are not answered. A client that does not wait for answers has one or two. */
export const MAX_PIPELINED = 10;
/** A body that has not come for so long may have to make room. */
export const SLOW_MS = 1_000;
const MIN_TAKEN_OCTETS = 65_536;

/**
 * Who sends a request: somebody who looks whether the service is well, somebody who need not show who it is (a login, the documentation, a path that
 * is not there), somebody who has yet to show it, somebody who has; somebody who has and now watches an answer without end, of which there is a
 * bound of its own (console/live.ts); and somebody who was refused, and whose body is still to be dropped.
 */
export type Who = "watcher" | "visitor" | "stranger" | "caller" | "stream" | "refused";
const nobody = (): Record<Who, number> => ({ watcher: 0, visitor: 0, stranger: 0, caller: 0, stream: 0, refused: 0 });

/** What one address has here. */
export class Site {
  readonly name: string;
  readonly connections = new Set<ClientConnection>();
  /** Under way. */
  readonly requests = nobody();
  relievedAtMs = Number.NEGATIVE_INFINITY;

  constructor(name: string) {
    this.name = name;
  }
}

/** What a request has to know of the table of all connections (client-connections.ts). */
interface Table {
  /** Stands for all addresses together. */
  readonly everybody: Site;
  nowMs(): number;
  tidy(site: Site): void;
}

/** What is asked of an answer here: Node's has it. */
export interface NodeAnswer {
  readonly req: { readonly complete: boolean };
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly closed: boolean;
  once(event: "close", tell: () => void): unknown;
}

/** A request that was let in before the framework has seen it. */
export interface Admitted {
  readonly progress: RequestProgress;
  readonly account: Account;
}

/** A request under way: however it ends, answered or abandoned, it ends once. */
export class RequestProgress {
  /** The path of its route; undefined where there is none. */
  readonly route: string | undefined;
  readonly connection: ClientConnection;
  readonly site: Site;
  #response: NodeAnswer;
  readonly startedMs: number;
  readonly #table: Table;
  #who: Who;
  #release: (() => void) | null = null;
  #ended = false;

  constructor(
    table: Table,
    connection: ClientConnection,
    site: Site,
    response: NodeAnswer,
    route: string | undefined,
    who: Exclude<Who, "caller" | "stream" | "refused">,
  ) {
    this.#table = table;
    this.connection = connection;
    this.site = site;
    this.#response = response;
    this.route = route;
    this.startedMs = table.nowMs();
    this.#who = who;
    connection.begin(this);
    this.#count(1);
  }

  get response(): NodeAnswer {
    return this.#response;
  }

  /** Another answers it. */
  answeredBy(response: NodeAnswer): void {
    this.#response = response;
    this.connection.newest = response;
  }

  /** Whether its caller has shown who it is. */
  get isCaller(): boolean {
    return this.#who === "caller" || this.#who === "stream";
  }

  get isStream(): boolean {
    return this.#who === "stream";
  }

  /** Its caller has shown who it is. */
  identified(): void {
    this.#becomes("caller");
    this.connection.known = true;
  }

  /** Its answer goes on and on: from here on it takes no place of a request, neither the service's nor its account's. */
  streams(): void {
    this.#becomes("stream");
    this.#release?.();
    this.#release = null;
  }

  /** It gets an error. Until its body is dropped it takes nobody's place, unless its caller has one. */
  refused(): void {
    if (!this.isCaller) this.#becomes("refused");
  }

  #becomes(who: Who): void {
    if (this.#ended) return;
    this.#count(-1);
    this.#who = who;
    this.#count(1);
  }

  /** Whether its body has not come for longer than that of a good client takes. */
  isSlow(nowMs: number): boolean {
    return !this.response.req.complete && nowMs - this.startedMs >= SLOW_MS;
  }

  /** Calls this too when it ends, at once if it has: its client may go away while it is looked at. */
  holds(release: () => void): void {
    const first = this.#release;
    if (this.#ended) release();
    else if (first === null) this.#release = release;
    else
      this.#release = () => {
        first();
        release();
      };
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.connection.end(this, this.#table.nowMs());
    this.#count(-1);
    this.#table.tidy(this.site);
    this.#release?.();
  }

  #count(change: 1 | -1): void {
    this.site.requests[this.#who] += change;
    this.#table.everybody.requests[this.#who] += change;
  }
}

/** How little a connection would be missed, from those that are missed least on; one that is at work has none. */
export const RANKS = ["silent", "slow stranger", "idle stranger", "idle caller"] as const;
type Rank = (typeof RANKS)[number];

export class ClientConnection {
  readonly site: Site;
  /** The other side's address and port, which a socket that is closed does not know any more. */
  readonly peer: string;
  socket: Socket;
  /** Mostly one; more where a client does not wait for answers. No Set: see runtime/slots.ts. */
  readonly underWay: RequestProgress[] = [];
  /** The newest answer on it, begun or not. */
  newest: NodeAnswer | null = null;
  caller: SeenCaller | null = null;
  /** The next request that Node tells of was let in on the short way. */
  admitted: Admitted | null = null;
  /** The rest of a request for the short way is to come. */
  awaited: { readonly sinceMs: number; readonly giveUp: () => void } | null = null;
  /** It has had a request whose caller showed who it is. */
  known = false;
  /** It has more requests under way than it may, or was told its last answer: it gets no more. */
  overrun = false;
  /** It was told why it is closed, and is destroyed then. */
  doomedAtMs = Number.POSITIVE_INFINITY;
  /** Since when it is silent or idle. */
  #sinceMs: number;
  /** How much of what we wrote was taken when it was last looked at, and when that was; null when all of it was. */
  #taken: { readonly octets: number; readonly atMs: number } | null = null;

  constructor(socket: Socket, site: Site, nowMs: number) {
    this.socket = socket;
    this.site = site;
    this.peer = peerOf(socket);
    this.#sinceMs = nowMs;
  }

  get sinceMs(): number {
    return this.underWay[0]?.startedMs ?? this.#sinceMs;
  }

  begin(progress: RequestProgress): void {
    this.underWay.push(progress);
    this.newest = progress.response;
  }

  end(progress: RequestProgress, nowMs: number): void {
    this.underWay.splice(this.underWay.indexOf(progress), 1);
    this.#sinceMs = nowMs;
  }

  /** Calls back when the requests on it that came whole are answered, as far as their answers have an end. */
  onceAnswered(then: () => void): void {
    const whole = ({ req, closed }: NodeAnswer): boolean => req.complete && !closed;
    const under = this.underWay.findLast(({ response, isStream }) => whole(response) && !isStream);
    const last = under?.response ?? (this.underWay.length === 0 ? this.newest : null);
    if (last !== null && whole(last)) last.once("close", then);
    else then();
  }

  /** Node did not tell of it after all. */
  forgetAdmitted(): void {
    this.admitted?.progress.end();
    this.admitted = null;
  }

  /** Null for one that is at work. */
  rank(): Rank | null {
    if (this.newest === null || this.doomedAtMs < Number.POSITIVE_INFINITY) return "silent";
    if (this.underWay.length === 0) return this.known ? "idle caller" : "idle stranger";
    const strangers = this.underWay.every(({ isCaller, response }) => !isCaller && !response.req.complete);
    return strangers ? "slow stranger" : null;
  }

  /** Whether its client takes less of our answer than it has to. */
  isStalled(nowMs: number, timeoutMs: number): boolean {
    const { writableLength, bytesWritten } = this.socket;
    if (writableLength === 0) {
      this.#taken = null;
      return false;
    }
    const octets = (bytesWritten ?? 0) - writableLength;
    if (this.#taken !== null && nowMs - this.#taken.atMs < timeoutMs) return false;
    const stalled = this.#taken !== null && octets - this.#taken.octets < MIN_TAKEN_OCTETS;
    this.#taken = { octets, atMs: nowMs };
    return stalled;
  }

  /** Whatever follows on it is dropped, and the connection ends with the answer that is its newest. */
  overran(): void {
    this.overrun = true;
    // What was read is parsed to its end, thousands of requests in a piece of 64 KiB, each with an answer that Node would end one by one with an
    // error and its trace; and no public way leads out of that. In a Node that has no such parser the bound holds all the same, at that cost.
    const { parser } = this.socket as Socket & { parser?: { onIncoming?: unknown } | null };
    if (parser !== undefined && parser !== null) parser.onIncoming = () => 0;
  }
}

/** A stranger's body has as long as the head of a request. */
export function isLate({ isCaller, response, startedMs }: RequestProgress, nowMs: number, timeoutMs: number): boolean {
  return !isCaller && !response.req.complete && nowMs - startedMs > timeoutMs;
}

export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
