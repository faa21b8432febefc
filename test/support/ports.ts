/** Ports for whoever cannot let the system choose one: a program that has to be told, and a test that wants nobody there. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that systems choose by themselves, of which a test beside this one would soon have the same one. */
const FIRST = 20_000;
const END = 32_000;
const TRIES = 50;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** One at which nobody listens, and nobody will by chance. */
export async function closedPort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
  throw new Error("all ports are taken");
}
