/** What the rules of a country ask for, as flat parameters of a query: version 1's and version 3's. */
import type { Regional } from "../message/regional.ts";
import { given } from "../runtime/given.ts";
import { type Static, Type } from "../runtime/type.ts";
import { badField } from "./errors.ts";
import { OneOf, optional } from "./shapes.ts";

const Int32 = (description: string) => optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description }));

export const regionalQuery = {
  indiaDltContentTemplateId: optional(Type.String({ maxLength: 255 })),
  indiaDltPrincipalEntityId: optional(Type.String({ maxLength: 255 })),
  indiaDltTelemarketerId: optional(Type.String({ maxLength: 255 })),
  turkeyIysBrandCode: Int32("The account's unless given."),
  turkeyIysRecipientType: optional(OneOf(["BIREYSEL", "TACIR"], "A person or a merchant.")),
  southKoreaResellerCode: Int32("The reseller."),
  southKoreaTitle: optional(Type.String({ maxLength: 66 })),
};

const Query = Type.Object(regionalQuery);
type Query = Static<typeof Query>;

/** Some of these fields want another one beside them. */
export function readRegional(query: Query): { regional?: Regional } {
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
  return isEmpty(regional) ? {} : { regional };
}

const isEmpty = (fields: object): boolean => Object.keys(fields).length === 0;
