/**
 * The carrier of a run: takes every bind, answers every submit_sm, and sends a receipt for it, at once or after a set delay. What
 * it writes is copied from two PDUs made in advance in which only digits change, all that belongs to one turn in one write: the carrier is
 * not what is measured. `heliograph smsc` is the one that behaves like a real network.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Count, childConfig, nowMs, type RoundStart, serveParent } from "./child.ts";
import { NUMBER_DIGITS, numberOf, readCounter, Seen, writeCounter, writeDigits } from "./numbers.ts";

export interface SmscConfig {
  /** Who messages are from, and receipts therefore to. */
  readonly sender: string;
  /** Answers a second, evenly; null for as many as there are submits. */
  readonly answersPerSecond: number | null;
  /** Which of several it is. */
  readonly load: number;
}

export interface CarrierBehaviour {
  /** False: nobody may bind, so that messages stay where they were accepted. */
  readonly open: boolean;
  readonly receipts: boolean;
}

export interface SmscFigures {
  readonly distinct: number;
  readonly duplicates: number;
  readonly strays: number;
  readonly connections: number;
  readonly lastAtMs: number;
}

const { sender, answersPerSecond, load } = childConfig<SmscConfig>();
let behaviour: CarrierBehaviour = { open: true, receipts: true };
let receiptDelayMs = 0;

/** SMPP 3.4 §5.1.2.1. */
const COMMAND = {
  genericNack: 0x80000000,
  bindReceiver: 1,
  bindTransmitter: 2,
  submit: 4,
  deliver: 5,
  deliverAnswer: 0x80000005,
  unbind: 6,
  unbindAnswer: 0x80000006,
  bindTransceiver: 9,
  enquireLink: 0x15,
  enquireLinkAnswer: 0x80000015,
} as const;
const ANSWER_BIT = 0x80000000;
const ESME_RINVCMDID = 3;
const ESME_RBINDFAIL = 13;
const HEAD = 16;
const MAX_PDU = 64 * 1024;
const OUT_BYTES = 256 * 1024;

/** Receipts on their way to one connection that it has not answered. */
const WINDOW = 1_000;
const FIRST_ID = 1_000_000_000;
const ID_DIGITS = 10;

function pdu(command: number, status: number, sequence: number, body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(HEAD + body.length, 0);
  head.writeUInt32BE(command, 4);
  head.writeUInt32BE(status, 8);
  head.writeUInt32BE(sequence, 12);
  return Buffer.concat([head, body]);
}

const ID = String(FIRST_ID);
const ANSWER = pdu(COMMAND.submit + ANSWER_BIT, 0, 0, Buffer.from(`${ID}\0`));

function receiptTemplate(): Buffer {
  const date = new Date().toISOString().replace(/\D/g, "").slice(2, 12);
  const text = `id:${ID} sub:001 dlvrd:001 submit date:${date} done date:${date} stat:DELIVRD err:000 text:Your ver`;
  const tlvs = Buffer.concat([
    Buffer.from([0x00, 0x1e, 0, ID_DIGITS + 1]), // receipted_message_id
    Buffer.from(`${ID}\0`),
    Buffer.from([0x04, 0x27, 0, 1, 2]), // message_state: delivered
  ]);
  const body = Buffer.concat([
    Buffer.from("\0\x01\x01", "latin1"),
    Buffer.from(`${numberOf(0)}\0`),
    Buffer.from("\x05\0", "latin1"),
    Buffer.from(`${sender}\0`),
    // esm_class 4: a receipt. Then protocol, priority, two dates, registered_delivery, replace, data_coding, default message.
    Buffer.from([4, 0, 0, 0, 0, 0, 0, 0, 0, text.length]),
    Buffer.from(text),
    tlvs,
  ]);
  return pdu(COMMAND.deliver, 0, 0, body);
}

const RECEIPT = receiptTemplate();
const RECEIPT_NUMBER = RECEIPT.indexOf(numberOf(0));
const RECEIPT_TEXT_ID = RECEIPT.indexOf(ID);
const RECEIPT_TLV_ID = RECEIPT.lastIndexOf(ID);

const seen = new Seen(load);
const count = new Count();
let lastId = FIRST_ID;
let lastAtMs = 0;

/** Receipts that are to be sent, oldest first: ids, numbers and times in a ring that grows. */
class Queue {
  #ids = new Float64Array(1 << 16);
  #numbers = new Float64Array(1 << 16);
  #dueAtMs = new Float64Array(1 << 16);
  #head = 0;
  /** Of the oldest, so many are due. */
  #ripe = 0;
  length = 0;

