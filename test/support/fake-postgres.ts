/**
 * A server that speaks just enough of PostgreSQL's protocol (version 3, chapter 54 of its manual) to be connected to, and misbehaves
 * as a test wants: silent, or without some settings.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

export interface FakePostgres {
  readonly url: string;
  /** How often somebody has connected. */
  readonly connections: number;
  /** The statements that came as simple queries. */
  readonly statements: readonly string[];
  /** Breaks every connection. */
  drop(): void;
}

export interface FakeBehaviour {
  /** It takes connections and never says a word. */
  readonly mute?: boolean;
  /** What it answers to a simple query: an SQLSTATE, null for success. What is prepared gets no answer at all. */
  readonly answer?: (text: string) => string | null;
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const AUTHENTICATED = message("R", Buffer.from([0, 0, 0, 0]));
const READY = message("Z", Buffer.from("I"));
const COMPLETE = message("C", Buffer.from("SET\0"));
const failure = (code: string): Buffer => message("E", Buffer.from(`SERROR\0VERROR\0C${code}\0Mno\0\0`));

export async function fakePostgres(t: TestContext, behaviour: FakeBehaviour): Promise<FakePostgres> {
  const sockets = new Set<Socket>();
  const statements: string[] = [];
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let started = false;
    let input = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      if (behaviour.mute === true) return;
      input = Buffer.concat([input, chunk]);
      for (;;) {
        // The first message has no type.
        const head = started ? 1 : 0;
        if (input.length < head + 4) return;
        const end = head + input.readInt32BE(head);
        if (input.length < end) return;
        const type = started ? String.fromCharCode(input[0]!) : "";
        const text = input.toString("utf8", head + 4, end - 1);
        input = input.subarray(end);
        if (!started) {
          started = true;
          socket.write(Buffer.concat([AUTHENTICATED, READY]));
        } else if (type === "Q") {
          statements.push(text);
          const code = behaviour.answer?.(text) ?? null;
          socket.write(Buffer.concat([code === null ? COMPLETE : failure(code), READY]));
        }
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(async () => {
    drop();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as { port: number };
  return {
    url: `postgres://user:hidden@127.0.0.1:${port}/database`,
    get connections() {
      return connections;
    },
    statements,
    drop,
  };
}
