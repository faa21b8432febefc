/** A number of ours to which phones send messages, as an operator writes it: whose it is, and what is done with what comes in. */
import { firstWord, inCapitals } from "../message/incoming.ts";
import { INCOMING_FORMS } from "../message/report-form.ts";
import { oneOf, type Static, Type } from "../runtime/type.ts";
import { MAX_URL_LENGTH, urlProblem } from "../runtime/urls.ts";
import { ACCOUNT_KEY } from "../store/names.ts";
import type { ItemFault } from "./faults.ts";

const Words = Type.Array(Type.String({ minLength: 1, maxLength: 32 }), { minItems: 1, maxItems: 100 });

export const IncomingNumber = Type.Object(
  {
    /** In international form without a plus sign, or a short code. */
    number: Type.String({ pattern: "^[0-9]{3,15}$" }),
    /** The account's key. The file does not know which accounts there are: what comes for one that is not there yet is kept for the operator. */
    account: Type.String({ pattern: ACCOUNT_KEY }),
    /** Where messages are pushed to. Without it they wait to be fetched. */
    forwardUrl: Type.Optional(Type.String({ maxLength: MAX_URL_LENGTH })),
    /** The form of the push. Default application/json. get-url and post-url are Kannel's: its escapes stand in forwardUrl. */
    contentType: Type.Optional(oneOf(INCOMING_FORMS)),
    /** What messages to the number carry, as those that are sent do. */
    callbackData: Type.Optional(Type.String({ maxLength: 4_000 })),
    entityId: Type.Optional(Type.String({ maxLength: 255 })),
    applicationId: Type.Optional(Type.String({ maxLength: 255 })),
    campaignReferenceId: Type.Optional(Type.String({ maxLength: 255 })),
    /** First words that the client is told of. */
    keywords: Type.Optional(Words),
    /** The same, and the sender goes on the account's opt-out list. */
    stopKeywords: Type.Optional(Words),
    /** The same, and the sender comes off that list. */
    startKeywords: Type.Optional(Words),
  },
  { additionalProperties: false },
);

export type IncomingNumber = Static<typeof IncomingNumber>;

export const KEYWORDS = ["keywords", "stopKeywords", "startKeywords"] as const;

export function urlFaultsOf({ forwardUrl }: IncomingNumber): ItemFault[] {
  const says = forwardUrl === undefined ? null : urlProblem(forwardUrl);
  return says === null ? [] : [{ field: "forwardUrl", says: `"${forwardUrl}" ${says}` }];
}

export function keywordFaultsOf(number: IncomingNumber): ItemFault[] {
  const seen = new Set<string>();
  return KEYWORDS.flatMap((field) =>
    (number[field] ?? []).flatMap((keyword) => {
      const word = inCapitals(keyword);
      // What is more than a word is never the first word of a text.
      if (firstWord(keyword) !== word) return [{ field, says: `has "${keyword}", which is not one word` }];
      if (seen.has(word)) return [{ field, says: `has "${keyword}", which stands there twice` }];
      seen.add(word);
      return [];
    }),
  );
}
