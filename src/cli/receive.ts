/**
 * `heliograph receive`: a callback receiver for trying things out. It prints the delivery reports that come in, says whether they are signed, and answers
 * 200; or, as receivers do some day, with an error, late, or never.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Command } from "commander";
import { systemClock, type Timer } from "../runtime/clock.ts";
import { ConnectionRoom, listenAt } from "../runtime/connection-room.ts";
import { orElse } from "../runtime/or-else.ts";
import { readSecretFile } from "../runtime/private-files.ts";
import { withExample } from "./example.ts";
import { counted } from "./show.ts";
import { CommandFault, readPort, say, UsageFault, wholeOf } from "./support.ts";
import { isWebhookSecret, signatureVerdict } from "./webhook-check.ts";

interface ReceiveOptions {
  readonly port: string;
  readonly secret?: readonly string[];
  readonly secretFile?: string;
  readonly answer: string;
  readonly slow?: string;
  readonly hang?: boolean;
  readonly times?: string;
}

/** How requests are answered. */
interface Manner {
  /** Any of them may have signed; empty where that is not looked at. */
  readonly secrets: readonly string[];
  readonly status: number;
  readonly slowMs: number;
  readonly hangs: boolean;
  /** So many are answered so; all others are taken at once. */
  readonly times: number;
}

const SHOWN_BYTES = 1024 * 1024;
const MAX_CONNECTIONS = 1_000;
const MAX_SLOW_MS = 600_000;
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

export function receiveCommand(): Command {
  const command = new Command("receive").description(
    "Print the delivery reports that come in: a receiver for trying out notifyUrl, which can also misbehave.",
  );
  return withExample(
    command,
    "heliograph receive --port 9000",
    "heliograph receive --secret-file secret.txt --answer 500 --times 2",
    "heliograph receive --slow 20s",
  )
    .option("--port <number>", "0 takes any free port", "9000")
    .option(
      "--secret <secret>",
      "whsec_…: say of each request whether it was signed with this; as often as you like",
      (each: string, before: readonly string[] = []) => [...before, each],
    )
    .option("--secret-file <file>", "the same from a file: others can see the command line")
    .option("--answer <status>", "the status to answer with", "200")
    .option("--slow <time>", "wait before each answer: 500ms, 2s, 1m")
    .option("--hang", "never answer")
    .option("--times <number>", "do so this many times, and then answer 200 at once")
    .action(receive);
}

function mannerOf(options: ReceiveOptions): Manner {
  const { secret, secretFile, answer, slow, hang = false, times } = options;
  if (secret !== undefined && secretFile !== undefined)
    throw new UsageFault("--secret and --secret-file say the same: give one of them");
  if (hang && slow !== undefined) throw new UsageFault("--hang never answers, so --slow has nothing to wait for");
  return {
    secrets:
      secretFile === undefined
        ? (secret ?? []).map((each) => secretOf(each, "--secret"))
        : [secretOf(readSecretFile(secretFile), "--secret-file")],
    status: wholeOf(answer, "--answer", 200, 599),
    slowMs: slow === undefined ? 0 : durationOf(slow),
    hangs: hang,
    times: times === undefined ? Number.POSITIVE_INFINITY : wholeOf(times, "--times", 1, 1_000_000),
  };
}

/** One that no secret can look like would call every signature invalid, and look as if the sender were at fault. */
function secretOf(secret: string, option: string): string {
  if (isWebhookSecret(secret)) return secret;
  throw new UsageFault(
    `${option} must be whsec_ and at least 24 octets in base64, as the sandbox, "heliograph account create" and POST /account/1/callback-secret print it`,
  );
}

function durationOf(text: string): number {
  const [, amount, unit] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  const ms = amount === undefined ? Number.NaN : Number(amount) * UNITS_MS[unit!]!;
  if (!(ms <= MAX_SLOW_MS))
    throw new UsageFault(`--slow must be a time such as 500ms, 2s or 1m, of at most 10m, not "${text}"`);
  return ms;
}

