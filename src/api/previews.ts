/** How a text will look on the phone and how many parts it takes, without sending it: over a carrier that takes GSM, since none is named. */
import { Slices } from "../runtime/slices.ts";
import { preview } from "../sms/preview.ts";
import { type Api, accountOf, operation, SENDING } from "./operation.ts";
import * as schemas from "./schemas.ts";

/** A text of 10,000 characters, each written as an escape of a surrogate pair, and the rest. */
const PREVIEW_OCTETS = 262_144;
/** A longer text takes milliseconds: one at a time is looked at, accounts in turn, and everything else goes on in between. */
const SHORT_TEXT_LENGTH = 1_000;

export function previewOperations(api: Api): void {
  const slices = new Slices();

  api.post(
    "/sms/1/preview",
    operation({
      ...SENDING,
      tag: "Sending",
      id: "previewText",
      summary: "See how a text would be sent",
      bodyOctets: PREVIEW_OCTETS,
      schema: { body: schemas.PreviewRequest },
      answer: schemas.PreviewResponse,
    }),
    async (request) => {
      // As a message says it: where both forms of the language are given the nested one counts.
      const { text, language, ...options } = request.body;
      if (text.length > SHORT_TEXT_LENGTH) await slices.turn(accountOf(request).id);
      return preview(text, { ...options, ...language });
    },
  );
}
