/** POST /ct/1/log/end/{messageId}: a client says that a message brought what it was sent for. */
import { Type } from "../runtime/type.ts";
import { ApiExceptionResponse } from "./error-schemas.ts";
import { ApiError } from "./errors.ts";
import { type Api, accountOf, operation, TRACKING } from "./operation.ts";
import type { ApiParts } from "./parts.ts";

const MAX_ID_LENGTH = 200;

export function conversionOperations(api: Api, { store, clock }: ApiParts): void {
  api.post(
    "/ct/1/log/end/:messageId",
    operation({
      ...TRACKING,
      id: "endConversion",
      tag: "Tracking",
      summary: "Tell that a message brought what it was sent for",
      answer: Type.Object({ processKey: Type.String() }),
      errors: ApiExceptionResponse,
    }),
    async (request) => {
      const { messageId } = request.params as { messageId: string };
      const isName = messageId.length <= MAX_ID_LENGTH && !messageId.includes("\0");
      const accountId = accountOf(request).id;
      const ended = isName ? await store.endConversion({ accountId, messageId, atMs: clock.now() }) : null;
      if (ended === null)
        throw new ApiError("notFound", "There is no message with this id that was sent with conversion tracking.");
      return ended;
    },
  );
}
