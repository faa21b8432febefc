/**
 * Fields that are right in another version of the sending operations, or at another level of the same body: notifyUrl in version 3, sendAt beside messages.
 * Whoever sends one is told where it belongs here (near-misses.ts). Nothing of this runs for a request whose fields are all known.
 */
import { folded } from "./spelling.ts";

/** As much of JSON Schema as the sending operations use. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Where a field of this name belongs in a request; null where nobody can know. */
export type OtherPlaces = (name: string) => string | null;

/** Names of one thing, in any version, and in words that other services use. One with dots is the end of a place. */
const SAME: readonly (readonly string[])[] = [
  [
    ...["notifyUrl", "webhooks.delivery.url", "dlr-url", "callbackUrl", "webhookUrl", "webhook", "webhooks"],
    ...["statusCallback", "deliveryReportUrl"],
  ],
  ["notifyContentType", "webhooks.contentType"],
  ["callbackData", "webhooks.callbackData"],
  ["intermediateReport", "webhooks.delivery.intermediateReport"],
  ["sendAt", "options.schedule.sendAt", "schedule", "scheduledAt", "sendTime", "scheduleTime"],
  ["sendingSpeedLimit", "options.schedule.sendingSpeedLimit", "speedLimit"],
  ["bulkId", "options.schedule.bulkId"],
  ["validityPeriod", "options.validityPeriod", "validity", "ttl"],
  ["validityPeriodTimeUnit", "options.validityPeriod.timeUnit"],
  ["deliveryTimeWindow", "options.deliveryTimeWindow"],
  ["flash", "options.flash"],
  ["regional", "options.regional"],
  ["campaignReferenceId", "options.campaignReferenceId"],
  ["entityId", "options.platform.entityId"],
  ["applicationId", "options.platform.applicationId"],
  ["transliteration", "content.transliteration"],
  ["language", "content.language"],
  ["languageCode", "content.language.languageCode"],
  ["urlOptions", "options.tracking"],
  ["trackingUrl", "urlOptions.trackingUrl", "options.tracking.trackingUrl"],
  ["includeSmsCountInResponse", "options.includeSmsCountInResponse"],
  ["from", "sender", "senderAddress", "senderName", "originator"],
  [
    ...["to", "destinations.to", "address", "destination", "destinations", "recipient", "recipients", "phone"],
    ...["phoneNumber", "msisdn"],
  ],
  ["messageId", "destinations.messageId"],
  ["text", "content.text", "message", "body", "content"],
  ["hex", "binary.hex", "content.hex"],
];

/** All that have such a name, by the last step of it. */
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map(
  SAME.flatMap((group) => group.filter((name) => !name.includes(".")).map((name) => [folded(name), group] as const)),
);

/** What a body has, as "messages[].destinations[].to", the shallowest first. */
function placesIn(schema: Schema): string[] {
  const places: string[] = [];
  let level: [path: string, schema: Schema][] = [["", schema]];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const [path, { properties = {} }] of level)
      for (const [name, value] of Object.entries(properties)) {
        const place = path === "" ? name : `${path}.${name}`;
        places.push(place);
        // A list of texts is one field, however many it has.
        if (value.items?.properties !== undefined) next.push([`${place}[]`, value.items]);
        else next.push([place, value]);
      }
    level = next;
  }
  return places;
}

/** For the body or the query of one operation. What it has is looked up when the first field is not known. */
export function otherPlaces(schema: object): OtherPlaces {
  let places: [place: string, plain: string][] | null = null;
  return (name) => {
    const group = GROUPS.get(folded(name));
    if (group === undefined) return null;
    places ??= placesIn(schema as Schema).map((place) => [place, place.replaceAll("[]", "")]);
    for (const same of [name, ...group]) {
      const found = places.find(([, plain]) => plain === same || plain.endsWith(`.${same}`));
      if (found !== undefined) return found[0];
    }
    return null;
  };
}
