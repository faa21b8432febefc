/** Lanes with messages that no node has in memory. */
import type { Session } from "../../drivers/postgres/link.ts";
import type { LaneName } from "../port/delivery.ts";

export interface WaitingLane extends LaneName {
  /** Whether its carrier is in the catalogue. */
  readonly isKnown: boolean;
}

export const FIRST_LANE: LaneName = { carrierId: "", accountId: 0 };

/** From behind `after` on, found by hops along the index, however many messages wait. */
export async function waitingLanes(session: Session, after: LaneName, limit: number): Promise<WaitingLane[]> {
  const lanes: WaitingLane[] = [];
  let lane = after;
  while (lanes.length < limit) {
    const { rows } = await session.query<WaitingLane>(
      `SELECT carrier_id AS "carrierId", account_id AS "accountId",
         EXISTS (SELECT 1 FROM catalogue_item WHERE kind = 'carrier' AND catalogue_item.id = carrier_id) AS "isKnown"
       FROM message
       WHERE waits = 1 AND owner IS NULL AND (carrier_id, account_id) > ($1, $2) ORDER BY carrier_id, account_id LIMIT 1`,
      [lane.carrierId, lane.accountId],
    );
    if (rows[0] === undefined) return lanes;
    lane = rows[0];
    lanes.push(rows[0]);
  }
  return lanes;
}
