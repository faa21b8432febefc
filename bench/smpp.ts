/**
 * What SMPP costs through our session, and through the npm library `smpp` doing the same: `node bench/smpp.ts`.
 *
 * A client sends submit_sm with a window of 100, a carrier answers each, and in the second job sends a receipt for it, which the client
 * answers: 2 and 4 PDUs a message. Each end is a process of its own, the connection is on the loopback. Both pairs of processes live
 * for the whole run and take turns, round by round, so that a machine whose speed drifts is as unfair to one as to the other;
 * what is printed are the medians. It ends by itself, and fails if our session does not do ten times the library's PDUs a second.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { parseArgs } from "node:util";
import smpp from "smpp";
import { makeTlv } from "../src/carriers/smpp/codec/tlvs.ts";
import { connectSocket } from "../src/carriers/smpp/session/connect.ts";
import { SmppSession } from "../src/carriers/smpp/session/session.ts";
import { systemClock } from "../src/runtime/clock.ts";

const WINDOW = 100;
const ROUNDS = 9;
const WARM_UPS = 2;
const ROUND_MS = 700;
const TARGET_RATIO = 10;
/** No round takes nearly as long: something is stuck. */
const PATIENCE_MS = 60_000;

const TEXT = Buffer.from("Your verification code is 482913. It is valid for 10 minutes. Do not share it with anyone.");
const receiptText = (id: string) =>
  Buffer.from(
    `id:${id} sub:001 dlvrd:001 submit date:2601051200 done date:2601051200 stat:DELIVRD err:000 text:Your ver`,
  );

const ENDS = ["carrier", "client"] as const;
const PAIRS = ["ours", "library"] as const;
type End = (typeof ENDS)[number];
type Pair = (typeof PAIRS)[number];

interface Job {
  readonly name: string;
  readonly receipts: boolean;
  readonly pdusPerMessage: number;
}
const JOBS: readonly Job[] = [
  { name: "submit + answer", receipts: false, pdusPerMessage: 2 },
  { name: "submit + answer + receipt + answer", receipts: true, pdusPerMessage: 4 },
];

/** What the parent asks of a child, and what it gets. */
type Order = { readonly kind: "connect"; readonly port: number } | { readonly kind: "cpu" } | Run;
interface Run {
  readonly kind: "run";
  readonly receipts: boolean;
  readonly messages: number;
}

/** A client: sends one message and calls back when it is answered, and has its receipt if it wants one. */
type SendOne = (receipt: boolean, done: () => void) => void;

// The four ends.

