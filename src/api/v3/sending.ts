/** Version 3's sending operations: one for texts and binary messages alike, and one for a plain URL. */
import type { FastifyRequest } from "fastify";
import type { Intake } from "../../intake/intake.ts";
import type { RequestedMessage, SendAnswer, SendRequest } from "../../intake/request.ts";
import { withAction } from "../../reports/rendering/report-item-v3.ts";
import { STATUS, statusById } from "../../sms/statuses.ts";
import { ApiErrorResponse } from "../error-schemas.ts";
import { badField } from "../errors.ts";
import { type Api, accountOf, operation, SENDING } from "../operation.ts";
import { queryFields } from "../parameters.ts";
import { type Accepted, accepted, sendRequest } from "../sending.ts";
import { readQuery } from "../text-query.ts";
import { readTextQuery } from "./query.ts";
import { inNamesOfV3, type ReadRequest, readRequest } from "./reading.ts";
import * as schemas from "./schemas.ts";

/** `query` is what the request says beside its body. */
async function send(
  intake: Pick<Intake, "send">,
  request: FastifyRequest,
  { bulkId, messages, ...wishes }: ReadRequest,
  query = "",
): Promise<Accepted> {
  const wanted: SendRequest = { ...sendRequest(request, bulkId, messages, query), ...wishes };
  const answer: SendAnswer = await intake.send(accountOf(request), wanted);
  return accepted(request, answer.kind === "wrong" ? { ...answer, problems: inNamesOfV3(answer.problems) } : answer);
}

/** It answers before anything is handed on: what is accepted is pending. Parts are counted for whoever asks, of texts. */
function responseOf({ bulkId, results }: Accepted, messages: readonly RequestedMessage[], withCount: boolean) {
  const isText = withCount
    ? messages.flatMap(({ fields, destinations }) => destinations.map(() => fields.binary === undefined))
    : [];
  return {
    bulkId,
    messages: results.map(({ to, statusId, smsCount, messageId }, index) => ({
      messageId,
      status: statusOf(statusId),
      destination: to,
      ...(isText[index] === true ? { details: { messageCount: smsCount } } : {}),
    })),
  };
}

function statusOf(statusId: number) {
  const { PENDING_ENROUTE, PENDING_ACCEPTED } = STATUS;
  return withAction(statusById(statusId === PENDING_ENROUTE.id ? PENDING_ACCEPTED.id : statusId));
}

export function sendingOperationsV3(api: Api, intake: Pick<Intake, "send">): void {
  api.post(
    "/sms/3/messages",
    operation({
      ...SENDING,
      id: "sendMessages",
      tag: "Version 3",
      summary: "Send texts and binary messages",
      bodyOctets: "large",
      schema: { body: schemas.MessagesRequest },
      answer: schemas.MessagesResponse,
      errors: ApiErrorResponse,
    }),
    async (request) => {
      const { body } = request;
      const read = readRequest(body);
      const answer = await send(intake, request, read);
      return responseOf(answer, read.messages, body.options?.includeSmsCountInResponse === true);
    },
  );

  api.get(
    "/sms/3/text/query",
    {
      ...operation({
        ...SENDING,
        withoutHead: true,
        id: "sendTextByQuery",
        tag: "Version 3",
        summary: "Send one text to one or more destinations, by a plain URL",
        schema: { querystring: schemas.TextQuery },
        answer: schemas.MessagesResponse,
        errors: ApiErrorResponse,
      }),
      preValidation: async (request: FastifyRequest) => {
        const query = queryFields(request);
        for (const name of ["username", "password"])
          if (query[name] !== undefined) throw badField(name, "is not taken here; use the Authorization header");
        request.query = readQuery(query, schemas.TextQuery.properties);
      },
    },
    async (request, reply) => {
      reply.header("cache-control", "no-store");
      const read = readTextQuery(request.query);
      const answer = await send(intake, request, read, JSON.stringify(request.query));
      return responseOf(answer, read.messages, request.query.includeSmsCountInResponse === true);
    },
  );
}
