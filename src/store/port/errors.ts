/** Why the store cannot do what it was asked for, or cannot be opened. */
import { DatabaseUnavailable as StoreUnavailable } from "../../drivers/errors.ts";

/** The store cannot be reached now; the same call may work later. That is the drivers' own error, so nobody has to turn one into the other. */
export { StoreUnavailable };

/** Whether a failure says nothing of what the store was told: it is away or ill, and the same call may work later. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof StoreUnavailable;
}

/** The schema is older than this program's, and somebody works with it as it is. */
export class MigrationRefused extends Error {
  constructor(who: string) {
    super(
      `its schema is older than this version's, and ${who}: use the version that runs on it, or stop that first and then start this one (or run "heliograph migrate")`,
    );
  }
}
