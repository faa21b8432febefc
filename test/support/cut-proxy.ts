/** A way to a PostgreSQL server that can be cut in the worst moment: when a commit has gone through, and nobody has heard of it. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

export interface CutProxy {
  /** The same database, by this way. */
  readonly url: string;
  /**
   * The answer to the next commit is lost, and everything with it: nobody gets through until `mend`. Resolves when it is so. With `of` it is the next
   * commit on a connection that has sent this text since: a node has transactions of its own that come at any time.
   */
  cutAtCommit(of?: string): Promise<void>;
  mend(): void;
}

/** How the server says that a transaction was committed: CommandComplete with its tag (chapter 54.7 of the manual). */
const COMMITTED = Buffer.from("C\0\0\0\x0bCOMMIT\0");

export async function cutProxy(t: TestContext, url: string): Promise<CutProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let cutting: { readonly of: string; readonly done: () => void; readonly seenBy: Set<Socket> } | null = null;
  let isCut = false;
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const keep = (socket: Socket, other: () => Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      other().destroy();
    });
  };
  const server = createServer({ noDelay: true }, (near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    keep(near, () => far);
    keep(far, () => near);
    near.on("data", (chunk) => {
      if (cutting !== null && chunk.includes(cutting.of)) cutting.seenBy.add(near);
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (cutting === null || !cutting.seenBy.has(near) || !chunk.includes(COMMITTED)) {
        near.write(chunk);
        return;
      }
      cut();
      cutting.done();
      cutting = null;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    cut();
    server.close();
    await once(server, "close");
  });
  const near = new URL(url);
  near.hostname = "127.0.0.1";
  near.port = String((server.address() as { port: number }).port);
  return {
    url: near.href,
    cutAtCommit: (of = "") =>
      new Promise((done) => {
        cutting = { of, done, seenBy: new Set() };
      }),
    mend: () => {
      isCut = false;
    },
  };
}
