/** The flat parameters of GET /sms/3/text/query become what intake takes. */
import type { MessageFields, Problem } from "../../intake/request.ts";
import type { Regional } from "../../message/regional.ts";
import { formOfV3 } from "../../message/report-form.ts";
import { given } from "../../runtime/given.ts";
import type { Static } from "../../runtime/type.ts";
import { badField, badFields } from "../errors.ts";
import { type ReadRequest, readLinks } from "./reading.ts";
import type * as schemas from "./schemas.ts";

type Query = Static<typeof schemas.TextQuery>;

export function readTextQuery(query: Query): ReadRequest {
  const { to, bulkId, trackingUrl, trackingType, notifyContentType, includeSmsCountInResponse: _, ...others } = query;
  const problems: Problem[] = [];
  const links = readLinks(trackingUrl === undefined ? undefined : { trackingUrl }, "trackingUrl", problems);
  if (problems.length > 0) throw badFields(problems);
  const regional = readRegional(query);
  const fields: MessageFields = { ...others, ...(regional === null ? {} : { regional }) };
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

/** Some of these fields want another one beside them. */
function readRegional(query: Query): Regional | null {
  const { indiaDltPrincipalEntityId: principalEntityId, turkeyIysRecipientType: recipientType } = query;
  const dlt = given({
    contentTemplateId: query.indiaDltContentTemplateId,
    telemarketerId: query.indiaDltTelemarketerId,
  });
  const iys = given({ brandCode: query.turkeyIysBrandCode });
  const southKorea = given({ resellerCode: query.southKoreaResellerCode, title: query.southKoreaTitle });
  if (!isEmpty(dlt) && principalEntityId === undefined) throw badField("indiaDltPrincipalEntityId", "is required");
  if (!isEmpty(iys) && recipientType === undefined) throw badField("turkeyIysRecipientType", "is required");
  const regional: Regional = given({
    indiaDlt: principalEntityId === undefined ? undefined : { principalEntityId, ...dlt },
    turkeyIys: recipientType === undefined ? undefined : { recipientType, ...iys },
    southKorea: isEmpty(southKorea) ? undefined : southKorea,
  });
  return isEmpty(regional) ? null : regional;
}

const isEmpty = (fields: object): boolean => Object.keys(fields).length === 0;
