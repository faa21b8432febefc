/** What the messages of an account have cost that have left the store: one row of `retired_charge` for each account. */
import { CARRIED } from "../money/carried-charge.ts";

/** Adds to it. Both databases take the statement, with their own marks for the values. */
export const keepCharge = (account: string, charged: string): string =>
  `INSERT INTO retired_charge (account_id, charged_micros) VALUES (${account}, ${charged})
   ON CONFLICT (account_id) DO UPDATE SET charged_micros = (retired_charge.charged_micros & ${CARRIED - 1n}) + excluded.charged_micros,
     carried = retired_charge.carried + (retired_charge.charged_micros >> 62)`;
