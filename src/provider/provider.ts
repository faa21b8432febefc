/**
 * A provider of SMS over HTTP that exists only here: it takes messages as the real one does, its phones answer by the last digits of their number
 * (simulator/handsets.ts), and it calls back with receipts and with what phones write. It can fail in every way that an HTTP API can.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../runtime/clock.ts";
import { listenAt } from "../runtime/connection-room.ts";
import type { Random } from "../runtime/random.ts";
import { answerTime, handsetOf } from "../simulator/handsets.ts";
import { Timetable } from "../simulator/timetable.ts";
import { PROVIDERS } from "./apis.ts";
import { ActiveFaults, BadFaults, type FaultName, type Faults, readFaults } from "./faults.ts";
import type {
  Known,
  OutCall,
  Outcome,
  ProviderApi,
  ProviderOutcome,
  ProviderReply,
  ProviderRequest,
  ProviderSettings,
  ProviderState,
  TakenMessage,
} from "./port.ts";

export interface ProviderOptions extends ProviderSettings {
  readonly preset: string;
  readonly host: string;
  readonly port: number;
  readonly answerAfterMs: number;
  /** Where it calls for messages that come without an address. */
  readonly callbackUrl?: string | undefined;
  readonly faults: Faults;
  /** Messages that are remembered. */
  readonly record: number;
  readonly onMessage?: (message: TakenMessage) => void;
  readonly onProblem?: (says: string) => void;
}

const MAX_BODY = 1_048_576;
const CALL_MS = 10_000;
const SLOW_MS = 1_000;
/** A callback that is not taken is tried again so often, each time after twice as long. */
const TRIES = 6;
const FIRST_WAIT_MS = 500;
/** Callbacks under way at a time. */
const MAX_CALLS = 50;
/** Below this path stands what is the simulator's and not the provider's. */
const CONTROL = "/_provider/";

class Remembered implements ProviderState {
  readonly #most: number;
  readonly #known = new Map<string, { message: TakenMessage; fate: ProviderOutcome | null }>();
  readonly #ids = new Map<string, string>();

  constructor(most: number) {
    this.#most = most;
  }

