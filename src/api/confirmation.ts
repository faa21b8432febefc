/**
 * What is handed out once is gone for good only when the answer that carries it is written to the connection. If the service dies before, or
 * the connection does, the store hands it out again.
 */
import type { FastifyReply } from "fastify";
import type { Log } from "../runtime/log.ts";
import type { Api } from "./operation.ts";

/** Nobody else gets it for so long. */
export const AGAIN_AFTER_MS = 60_000;

export class Confirmations {
  readonly #log: Log;
  readonly #underWay = new Set<Promise<void>>();

  constructor(api: Api, log: Log) {
    this.#log = log;
    // A service that stops waits for what its last answers have to confirm.
    api.addHook("onClose", async () => {
      await Promise.all(this.#underWay);
    });
  }

  whenWritten(reply: FastifyReply, confirm: () => Promise<void>): void {
    reply.raw.once("finish", () => {
      const confirmation = confirm()
        .catch((error: unknown) =>
          this.#log.warn({ err: error }, "what was fetched could not be confirmed; it comes again"),
        )
        .finally(() => this.#underWay.delete(confirmation));
      this.#underWay.add(confirmation);
    });
  }
}
