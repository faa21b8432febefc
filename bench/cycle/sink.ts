/**
 * Where reports are pushed to: answers every request at once, and counts the items in it by looking for the bytes around each phone
 * number. Nothing is parsed as HTTP or JSON beyond what finds the end of a request: the sink is not what is measured.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Count, childConfig, nowMs, type RoundStart, serveParent } from "./child.ts";
import { NUMBER_PREFIX, readCounter, Seen } from "./numbers.ts";

export interface SinkConfig {
  /** What stands before a phone number in a report, as `"to":"`. */
  readonly before: string;
  /** What a report of a delivered message has in it exactly once. */
  readonly delivered: string;
  /** Which of several it is. */
  readonly load: number;
}

export interface SinkFigures {
  readonly distinct: number;
  readonly duplicates: number;
  readonly strays: number;
  readonly requests: number;
  /** Reports that say something else than that the message was delivered. */
  readonly undelivered: number;
  readonly lastAtMs: number;
  /** The beginning of a request in which no report was found, if there was one. */
  readonly strange: string | null;
}

const { before, delivered, load } = childConfig<SinkConfig>();
const MARK = Buffer.from(before + NUMBER_PREFIX);
const MARK_TO_NUMBER = Buffer.byteLength(before);
const DELIVERED = Buffer.from(delivered);
const END_OF_HEAD = Buffer.from("\r\n\r\n");
/** As it ends in any spelling: Content-Length, content-length. */
const LENGTH = Buffer.from("ength: ");
const ANSWER = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
/** A request longer than this is none of the service's. */
const MAX_REQUEST = 64 * 1024 * 1024;

const seen = new Seen(load);
const count = new Count();
let requests = 0;
let undelivered = 0;
let strange: string | null = null;
let lastAtMs = 0;

function take(bytes: Buffer): void {
  requests++;
  const atMs = nowMs();
  let items = 0;
  for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + MARK.length)) {
    seen.add(readCounter(bytes, at + MARK_TO_NUMBER), atMs);
    items++;
  }
  if (items === 0) strange = bytes.toString("latin1", 0, 500);
  let good = 0;
  for (let at = bytes.indexOf(DELIVERED); at >= 0; at = bytes.indexOf(DELIVERED, at + DELIVERED.length)) good++;
  undelivered += items - good;
  lastAtMs = atMs;
  count.set(seen.distinct);
  if (seen.whole) count.flush();
}

/** The length of the request that begins at `from`, or -1 if its head is not whole yet. */
function requestLength(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(END_OF_HEAD, from);
  if (end < 0) return -1;
  const head = end + END_OF_HEAD.length - from;
  let at = bytes.indexOf(LENGTH, from);
  if (at < 0 || at > end) return head;
  let length = 0;
  for (at += LENGTH.length; bytes[at] !== 0x0d; at++) length = length * 10 + (bytes[at]! - 0x30);
  return head + length;
}

function serve(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  /** The beginning of a request whose end is still to come. */
  let pieces: Buffer[] = [];
  let gathered = 0;
  let wanted = 0;
  socket.on("data", (chunk: Buffer) => {
    let bytes = chunk;
    if (gathered > 0) {
      pieces.push(chunk);
      gathered += chunk.length;
      if (gathered < wanted) return;
      bytes = Buffer.concat(pieces, gathered);
    }
    let at = 0;
    let answers = 0;
    pieces = [];
    gathered = 0;
    while (at < bytes.length) {
      const length = requestLength(bytes, at);
      if (length > MAX_REQUEST || Number.isNaN(length)) throw new Error("a request that is none of the service's");
      if (length < 0 || at + length > bytes.length) {
        pieces = [bytes.subarray(at)];
        gathered = bytes.length - at;
        wanted = length;
        break;
      }
      take(bytes.subarray(at, at + length));
      at += length;
      answers++;
    }
    if (answers === 1) socket.write(ANSWER);
    else if (answers > 1) socket.write(Buffer.concat(Array<Buffer>(answers).fill(ANSWER)));
  });
}

const server = createServer(serve).listen(0, "127.0.0.1");
await once(server, "listening");

serveParent({
  port: () => (server.address() as AddressInfo).port,
  begin({ first, count: size, countEveryMs }: RoundStart) {
    seen.begin(first, size);
    count.everyMs = countEveryMs;
    requests = 0;
    undelivered = 0;
  },
  figures: (): SinkFigures => ({
    distinct: seen.distinct,
    duplicates: seen.duplicates,
    strays: seen.strays,
    requests,
    undelivered,
    lastAtMs,
    strange,
  }),
  times: () => seen.times,
});
