/** Messages from phones, by the OneAPI: given out once, as by the other families. */
import { inboundList } from "../../reports/rendering/oneapi-item.ts";
import type { FetchIncoming } from "../inbox.ts";
import { type Api, operation } from "../operation.ts";
import { named } from "../operator/managing.ts";
import { MAX_LIMIT } from "../query.ts";
import { ONE_API, readCount, resourceUrl } from "./fields.ts";
import * as schemas from "./schemas.ts";

const USUAL_BATCH = 100;

/** The kinds of numbers that an operator can give an account. */
const NUMBER_TYPES = [
  { id: 1, noType: "SHORT_CODE", description: "A short number within one country or network" },
  { id: 2, noType: "LONG_NUMBER", description: "A number in international form" },
];

export function inboundOperations(api: Api, fetchIncoming: FetchIncoming): void {
  api.get(
    "/1/smsmessaging/inbound/registrations/:registration/messages",
    operation({
      ...ONE_API,
      withoutHead: true,
      id: "oneApiInboundMessages",
      summary: "Fetch messages from phones that were not fetched before; any registration names all of them",
      query: schemas.BatchQuery,
      answer: schemas.InboundMessages,
    }),
    async (request, reply) => {
      const limit = readCount(request.query, "maxBatchSize", USUAL_BATCH, MAX_LIMIT);
      const { messages, pending } = await fetchIncoming(request, reply, limit);
      const url = resourceUrl(request, "inbound", "registrations", named(request, "registration"), "messages");
      return { inboundSMSMessageList: inboundList(messages, pending, url) };
    },
  );

  api.get(
    "/1/smsmessaging/inbound/numberTypes",
    operation({
      ...ONE_API,
      id: "oneApiNumberTypes",
      summary: "List the kinds of numbers that phones write to",
      answer: schemas.NumberTypes,
    }),
    async () => ({ moNoTypes: NUMBER_TYPES }),
  );
}
