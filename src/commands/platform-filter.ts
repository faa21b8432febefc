/** The filter of messages by what the client has said of them, as a condition of a statement. */
import type { PlatformFilter } from "../store/port/tracking.ts";
import type { Value } from "../store/sql.ts";

/** Stands around each campaign of a list. */
const MARK = "\u001f";
/** Most searches do without it, and then no row is compared. A list has the campaign if it is shorter without it. */
export const PLATFORM_FILTER = `AND (CAST(? AS TEXT) IS NULL OR entity_id = ?) AND (CAST(? AS TEXT) IS NULL OR application_id = ?)
  AND (CAST(? AS TEXT) IS NULL OR replace(CAST(? AS TEXT), '${MARK}' || campaign_reference_id || '${MARK}', '') <> ?)`;

export function platformValues({ entityId, applicationId, campaignReferenceIds }: PlatformFilter): Value[] {
  const campaigns = campaignReferenceIds?.map((each) => `${MARK}${each}${MARK}`).join("") ?? null;
  return [entityId, entityId, applicationId, applicationId, campaigns, campaigns, campaigns];
}