async function receive(options: ReceiveOptions): Promise<void> {
  const manner = mannerOf(options);
  const port = readPort(options.port);
  let count = 0;
  const room = new ConnectionRoom(MAX_CONNECTIONS);
  const server = createServer((request, response) => {
    room.settle(request.socket);
    // Who gives up in the middle has sent nothing.
    request.on("error", () => undefined);
    const pieces: Buffer[] = [];
    let length = 0;
    request.on("data", (piece: Buffer) => {
      if (length < SHOWN_BYTES) pieces.push(piece.subarray(0, SHOWN_BYTES - length));
      length += piece.length;
    });
    request.on("end", () => {
      count++;
      show(request, Buffer.concat(pieces), length, manner.secrets);
      answer(request, response, count <= manner.times ? manner : null, count);
    });
  });
  server.on("connection", (socket) => room.enter(socket));
  const listensAt = await listenAt(server, port, "127.0.0.1").catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandFault(`port ${options.port} cannot be listened on (${code}): name another with --port`);
  });
  say(`Waiting for delivery reports on http://127.0.0.1:${listensAt}/ (stop with Ctrl-C)`);
  say(`${describe(manner)}\n`);
}

function describe({ secrets, status, slowMs, hangs, times }: Manner): string {
  const checks =
    secrets.length === 0
      ? "Signatures are not checked (--secret does that)."
      : `Signatures are checked with ${secrets.length === 1 ? "the secret" : `${secrets.length} secrets`}.`;
  const does = hangs ? "gets no answer" : `is answered ${status}${slowMs > 0 ? ` after ${slowMs} ms` : ""}`;
  const first = times === 1 ? "The first request" : `Each of the first ${counted(times, "request")}`;
  const who = times === Number.POSITIVE_INFINITY ? "Each request" : first;
  const then = times === Number.POSITIVE_INFINITY ? "" : ", and then all are answered 200";
  return `${checks} ${who} ${does}${then}.`;
}

function show(request: IncomingMessage, body: Buffer, length: number, secrets: readonly string[]): void {
  const { method, url, headers } = request;
  const lines = [`${method} ${url}  webhook-id: ${headers["webhook-id"] ?? "none"}`];
  const verdicts = secrets.map((secret) => signatureVerdict(secret, headers, body, systemClock.now()));
  const verdict = verdicts.find(({ isValid }) => isValid) ?? verdicts[0];
  if (verdict !== undefined)
    lines.push(`Signature: ${length > body.length ? "not checked, the body is too large" : verdict.says}`);
  lines.push(readable(body.toString("utf8")));
  if (length > body.length) lines.push(`… and ${length - body.length} octets more`);
  say(lines.join("\n"));
}

/** `manner` is null where all is well by now. */
function answer(request: IncomingMessage, response: ServerResponse, manner: Manner | null, count: number): void {
  const of = manner === null || manner.times === Number.POSITIVE_INFINITY ? "" : ` (${count} of ${manner.times})`;
  const { status = 200, slowMs = 0, hangs = false } = manner ?? {};
  const startedMs = systemClock.monotonic();
  let timer: Timer | null = null;
  response.once("close", () => {
    timer?.cancel();
    if (!response.writableEnded)
      say(`The sender gave up after ${Math.round(systemClock.monotonic() - startedMs)} ms without an answer.\n`);
  });
  if (hangs) {
    say(`Gets no answer${of}.\n`);
    return;
  }
  const send = (): void => {
    if (request.socket.destroyed) return;
    response.writeHead(status).end();
    say(`Answered ${status}${slowMs > 0 ? ` after ${slowMs} ms` : ""}${of}.\n`);
  };
  if (slowMs > 0) timer = systemClock.after(slowMs, send);
  else send();
}

function readable(body: string): string {
  return orElse(() => JSON.stringify(JSON.parse(body), null, 2), body);
}
