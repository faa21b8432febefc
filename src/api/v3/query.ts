/** The flat parameters of GET /sms/3/text/query become what intake takes. */
import type { MessageFields, Problem } from "../../intake/request.ts";
import { formOfV3 } from "../../message/report-form.ts";
import type { Static } from "../../runtime/type.ts";
import { badFields } from "../errors.ts";
import { readRegional } from "../regional-query.ts";
import { type ReadRequest, readLinks } from "./reading.ts";
import type * as schemas from "./schemas.ts";

type Query = Static<typeof schemas.TextQuery>;

export function readTextQuery(query: Query): ReadRequest {
  const { to, bulkId, trackingUrl, trackingType, notifyContentType, includeSmsCountInResponse: _, ...others } = query;
  const problems: Problem[] = [];
  const links = readLinks(trackingUrl === undefined ? undefined : { trackingUrl }, "trackingUrl", problems);
  if (problems.length > 0) throw badFields(problems);
  const fields: MessageFields = { ...others, ...readRegional(query) };
  return {
    bulkId,
    messages: [
      {
        path: "",
        fields,
        destinations: to.map((number) => ({ to: number })),
        reportForm: formOfV3(notifyContentType ?? "application/json"),
      },
    ],
    speedLimit: null,
    links,
    conversion: trackingType === undefined ? null : { name: trackingType, processKey: null },
  };
}
