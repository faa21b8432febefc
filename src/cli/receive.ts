/** `heliograph receive`: a callback receiver for trying things out. It prints the delivery reports that come in, and says 200. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Command } from "commander";
import { withExample } from "./example.ts";
import { CommandFault, readPort, say } from "./support.ts";

const SHOWN_BYTES = 1024 * 1024;

export function receiveCommand(): Command {
  const command = new Command("receive").description(
    "Print the delivery reports that come in: a receiver for trying out notifyUrl.",
  );
  return withExample(command, "heliograph receive --port 9000")
    .option("--port <number>", "0 takes any free port", "9000")
    .action(async ({ port }: { port: string }) => {
      const server = createServer((request, response) => {
        let body = "";
        request.setEncoding("utf8");
        request.on("data", (piece: string) => {
          body = (body + piece).slice(0, SHOWN_BYTES);
        });
        request.on("end", () => {
          say(
            `${request.method} ${request.url}  webhook-id: ${request.headers["webhook-id"] ?? "none"}\n${readable(body)}\n`,
          );
          response.end();
        });
      });
      await new Promise<void>((resolve, reject) => {
        server.once("error", (error: NodeJS.ErrnoException) =>
          reject(new CommandFault(`port ${port} cannot be listened on (${error.code}): name another with --port`)),
        );
        server.listen(readPort(port), "127.0.0.1", resolve);
      });
      const address = server.address() as AddressInfo;
      say(`Waiting for delivery reports on http://127.0.0.1:${address.port}/ (stop with Ctrl-C)\n`);
    });
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
