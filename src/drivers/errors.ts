/** Why a database cannot do what it was asked for. */

/** It cannot be reached or written to now; the same call may work later. */
export class DatabaseUnavailable extends Error {
  /** The code of what it said, or the driver's word; null where it said nothing (trouble.ts has what each means). */
  readonly reason: string | null;

  constructor(message: string, reason: string | null = null) {
    super(message);
    this.reason = reason;
  }
}