  add(message: TakenMessage): void {
    this.#known.set(message.id, { message, fate: null });
    if (message.reference !== null) this.#ids.set(message.reference, message.id);
    if (this.#known.size <= this.#most) return;
    const [oldest, { message: forgotten }] = this.#known.entries().next().value!;
    this.#known.delete(oldest);
    if (forgotten.reference !== null) this.#ids.delete(forgotten.reference);
  }

  end(id: string, fate: ProviderOutcome): void {
    const known = this.#known.get(id);
    if (known !== undefined) known.fate = fate;
  }

  find(id: string): Known | undefined {
    return this.#known.get(id);
  }

  findByReference(reference: string): Known | undefined {
    return this.find(this.#ids.get(reference) ?? "");
  }

  all(): Known[] {
    return [...this.#known.values()];
  }
}

export class Provider {
  readonly #options: ProviderOptions;
  readonly #api: ProviderApi;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: ActiveFaults;
  readonly #state: Remembered;
  readonly #timetable: Timetable<() => void>;
  readonly #server: Server;
  readonly #waiting: (() => Promise<void>)[] = [];
  #calls = 0;
  #count = 0;
  #isStopped = false;

  constructor(options: ProviderOptions, clock: Clock, random: Random) {
    this.#options = options;
    this.#api = PROVIDERS[options.preset]!;
    this.#clock = clock;
    this.#random = random;
    this.#faults = new ActiveFaults(random, options.faults);
    this.#state = new Remembered(options.record);
    this.#timetable = new Timetable({ clock, run: (task) => task() });
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  get messages(): readonly TakenMessage[] {
    return this.#state.all().map(({ message }) => message);
  }

  set faults(faults: Faults) {
    this.#faults.all = faults;
  }

  /** Resolves with the port. */
  start(): Promise<number> {
    const { host, port } = this.#options;
    this.#timetable.start();
    return listenAt(this.#server, port, host);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timetable.stop();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Lets a phone write to a number of the customer's. */
  write(url: string, message: { readonly from: string; readonly to: string; readonly text: string }): void {
    this.#callBack(this.#api.incoming(url, { id: this.#nextId(), ...message }, this.#options));
  }

  #nextId(): string {
    const chance = Math.floor(this.#random.next() * 2 ** 32);
    return `${chance.toString(16).padStart(8, "0")}${(++this.#count).toString(16).padStart(24, "0")}`;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let octets = 0;
    request.on("data", (chunk: Buffer) => {
      octets += chunk.length;
      if (octets > MAX_BODY) request.destroy();
      else chunks.push(chunk);
    });
    request.on("error", () => undefined);
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://provider");
      const call: ProviderRequest = {
        method: request.method ?? "GET",
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      if (call.path.startsWith(CONTROL)) write(response, this.#control(call));
      else this.#answer(call, request, response);
    });
  }

  #answer(call: ProviderRequest, request: IncomingMessage, response: ServerResponse): void {
    const isSending = this.#api.isSending?.(call) ?? call.method === "POST";
    const strikes = (name: FaultName): boolean => isSending && this.#faults.strikes(name) !== null;
    if (strikes("lostRequest")) request.socket.destroy();
    else if (strikes("tooFast")) write(response, this.#api.tooFast());
    else if (strikes("broken")) write(response, this.#api.broken());
    else {
      const refused = isSending ? this.#faults.strikes("refused") : null;
      if (refused !== null) {
        write(response, this.#api.refusal(refused.code ?? "", call));
        return;
      }
      const taken = this.#api.take(call, this.#state, () => this.#nextId(), this.#options);
      if (taken.kind === "taken") for (const message of taken.messages) this.#take(message);
      const slow = isSending ? this.#faults.strikes("slowAnswer") : null;
      if (strikes("noAnswer")) request.socket.destroy();
      else if (strikes("halfAnswer")) writeHalf(request, taken.reply);
      else if (strikes("wrongJson")) write(response, { status: taken.reply.status, text: "{]" });
      else if (slow === null) write(response, taken.reply);
      else this.#clock.after(slow.ms ?? SLOW_MS, () => write(response, taken.reply));
    }
  }

  #take(message: TakenMessage): void {
    this.#state.add(message);
    this.#options.onMessage?.(message);
    const { receipts } = handsetOf(message.to);
    const afterMs = answerTime(this.#options.answerAfterMs, this.#random);
    const plan = receipts.map(({ outcome, laterMs }) => ({
      outcome: outcome === "lost" ? ("expired" as const) : outcome,
      laterMs,
    }));
    const isReordered = plan.length > 1 && this.#faults.strikes("receiptsReordered") !== null;
    for (const { outcome, laterMs } of isReordered ? plan.toReversed() : plan) {
      const lateMs = this.#faults.strikes("receiptsLate")?.ms ?? 0;
      const atMs = this.#clock.monotonic() + afterMs + (isReordered ? 0 : laterMs) + lateMs;
      this.#timetable.note(atMs, () => this.#tell(message, outcome));
    }
  }

  #tell(message: TakenMessage, outcome: Outcome): void {
    const failed = this.#faults.strikes("receiptsFailed");
    const fate: ProviderOutcome =
      failed === null ? { outcome, code: null } : { outcome: "undeliverable", code: failed.code ?? null };
    this.#state.end(message.id, fate);
    const callbackUrl = message.callbackUrl ?? this.#options.callbackUrl;
    const call = callbackUrl === undefined ? undefined : this.#api.receipt?.(callbackUrl, message, fate, this.#options);
    if (call === undefined || this.#faults.strikes("receiptsLost") !== null) return;
    this.#callBack(call);
    if (this.#faults.strikes("receiptsTwice") !== null) this.#callBack(call);
  }

  #callBack(call: OutCall): void {
    this.#waiting.push(() => this.#tryCall(call, 1));
    this.#callNext();
  }

  #callNext(): void {
    while (this.#calls < MAX_CALLS && this.#waiting.length > 0) {
      this.#calls++;
      void this.#waiting.shift()!().finally(() => {
        this.#calls--;
        this.#callNext();
      });
    }
  }

  async #tryCall(call: OutCall, attempt: number): Promise<void> {
    if (this.#isStopped) return;
    const { method = "POST", url, headers, body } = call;
    let problem: string;
    try {
      const signal = AbortSignal.timeout(CALL_MS);
      const answer = await fetch(url, { method, headers, body: body || null, redirect: "manual", signal });
      await answer.arrayBuffer();
      if (answer.ok) return;
      problem = `HTTP ${answer.status}`;
    } catch (error) {
      problem = (error as Error).message;
    }
    this.#options.onProblem?.(`a callback to ${new URL(url).host} was not taken: ${problem}`);
    if (attempt >= TRIES || this.#isStopped) return;
    this.#clock.after(FIRST_WAIT_MS * 2 ** (attempt - 1), () => {
      this.#waiting.push(() => this.#tryCall(call, attempt + 1));
      this.#callNext();
    });
  }

  /** GET messages, GET and PUT faults, POST incoming. */
  #control({ method, path, body }: ProviderRequest): ProviderReply {
    try {
      switch (`${method} ${path.slice(CONTROL.length)}`) {
        case "GET messages":
          return says(200, { messages: this.#state.all().map(shown) });
        case "GET faults":
          return says(200, this.#faults.all);
        case "PUT faults":
          this.#faults.all = readFaults(JSON.parse(body));
          return says(200, this.#faults.all);
        case "POST incoming": {
          const { url, from, to, text } = JSON.parse(body) as Record<string, unknown>;
          if (![url, from, to, text].every((value) => typeof value === "string") || !URL.canParse(url as string))
            return says(400, { error: "url, from, to and text are needed" });
          this.write(url as string, { from: from as string, to: to as string, text: text as string });
          return says(202, {});
        }
        default:
          return says(404, { error: `there are ${CONTROL}messages, faults and incoming` });
      }
    } catch (error) {
      if (error instanceof BadFaults || error instanceof SyntaxError) return says(400, { error: error.message });
      throw error;
    }
  }
}

const shown = ({ message, fate }: Known) => ({ ...message, outcome: fate?.outcome ?? null });
const says = (status: number, json: unknown): ProviderReply => ({ status, json });

function bodyOf({ json, text }: ProviderReply): string {
  return json === undefined ? (text ?? "") : JSON.stringify(json);
}

function write(response: ServerResponse, reply: ProviderReply): void {
  if (response.destroyed) return;
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
  response.end(bodyOf(reply));
}

/** The head says more than comes. */
function writeHalf({ socket }: IncomingMessage, reply: ProviderReply): void {
  const body = bodyOf(reply);
  socket.end(
    `HTTP/1.1 ${reply.status} OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, body.length / 2)}`,
  );
}
