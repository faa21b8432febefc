/**
 * GET /sms/1/text/query: a message in a plain URL, for whatever can open one and do no more. Who sends it stands in the query too, or
 * in a header.
 */
import type { FastifyRequest } from "fastify";
import type { Intake } from "../intake/intake.ts";
import { badField } from "./errors.ts";
import { conversionWish } from "./link-options.ts";
import { type Api, operation } from "./operation.ts";
import { type Fields, queryFields } from "./parameters.ts";
import { readRegional } from "./regional-query.ts";
import * as schemas from "./schemas.ts";
import { refuseUrlTracking, sendSingle } from "./sending.ts";

/** They are objects, which a query cannot hold; to send without them would not be what was asked for. */
const NOT_IN_A_QUERY = ["language", "deliveryTimeWindow", "regional"];
const CREDENTIALS = new Set(["username", "password"]);

/** What is not what it should be stays as it is, and the schema tells. */
const CONVERSIONS: Readonly<Record<string, (text: string) => unknown>> = {
  boolean: (text) => (/^(true|false)$/i.test(text) ? text.toLowerCase() === "true" : text),
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
};

/** Said by clients that have none to say: a parameter of theirs is a number and not left out. */
const NONE: Readonly<Record<string, string>> = { validityPeriod: "0" };

/** The texts of the query as the fields of a message. An empty one is as good as none. */
export function readQuery(query: Fields, properties: object): Fields {
  const refused = NOT_IN_A_QUERY.find((name) => query[name] !== undefined);
  if (refused !== undefined) throw badField(refused, "cannot be given in a query");
  const fields: Fields = {};
  for (const [name, schema] of Object.entries(properties)) {
    const value = query[name];
    if (value === undefined || value === "" || value === NONE[name] || CREDENTIALS.has(name)) continue;
    if (name === "to") fields.to = numbersIn(value);
    else if (typeof value !== "string") throw badField(name, "must be given once");
    // A plus sign that was not escaped arrives as a space, and can be nothing else here.
    else if (name === "sendAt") fields.sendAt = value.replace(" ", "+");
    else if (name === "from") fields.from = value.replace(/^ (?=\d)/, "+");
    else fields[name] = CONVERSIONS[(schema as { type?: string }).type ?? ""]?.(value) ?? value;
  }
  return fields;
}

/** `to` may stand several times, and each time name several numbers. */
function numbersIn(to: unknown): string[] {
  return [to].flat().flatMap((text) =>
    String(text)
      .split(",")
      .map((number) => number.trim())
      .filter((number) => number !== ""),
  );
}

export function textQueryOperations(api: Api, intake: Pick<Intake, "send">): void {
  api.get(
    "/sms/1/text/query",
    {
      ...operation({
        tag: "Sending",
        withoutHead: true,
        id: "sendTextSingleByQuery",
        summary: "Send one text to one or more destinations, by a plain URL",
        auth: "query",
        scope: "send",
        schema: { querystring: schemas.TextQuery },
        answer: schemas.SingleResponse,
      }),
      preValidation: async (request: FastifyRequest) => {
        const query = queryFields(request);
        refuseUrlTracking(
          [query.track].flat().find((track) => typeof track === "string"),
          "track",
        );
        request.query = readQuery(query, schemas.TextQuery.properties);
      },
    },
    async (request, reply) => {
      reply.header("cache-control", "no-store");
      // Without the password: what tells two requests apart is kept.
      const { query } = request;
      const conversion = conversionWish(query.track, query.trackingType, query.processKey);
      // Whoever schedules one needs its bulkId to move it or to call it off.
      const isManaged = query.sendAt !== undefined;
      const fields = { ...query, ...readRegional(query) };
      return sendSingle(intake, request, "text", fields, JSON.stringify(query), isManaged, conversion);
    },
  );
}
