/**
 * What the rules of a country ask of a message, as optional parameters of its submit_sm. SMPP has no names for these: carriers give tags of
 * the range that SMPP 3.4 §5.3.1 leaves to them, and the profile says which. A carrier whose profile names no tag for a field does not get it.
 */
import type { Regional } from "../../message/regional.ts";
import { NO_TLVS, type Tlv } from "./codec/tlvs.ts";
import type { RegionalField, SmppProfile } from "./profile.ts";

const VALUES: Readonly<Record<RegionalField, (regional: Regional) => string | number | undefined>> = {
  principalEntityId: ({ indiaDlt }) => indiaDlt?.principalEntityId,
  contentTemplateId: ({ indiaDlt }) => indiaDlt?.contentTemplateId,
  telemarketerId: ({ indiaDlt }) => indiaDlt?.telemarketerId,
  recipientType: ({ turkeyIys }) => turkeyIys?.recipientType,
  brandCode: ({ turkeyIys }) => turkeyIys?.brandCode,
  resellerCode: ({ southKorea }) => southKorea?.resellerCode,
  title: ({ southKorea }) => southKorea?.title,
};
const FIELDS = Object.entries(VALUES) as [RegionalField, (typeof VALUES)[RegionalField]][];

/** In the order of the table, whatever that of the profile: a value is UTF-8, a number its decimal digits. An empty one is as if absent. */
export function regionalTlvs(regional: Regional, { tlvs, tlvStrings }: SmppProfile): readonly Tlv[] {
  if (tlvs === undefined) return NO_TLVS;
  const end = tlvStrings === "c-octets" ? "\0" : "";
  return FIELDS.flatMap(([name, valueIn]): readonly Tlv[] => {
    const tag = tlvs[name];
    const value = valueIn(regional);
    if (tag === undefined || value === undefined || value === "") return NO_TLVS;
    return [{ tag, value: Buffer.from(`${value}${end}`) }];
  });
}
