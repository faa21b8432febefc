/** How a text will look on the phone and how many parts it takes, without sending it. */
import { type PreviewOptions, preview } from "../sms/preview.ts";
import { type Api, operation } from "./operation.ts";
import * as schemas from "./schemas.ts";

/** A text of 10,000 characters, each written as an escape of a surrogate pair, and the rest. */
const PREVIEW_OCTETS = 262_144;

export function previewOperations(api: Api): void {
  api.post(
    "/sms/1/preview",
    operation({
      tag: "Sending",
      summary: "See how a text would be sent",
      auth: "account",
      scope: "send",
      bodyOctets: PREVIEW_OCTETS,
      schema: { body: schemas.PreviewRequest },
      answer: schemas.PreviewResponse,
    }),
    async ({ body }) => {
      const { text, ...options } = body;
      return preview(text, options as PreviewOptions);
    },
  );
}
