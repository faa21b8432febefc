/** A test callback: the client names a URL, a signed sample of a report goes there, and the answer says what was sent and what came back. */
import { Allowance } from "../auth/allowance.ts";
import { Type } from "../runtime/type.ts";
import { MAX_URL_LENGTH, urlProblem } from "../runtime/urls.ts";
import { badField, tooMany } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { OneOf, Text, TextOrNull } from "./shapes.ts";

/** An account's, in a minute. */
const MAX_TESTS = 20;
const MINUTE_MS = 60_000;
/** Of all accounts, at a time. */
const MAX_UNDER_WAY = 10;

const CallbackTestRequest = Type.Object(
  {
    url: Type.String({ maxLength: MAX_URL_LENGTH, description: "Where the sample goes: absolute, http or https." }),
    contentType: Type.Optional(OneOf(["application/json", "application/xml"], "application/json unless given.")),
  },
  { additionalProperties: false },
);
const Headers = Type.Unsafe<Record<string, string>>({ type: "object", additionalProperties: { type: "string" } });
const CallbackTestAnswer = Type.Object({
  request: Type.Object({ headers: Headers, body: Type.String() }),
  answer: Type.Union(
    [
      Type.Object({
        status: Type.Integer(),
        headers: Headers,
        body: Text("Its beginning, at most 1,000 octets."),
      }),
      Type.Null(),
    ],
    { description: "Null where there was none." },
  ),
  reason: TextOrNull("Why there was no answer."),
  durationMs: Type.Integer(),
});

export function callbackTestOperations(api: Api, { clock, testCallbacks }: ApiParts): void {
  const allowance = new Allowance({ clock, most: MAX_TESTS, eachMs: MINUTE_MS });
  /** Accounts with a test under way. */
  const underWay = new Set<number>();
  api.post(
    "/account/1/callback-test",
    operation({
      tag: "Account",
      auth: "login",
      id: "testCallback",
      summary: "Have a signed sample of a report posted to a URL, and see what it answers",
      schema: { body: CallbackTestRequest },
      answer: CallbackTestAnswer,
    }),
    async (request) => {
      const { id, currency } = accountOf(request);
      const { url, contentType = "application/json" } = request.body;
      const says = urlProblem(url);
      if (says !== null) throw badField("url", says);
      if (underWay.has(id)) throw tooMany("A test callback of the account is under way.", 1_000);
      if (underWay.size >= MAX_UNDER_WAY) throw tooMany("Too many test callbacks are under way.", 1_000);
      if (!allowance.take(String(id))) throw tooMany("The account had too many test callbacks.", MINUTE_MS);
      underWay.add(id);
      try {
        const outcome = await testCallbacks.send({ accountId: id, url, contentType, currency });
        if (outcome === null) throw badField("url", "must be absolute, http or https");
        return outcome;
      } finally {
        underWay.delete(id);
      }
    },
  );
}