const carriers: Record<Pair, () => Promise<number>> = {
  async ours() {
    let lastId = 0;
    const server = createServer((socket) => {
      const session = new SmppSession(socket, {
        role: "smsc",
        clock: systemClock,
        // A client may send its next message before it has answered the receipt of the last.
        window: 2 * WINDOW,
        onBind: () => ({ kind: "accept", systemId: "carrier" }),
        onRequest: (pdu) => {
          if (pdu.command !== "submit_sm") return { command: "generic_nack", status: 3 };
          const id = String(++lastId);
          asText(pdu.shortMessage);
          if (pdu.registeredDelivery === 1) {
            const [source, destination] = [pdu.destinationAddr, pdu.sourceAddr];
            // After the answer, which goes out when this returns.
            queueMicrotask(() => {
              const answer = session.request({
                command: "deliver_sm",
                esmClass: 4,
                sourceAddr: source,
                destinationAddr: destination,
                shortMessage: receiptText(id),
                tlvs: [makeTlv("receipted_message_id", id), makeTlv("message_state", 2)],
              });
              void answer.then(mustBeAnswered);
            });
          }
          return { command: "submit_sm_resp", messageId: id };
        },
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },

  async library() {
    let lastId = 0;
    const server = smpp.createServer((session) => {
      session.socket.setNoDelay(true);
      session.on("error", () => {});
      session.on("bind_transceiver", (pdu) => session.send(pdu.response({ system_id: "carrier" })));
      session.on("submit_sm", (pdu) => {
        const id = String(++lastId);
        session.send(pdu.response({ message_id: id }));
        if (pdu.registered_delivery !== 1) return;
        const receipt = {
          esm_class: 4,
          source_addr: pdu.destination_addr,
          destination_addr: pdu.source_addr,
          data_coding: 0,
          short_message: receiptText(id),
          receipted_message_id: id,
          message_state: 2,
        };
        session.send(new smpp.PDU("deliver_sm", receipt), () => {});
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  },
};

/** Messages whose receipt is to come, by the number that they were sent to; and those whose answer or receipt came first. */
class Receipts {
  readonly #halves = new Map<string, () => void>();

  half(key: string, done: () => void): void {
    if (this.#halves.delete(key)) done();
    else this.#halves.set(key, done);
  }

  came(key: string): void {
    const done = this.#halves.get(key);
    this.#halves.delete(key);
    if (done === undefined) this.#halves.set(key, () => {});
    else done();
  }
}

const clients: Record<Pair, (port: number) => Promise<SendOne>> = {
  async ours(port) {
    const receipts = new Receipts();
    const connection = await connectSocket({ place: `127.0.0.1:${port}`, timeoutMs: 5000 }, systemClock);
    if (connection.kind === "failed") throw connection.error;
    const session = new SmppSession(connection.socket, {
      role: "esme",
      clock: systemClock,
      window: WINDOW,
      onRequest: (pdu) => {
        if (pdu.command !== "deliver_sm") return { command: "generic_nack", status: 3 };
        asText(pdu.shortMessage);
        receipts.came(pdu.sourceAddr);
        return { command: "deliver_sm_resp" };
      },
    });
    await session.bind("transceiver", { systemId: "client", password: "secret" });
    let sent = 0;
    return (receipt, done) => {
      const destinationAddr = `41${1_000_000_000 + ++sent}`;
      const answer = session.request({
        command: "submit_sm",
        sourceAddrTon: 5,
        sourceAddr: "Heliograph",
        destAddrTon: 1,
        destAddrNpi: 1,
        destinationAddr,
        registeredDelivery: receipt ? 1 : 0,
        shortMessage: TEXT,
      });
      void answer.then((became) => {
        mustBeAnswered(became);
        if (receipt) receipts.half(destinationAddr, done);
        else done();
      });
    };
  },

  async library(port) {
    const receipts = new Receipts();
    const session = smpp.connect({ host: "127.0.0.1", port });
    session.socket.setNoDelay(true);
    session.on("deliver_sm", (pdu) => {
      receipts.came(String(pdu.source_addr));
      session.send(pdu.response());
    });
    await once(session, "connect");
    await new Promise((resolve) => session.send(new smpp.PDU("bind_transceiver", { system_id: "client" }), resolve));
    let sent = 0;
    return (receipt, done) => {
      const destination_addr = `41${1_000_000_000 + ++sent}`;
      const submit = {
        source_addr_ton: 5,
        source_addr: "Heliograph",
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr,
        registered_delivery: receipt ? 1 : 0,
        data_coding: 0,
        short_message: TEXT,
      };
      session.send(new smpp.PDU("submit_sm", submit), () => {
        if (receipt) receipts.half(destination_addr, done);
        else done();
      });
    };
  },
};

function mustBeAnswered(answer: { readonly kind: string }): void {
  if (answer.kind !== "answered") throw new Error(`a request ended as ${JSON.stringify(answer)}`);
}

/** The library makes a string of every message that it reads; so do we here, to compare like with like. */
function asText(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString("latin1");
}

// A child: one end of one pair.

async function runChild(end: End, pair: Pair): Promise<void> {
  let send: SendOne | null = null;
  // The parent is done with us, or gone.
  process.once("disconnect", () => process.exit(0));
  process.on("message", async (order: Order) => {
    if (order.kind === "connect") send = await clients[pair](order.port);
    const elapsedMs = order.kind === "run" ? await runRound(send!, order) : 0;
    process.send!({ elapsedMs, cpuMicros: cpuMicros() });
  });
  process.send!(end === "carrier" ? await carriers[pair]() : 0);
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Keeps the window full until all are done. Gives the time that it took. */
function runRound(send: SendOne, { receipts, messages }: Run): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    let started = 0;
    let finished = 0;
    const next = () => {
      started++;
      send(receipts, () => {
        finished++;
        if (started < messages) next();
        else if (finished === messages) resolve(performance.now() - startMs);
      });
    };
    while (started < Math.min(WINDOW, messages)) next();
  });
}

// The parent.

interface Reply {
  readonly elapsedMs: number;
  readonly cpuMicros: number;
}

interface Ends {
  readonly carrier: ChildProcess;
  readonly client: ChildProcess;
}

async function startPair(pair: Pair): Promise<Ends> {
  const start = async (end: End): Promise<[ChildProcess, number]> => {
    const child = fork(import.meta.filename, ["--end", end, "--pair", pair]);
    child.once("exit", (code) => {
      if (code) process.exit(1);
    });
    const [port] = await once(child, "message");
    return [child, port as number];
  };
  const [carrier, port] = await start("carrier");
  const [client] = await start("client");
  await ask(client, { kind: "connect", port });
  return { carrier, client };
}

async function ask(child: ChildProcess, order: Order): Promise<Reply> {
  child.send(order);
  const [reply] = await once(child, "message", { signal: AbortSignal.timeout(PATIENCE_MS) });
  return reply as Reply;
}

interface Figures {
  readonly pdusPerSecond: number;
  readonly clientMicros: number;
  readonly carrierMicros: number;
}

async function measureRound(ends: Ends, job: Job, messages: number): Promise<Figures> {
  const before = await Promise.all([ask(ends.client, { kind: "cpu" }), ask(ends.carrier, { kind: "cpu" })]);
  const { elapsedMs, cpuMicros: client } = await ask(ends.client, { kind: "run", receipts: job.receipts, messages });
  const { cpuMicros: carrier } = await ask(ends.carrier, { kind: "cpu" });
  return {
    pdusPerSecond: (messages * job.pdusPerMessage * 1000) / elapsedMs,
    clientMicros: (client - before[0].cpuMicros) / messages,
    carrierMicros: (carrier - before[1].cpuMicros) / messages,
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function medians(rounds: readonly Figures[]): Figures {
  return {
    pdusPerSecond: median(rounds.map(({ pdusPerSecond }) => pdusPerSecond)),
    clientMicros: median(rounds.map(({ clientMicros }) => clientMicros)),
    carrierMicros: median(rounds.map(({ carrierMicros }) => carrierMicros)),
  };
}

async function measureJob(pairs: Record<Pair, Ends>, job: Job): Promise<Record<Pair, Figures>> {
  const messages = { ours: 20_000, library: 2_000 };
  const rounds: Record<Pair, Figures[]> = { ours: [], library: [] };
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    for (const pair of PAIRS) {
      const figures = await measureRound(pairs[pair], job, messages[pair]);
      if (round >= 0) rounds[pair].push(figures);
      // The first rounds let the compiler do its work and find out how many messages fill a round.
      else messages[pair] = Math.ceil((figures.pdusPerSecond / job.pdusPerMessage / 1000) * ROUND_MS);
    }
  }
  return { ours: medians(rounds.ours), library: medians(rounds.library) };
}

function printJob(job: Job, { ours, library }: Record<Pair, Figures>): number {
  const total = ({ clientMicros, carrierMicros }: Figures) => clientMicros + carrierMicros;
  console.log(`\n${job.name} (window ${WINDOW}, ${job.pdusPerMessage} PDUs a message)`);
  console.log(
    `${"".padEnd(12)}${["PDUs/s", "CPU µs a message", "client", "carrier"].map((name) => name.padStart(18)).join("")}`,
  );
  for (const [name, figures] of Object.entries({ ours, library })) {
    const { pdusPerSecond, clientMicros, carrierMicros } = figures;
    const cells = [
      Math.round(pdusPerSecond).toLocaleString("en"),
      total(figures).toFixed(1),
      clientMicros.toFixed(1),
      carrierMicros.toFixed(1),
    ];
    console.log(`${name.padEnd(12)}${cells.map((cell) => cell.padStart(18)).join("")}`);
  }
  const ratio = ours.pdusPerSecond / library.pdusPerSecond;
  const cpuRatio = total(library) / total(ours);
  const verdict = ratio >= TARGET_RATIO ? "met" : "MISSED";
  console.log(
    `${ratio.toFixed(1)} times the PDUs a second (${TARGET_RATIO}: ${verdict}), 1/${cpuRatio.toFixed(1)} of the CPU`,
  );
  return ratio;
}

async function runParent(): Promise<void> {
  const pairs = { ours: await startPair("ours"), library: await startPair("library") };
  for (const job of JOBS) {
    if (printJob(job, await measureJob(pairs, job)) < TARGET_RATIO) process.exitCode = 1;
  }
  for (const { carrier, client } of Object.values(pairs)) {
    client.disconnect();
    carrier.disconnect();
  }
}

const { values } = parseArgs({ options: { end: { type: "string" }, pair: { type: "string" } } });
const end = ENDS.find((name) => name === values.end);
const pair = PAIRS.find((name) => name === values.pair);
if (end !== undefined && pair !== undefined) await runChild(end, pair);
else await runParent();
