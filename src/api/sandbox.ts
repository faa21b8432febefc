/** What only the sandbox has: phones that write to a number when they are told to. */
import { isDestination } from "../sms/addresses.ts";
import { ApiError, badField } from "./errors.ts";
import { type Api, operation } from "./operation.ts";
import * as schemas from "./schemas.ts";

export interface SandboxParts {
  /** Resolves when the message is in the store; false when no simulated network runs. */
  readonly write: (message: { from: string; to: string; text: string }) => Promise<boolean>;
}

export function sandboxOperations(api: Api, { write }: SandboxParts): void {
  api.post(
    "/sandbox/1/incoming",
    operation({
      tag: "Sandbox",
      summary: "Let a simulated phone write to a number",
      auth: "account",
      scope: "send",
      schema: { body: schemas.WriteRequest },
    }),
    async ({ body }, reply) => {
      const { from, to, text } = body;
      if (!isDestination(from)) throw badField("from", "must be 4 to 15 digits");
      if (!/^\d{3,15}$/.test(to)) throw badField("to", "must be 3 to 15 digits");
      if (!(await write({ from, to, text }))) {
        throw new ApiError("unavailable", { description: "The catalogue has no simulated carrier." });
      }
      return reply.code(204).send();
    },
  );
}
