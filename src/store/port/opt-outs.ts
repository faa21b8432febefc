/** What is asked about many numbers at once: who wants no messages. */

/** As many numbers as one question may be about. */
export const MAX_OPT_OUT_NUMBERS = 100;

export interface OptedOut {
  readonly number: string;
  /** The service's list, or the account's own. */
  readonly list: "service" | "account";
}