  push(id: number, number: number, dueAtMs: number): void {
    if (this.length === this.#ids.length) this.#grow();
    const at = (this.#head + this.length) % this.#ids.length;
    this.#ids[at] = id;
    this.#numbers[at] = number;
    this.#dueAtMs[at] = dueAtMs;
    this.length++;
  }

  get dueAtMs(): number {
    return this.#dueAtMs[this.#head]!;
  }

  get id(): number {
    return this.#ids[this.#head]!;
  }

  get number(): number {
    return this.#numbers[this.#head]!;
  }

  /** How many are for later. */
  heldAt(atMs: number): number {
    while (this.#ripe < this.length && this.#dueAtMs[(this.#head + this.#ripe) % this.#ids.length]! <= atMs)
      this.#ripe++;
    return this.length - this.#ripe;
  }

  drop(): void {
    this.#head = (this.#head + 1) % this.#ids.length;
    this.#ripe = Math.max(0, this.#ripe - 1);
    this.length--;
  }

  #grow(): void {
    const unrolled = (ring: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const wider = new Float64Array(ring.length * 2);
      wider.set(ring.subarray(this.#head));
      wider.set(ring.subarray(0, this.#head), ring.length - this.#head);
      return wider;
    };
    this.#ids = unrolled(this.#ids);
    this.#numbers = unrolled(this.#numbers);
    this.#dueAtMs = unrolled(this.#dueAtMs);
    this.#head = 0;
  }
}

interface Unanswered {
  readonly connection: Connection;
  readonly sequence: number;
  readonly number: number;
  readonly receipt: boolean;
}

/**
 * A carrier that takes its time: answers submits in their order, so many a second. While it rests it answers none, so that a service with a
 * full window has nothing to do.
 */
class AnswerPace {
  readonly #everyMs: number;
  #waiting: Unanswered[] = [];
  #nextAtMs = 0;
  #running = false;
  #resting = false;

  constructor(perSecond: number) {
    this.#everyMs = 1000 / perSecond;
  }

  push(unanswered: Unanswered): void {
    this.#waiting.push(unanswered);
    this.#run();
  }

  set resting(resting: boolean) {
    this.#resting = resting;
    this.#run();
  }

  #run(): void {
    if (this.#running || this.#resting || this.#waiting.length === 0) return;
    this.#running = true;
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs());
    this.#wait();
  }

  #wait(): void {
    setTimeout(() => this.#answer(), Math.max(1, this.#nextAtMs - nowMs()));
  }

  #answer(): void {
    const atMs = nowMs();
    const due = Math.floor((atMs - this.#nextAtMs) / this.#everyMs) + 1;
    const now = this.#waiting.splice(0, due);
    this.#nextAtMs += now.length * this.#everyMs;
    for (const { connection, sequence, number, receipt } of now) connection.putAnswer(sequence, number, receipt, atMs);
    sendReceipts(atMs);
    for (const { connection } of now) connection.flush();
    for (const connection of connections) connection.flush();
    this.#running = this.#waiting.length > 0 && !this.#resting;
    if (this.#running) this.#wait();
  }
}

const pace = answersPerSecond === null ? null : new AnswerPace(answersPerSecond);
const due = new Queue();
const connections: Connection[] = [];
let turn = 0;
/** A timer runs for the next receipt. */
let waiting = false;

/** Sends the receipts that are due, to the connections in turn, as carriers do when one client has several. */
function sendReceipts(atMs: number): void {
  let full = 0;
  while (due.length > 0 && due.dueAtMs <= atMs && full < connections.length) {
    turn = (turn + 1) % connections.length;
    const connection = connections[turn]!;
    if (connection.unanswered >= WINDOW) {
      full++;
      continue;
    }
    full = 0;
    connection.putReceipt(due.id, due.number);
    due.drop();
  }
  if (due.length > 0 && due.dueAtMs > atMs) {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      sendReceipts(nowMs());
      for (const connection of connections) connection.flush();
    }, due.dueAtMs - atMs);
  }
}

class Connection {
  readonly #socket: Socket;
  /** What this turn has for the other end lies from `#start` to `#end`; what lies before is the socket's. */
  #out = Buffer.allocUnsafeSlow(OUT_BYTES);
  #start = 0;
  #end = 0;
  #rest: Buffer | null = null;
  #sequence = 0;
  unanswered = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      const index = connections.indexOf(this);
      if (index >= 0) connections.splice(index, 1);
    });
  }

  #room(size: number): number {
    if (this.#end + size > this.#out.length) {
      const waiting = this.#out.subarray(this.#start, this.#end);
      this.#out = Buffer.allocUnsafeSlow(OUT_BYTES + 2 * waiting.length);
      waiting.copy(this.#out);
      this.#start = 0;
      this.#end = waiting.length;
    }
    const at = this.#end;
    this.#end += size;
    return at;
  }

  #put(bytes: Buffer): number {
    const at = this.#room(bytes.length);
    bytes.copy(this.#out, at);
    return at;
  }

  #answer(command: number, status: number, sequence: number, body: Buffer = Buffer.alloc(0)): void {
    this.#put(pdu(command, status, sequence, body));
  }

  putReceipt(id: number, number: number): void {
    const at = this.#put(RECEIPT);
    this.#sequence = (this.#sequence % 0x7fffffff) + 1;
    this.#out.writeUInt32BE(this.#sequence, at + 12);
    writeCounter(this.#out, at + RECEIPT_NUMBER, number);
    writeDigits(this.#out, at + RECEIPT_TEXT_ID, ID_DIGITS, id);
    writeDigits(this.#out, at + RECEIPT_TLV_ID, ID_DIGITS, id);
    this.unanswered++;
  }

  flush(): void {
    if (this.#start === this.#end) return;
    this.#socket.write(this.#out.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk]);
    const atMs = nowMs();
    let at = 0;
    while (at + HEAD <= bytes.length) {
      const length = bytes.readUInt32BE(at);
      if (length < HEAD || length > MAX_PDU) throw new Error(`a PDU of ${length} octets`);
      if (at + length > bytes.length) break;
      this.#take(bytes, at, atMs);
      at += length;
    }
    this.#rest = at === bytes.length ? null : bytes.subarray(at);
    sendReceipts(atMs);
    for (const connection of connections) connection.flush();
    this.flush();
    count.set(seen.distinct, due.heldAt(atMs));
    if (seen.whole) count.flush();
  }

  #take(bytes: Buffer, at: number, atMs: number): void {
    const command = bytes.readUInt32BE(at + 4);
    const sequence = bytes.readUInt32BE(at + 12);
    switch (command) {
      case COMMAND.submit:
        this.#takeSubmit(bytes, at, sequence, atMs);
        return;
      case COMMAND.deliverAnswer:
        this.unanswered--;
        return;
      case COMMAND.bindReceiver:
      case COMMAND.bindTransmitter:
      case COMMAND.bindTransceiver:
        this.#answer(command + ANSWER_BIT, behaviour.open ? 0 : ESME_RBINDFAIL, sequence, Buffer.from("bench\0"));
        if (behaviour.open && command !== COMMAND.bindTransmitter) connections.push(this);
        return;
      case COMMAND.enquireLink:
        this.#answer(COMMAND.enquireLinkAnswer, 0, sequence);
        return;
      case COMMAND.unbind:
        this.#answer(COMMAND.unbindAnswer, 0, sequence);
        this.flush();
        this.#socket.end();
        return;
      case COMMAND.enquireLinkAnswer:
      case COMMAND.unbindAnswer:
        return;
      default:
        this.#answer(COMMAND.genericNack, ESME_RINVCMDID, sequence);
    }
  }

  #takeSubmit(bytes: Buffer, start: number, sequence: number, atMs: number): void {
    // service_type; then TON, NPI and number of the sender; then TON and NPI of the recipient (SMPP 3.4 §4.4.1).
    let at = afterText(bytes, start + HEAD);
    at = afterText(bytes, at + 2) + 2;
    const number = readCounter(bytes, at);
    // esm_class, protocol_id, priority_flag; two dates; registered_delivery.
    at = afterText(bytes, at + NUMBER_DIGITS) + 3;
    at = afterText(bytes, afterText(bytes, at));
    const wantsReceipt = (bytes[at]! & 1) === 1;
    const receipt = behaviour.receipts && wantsReceipt;
    seen.add(number, atMs);
    lastAtMs = atMs;
    if (pace === null) this.putAnswer(sequence, number, receipt, atMs);
    else pace.push({ connection: this, sequence, number, receipt });
  }

  putAnswer(sequence: number, number: number, receipt: boolean, atMs: number): void {
    const id = ++lastId;
    const answer = this.#put(ANSWER);
    this.#out.writeUInt32BE(sequence, answer + 12);
    writeDigits(this.#out, answer + HEAD, ID_DIGITS, id);
    if (receipt) due.push(id, number, atMs + receiptDelayMs);
  }
}

function afterText(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] !== 0) at++;
  return at + 1;
}

const server = createServer((socket) => new Connection(socket)).listen(0, "127.0.0.1");
await once(server, "listening");

serveParent({
  port: () => (server.address() as AddressInfo).port,
  behave(wanted: CarrierBehaviour) {
    behaviour = wanted;
  },
  rest() {
    if (pace !== null) pace.resting = true;
  },
  begin({ first, count: size, countEveryMs, receiptDelayMs: delayMs }: RoundStart) {
    receiptDelayMs = delayMs;
    if (pace !== null) pace.resting = false;
    seen.begin(first, size);
    count.everyMs = countEveryMs;
  },
  figures: (): SmscFigures => ({
    distinct: seen.distinct,
    duplicates: seen.duplicates,
    strays: seen.strays,
    connections: connections.length,
    lastAtMs,
  }),
  times: () => seen.times,
});
