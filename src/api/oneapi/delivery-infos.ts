/** What became of messages, by the OneAPI: the state of a request, as often as one likes, and reports that are given out once. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { ALL_MESSAGES } from "../../admin/messages.ts";
import { deliveryInfo, deliveryReport } from "../../reports/rendering/oneapi-item.ts";
import type { LoggedMessage } from "../../store/port/tracking.ts";
import { compareKeys } from "../../store/rows.ts";
import { ApiError } from "../errors.ts";
import type { LogSearcher } from "../logs.ts";
import { type Api, operation } from "../operation.ts";
import { named } from "../operator/managing.ts";
import type { ApiParts } from "../parts.ts";
import { MAX_LIMIT } from "../query.ts";
import type { FetchReports } from "../reports.ts";
import { ONE_API, readCount } from "./fields.ts";
import * as schemas from "./schemas.ts";
import { deliveryInfosUrl } from "./sending.ts";

/** Messages of one request, as they are told at once. */
const MIN_INFOS = 10_000;

export function deliveryInfoOperations(
  api: Api,
  { settings }: ApiParts,
  logs: LogSearcher,
  fetchReports: FetchReports,
): void {
  const most = Math.max(MIN_INFOS, settings.limits.destinationsPerRequest);

  const messagesOf = async (request: FastifyRequest, correlator: string): Promise<LoggedMessage[]> => {
    const query = { ...ALL_MESSAGES, bulkIds: [correlator], limit: most + 1 };
    const found = await logs.newest(request, query, ["clientCorrelator"]);
    if (found.length > most)
      throw new ApiError("badRequest", {
        variables: ["clientCorrelator"],
        description: `More than ${most} messages have this clientCorrelator: ask for them with GET /sms/1/logs?bulkId=, by time.`,
      });
    return found;
  };

  const infos = async (request: FastifyRequest) => {
    const correlator = named(request, "correlator");
    let found = await messagesOf(request, correlator);
    // Some clients write a space in a path as in a form.
    if (found.length === 0 && correlator.includes("+"))
      found = await messagesOf(request, correlator.replaceAll("+", " "));
    const first = found[0];
    if (first === undefined) throw new ApiError("notFound", "There is no request with this clientCorrelator.");
    return {
      deliveryInfoList: {
        deliveryInfo: found.sort((one, other) => compareKeys(one.key, other.key)).map(deliveryInfo),
        resourceURL: deliveryInfosUrl(request, first.from, first.bulkId ?? correlator),
      },
    };
  };
  const infosOperation = { ...ONE_API, answer: schemas.DeliveryInfos } as const;
  api.get(
    "/1/smsmessaging/outbound/:sender/requests/:correlator/deliveryInfos",
    operation({
      id: "oneApiDeliveryInfos",
      summary: "Ask for the state of a request, whoever its sender is",
      ...infosOperation,
    }),
    infos,
  );
  api.get(
    "/1/smsmessaging/outbound/requests/:correlator/deliveryInfos",
    operation({ id: "oneApiDeliveryInfosOfRequest", summary: "Ask for the state of a request", ...infosOperation }),
    infos,
  );

  const reports = async (request: FastifyRequest, reply: FastifyReply, bulkIds: readonly string[] | null) => {
    const limit = readCount(request.query, "limit", MAX_LIMIT, MAX_LIMIT);
    const found = await fetchReports(request, reply, { bulkIds, messageIds: null, platform: null, limit });
    return { deliveryReportList: found.map(deliveryReport) };
  };
  const reportsOperation = {
    ...ONE_API,
    withoutHead: true,
    query: schemas.LimitQuery,
    answer: schemas.DeliveryReports,
  } as const;
  api.get(
    "/1/smsmessaging/outbound/requests/deliveryReports",
    operation({
      id: "oneApiDeliveryReports",
      summary: "Fetch delivery reports that were not fetched before",
      ...reportsOperation,
    }),
    async (request, reply) => reports(request, reply, null),
  );
  api.get(
    "/1/smsmessaging/outbound/requests/:correlator/deliveryReports",
    operation({
      id: "oneApiDeliveryReportsOfRequest",
      summary: "Fetch delivery reports of a request that were not fetched before",
      ...reportsOperation,
    }),
    async (request, reply) => reports(request, reply, [named(request, "correlator")]),
  );
}
