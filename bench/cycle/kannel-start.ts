/** Where Kannel's programs are, and what it takes to start them. */
import { existsSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { delimiter, join } from "node:path";

const START_MS = 15_000;

/** The file of one of its programs, or null where it is not installed. */
export function kannelProgram(name: string): string | null {
  const places = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  const place = places.find((directory) => existsSync(join(directory, name)));
  return place === undefined ? null : join(place, name);
}

/** Kannel cannot choose a port by itself. All are taken at once, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

export async function untilOpen(port: number): Promise<void> {
  const endMs = performance.now() + START_MS;
  for (;;) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port });
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (open) return;
    if (performance.now() > endMs) throw new Error(`Kannel does not listen on ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
